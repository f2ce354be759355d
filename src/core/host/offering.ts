/**
 * Makes the candidate of a server for the catalogue, and finds the offers that changed since its approval (S3). Some
 * servers offer one conversation more than the others, so the review covers every list.
 */
import { createHash } from 'node:crypto';
import { describeLaunch } from '../approval/fingerprint.js';
import type { OfferLedger } from '../approval/offerLedger.js';
import type {
  ChangedOffer,
  OfferChanges,
  ReviewedKind,
  ReviewedLaunch,
  ReviewedOffers,
} from '../approval/offerPrints.js';
import type { Redactor } from '../base/log.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import type { ToolListing } from '../connections/connection.js';
import { capabilitiesKey } from '../protocol/client.js';
import type { OfferMemory, RememberedOffer } from '../reconcile/remembered.js';
import type { KeptOffers } from './hostContract.js';
import type { Offered } from '../reconcile/offers.js';
import type { Serving } from '../reconcile/serving.js';
import type { Candidate } from '../tools/registry.js';

export interface ServingFacts extends Pick<
  Serving,
  'definition' | 'instructions' | 'features' | 'offeredTo' | 'everyOffer' | 'ownLists'
> {
  /** Set if the list is from an earlier window. */
  readonly rememberedAt?: number;
}

export interface Offering {
  readonly server: ConfiguredServer;
  readonly facts: ServingFacts;
  readonly offered: Offered;
}

/**
 * Returns the part of a server that is published unless a name is taken. Changes are left out if the person wants them
 * held back.
 */
export function candidateOf(
  { server, facts, offered }: Offering,
  shortName: string,
  review: OfferLedger | undefined,
): Candidate {
  const { definition, instructions: said, features } = facts;
  const { tools, appTools, excluded, prompts, resources } = offered.curated;
  const candidate: Candidate = {
    id: server.id,
    shortName,
    tools,
    appTools,
    excluded,
    prompts,
    resources,
    features,
    instructions: joined(said, definition.manual),
    leased: !definition.trulyStateless,
    places: server.places,
  };
  if (!review?.holdsBack()) return candidate;
  const [declared = ''] = offered.declared;
  const changes = review.changesOf(launchFor(definition, declared), offersOf(facts, offered));
  const kept = tools.flatMap(({ original }) => {
    const parts = changes.tool.get(original);
    return parts ? [{ original, reason: { kind: 'changed' as const, parts } }] : [];
  });
  return {
    ...candidate,
    tools: kept.length > 0 ? tools.filter(({ original }) => !changes.tool.has(original)) : tools,
    appTools: appTools.filter(({ original }) => !changes.tool.has(original)),
    excluded: [...excluded, ...kept],
    prompts: prompts.filter(({ original }) => !changes.prompt.has(original)),
    instructions: changes.instructions.size > 0 ? undefined : candidate.instructions,
  };
}

/** Returns the changes behind the filters, in the server's order. */
export function changedOffers(
  facts: ServingFacts,
  review: OfferLedger,
  redact: (text: string) => string,
): readonly ChangedOffer[] {
  const all = facts.everyOffer().map((offered) => ({ offered, offers: offersOf(facts, offered) }));
  const held = review.holdsBack();
  const found = new Map<string, ChangedOffer>();
  for (const declared of new Set(all.flatMap(({ offered }) => offered.declared))) {
    const launch = launchFor(facts.definition, declared);
    const own = all.filter(({ offered }) => offered.declared.includes(declared));
    // A remembered list is compared, and never becomes the baseline.
    if (facts.rememberedAt === undefined && own.every(({ offered }) => !offered.listing.failure)) {
      review.note(
        launch,
        own.map(({ offers }) => offers),
        redact,
      );
    }
    for (const { offered, offers } of own) {
      for (const { kind, original, parts } of published(offered, review.changesOf(launch, offers))) {
        const key = `${kind} ${original}`;
        if (!found.has(key)) found.set(key, { launch: launch.fingerprint, kind, original, parts, held });
      }
    }
  }
  return [...found.values()];
}

/**
 * Returns the launch with a fingerprint for these clients. Some servers list more for clients that can do more, so each
 * set of declared capabilities has its own baseline.
 */
function launchFor(definition: ServerDefinition, declared: string): ReviewedLaunch {
  const launch = describeLaunch(definition);
  if (declared === nothingDeclared) return launch;
  const fingerprint = createHash('sha256').update(`${launch.fingerprint} ${declared}`).digest('hex');
  return { ...launch, fingerprint, declared };
}

const nothingDeclared = capabilitiesKey({});

/** Keeps lists by the fingerprint of the approved launch. A list with held changes is not recalled (S3). */
export function offerMemory(kept: KeptOffers, review: OfferLedger | undefined, redactor: Redactor): OfferMemory {
  const isHeld = (definition: ServerDefinition, { listing, instructions, declared }: RememberedOffer): boolean => {
    if (review?.holdsBack() !== true) return false;
    const changes = review.changesOf(launchFor(definition, declared), reviewedOf(listing, instructions, definition));
    return Object.values(changes).some(({ size }) => size > 0);
  };
  return {
    recall: (definition) => {
      const offer = kept.recall(describeLaunch(definition).fingerprint);
      return offer && !isHeld(definition, offer) ? offer : undefined;
    },
    remember: (definition, offer) =>
      kept.remember(describeLaunch(definition).fingerprint, offer, (text) => redactor.redact(text, text.length)),
    forget: (definition) => kept.forget(describeLaunch(definition).fingerprint),
  };
}

function published(
  { curated: { tools, appTools, prompts } }: Offered,
  changes: OfferChanges,
): Pick<ChangedOffer, 'kind' | 'original' | 'parts'>[] {
  const changeOf = (kind: ReviewedKind, original: string): ReturnType<typeof published> => {
    const parts = changes[kind].get(original);
    return parts ? [{ kind, original, parts }] : [];
  };
  return [
    ...[...tools, ...appTools].flatMap(({ original }) => changeOf('tool', original)),
    ...prompts.flatMap(({ original }) => changeOf('prompt', original)),
    ...changeOf('instructions', ''),
  ];
}

function offersOf({ instructions, definition }: ServingFacts, { listing }: Offered): ReviewedOffers {
  return reviewedOf(listing, instructions, definition);
}

/** Agents read the manual and the overrides of the file, so the review covers them too. */
function reviewedOf(
  { tools, prompts }: ToolListing,
  instructions: string | undefined,
  { manual, overrides }: Pick<ServerDefinition, 'manual' | 'overrides'>,
): ReviewedOffers {
  return {
    tool: tools,
    prompt: prompts?.prompts ?? [],
    instructions: joined(instructions, manual),
    overrides,
  };
}

/** The server's text comes before the manual of the file. */
function joined(said: string | undefined, manual: string | undefined): string | undefined {
  return [said, manual].filter((part) => part).join('\n\n') || undefined;
}
