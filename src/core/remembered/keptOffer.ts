/**
 * Writes the last list of a server as one text, and reads it as foreign text: one with any error is
 * dropped.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject } from '../base/isObject.js';
import { keptFacts } from '../connections/handshake.js';
import { keptListing } from '../connections/listing.js';
import { storedJson } from '../protocol/json.js';
import type { RememberedOffer } from '../reconcile/remembered.js';

const version = 1;
/** The end of time for `Date`. */
const latestTime = 8.64e15;
export const longestKept = 4 * 1024 * 1024;

/** To look for secrets in a longer one would hold up the event loop. */
const longestPart = 256 * 1024;
const ofOneTurn = 128 * 1024;

export async function keptText(
  offer: RememberedOffer,
  redact: (text: string) => string,
): Promise<string | undefined> {
  const pieces: string[] = [];
  let length = 0;
  let looked = 0;
  for (const piece of piecesOf(offer)) {
    length += piece.length;
    if (piece.length > longestPart || length > longestKept) return undefined;
    // An offer with a mask would be another offer, so nothing is kept.
    if (redact(piece) !== piece) return undefined;
    pieces.push(piece);
    looked += piece.length;
    if (looked < ofOneTurn) continue;
    looked = 0;
    await nextTurn();
  }
  return pieces.join('');
}

function* piecesOf({ listing, ...facts }: RememberedOffer): Generator<string> {
  yield `${JSON.stringify({ version, ...facts }).slice(0, -1)},"listing":`;
  yield* listed(listing);
  yield '}';
}

function* listed(value: object): Generator<string> {
  const isList = Array.isArray(value);
  yield isList ? '[' : '{';
  let comma = '';
  for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
    if (inner === undefined) continue;
    const before = isList ? comma : `${comma}${JSON.stringify(key)}:`;
    comma = ',';
    if (isList || typeof inner !== 'object' || inner === null) yield before + JSON.stringify(inner);
    else {
      yield before;
      yield* listed(inner);
    }
  }
  yield isList ? ']' : '}';
}

export function readKept(text: string): RememberedOffer | undefined {
  const kept = storedJson(text);
  if (!isObject(kept) || kept['version'] !== version) return undefined;
  const { at, declared } = kept;
  if (typeof at !== 'number' || at < 0 || at > latestTime) return undefined;
  const listing = keptListing(kept['listing']);
  const facts = keptFacts(kept);
  return listing && facts && typeof declared === 'string'
    ? {
        ...facts,
        at,
        listing,
        declared,
      }
    : undefined;
}
