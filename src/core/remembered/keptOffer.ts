/** Writes the last list of a server as one text, and reads it as foreign text: one with any error is dropped. */
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

/** A piece of the text, and its searched JSON. The JSON is empty if the piece has no text of the server. */
interface Part {
  readonly text: string;
  readonly json: string;
}

export async function keptText(offer: RememberedOffer, redact: (text: string) => string): Promise<string | undefined> {
  const pieces: string[] = [];
  let length = 0;
  let looked = 0;
  for (const { text, json } of partsOf(offer)) {
    length += text.length;
    if (json.length > longestPart || length > longestKept) return undefined;
    // An offer with a mask would be another offer, so nothing is kept.
    if (redact(json) !== json) return undefined;
    pieces.push(text);
    looked += json.length;
    if (looked < ofOneTurn) continue;
    looked = 0;
    await nextTurn();
  }
  return pieces.join('');
}

function* partsOf({ listing, ...facts }: RememberedOffer): Generator<Part> {
  const json = JSON.stringify({ version, ...facts });
  yield { text: `${json.slice(0, -1)},"listing":`, json };
  yield* listed(listing);
  yield { text: '}', json: '' };
}

function* listed(value: object): Generator<Part> {
  const isList = Array.isArray(value);
  let before = isList ? '[' : '{';
  for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
    if (inner === undefined) continue;
    if (!isList) before += `${JSON.stringify(key)}:`;
    if (isList || !(isObject(inner) || Array.isArray(inner))) {
      const json = JSON.stringify(inner);
      yield { text: before + json, json };
    } else {
      yield { text: before, json: '' };
      yield* listed(inner);
    }
    before = ',';
  }
  yield { text: (before === ',' ? '' : before) + (isList ? ']' : '}'), json: '' };
}

export function readKept(text: string): RememberedOffer | undefined {
  const kept = storedJson(text);
  if (!isObject(kept) || kept['version'] !== version) return undefined;
  const { at, declared } = kept;
  if (typeof at !== 'number' || at < 0 || at > latestTime) return undefined;
  const listing = keptListing(kept['listing']);
  const facts = keptFacts(kept);
  return listing && facts && typeof declared === 'string' ? { ...facts, at, listing, declared } : undefined;
}
