/**
 * Reads and writes what a server listed last, as one text. What is read is foreign text, as it is when its server gives it,
 * and passes the same judgement; a text of which anything is wrong is none.
 */
import { isObject } from '../base/isObject.js';
import { keptFacts } from '../connections/handshake.js';
import { keptListing } from '../connections/listing.js';
import { storedJson } from '../protocol/json.js';
import type { RememberedOffer } from '../reconcile/remembered.js';

const version = 1;
/** No date is later, in epoch milliseconds. */
const latestTime = 8.64e15;
/** What is longer is not kept, in characters. */
export const longestKept = 4 * 1024 * 1024;

/** Returns undefined where it is not to be kept: too long, or with a secret in it. */
export function keptText(offer: RememberedOffer, redact: (text: string) => string): string | undefined {
  const text = JSON.stringify({ version, ...offer });
  if (text.length > longestKept) return undefined;
  // What is masked would be another offer, so all of it waits for the server.
  return redact(text) === text ? text : undefined;
}

export function readKept(text: string): RememberedOffer | undefined {
  const kept = storedJson(text);
  if (!isObject(kept) || kept['version'] !== version) return undefined;
  const { at } = kept;
  if (typeof at !== 'number' || at < 0 || at > latestTime) return undefined;
  const listing = keptListing(kept['listing']);
  const facts = keptFacts(kept);
  return listing && facts && { ...facts, at, listing };
}
