/**
 * The lists of one server's instances, which may differ (G3g). Without an instance, a conversation sees the *common*
 * list. Invariants: equal lists are kept once; nothing is kept for an instance that is gone.
 */
import type { ServerDefinition } from '../config/model.js';
import type { ToolListing } from '../connections/connection.js';
import type { Instance } from '../instances/instance.js';
import { capabilitiesKey } from '../protocol/client.js';
import { mostReviewed, reviewedPrompt, reviewedResource, reviewedTool } from '../approval/offerPrints.js';
import { sameJson } from '../base/canonicalJson.js';
import { perObject } from '../base/perObject.js';
import type { Sliced } from '../base/turns.js';
import { curate, curateInSlices, type Curation } from '../tools/curate.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import { bytesOf } from '../tools/tokens.js';

export type Curated = Extract<Curation, { kind: 'curated' }>;

export interface Offered {
  readonly listing: ToolListing;
  readonly curated: Curated;
  /** The keys of the declared capabilities of its instances (see `capabilitiesKey`). */
  readonly declared: readonly string[];
  /** Set if the list is not the common one. Equal lists have equal numbers. */
  readonly special?: number;
}

let nextOffer = 1;

export class Offer {
  readonly id = nextOffer++;
  private made:
    | { readonly definition: ServerDefinition; readonly report: FilteredToolsReport; readonly curation: Curation }
    | undefined;

  static readonly of = perObject((listing: ToolListing) => new Offer(listing));

  private constructor(readonly listing: ToolListing) {}

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
    const { resources = [], templates = [] } = this.listing.resources ?? {};
    for (const one of [...resources.slice(0, mostReviewed), ...templates.slice(0, mostReviewed)]) {
      reviewedResource(one);
      yield;
    }
    const curation = yield* curateInSlices(definition, this.listing, report);
    this.made = { definition, report, curation };
    const published = curation.kind === 'curated' ? curation.tools.map(({ tool }) => tool) : [];
    for (const tool of [...this.listing.tools, ...published]) {
      bytesOf(tool);
      yield;
    }
  }

  curate(definition: ServerDefinition, report: FilteredToolsReport): Curation {
    if (this.made?.definition !== definition || this.made.report !== report) {
      this.made = { definition, report, curation: curate(definition, this.listing, report) };
    }
    return this.made.curation;
  }
}

export class Offers {
  private readonly byInstance = new WeakMap<Instance, Offer>();
  /** Spare instances that nobody has taken. Their first list is not for all yet. */
  private readonly spares = new WeakSet<Instance>();
  commonDeclared: string;
  isVaried = false;

  constructor(
    public common: Offer,
    declared: Instance['declared'],
  ) {
    this.commonDeclared = capabilitiesKey(declared);
  }

  all(instances: readonly Instance[]): readonly Offer[] {
    return [...new Set([this.common, ...instances.flatMap((instance) => this.byInstance.get(instance) ?? [])])];
  }

  declaredOf(offer: Offer, instances: readonly Instance[]): readonly string[] {
    const own = instances.filter((instance) => this.byInstance.get(instance) === offer);
    const common = offer === this.common ? [this.commonDeclared] : [];
    return [...new Set([...common, ...own.map(({ declared }) => capabilitiesKey(declared))])];
  }

  ofInstance(instance: Instance): Offer | undefined {
    return this.byInstance.get(instance);
  }

  /**
   * Notes the list of an instance. Returns true if it becomes the common list. The first list of an instance does if its
   * client declares what the client of the common list does; the first list of a spare instance only when a conversation
   * has taken it. Later changes in the instance of a conversation concern only that conversation.
   */
  note(instance: Instance, offer: Offer, isStart: boolean): boolean {
    const declared = capabilitiesKey(instance.declared);
    const isUntaken = instance.use.kind === 'spare' && isStart;
    if (isUntaken) this.spares.add(instance);
    const isForAll = !isUntaken && this.isForAll(instance);
    this.byInstance.set(instance, offer);
    if (isForAll) this.commonDeclared = declared;
    this.isVaried ||= offer !== this.common;
    return isForAll || (isStart && !isUntaken && declared === this.commonDeclared);
  }

  /** True if its present list is for all, and not only for the conversation that holds it or will hold it. */
  isForAll({ use, client, declared }: Instance): boolean {
    // The next conversation is expected to be like the last, and others may be offered something else.
    if (use.kind === 'spare') return capabilitiesKey(declared) === this.commonDeclared;
    return use.kind !== 'leased' || client?.listedFor === undefined;
  }

  /** Returns the first list of an instance that was spare until now; undefined for any other, and the second time. */
  takenSpare(instance: Instance): Offer | undefined {
    return this.spares.delete(instance) ? this.byInstance.get(instance) : undefined;
  }

  offerOf(listing: ToolListing, instances: readonly Instance[]): Offer {
    return this.all(instances).find((one) => sameJson(one.listing, listing)) ?? Offer.of(listing);
  }
}
