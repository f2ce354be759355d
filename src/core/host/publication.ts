/**
 * Makes the catalogue of everything that serves, in file order. It leaves out denied tools (S4), and changes since the
 * approval if they are held back (S3).
 *
 * Invariants: the catalogue is replaced in one step and is a function of its input; an unchanged toolset stays the same
 * object; `mcp_admin` is there if any server is configured.
 */
import type { OfferLedger } from '../approval/offerLedger.js';
import type { ChangedOffer } from '../approval/offerPrints.js';
import { BoundedMap } from '../base/boundedMap.js';
import type { Disposable } from '../base/disposables.js';
import { sameJson } from '../base/canonicalJson.js';
import { Emitter } from '../base/events.js';
import type { Problem } from '../base/problem.js';
import type { ConfiguredServer } from '../config/model.js';
import type { Services } from '../instances/services.js';
import { showsApps } from '../protocol/client.js';
import { conversationLabel } from '../protocol/conversationLabel.js';
import type { ToolsetCall } from '../protocol/request.js';
import { offersChanged } from '../reconcile/problems.js';
import type { Catalogue, ExcludedTool, ServedTool, Toolset } from '../tools/catalogue.js';
import { ShortNames } from '../tools/editorNames.js';
import { publish } from '../tools/registry.js';
import { adminNames, adminToolset, ownReleaseName, ownReleaseTool, releaseTool } from './admin.js';
import { toolForApp, toolNamed } from './clientTools.js';
import { candidateOf, changedOffers, type Offering, type ServingFacts } from './offering.js';
import type { Permission } from './permission.js';

interface PublicationDeps {
  readonly services: Services;
  readonly permission: Pick<Permission, 'verdictOf'>;
  /** By default nothing is compared. */
  readonly offerReview?: OfferLedger | undefined;
  readonly offersAdmin?: (() => boolean) | undefined;
  readonly serving: (id: string) => ServingFacts | undefined;
}

/** The limit of catalogues for conversations with other lists. The least recently used one goes. */
const mostCatalogues = 64;

export class Publication implements Disposable {
  private catalogue_: Catalogue = { version: 0, toolsets: [] };
  private problems_: readonly Problem[] = [];
  private readonly changedOffers = new Map<string, readonly ChangedOffer[]>();
  private readonly publications = new Emitter<readonly string[]>();
  private servers: readonly ConfiguredServer[] = [];
  /** The catalogues with lists of single conversations, by the ids of these lists. */
  private readonly special = new BoundedMap<string, Catalogue>(mostCatalogues);

  readonly onDidPublish = this.publications.event;

  /** True if a conversation saw other lists than the catalogue has, at the last update. */
  private hadOwnLists = false;
  private admin = adminToolset;
  private readonly givenNames = new ShortNames();
  private shortNames: ReadonlyMap<string, string> = new Map();

  constructor(private readonly deps: PublicationDeps) {}

  get catalogue(): Catalogue {
    return this.catalogue_;
  }

  get problems(): readonly Problem[] {
    return this.problems_;
  }

  /** Returns the catalogue with the lists of the conversation's own instances (G3g). */
  catalogueFor(conversation: string | undefined): Catalogue {
    if (conversation === undefined) return this.catalogue_;
    const offerings = this.offerings(conversation);
    const key = offerings.flatMap(({ offered }) => offered.special ?? []).join();
    if (key === '') return this.catalogue_;
    const { version } = this.catalogue_;
    const catalogue = this.special.get(key) ?? { version, toolsets: this.published(offerings).toolsets };
    this.special.set(key, catalogue);
    return catalogue;
  }

  toolset(id: string, conversation?: string): Toolset | undefined {
    return this.catalogueFor(conversation).toolsets.find((toolset) => toolset.id === id);
  }

  tool({ toolset, tool, clientKind, client, fromApp }: ToolsetCall): ServedTool | undefined {
    const found = this.toolset(toolset, client?.listedFor);
    if (found && fromApp) return toolForApp(found, tool, clientKind);
    if (clientKind !== 'editor' && found?.release?.published === tool) return found.release;
    const named = found && toolNamed(found, tool, clientKind);
    return (
      named ?? (found && client && showsApps(client.capabilities) ? toolForApp(found, tool, clientKind) : undefined)
    );
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
    const { toolsets: next, problems } = this.published(offerings);
    const conversations = new Set(servers.flatMap(({ id }) => this.deps.serving(id)?.ownLists ?? []));
    this.problems_ = [...changes, ...problems, ...this.problemsOfOne(conversations, problems)];
    const before = this.catalogue_.toolsets;
    const isForSome = this.hadOwnLists || conversations.size > 0;
    this.hadOwnLists = conversations.size > 0;
    const isForAll = next.length !== before.length || next.some((toolset, index) => toolset !== before[index]);
    if (isForAll) {
      this.catalogue_ = { version: this.catalogue_.version + 1, toolsets: next };
      const counts = next.map(({ id, tools }) => `${id} ${tools.length}`).join(', ');
      this.deps.services.log.write('info', `Registry version ${this.catalogue_.version}: ${counts || 'no toolsets'}`);
    }
    if (!isForAll && !isForSome) return;
    // A list of one conversation takes names from every toolset (N5).
    const changed = [...before, ...next].filter((one) => isForSome || !before.includes(one) || !next.includes(one));
    this.publications.fire([...new Set(changed.map(({ id }) => id))]);
  }

  dispose(): void {
    this.publications.dispose();
  }

  private offerings(conversation?: string): Offering[] {
    return this.servers.flatMap((server) => {
      const facts = this.deps.serving(server.id);
      return facts ? [{ server, facts, offered: facts.offeredTo(conversation) }] : [];
    });
  }

  /** Reviews every offer (S3). Returns a problem for each server with changes. */
  private reviewed(offerings: readonly Offering[]): Problem[] {
    this.changedOffers.clear();
    const { offerReview, services } = this.deps;
    if (!offerReview) return [];
    const redact = (text: string): string => services.redactor.redact(text);
    return offerings.flatMap(({ server, facts }) => {
      const changed = changedOffers(facts, offerReview, redact);
      this.changedOffers.set(server.id, changed);
      return changed.length > 0 ? [offersChanged({ server: server.id, places: server.places }, changed)] : [];
    });
  }

  private published(offerings: readonly Offering[]): {
    readonly toolsets: readonly Toolset[];
    readonly problems: readonly Problem[];
  } {
    const candidates = offerings.map((offering) =>
      candidateOf(offering, this.shortName(offering.server.id), this.deps.offerReview),
    );
    const admin = this.deps.offersAdmin?.() === false ? [] : [this.allowedAdmin()];
    const reserved = reservedNames(this.shortNames.values(), admin.length > 0);
    const { toolsets, problems } = publish(candidates, reserved, this.deps.permission.verdictOf);
    const before = this.catalogue_.toolsets;
    const next = toolsets
      .map((toolset) => this.withRelease(toolset))
      .map((toolset) => before.find((earlier) => sameJson(earlier, toolset)) ?? toolset);
    return { toolsets: this.servers.length > 0 ? [...next, ...admin] : next, problems };
  }

  /** Returns the problems of single conversations with their own lists (N5, G3). */
  private problemsOfOne(conversations: ReadonlySet<string>, ofAll: readonly Problem[]): Problem[] {
    const known = new Set(ofAll.map(({ message }) => message));
    return [...conversations].flatMap((conversation) =>
      this.published(this.offerings(conversation))
        .problems.filter(({ message }) => !known.has(message))
        .map((problem) => ({
          ...problem,
          message: `${problem.message} This applies only to the ${conversationLabel(conversation)}, whose instance lists other tools.`,
        })),
    );
  }

  private withRelease(toolset: Toolset): Toolset {
    if (!toolset.leased) return toolset;
    const release = ownReleaseTool(toolset.id, toolset.shortName);
    const names = { original: releaseTool, published: release.published };
    return this.deps.permission.verdictOf(names).permission === 'deny' ? toolset : { ...toolset, release };
  }

  /** Returns `mcp_admin` without the denied tools; the same object if nothing changed. */
  private allowedAdmin(): Toolset {
    const excluded: ExcludedTool[] = [];
    const tools = adminToolset.tools.flatMap((tool): ServedTool[] => {
      const { original, published } = tool;
      const { permission, pattern = published } = this.deps.permission.verdictOf(tool);
      if (permission === 'deny') excluded.push({ original, reason: { kind: 'denied', pattern, published } });
      return permission === 'deny' ? [] : [permission === 'ask' ? { ...tool, isAsked: true } : tool];
    });
    const next = { ...adminToolset, tools, excluded };
    if (!sameJson(this.admin, next)) this.admin = next;
    return this.admin;
  }
}

/** The names of our own tools. Only those of `mcp_admin` count as published. */
function reservedNames(shortNames: Iterable<string>, offersAdmin: boolean): Parameters<typeof publish>[1] {
  const releases = new Set([...shortNames].map(ownReleaseName));
  return { has: (name) => adminNames.has(name) || releases.has(name), size: offersAdmin ? adminNames.size : 0 };
}
