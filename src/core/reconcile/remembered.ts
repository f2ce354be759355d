/** What of a server and its use is kept for the next window, and who keeps it. */
import type { ServerDefinition } from '../config/model.js';
import type { Connection, ToolListing } from '../connections/connection.js';

/** What a server says of itself when it is connected. */
export type Spoken = Pick<Connection, 'serverInfo' | 'capabilities' | 'protocolVersion'>;

export function spokenBy({ serverInfo, capabilities, protocolVersion }: Connection): Spoken {
  return { serverInfo, capabilities, protocolVersion };
}

/** What a server offers and says of itself, as it is kept for the next window. */
export interface RememberedOffer extends Spoken, Pick<Connection, 'instructions'> {
  /** The time in epoch milliseconds when it was listed. */
  readonly at: number;
  readonly listing: ToolListing;
}

/** Keeps what servers listed last. It decides nothing about approval, but what it recalls may be published at once. */
export interface OfferMemory {
  recall(definition: ServerDefinition): RememberedOffer | undefined;
  remember(definition: ServerDefinition, offer: RememberedOffer): void;
  /** Forgets what a launch listed, because it waits for approval. */
  forget(definition: ServerDefinition): void;
}

/** Whether two offers differ at most in when they were listed. */
export function isSameOffer({ at: _, ...offer }: RememberedOffer, { at: __, ...other }: RememberedOffer): boolean {
  return (Object.keys(offer) as (keyof typeof offer)[]).every((key) => offer[key] === other[key]);
}
