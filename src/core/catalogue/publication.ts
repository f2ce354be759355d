/**
 * Makes the catalogue of everything that serves, in file order, without denied tools (S4).
 * Invariants: the catalogue is replaced in one step and is a function of its input; an unchanged
 * toolset stays the same object.
 */
import { english } from '../base/language.js';
import { createHash } from 'node:crypto';
import { describeLaunch } from '../approval/fingerprint.js';
import type { OfferLedger } from '../approval/offerLedger.js';
import { isAboutApps, keyOf, mostReviewed, reviewedInstructions } from '../approval/offerPrints.js';
import type {
  ChangedOffer,
  OfferChanges,
  OfferRef,
  ReviewedLaunch,
} from '../approval/offerPrints.js';
import type { ReviewedOffer, ReviewedOffers } from '../approval/offerPrints.js';
import { BoundedMap } from '../base/boundedMap.js';
import type { Disposable } from '../base/disposables.js';
import { sameJson } from '../base/canonicalJson.js';
import { groupedBy } from '../base/groupedBy.js';
import { Emitter } from '../base/events.js';
import { perObject } from '../base/perObject.js';
import type { Problem } from '../base/problem.js';
import type { Redactor } from '../base/log.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import type { ToolListing } from '../connections/connection.js';
import type { Services } from '../instances/services.js';
import { capabilitiesKey, showsApps } from '../protocol/client.js';
import { conversationLabel } from '../protocol/conversationLabel.js';
import type { ToolsetCall } from '../protocol/request.js';
import {
  byKey,
  pagesOf,
  resourcesToReview,
  reviewedIn,
  type Offered,
} from '../reconcile/offers.js';
import { enabledDefinition } from '../reconcile/plan.js';
import { offersChanged, resourcesNotReviewed } from '../reconcile/problems.js';
import type { OfferMemory, RememberedOffer, StandIn } from '../reconcile/remembered.js';
import type { Serving } from '../reconcile/serving.js';
import {
  toolsetIn,
  uriOf,
  type Catalogue,
  type ExcludedTool,
  type OfferedResource,
} from '../tools/catalogue.js';
import type {
  OfferedTemplate,
  OfferedTool,
  PublishedResources,
  PublishedTool,
} from '../tools/catalogue.js';
import type { ServedTool, Toolset } from '../tools/catalogue.js';
import { Claims, noClaims, type Baselines } from '../tools/claims.js';
import { ShortNames } from '../tools/editorNames.js';
import type { ToolNames, ToolVerdict } from '../tools/permissions.js';
import { publish, withVerdict, type Candidate } from '../tools/registry.js';
import { seenTool, type SeenTool } from '../tools/seenTool.js';
import { adminNames, adminToolset, ownReleaseName, ownReleaseTool, releaseTool } from './admin.js';
import { togetherCut } from '../tools/textLimits.js';
import { toolForApp, toolNamed } from './clientTools.js';
import { toldTogether } from './servedToolsets.js';

const mostCatalogues = 64;

interface PublicationDeps {
  readonly services: Pick<Services, 'log' | 'redactor'>;
  /** Without it, nothing counts as changed (S3). */
  readonly offerReview?: OfferLedger | undefined;
  readonly offersAdmin?: (() => boolean) | undefined;
  readonly verdictOf: (tool: ToolNames) => ToolVerdict;
  /** Returns what a server serves, or its stand-in. */
  readonly servingOf: (server: string) => ServingFacts | undefined;
}

/** The lists of an earlier window. */
export interface KeptOffers {
  recall(launch: string): RememberedOffer | undefined;
  /** @param redact removes secrets from a text. An offer with a secret is not kept. */
  remember(launch: string, offer: RememberedOffer, redact: (text: string) => string): void;
  forget(launch: string): void;
}

type ServingFacts = Serving | StandIn;

interface Offering {
  readonly server: ConfiguredServer;
  readonly facts: ServingFacts;
  readonly offered: Offered;
}

export class Publication implements Disposable {
  catalogue: Catalogue = {
    version: 0,
    toolsets: [],
    claims: noClaims,
  };
  problems: readonly Problem[] = [];
  private readonly changedOffers = new Map<string, readonly ChangedOffer[]>();
  private readonly publications = new Emitter<readonly string[]>();
  private servers: readonly ConfiguredServer[] = [];
  private readonly special = new BoundedMap<string, Catalogue>(mostCatalogues);

  readonly onDidPublish = this.publications.event;

  private hasOwnLists = false;
  private claimsOf = '';
  private readonly givenNames = new ShortNames();
  private shortNames: ReadonlyMap<string, string> = new Map();

  constructor(private readonly deps: PublicationDeps) {}

  catalogueFor(conversation: string | undefined): Catalogue {
    if (conversation === undefined || !this.hasOwnLists) return this.catalogue;
    const offerings = this.offerings(conversation);
    const key = offerings.flatMap(({ offered }) => offered.special ?? []).join();
    if (key === '') return this.catalogue;
    const catalogue = this.special.get(key) ?? {
      ...this.catalogue,
      toolsets: this.published(offerings).toolsets,
    };
    this.special.set(key, catalogue);
    return catalogue;
  }

  toolset(id: string, conversation?: string): Toolset | undefined {
    return toolsetIn(this.catalogueFor(conversation), id);
  }

  tool({ toolset, tool, policy, client, fromApp }: ToolsetCall): ServedTool | undefined {
    const found = this.toolset(toolset, client?.listedFor);
    if (!found) return undefined;
    if (fromApp) return toolForApp(found, tool, policy);
    if (policy.release === 'ofToolset' && found.release?.published === tool) return found.release;
    const named = toolNamed(found, tool, policy);
    return named || !client || !showsApps(client.capabilities)
      ? named
      : toolForApp(found, tool, policy);
  }

  shortName(server: string): string {
    return this.shortNames.get(server) ?? server;
  }

  changed(server: string): readonly ChangedOffer[] | undefined {
    return this.changedOffers.get(server);
  }

  /** @param servers in file order */
  update(servers: readonly ConfiguredServer[]): void {
    this.servers = servers;
    this.shortNames = this.givenNames.of(servers.map(({ id }) => id));
    this.special.clear();
    const offerings = this.offerings();
    const changes = this.reviewed(offerings);
    const claims = this.presentClaims();
    const { toolsets: next, problems } = this.published(offerings, claims);
    const conversations = new Set(
      servers.flatMap(({ id }) => this.deps.servingOf(id)?.ownLists ?? []),
    );
    this.problems = [
      ...changes,
      ...problems,
      ...this.problemsOfOne(conversations, problems, claims),
    ];
    const before = this.catalogue.toolsets;
    const isForSome = this.hasOwnLists || conversations.size > 0;
    this.hasOwnLists = conversations.size > 0;
    const isForAll = claims !== this.catalogue.claims || !sameJson(before, next);
    if (isForAll) {
      this.catalogue = {
        version: this.catalogue.version + 1,
        toolsets: next,
        claims,
      };
      const counts = next.map(({ id, tools }) => `${id} ${tools.length}`).join(', ');
      this.deps.services.log.write(
        'info',
        `Registry version ${this.catalogue.version}: ${counts || 'no toolsets'}`,
      );
    }
    if (!isForAll && !isForSome) return;
    // A list of one conversation takes names from every toolset (N5).
    const changed = [...before, ...next].filter(
      (one) => isForSome || !before.includes(one) || !next.includes(one),
    );
    this.publications.fire([...new Set(changed.map(({ id }) => id))]);
  }

  dispose(): void {
    this.publications.dispose();
  }

  private offerings(conversation?: string): Offering[] {
    return this.servers.flatMap((server) => {
      const facts = this.deps.servingOf(server.id);
      return facts ? [{ server, facts, offered: facts.offeredTo(conversation) }] : [];
    });
  }

  private reviewed(offerings: readonly Offering[]): Problem[] {
    this.changedOffers.clear();
    const { offerReview, services } = this.deps;
    if (!offerReview) return [];
    const redact = (text: string): string => services.redactor.redact(text);
    return offerings.flatMap(({ server: { id, places }, facts, offered: { curated } }) => {
      const changed = changedOffers(facts, offerReview, redact);
      this.changedOffers.set(id, changed);
      const at = { server: id, places };
      const { resources, templates } = curated.resources;
      const isTooLong = Math.max(resources.length, templates.length) > mostReviewed;
      return [
        ...offersChanged(at, changed),
        ...(isTooLong && offerReview.holdsBack(describeLaunch(facts.definition))
          ? [resourcesNotReviewed(at)]
          : []),
      ];
    });
  }

  private presentClaims(): Claims {
    const { offerReview } = this.deps;
    if (!offerReview) return noClaims;
    const known = this.servers.flatMap((server) => {
      const rules = this.deps.servingOf(server.id)?.definition ?? enabledDefinition(server);
      if (!rules) return [];
      const own = offerReview.baselinesOf(describeLaunch(rules));
      const baselines = own.filter(
        (one) => launchFor(rules, one.declared).fingerprint === one.fingerprint,
      );
      return [{ rules, baselines }];
    });
    const of = known.flatMap(({ rules, baselines }) => [
      rules.id,
      rules.viewHash,
      ...baselines.map((one) => `${one.fingerprint} ${one.version}`),
    ]);
    if (of.join() === this.claimsOf) return this.catalogue.claims;
    this.claimsOf = of.join();
    const all = known.map(({ rules, baselines }): Baselines => {
      const offers = baselines.flatMap(({ prints }) => [...prints.values()]);
      return {
        rules,
        offers,
        // The names in a late baseline come behind the others (N5d).
        count: baselines.length + baselines.filter(({ isLate }) => isLate).length,
        hasApps: offers.some(isAboutApps),
      };
    });
    return new Claims(all);
  }

  private published(
    offerings: readonly Offering[],
    claims = this.catalogue.claims,
  ): { toolsets: readonly Toolset[]; problems: readonly Problem[] } {
    const { offerReview } = this.deps;
    const candidates = offerings.map((one) =>
      candidateOf(one, this.shortName(one.server.id), offerReview),
    );
    const admin = this.deps.offersAdmin?.() === false ? [] : [this.allowedAdmin()];
    const reserved = reservedNames(this.shortNames.values(), admin.length > 0);
    const { toolsets, problems } = publish(candidates, reserved, this.deps.verdictOf, claims);
    const before = this.catalogue.toolsets;
    const next = [
      ...toolsets.map((one) => this.withRelease(one)),
      ...(this.servers.length > 0 ? admin : []),
    ];
    const places = new Map(
      candidates.map(({ id, places: of }) => [id, { server: id, places: of }]),
    );
    const cut = togetherCut(toldTogether(next), (id) => places.get(id));
    return {
      toolsets: next.map((one) => before.find((earlier) => sameJson(earlier, one)) ?? one),
      problems: [...problems, ...cut],
    };
  }

  private problemsOfOne(
    conversations: ReadonlySet<string>,
    ofAll: readonly Problem[],
    claims: Claims,
  ): Problem[] {
    const known = new Set(ofAll.map(({ message }) => message));
    return [...conversations].flatMap((conversation) =>
      this.published(this.offerings(conversation), claims)
        .problems.filter(({ message }) => !known.has(message))
        .map((problem) => ({
          ...problem,
          message: english`${problem.message} This applies only to the ${conversationLabel(conversation)}, whose instance lists other tools.`,
        })),
    );
  }

  private withRelease(toolset: Toolset): Toolset {
    if (!toolset.leased) return toolset;
    const release = ownReleaseTool(toolset.id, toolset.shortName);
    const names = { original: releaseTool, published: release.published };
    return this.deps.verdictOf(names).permission === 'deny' ? toolset : { ...toolset, release };
  }

  private allowedAdmin(): Toolset {
    const excluded: ExcludedTool[] = [];
    const tools = adminToolset.tools.flatMap((tool): ServedTool[] => {
      const { original, published } = tool;
      const verdict = this.deps.verdictOf(tool);
      const { permission, pattern = published } = verdict;
      if (permission === 'deny')
        excluded.push({
          original,
          reason: {
            kind: 'denied',
            pattern,
            published,
          },
        });
      return permission === 'deny' ? [] : [withVerdict(tool, verdict)];
    });
    return {
      ...adminToolset,
      tools,
      excluded,
    };
  }
}

/** The names of the built-in tools. Only those of `mcp_admin` count as published. */
function reservedNames(
  shortNames: Iterable<string>,
  offersAdmin: boolean,
): Parameters<typeof publish>[1] {
  const releases = new Set([...shortNames].map(ownReleaseName));
  return {
    has: (name) => adminNames.has(name) || releases.has(name),
    size: offersAdmin ? adminNames.size : 0,
  };
}

/** Leaves out changes if the person wants them held back. */
function candidateOf(
  { server, facts, offered }: Offering,
  shortName: string,
  review?: OfferLedger,
): Candidate {
  const { definition, instructions: said, features } = facts;
  const { tools, appTools, excluded, prompts, resources } = offered.curated;
  const lists = {
    tools,
    appTools,
    excluded,
    prompts,
    resources,
    features,
  };
  const candidate: Candidate = {
    ...lists,
    id: server.id,
    shortName,
    manual: definition.manual,
    instructions: said,
    leased: !definition.trulyStateless,
    places: server.places,
  };
  const [declared = ''] = offered.declared;
  const launch = launchFor(definition, declared);
  if (!review?.holdsBack(launch)) return candidate;
  const { listing } = offered;
  const changes = review.changesOf(launch, reviewedOf(listing, said, definition));
  const changeOf = (kind: OfferRef['kind'], original: string) =>
    changes.get(keyOf({ kind, original }));
  const isSame = ({ original }: PublishedTool): boolean => !changeOf('tool', original);
  const kept = tools.flatMap(({ original }): ExcludedTool[] => {
    const change = changeOf('tool', original);
    return change ? [{ original, reason: { kind: 'changed', parts: change.parts } }] : [];
  });
  return {
    ...candidate,
    tools: kept.length > 0 ? tools.filter(isSame) : tools,
    appTools: appTools.filter(isSame),
    excluded: [...excluded, ...kept],
    prompts: prompts.filter(({ original }) => !changeOf('prompt', original)),
    resources: withoutHeld(resources, listing, changes),
    ...(changeOf('instructions', '') && { manual: undefined, instructions: undefined }),
  };
}

/** Entries beyond the reviewed ones are held back too. */
function withoutHeld(
  all: PublishedResources,
  listing: ToolListing,
  changes: OfferChanges,
): PublishedResources {
  const seen = new Set(resourcesToReview(listing));
  const isHeld = (one: OfferedResource | OfferedTemplate): boolean =>
    !seen.has(one) || changes.has(keyOf(resourceRef(one)));
  const held = [...all.resources, ...all.templates].filter(isHeld).map(uriOf);
  if (held.length === 0) return all;
  const isKept = (one: OfferedResource | OfferedTemplate): boolean => !isHeld(one);
  return {
    ...all,
    resources: all.resources.filter(isKept),
    templates: all.templates.filter(isKept),
    held,
  };
}

function changedOffers(facts: ServingFacts, review: OfferLedger, redact: (text: string) => string) {
  const all = facts.everyOffer().flatMap((offered) => {
    const offers = reviewedOf(offered.listing, facts.instructions, facts.definition);
    return offered.declared.map((declared) => ({ declared, offered, offers }));
  });
  const held = review.holdsBack(describeLaunch(facts.definition));
  const found = new Map<string, ChangedOffer>();
  for (const [declared, own] of groupedBy(all, (one) => one.declared)) {
    const launch = launchFor(facts.definition, declared);
    // A remembered list is compared, and never becomes the baseline.
    if (!('rememberedAt' in facts) && own.every(({ offered }) => !offered.listing.failure)) {
      const each = own.map(({ offers }) => offers);
      const { tools, declaresNone = false } = own[0].offered.listing;
      review.note(launch, each, redact, orderOf(tools), !declaresNone);
    }
    for (const { offered, offers } of own) {
      for (const change of published(offered, review.changesOf(launch, offers))) {
        const key = keyOf(change);
        // Nobody can accept what no lock says.
        if (!found.has(key) && !change.parts.includes('lock'))
          found.set(key, {
            launch: launch.fingerprint,
            ...change,
            held,
          });
      }
    }
  }
  return [...found.values()];
}

/**
 * Some servers list more for clients that can do more, so each set of declared capabilities has its
 * own baseline.
 */
export function launchFor(
  definition: ServerDefinition,
  declared = nothingDeclared,
): ReviewedLaunch {
  const launch = describeLaunch(definition);
  if (declared === nothingDeclared) return launch;
  const fingerprint = createHash('sha256')
    .update(`${launch.fingerprint} ${declared}`)
    .digest('hex');
  return {
    ...launch,
    fingerprint,
    declared,
  };
}

const nothingDeclared = capabilitiesKey({});

/**
 * Keeps lists by the fingerprint of the approved launch. A list with held changes is not recalled
 * (S3).
 */
export function offerMemory(
  kept: KeptOffers,
  review: OfferLedger | undefined,
  redactor: Redactor,
): OfferMemory {
  const isHeld = (
    definition: ServerDefinition,
    { listing, instructions, declared }: RememberedOffer,
  ): boolean => {
    const launch = launchFor(definition, declared);
    if (review?.holdsBack(launch) !== true) return false;
    return review.changesOf(launch, reviewedOf(listing, instructions, definition)).size > 0;
  };
  return {
    recall: (definition) => {
      const offer = kept.recall(describeLaunch(definition).fingerprint);
      return offer && !isHeld(definition, offer) ? offer : undefined;
    },
    remember: (definition, offer) =>
      kept.remember(describeLaunch(definition).fingerprint, offer, (text) =>
        redactor.redact(text, text.length),
      ),
    forget: (definition) => kept.forget(describeLaunch(definition).fingerprint),
  };
}

function published({ curated }: Offered, changes: OfferChanges) {
  const { prompts, resources } = curated;
  const tools = [...curated.tools, ...curated.appTools];
  const pages = pagesOf(tools.map(({ tool }) => tool));
  const offers: OfferRef[] = [
    ...tools.map(({ original }) => ({ kind: 'tool' as const, original })),
    ...prompts.map(({ original }) => ({ kind: 'prompt' as const, original })),
    ...[...resources.resources, ...resources.templates, ...pages].map(resourceRef),
    { kind: 'instructions', original: '' },
  ];
  return offers.flatMap((offer) => changes.get(keyOf(offer)) ?? []);
}

function resourceRef(one: OfferedResource | OfferedTemplate): OfferRef {
  return { kind: 'resource', original: uriOf(one) };
}

const orderOf = perObject((tools: readonly OfferedTool[]): readonly SeenTool[] =>
  tools.map(seenTool),
);

type Reviewable = readonly [ToolListing, instructions: string | undefined, ServerDefinition];

const lastReviewed = new WeakMap<
  ToolListing,
  { readonly of: Reviewable; readonly offers: ReviewedOffers }
>();

/** The same object for the same offer, because each publication reads it several times (P10). */
function reviewedOf(...of: Reviewable): ReviewedOffers {
  const last = lastReviewed.get(of[0]);
  if (last?.of.every((part, index) => part === of[index])) return last.offers;
  const offers = byKey(reviewable(...of));
  lastReviewed.set(of[0], { of, offers });
  return offers;
}

/** Agents read the manual and the overrides of the file, so the review covers them too. */
function* reviewable(
  listing: ToolListing,
  instructions: string | undefined,
  { manual, overrides }: Pick<ServerDefinition, 'manual' | 'overrides'>,
): Generator<ReviewedOffer> {
  yield* reviewedIn(listing, overrides);
  // Another order would make every approved text a changed one.
  const told = [instructions, manual].filter((part) => part).join('\n\n');
  if (told !== '') yield reviewedInstructions(told, instructions || undefined);
}
