/** Keeps the accepted texts of each launch, so that a person sees the earlier text beside a change (S3). */
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileOfLaunch, launchOfFile, putLaunchFile } from '../base/privateFile.js';
import { readTextFile } from '../base/textFile.js';
import { storedJson } from '../protocol/json.js';
import type { OfferPrint, OfferText } from './offerPrints.js';

export type KeptText = { readonly print: OfferPrint; readonly text: OfferText };

export interface OfferTexts {
  read(launch: string): Promise<ReadonlyMap<string, KeptText>>;
  write(launch: string, texts: ReadonlyMap<string, KeptText>): Promise<void>;
  retain(launches: ReadonlySet<string>): Promise<void>;
}

const mebibyte = 1024 * 1024;
/** The limit for one launch. The longest texts are dropped first. */
const mostText = 8 * mebibyte;
const largestFile = 64 * mebibyte;

export function offerTextsIn(folder: string): OfferTexts {
  return {
    read: async (launch) => {
      const text = await readTextFile(fileOfLaunch(folder, launch), largestFile).catch(() => '[]');
      return new Map(readEntries(text));
    },
    write: (launch, texts) => putLaunchFile(folder, launch, JSON.stringify(withinLimit(texts))),
    retain: async (launches) => {
      const files = await readdir(folder).catch(() => []);
      const surplus = files.filter((name) => {
        const launch = launchOfFile(name);
        return launch !== undefined && !launches.has(launch);
      });
      await Promise.all(surplus.map((name) => rm(path.join(folder, name), { force: true })));
    },
  };
}

function withinLimit(texts: ReadonlyMap<string, KeptText>): [string, KeptText][] {
  const sized = [...texts].map((entry) => ({ entry, size: JSON.stringify(entry).length }));
  let left = mostText;
  return sized
    .sort((a, b) => a.size - b.size)
    .filter(({ size }) => (left -= size) >= 0)
    .map(({ entry }) => entry);
}

function readEntries(text: string): [string, KeptText][] {
  const entries = storedJson(text);
  if (!Array.isArray(entries)) return [];
  return (entries as unknown[]).filter(
    (entry): entry is [string, KeptText] =>
      Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string' && isKept(entry[1]),
  );
}

function isKept(value: unknown): value is KeptText {
  const { print, text } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isPair = (pair: unknown): boolean => isTexts(pair) && pair.length === 2;
  return isTexts(print) && Array.isArray(text) && text.every(isPair);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
