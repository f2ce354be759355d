/**
 * What a server offers besides tools, as lists: prompts, resources, templates. Every page, entries as the server gave
 * them; one that is none is named and costs only itself. A list that cannot be had costs neither the others nor the
 * tools: it says why (spec R6, G4).
 */
import type { OfferedPrompt, OfferedResource, OfferedTemplate } from '../tools/catalogue.js';
import { ListError } from './connection.js';
import { isObject } from '../base/isObject.js';
import { shortened } from './jsonRpc.js';

interface Malformed {
  readonly name: string;
  readonly detail: string;
}

export interface PromptListing {
  readonly prompts: readonly OfferedPrompt[];
  readonly malformed: readonly Malformed[];
  /** Why there are not all; what there is stays. */
  readonly failure?: string;
}

export interface ResourceListing {
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  readonly malformed: readonly Malformed[];
  readonly failure?: string;
}

const mostPages = 1_000;
const mostEntries = 50_000;
/** In characters of JSON. */
const largestEntry = 1024 * 1024;

export interface EntryListing<Entry> {
  readonly entries: readonly Entry[];
  readonly malformed: readonly Malformed[];
}

/**
 * @param method of the list, for messages
 * @param key under which the entries stand in a page
 * @param identity what every entry has to have, a text that is not empty
 * @param page the result of the list; rejects when the server fails
 */
export async function listEntries<Entry>(
  method: string,
  key: string,
  identity: string,
  page: (cursor: string | undefined) => Promise<unknown>,
): Promise<EntryListing<Entry>> {
  const entries: Entry[] = [];
  const malformed: Malformed[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const result = await page(cursor);
    const found = isObject(result) ? result[key] : undefined;
    if (!Array.isArray(found)) {
      throw new ListError(
        `The answer to ${method} has no list "${key}": ${shortened(JSON.stringify(result) ?? 'nothing', 200)}`,
      );
    }
    for (const entry of found as unknown[]) {
      const detail = whatIsWrong(entry, identity);
      if (detail === undefined) entries.push(entry as Entry);
      else malformed.push({ name: nameOf(entry, identity, entries.length + malformed.length), detail });
    }
    if (entries.length > mostEntries) throw new ListError(`${method} lists more than ${mostEntries} entries.`);
    const next = (result as { nextCursor?: unknown }).nextCursor;
    if (typeof next !== 'string' || next === '') return { entries, malformed };
    if (seen.has(next)) throw new ListError(`${method} repeats a cursor after ${pages} pages: the list has no end.`);
    if (pages >= mostPages) throw new ListError(`${method} has more than ${mostPages} pages.`);
    seen.add(next);
    cursor = next;
  }
}

function whatIsWrong(entry: unknown, identity: string): string | undefined {
  if (!isObject(entry)) return `is not an object but ${shortened(JSON.stringify(entry), 60)}`;
  const id = entry[identity];
  if (typeof id !== 'string' || id === '') return `has no ${identity}`;
  if (typeof entry['name'] !== 'string') return 'has no name';
  try {
    return JSON.stringify(entry).length > largestEntry ? 'is larger than 1 MiB' : undefined;
  } catch {
    return 'is too deep';
  }
}

function nameOf(entry: unknown, identity: string, index: number): string {
  const name = isObject(entry) ? (entry[identity] ?? entry['name']) : undefined;
  return typeof name === 'string' && name !== '' ? name : `(entry ${index + 1})`;
}
