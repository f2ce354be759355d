/**
 * Keeps the accepted texts of each launch, so that a person sees the earlier text beside a change
 * (S3).
 */
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject, isTexts } from '../base/isObject.js';
import { fileOfLaunch, launchOfFile, putLaunchFile } from '../base/privateFile.js';
import { readTextFile } from '../base/textFile.js';
import { storedJson } from '../protocol/json.js';
import type { OfferPrint, OfferText } from './offerPrints.js';

export type KeptText = { readonly print: OfferPrint; readonly text: OfferText };

export type OfferTexts = ReturnType<typeof offerTextsIn>;

/** The limit for one launch. The longest texts are dropped first. */
const mostText = 8 << 20;
const largestFile = 64 << 20;
const ofOneTurn = 64;

export function offerTextsIn(folder: string) {
  return {
    read: async (launch: string): Promise<ReadonlyMap<string, KeptText>> => {
      const text = await readTextFile(fileOfLaunch(folder, launch), largestFile).catch(() => '[]');
      return new Map(readEntries(text));
    },
    write: async (launch: string, texts: ReadonlyMap<string, KeptText>): Promise<void> =>
      putLaunchFile(folder, launch, await written(texts)),
    retain: async (launches: ReadonlySet<string>): Promise<void> => {
      const files = await readdir(folder).catch(() => []);
      const surplus = files.filter((name) => {
        const launch = launchOfFile(name);
        return launch !== undefined && !launches.has(launch);
      });
      await Promise.all(surplus.map((name) => rm(path.join(folder, name), { force: true })));
    },
  };
}

async function written(texts: ReadonlyMap<string, KeptText>): Promise<string> {
  const entries: string[] = [];
  for (const entry of texts) {
    entries.push(JSON.stringify(entry));
    // A server may have thousands of tools (P10).
    if (entries.length % ofOneTurn === 0) await nextTurn();
  }
  let left = mostText;
  const kept = entries
    .sort((a, b) => a.length - b.length)
    .filter(({ length }) => (left -= length) >= 0);
  return `[${kept.join()}]`;
}

function readEntries(text: string): [string, KeptText][] {
  const entries = storedJson(text);
  return Array.isArray(entries) ? entries.filter(isEntry) : [];
}

function isEntry(entry: unknown): entry is [string, KeptText] {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string' || !isObject(entry[1])) return false;
  const { print, text } = entry[1];
  return (
    isTexts(print) &&
    Array.isArray(text) &&
    text.every((pair) => isTexts(pair) && pair.length === 2)
  );
}
