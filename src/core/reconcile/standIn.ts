/**
 * The list of a server from an earlier window, published until the server has listed now (P8). A stand-in has no
 * instance, so its calls wait for the start. Invariants: it is only for the launch that listed it; it never replaces a
 * serving definition.
 */
import type { ServerDefinition } from '../config/model.js';
import { featuresOf } from '../tools/features.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import { Offer } from './offers.js';
import type { RememberedOffer } from './remembered.js';
import type { Offered } from './serving.js';

export type StandIn = NonNullable<ReturnType<typeof standInOf>>;

/** Returns undefined if two remembered tools would have one name. The server itself has to decide. */
export function standInOf(definition: ServerDefinition, remembered: RememberedOffer, report: FilteredToolsReport) {
  const { listing, instructions, serverInfo, capabilities, protocolVersion, declared, at: rememberedAt } = remembered;
  const curated = Offer.of(listing).curate(definition, report);
  if (curated.kind === 'refused') return undefined;
  // Another list needs an instance, so there is only one here.
  const offered: Offered = { listing, curated, declared: [declared] };
  return {
    definition,
    remembered,
    rememberedAt,
    curated,
    listing,
    instructions,
    serverInfo,
    features: featuresOf(capabilities, protocolVersion),
    ownLists: [],
    offeredTo: () => offered,
    everyOffer: () => [offered],
  };
}
