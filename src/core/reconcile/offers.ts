/**
 * The lists of one server's instances, which may differ (G3g). Without an instance, a conversation
 * sees the *common* list. Invariants: equal lists are kept once; nothing is kept for an instance
 * that is gone.
 */
import type { ServerDefinition, ToolOverrides } from '../config/model.js';
import type { ToolListing } from '../connections/connection.js';
import type { Instance } from '../instances/instance.js';
import { capabilitiesKey } from '../protocol/client.js';
import {
  keyOf,
  mostReviewed,
  reviewedPrompt,
  reviewedResource,
  reviewedTool,
} from '../approval/offerPrints.js';
import type { ReviewedOffer, ReviewedOffers } from '../approval/offerPrints.js';
import { appOf } from '../apps/toolMeta.js';
import { sameJson } from '../base/canonicalJson.js';
import { perObject } from '../base/perObject.js';
import type { Sliced } from '../base/turns.js';
import type { OfferedResource, OfferedTemplate, OfferedTool } from '../tools/catalogue.js';
import { curate, curateInSlices, type Curation } from '../tools/curate.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import { bytesOf } from '../tools/tokens.js';

/** The first of equal names counts (N5). */
export function byKey(offers: Iterable<ReviewedOffer>): ReviewedOffers {
  const listed = new Map<string, ReviewedOffer>();
  for (const offer of offers) {
    const key = keyOf(offer);
    if (!listed.has(key)) listed.set(key, offer);
  }
  return listed;
}

export function* reviewedIn(
  listing: ToolListing,
  overrides?: ToolOverrides,
): Generator<ReviewedOffer> {
  const { tools, prompts } = listing;
  for (const tool of tools) yield reviewedTool(tool, overrides?.get(tool.name));
  for (const prompt of prompts?.prompts ?? []) yield reviewedPrompt(prompt);
  for (const one of [...resourcesToReview(listing), ...pagesOf(tools)]) yield reviewedResource(one);
}

export function resourcesToReview({
  resources: listed,
}: ToolListing): (OfferedResource | OfferedTemplate)[] {
  const { resources = [], templates = [] } = listed ?? {};
  return [...resources.slice(0, mostReviewed), ...templates.slice(0, mostReviewed)];
}

/**
 * Returns the pages of apps. A server need not list them (G8), so their URIs are in the baseline
 * with its tools.
 */
export function pagesOf(tools: readonly OfferedTool[]): OfferedResource[] {
  return tools.flatMap((tool) => pageOf(tool) ?? []);
}

const pageOf = perObject((tool: OfferedTool): OfferedResource | undefined => {
  const uri = appOf(tool);
  return uri === undefined ? undefined : { uri, name: '' };
});

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
    | {
        readonly definition: ServerDefinition;
        readonly report: FilteredToolsReport;
        readonly curation: Curation;
      }
    | undefined;

  static readonly of = perObject((listing: ToolListing) => new Offer(listing));

  private constructor(readonly listing: ToolListing) {}

  /** Does the work of `curate` ahead, in slices (P10). */
  *prepare(definition: ServerDefinition, report: FilteredToolsReport): Sliced<void> {
    for (const offer of reviewedIn(this.listing)) yield void offer;
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
    return [
      ...new Set([
        this.common,
        ...instances.flatMap((instance) => this.byInstance.get(instance) ?? []),
      ]),
    ];
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
   * Notes the list of an instance. Returns true if it becomes the common list. The first list of an
   * instance does if its client declares what the client of the common list does; the first list of
   * a spare instance only when a conversation has taken it. Later changes in the instance of a
   * conversation concern only that conversation.
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

  /**
   * True if its present list is for all, and not only for the conversation that holds it or will
   * hold it.
   */
  isForAll({ use, client, declared }: Instance): boolean {
    // The next conversation is expected to be like the last, and others may be offered something
    // else.
    if (use.kind === 'spare') return capabilitiesKey(declared) === this.commonDeclared;
    return use.kind !== 'leased' || client?.listedFor === undefined;
  }

  /**
   * Returns the first list of an instance that was spare until now; undefined for any other, and
   * the second time.
   */
  takenSpare(instance: Instance): Offer | undefined {
    return this.spares.delete(instance) ? this.byInstance.get(instance) : undefined;
  }

  offerOf(listing: ToolListing, instances: readonly Instance[]): Offer {
    return this.all(instances).find((one) => sameJson(one.listing, listing)) ?? Offer.of(listing);
  }
}
