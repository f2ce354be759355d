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
  type ReviewedOffer,
  type ReviewedOffers,
} from '../approval/offerPrints.js';
import { appOf } from '../apps/toolMeta.js';
import { sameJson } from '../base/canonicalJson.js';
import { perObject } from '../base/perObject.js';
import type { Sliced } from '../base/turns.js';
import type { OfferedResource, OfferedTemplate, OfferedTool } from '../tools/catalogue.js';
import { curate, curateInSlices, type Curation } from '../tools/curate.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import { bytesOf } from '../tools/tokens.js';
import { isForEveryone, type GivenList, type ListCause } from './placing.js';

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
      this.made = {
        definition,
        report,
        curation: curate(definition, this.listing, report),
      };
    }
    return this.made.curation;
  }
}

/** The lists of the present instances, and which of them is common. */
export class Offers {
  private readonly byInstance = new WeakMap<Instance, Offer>();
  /** The key of the capabilities that were declared for the common list. */
  commonDeclared: string;
  /** True once an instance had another list than the common one. */
  hasOwn = false;

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

  /** Returns what `placeOf` and `isForEveryone` want to know of a list of the instance. */
  given({ use, client, declared }: Instance, cause: ListCause): GivenList {
    return {
      cause,
      use: use.kind,
      hasConversation: client?.listedFor !== undefined,
      declaresSame: capabilitiesKey(declared) === this.commonDeclared,
    };
  }

  /** Remembers the list of an instance. The common list stays, because it may not be replaced. */
  remember(instance: Instance, offer: Offer, list: GivenList): void {
    this.byInstance.set(instance, offer);
    if (isForEveryone(list)) this.commonDeclared = capabilitiesKey(instance.declared);
    if (offer !== this.common) this.hasOwn = true;
  }

  offerOf(listing: ToolListing, instances: readonly Instance[]): Offer {
    return this.all(instances).find((one) => sameJson(one.listing, listing)) ?? Offer.of(listing);
  }
}
