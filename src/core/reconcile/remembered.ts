/** The data about a server that is kept for the next window. */
import type { ServerDefinition } from '../config/model.js';
import type { Connection, ToolListing } from '../connections/connection.js';

/** A server's description of itself at its connection. */
export type Spoken = Pick<Connection, 'serverInfo' | 'capabilities' | 'protocolVersion'>;

export function spokenBy({ serverInfo, capabilities, protocolVersion }: Connection): Spoken {
  return { serverInfo, capabilities, protocolVersion };
}

/** The offer of a server as it is kept for the next window. */
export interface RememberedOffer extends Spoken, Pick<Connection, 'instructions'> {
  /** The time of the list in epoch milliseconds. */
  readonly at: number;
  readonly listing: ToolListing;
  /** The key of the declared capabilities (see `capabilitiesKey`). */
  readonly declared: string;
}

/** Keeps the last lists of servers. It decides nothing about approval, but its lists may be published at once. */
export interface OfferMemory {
  recall(definition: ServerDefinition): RememberedOffer | undefined;
  remember(definition: ServerDefinition, offer: RememberedOffer): void;
  /** Forgets the list of a launch, because the launch waits for approval. */
  forget(definition: ServerDefinition): void;
}

/** True if two offers differ only in their times. */
export function isSameOffer({ at: _, ...offer }: RememberedOffer, { at: __, ...other }: RememberedOffer): boolean {
  return (Object.keys(offer) as (keyof typeof offer)[]).every((key) => offer[key] === other[key]);
}
