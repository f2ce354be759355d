/**
 * What the instances of one server list, which need not be the same: some servers offer more to a client that can be
 * asked, or switch tools on when they are called (G3). One list is the *common* one, which all see who have no reason to
 * see another. Invariants: a list that is known already is kept once; nothing is kept for an instance that is gone; the
 * kinds of clients whose lists are remembered are bounded.
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

/** Kinds of clients, by what they declare, whose lists are remembered; the oldest is forgotten. */
const mostKinds = 32;
let nextOffer = 1;
const offers = new WeakMap<ToolListing, Offer>();

/** One list of a server, and what its definition publishes of it. */
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

  /** Does in slices what `curate` then need not do (P10). */
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
  /** Spare instances that nobody has taken, so that what they listed at their start is not for all yet. */
  private readonly spares = new WeakSet<Instance>();
  private commonKind: string;
  /** Whether somebody may be offered something else than the common list. */
  isVaried = false;

  /** @param declared what the clients declared of which the server was told when it listed */
  constructor(
    public common: Offer,
    declared: Instance['declared'],
  ) {
    this.commonKind = capabilitiesKey(declared);
    this.byKind.set(this.commonKind, common);
  }

  /** @param held the instance that is the lease of the audience's conversation */
  of({ declares }: Audience, held: Instance | undefined): Offer {
    return (held && this.byInstance.get(held)) ?? this.byKind.get(declares) ?? this.common;
  }

  /** Returns every list that somebody may be offered, the common one first. */
  all(instances: readonly Instance[]): readonly Offer[] {
    const own = instances.flatMap((instance) => this.byInstance.get(instance) ?? []);
    return [...new Set([this.common, ...this.byKind.values(), ...own])];
  }

  /** The list that this instance gave last. */
  ofInstance(instance: Instance): Offer | undefined {
    return this.byInstance.get(instance);
  }

  /**
   * Notes what an instance lists. Returns whether it is the newest list of all, so that it is to be the common one.
   * What an instance lists when it starts, it lists for all clients like its own; what changes in the instance of one
   * conversation later changes for that conversation alone. What a spare instance lists at its start takes nothing away
   * from the conversations there are: it is for all when one has taken it.
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

  /** Whether what it lists now is for all, and not for the conversation alone that holds it or will. */
  isForAll({ use, client, declared }: Instance): boolean {
    // The next conversation is expected to be like the last, and others may be offered something else.
    if (use.kind === 'spare') return capabilitiesKey(declared) === this.commonKind;
    return use.kind !== 'leased' || client?.audience === undefined;
  }

  /** Returns what an instance listed that was spare until now; undefined for any other, and the second time. */
  takenSpare(instance: Instance): Offer | undefined {
    return this.spares.delete(instance) ? this.byInstance.get(instance) : undefined;
  }

  /** Returns the offer that this list is already, or a new one. */
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

/** Curates what a start listed at the expense of its server, in slices; returns the outcome of the start. */
export async function prepared(
  outcome: ConnectOutcome,
  definition: ServerDefinition,
  report: FilteredToolsReport,
): Promise<ConnectOutcome> {
  if (outcome.kind === 'connected')
    await outcome.connection.share?.run(Offer.of(outcome.listing).prepare(definition, report));
  return outcome;
}
