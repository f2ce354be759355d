/**
 * The lists of the instances of one server. They can differ: some servers offer more to a client with more
 * capabilities, or switch tools on during a call (G3). Clients without a reason to see another list see the *common*
 * one.
 *
 * Invariants: equal lists are kept once; nothing is kept for an instance after its end; the number of kinds of clients
 * is bounded.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { ServerDefinition } from '../config/model.js';
import type { ConnectOutcome, ToolListing } from '../connections/connection.js';
import type { Instance } from '../instances/instance.js';
import { capabilitiesKey, type Audience } from '../protocol/client.js';
import { reviewedPrompt, reviewedTool } from '../approval/offerPrints.js';
import type { Sliced } from '../base/turns.js';
import { curate, curateInSlices, type Curation } from '../tools/curate.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import { isSameList } from '../tools/registry.js';

export type Curated = Extract<Curation, { kind: 'curated' }>;

/** The limit of kinds of clients, by their capabilities. The oldest is forgotten. */
const mostKinds = 32;
let nextOffer = 1;
const offers = new WeakMap<ToolListing, Offer>();

/** One list of a server, and the part of it that a definition publishes. */
export class Offer {
  readonly id = nextOffer++;
  private made:
    | { readonly definition: ServerDefinition; readonly report: FilteredToolsReport; readonly curation: Curation }
    | undefined;

  constructor(readonly listing: ToolListing) {
    offers.set(listing, this);
  }

  static of(listing: ToolListing): Offer {
    return offers.get(listing) ?? new Offer(listing);
  }

  /** Does the work of `curate` ahead, in slices (P10). */
  *prepare(definition: ServerDefinition, report: FilteredToolsReport): Sliced<void> {
    for (const tool of this.listing.tools) {
      reviewedTool(tool);
      yield;
    }
    for (const prompt of this.listing.prompts?.prompts ?? []) {
      reviewedPrompt(prompt);
      yield;
    }
    this.made = { definition, report, curation: yield* curateInSlices(definition, this.listing, report) };
  }

  curate(definition: ServerDefinition, report: FilteredToolsReport): Curation {
    if (this.made?.definition !== definition || this.made.report !== report) {
      this.made = { definition, report, curation: curate(definition, this.listing, report) };
    }
    return this.made.curation;
  }
}

export class Offers {
  private readonly byKind = new BoundedMap<string, Offer>(mostKinds);
  private readonly byInstance = new WeakMap<Instance, Offer>();
  /** The spare instances without a conversation. Their first list is not for all yet. */
  private readonly spares = new WeakSet<Instance>();
  private commonKind: string;
  /** True if a conversation may be offered another list than the common one. */
  isVaried = false;

  /** @param declared the capabilities of clients that the server received before it listed */
  constructor(
    public common: Offer,
    declared: Instance['declared'],
  ) {
    this.commonKind = capabilitiesKey(declared);
    this.byKind.set(this.commonKind, common);
  }

  /** @param held the lease of the audience's conversation */
  of({ declares }: Audience, held: Instance | undefined): Offer {
    return (held && this.byInstance.get(held)) ?? this.byKind.get(declares) ?? this.common;
  }

  /** Returns every list that a conversation may be offered, the common one first. */
  all(instances: readonly Instance[]): readonly Offer[] {
    const own = instances.flatMap((instance) => this.byInstance.get(instance) ?? []);
    return [...new Set([this.common, ...this.byKind.values(), ...own])];
  }

  ofInstance(instance: Instance): Offer | undefined {
    return this.byInstance.get(instance);
  }

  /**
   * Notes a list of an instance. Returns true if it becomes the common list. A list at the start of an instance is for
   * all clients of its kind. A later change in a lease is only for its conversation. The first list of a spare instance
   * counts when a conversation has taken the instance, so that no conversation loses tools before.
   */
  note(instance: Instance, offer: Offer, isStart: boolean): boolean {
    const kind = capabilitiesKey(instance.declared);
    const isUntaken = instance.use.kind === 'spare' && isStart;
    if (isUntaken) this.spares.add(instance);
    const isForAll = !isUntaken && this.isForAll(instance);
    this.byInstance.set(instance, offer);
    if (isForAll || isStart) this.byKind.set(kind, offer);
    if (isForAll) this.commonKind = kind;
    this.isVaried ||= offer !== this.common;
    return isForAll || (isStart && !isUntaken && kind === this.commonKind);
  }

  /** True if its list is for all, and not only for its present or future conversation. */
  isForAll({ use, client, declared }: Instance): boolean {
    // The next conversation is likely to be like the last, and others may be offered something else.
    if (use.kind === 'spare') return capabilitiesKey(declared) === this.commonKind;
    return use.kind !== 'leased' || client?.audience === undefined;
  }

  /** Returns the first list of an instance that was spare until now. Returns it once. */
  takenSpare(instance: Instance): Offer | undefined {
    return this.spares.delete(instance) ? this.byInstance.get(instance) : undefined;
  }

  /** Returns the known offer with an equal list, or a new one. */
  offerOf(listing: ToolListing): Offer {
    const known = [this.common, ...this.byKind.values()].find((one) => isSameListing(one.listing, listing));
    return known ?? Offer.of(listing);
  }
}

function isSameListing(a: ToolListing, b: ToolListing): boolean {
  const rest = ({ tools: _, prompts, resources, ...more }: ToolListing): unknown => [
    more,
    { ...prompts, prompts: undefined },
    { ...resources, resources: undefined, templates: undefined },
  ];
  return (
    isSameList(a.tools, b.tools) &&
    isSameList(a.prompts?.prompts, b.prompts?.prompts) &&
    isSameList(a.resources?.resources, b.resources?.resources) &&
    isSameList(a.resources?.templates, b.resources?.templates) &&
    JSON.stringify(rest(a)) === JSON.stringify(rest(b))
  );
}

/** Curates the list of a start in slices, charged to its server. Returns the outcome of the start. */
export async function prepared(
  outcome: ConnectOutcome,
  definition: ServerDefinition,
  report: FilteredToolsReport,
): Promise<ConnectOutcome> {
  if (outcome.kind === 'connected')
    await outcome.connection.share?.run(Offer.of(outcome.listing).prepare(definition, report));
  return outcome;
}
