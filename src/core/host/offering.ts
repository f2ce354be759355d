/**
 * What a server would publish, and what of it is not as it was when the server was approved (S3). A server may offer one
 * conversation what it offers no other, so the review looks at every list that somebody is offered.
 */
import { describeLaunch, type LaunchDescription } from '../approval/fingerprint.js';
import type { ChangedOffer, OfferChanges, OfferReview, ReviewedKind, ReviewedOffers } from '../approval/offerPrints.js';
import type { Redactor } from '../base/log.js';
import type { ConfiguredServer, ServerDefinition, ServerPlaces } from '../config/model.js';
import type { ToolListing } from '../connections/connection.js';
import type { OfferMemory, RememberedOffer } from '../reconcile/remembered.js';
import type { KeptOffers } from './hostContract.js';
import type { Offered, Serving } from '../reconcile/serving.js';
import type { Candidate } from '../tools/registry.js';

export interface ServingFacts extends Pick<
  Serving,
  'definition' | 'instructions' | 'features' | 'offeredTo' | 'everyOffer' | 'ownLists'
> {
  /** Is there where it is what was listed in an earlier window. */
  readonly rememberedAt?: number;
}

export interface Offering {
  readonly server: ConfiguredServer;
  readonly facts: ServingFacts;
  readonly offered: Offered;
}

export function placesOf(server: ConfiguredServer): ServerPlaces {
  return server.kind === 'valid' ? server.definition.places : server.places;
}

/** Returns what a server publishes unless a name is taken; what changed is not there if the person wants it held back. */
export function candidateOf(
  { server, facts, offered }: Offering,
  shortName: string,
  review: OfferReview | undefined,
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
    places: placesOf(server),
  };
  if (!review?.holdsBack()) return candidate;
  const changes = review.changesOf(describeLaunch(definition), offersOf(facts, offered));
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

/** Returns what changed of what the filters let through, in the server's order. */
export function changedOffers(
  facts: ServingFacts,
  review: OfferReview,
  redact: (text: string) => string,
): readonly ChangedOffer[] {
  const launch = describeLaunch(facts.definition);
  const all = facts.everyOffer().map((offered) => ({ offered, offers: offersOf(facts, offered) }));
  // What is remembered is compared, and is never the base line.
  if (facts.rememberedAt === undefined) {
    review.note(
      launch,
      all.map(({ offers }) => offers),
      redact,
    );
  }
  const held = review.holdsBack();
  const found = new Map<string, ChangedOffer>();
  for (const { offered, offers } of all) {
    for (const { kind, original, parts } of published(offered, review.changesOf(launch, offers))) {
      const key = `${kind} ${original}`;
      if (!found.has(key)) found.set(key, { launch: launch.fingerprint, kind, original, parts, held });
    }
  }
  return [...found.values()];
}

/** Keeps what servers listed by the fingerprint of what was approved. What is held back is not recalled (S3). */
export function offerMemory(kept: KeptOffers, review: OfferReview | undefined, redactor: Redactor): OfferMemory {
  const isHeld = (
    launch: LaunchDescription,
    definition: ServerDefinition,
    { listing, instructions }: RememberedOffer,
  ): boolean =>
    review?.holdsBack() === true &&
    Object.values(review.changesOf(launch, reviewedOf(listing, instructions, definition))).some(({ size }) => size > 0);
  return {
    recall: (definition) => {
      const launch = describeLaunch(definition);
      const offer = kept.recall(launch.fingerprint);
      return offer && !isHeld(launch, definition, offer) ? offer : undefined;
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

/** The file's own text about the toolset is told to agents with the server's, so it is reviewed with it. */
function reviewedOf(
  { tools, prompts }: ToolListing,
  instructions: string | undefined,
  { manual }: Pick<ServerDefinition, 'manual'>,
): ReviewedOffers {
  return {
    tool: tools,
    prompt: prompts?.prompts ?? [],
    instructions: joined(instructions, manual),
  };
}

/** What the server says comes before what the file says. */
function joined(said: string | undefined, manual: string | undefined): string | undefined {
  return [said, manual].filter((part) => part).join('\n\n') || undefined;
}
