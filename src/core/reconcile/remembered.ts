/**
 * Keeps the offer of a server for the next window. A stand-in publishes it until the server has
 * listed (P8). Calls on a stand-in wait for the start. It never replaces a serving definition.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ServerDefinition } from '../config/model.js';
import type { Connection, ToolListing } from '../connections/connection.js';
import { featuresOf } from '../tools/features.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import { Offer, type Offered } from './offers.js';

export type Spoken = Pick<Connection, 'serverInfo' | 'capabilities' | 'protocolVersion'>;

export function spokenBy({ serverInfo, capabilities, protocolVersion }: Connection): Spoken {
  return { serverInfo, capabilities, protocolVersion };
}

export interface RememberedOffer extends Spoken, Pick<Connection, 'instructions'> {
  /** The time of the list in epoch milliseconds. */
  readonly at: number;
  readonly listing: ToolListing;
  readonly declared: string;
}

/**
 * Keeps the last lists of servers. It decides nothing about approval, but its lists may be
 * published at once.
 */
export interface OfferMemory {
  recall(definition: ServerDefinition): RememberedOffer | undefined;
  remember(definition: ServerDefinition, offer: RememberedOffer): void;
  forget(definition: ServerDefinition): void;
}

/** Equal lists are one object. */
export function isSameOffer(offer: RememberedOffer, other: RememberedOffer): boolean {
  return offer.listing === other.listing && isDeepStrictEqual({ ...offer, at: other.at }, other);
}

export type StandIn = NonNullable<ReturnType<typeof standInOf>>;

/**
 * Returns undefined if two remembered tools would have one name. The server itself has to decide.
 */
export function standInOf(
  definition: ServerDefinition,
  remembered: RememberedOffer,
  report: FilteredToolsReport,
) {
  const {
    listing,
    instructions,
    capabilities,
    protocolVersion,
    declared,
    at: rememberedAt,
  } = remembered;
  const curated = Offer.of(listing).curate(definition, report);
  if (curated.kind === 'refused') return undefined;
  // Another list needs an instance, so there is only one here.
  const offered: Offered = {
    listing,
    curated,
    declared: [declared],
  };
  return {
    definition,
    remembered,
    rememberedAt,
    curated,
    listing,
    instructions,
    spoken: remembered,
    features: featuresOf(capabilities, protocolVersion),
    ownLists: [],
    offeredTo: () => offered,
    everyOffer: () => [offered],
  };
}
