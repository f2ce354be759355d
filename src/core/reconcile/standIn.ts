/**
 * What a server listed last, in another window, published until it has listed now (P8). A stand-in has no instance: its calls
 * wait for the start. Invariants: it stands for the launch that listed it and for no other; it never replaces what serves.
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

  /** Returns undefined where two of the remembered tools would have one name: the server itself has to say whether. */
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

  /** All are offered the same: who is offered something else has an instance. */
  offeredTo(): Offered {
    return { listing: this.listing, curated: this.curated };
  }

  readonly ownLists = [];

  everyOffer(): readonly Offered[] {
    return [this.offeredTo()];
  }

  /** Takes a definition of the same launch. Returns whether it goes on. */
  recurate(definition: ServerDefinition, report: FilteredToolsReport): boolean {
    const curated = this.offer.curate(definition, report);
    if (curated.kind === 'refused') return false;
    this.definition = definition;
    this.curated = curated;
    return true;
  }
}
