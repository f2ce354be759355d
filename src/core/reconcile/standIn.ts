/**
 * The list of a server from an earlier window, published until the server has listed now (P8). A stand-in has no
 * instance, so its calls wait for the start. Invariants: it is only for the launch that listed it; it never replaces a
 * serving definition.
 */
import type { ServerDefinition } from '../config/model.js';
import type { ToolListing } from '../connections/connection.js';
import { featuresOf, type ServerFeatures } from '../tools/features.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import { Offer, type Curated } from './offers.js';
import type { RememberedOffer } from './remembered.js';
import type { Offered } from './serving.js';

export class StandIn {
  readonly features: ServerFeatures;
  private readonly offer: Offer;

  private constructor(
    public definition: ServerDefinition,
    private readonly remembered: RememberedOffer,
    public curated: Curated,
    offer: Offer,
  ) {
    this.features = featuresOf(remembered.capabilities, remembered.protocolVersion);
    this.offer = offer;
  }

  /** Returns undefined if two remembered tools would have one name. The server itself has to decide. */
  static of(
    definition: ServerDefinition,
    remembered: RememberedOffer,
    report: FilteredToolsReport,
  ): StandIn | undefined {
    const offer = new Offer(remembered.listing);
    const curated = offer.curate(definition, report);
    return curated.kind === 'curated' ? new StandIn(definition, remembered, curated, offer) : undefined;
  }

  get rememberedAt(): number {
    return this.remembered.at;
  }

  get serverInfo(): RememberedOffer['serverInfo'] {
    return this.remembered.serverInfo;
  }

  get instructions(): string | undefined {
    return this.remembered.instructions;
  }

  get listing(): ToolListing {
    return this.remembered.listing;
  }

  /** Another list needs an instance, so there is only one here. */
  offeredTo(): Offered {
    return { listing: this.listing, curated: this.curated };
  }

  readonly ownLists = [];

  everyOffer(): readonly Offered[] {
    return [this.offeredTo()];
  }

  /** Takes a definition of the same launch. Returns false if it must end. */
  recurate(definition: ServerDefinition, report: FilteredToolsReport): boolean {
    const curated = this.offer.curate(definition, report);
    if (curated.kind === 'refused') return false;
    this.definition = definition;
    this.curated = curated;
    return true;
  }
}
