/**
 * Lists the offer of a server. Entries pass through as the server gave them. A malformed entry
 * costs only itself.
 */
import { english } from '../base/language.js';
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type {
  Malformed,
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  OfferedTool,
  PromptListing,
  ResourceListing,
  ToolListing,
} from '../tools/catalogue.js';
import { limited, type Clock } from '../base/clock.js';
import type { LoopShare, Sliced } from '../base/turns.js';
import { asFields, hasFields, isObject, objectIn, type Fields } from '../base/isObject.js';
import { clipped, messageOf } from '../base/text.js';
import { errorCodes } from '../protocol/errors.js';
import { deepestValue } from '../protocol/json.js';
import { lookedAt } from '../tools/schemas.js';
import { ListError, StartTimedOut, type ListOptions, type OfferKind } from './connection.js';
import { inBrief, shortened } from '../protocol/inBrief.js';
import { rightPrompt, rightResource, rightTemplate, rightTool } from '../protocol/shapes.js';

const mostPages = 1000;
/**
 * The limits of one entry and of a whole list, in characters. Anything larger is an attack or an
 * accident.
 */
const largestEntry = 1024 * 1024;
const largestList = 16 * 1024 * 1024;
/** Cursors are kept until the end of the list, to recognise a repeated one. */
const longestCursor = 16 * 1024;
/** This many malformed entries are named; the last of them mentions the number of the others. */
const mostMalformed = 100;

interface ListKind<Entry> {
  readonly what: OfferKind;
  readonly method: string;
  readonly key: string;
  /** The field with the name of an entry, a text and not empty. */
  readonly identity: string;
  readonly most: number;
  readonly read: (entry: unknown) => Entry;
  /** Completes "The entry …" for another fault. */
  readonly whatElse?: ((entry: Fields) => string | undefined) | undefined;
}

function listKind<Entry>(
  key: OfferKind,
  identity: string,
  right: (entry: Entry) => Entry,
): ListKind<Entry> {
  const most = key === 'tools' ? 10_000 : 50_000;
  return {
    what: key,
    method: `${key}/list`,
    key,
    identity,
    most,
    read: (entry) => right(entry as Entry),
  };
}

const tools = listKind<OfferedTool>('tools', 'name', looked);
const prompts = listKind<OfferedPrompt>('prompts', 'name', rightPrompt);
const resources = listKind<OfferedResource>('resources', 'uri', rightResource);
const templates: ListKind<OfferedTemplate> = {
  ...listKind<OfferedTemplate>('resources', 'uriTemplate', rightTemplate),
  method: 'resources/templates/list',
  key: 'resourceTemplates',
};

/** Looks at the schema here, because the list is read in slices (P10). */
function looked(given: OfferedTool): OfferedTool {
  const tool = rightTool(given);
  lookedAt(tool);
  return tool;
}

interface EntryListing<Entry> {
  readonly entries: readonly Entry[];
  readonly malformed: readonly Malformed[];
  /** Why the rest is missing: sentences. */
  readonly failure?: string;
}

/** What has come of a list so far. It counts, even if the list has no end (X3). */
interface Came<Entry> {
  readonly entries: Entry[];
  malformed: readonly Malformed[];
}

const endless = 'the list has no end.';

/**
 * By server and method. An entry listed again stays the same object, so facts about it are found
 * out once.
 */
const listed = new WeakMap<LoopShare, Map<string, ReadonlyMap<string, unknown>>>();

/** @param isCursor false for a `nextCursor` that means the end */
async function listAll<Entry>(
  kind: ListKind<Entry>,
  page: (cursor: string | undefined) => Promise<unknown>,
  { share, isCursor }: Pick<OfferListerDeps, 'share' | 'isCursor'>,
  came: Came<Entry>,
): Promise<void> {
  const { method, key, most } = kind;
  const { entries } = came;
  const malformed: Malformed[] = [];
  const seen = new Set<string>();
  const byMethod = listed.get(share) ?? new Map<string, ReadonlyMap<string, unknown>>();
  listed.set(share, byMethod);
  const before = byMethod.get(method);
  const now = new Map<string, Entry>();
  let total = 0;
  let unnamed = 0;
  let cursor: string | undefined;
  function* read(found: readonly unknown[]): Sliced<void> {
    for (const entry of found) {
      yield;
      const index = entries.length + malformed.length + unnamed;
      if (index >= most) throw new ListError(english`The server lists more than ${most} ${key}.`);
      const size = measured(entry);
      total += size.characters;
      checkSize(key, total);
      const isNamed = malformed.length < mostMalformed;
      // Describing the value of an unnamed entry would take most of the time.
      const isFaulty = !isNamed && !isObject(entry);
      const detail = isFaulty ? '' : (whatIsWrongWith(kind, entry) ?? size.whatIsWrong);
      if (detail === undefined) {
        const json = JSON.stringify(entry);
        const known = now.get(json) ?? (before?.get(json) as Entry | undefined) ?? kind.read(entry);
        now.set(json, known);
        entries.push(known);
      } else if (isNamed) malformed.push({ name: nameOf(kind, entry, index), detail });
      else unnamed += 1;
    }
  }
  for (;;) {
    const known = now.size;
    const length = entries.length;
    const result = await page(cursor);
    const { [key]: found, nextCursor: next } = asFields(result);
    if (!Array.isArray(found)) throw noList(kind, result);
    await share.run(read(found));
    byMethod.set(method, now);
    came.malformed = withCount(malformed, unnamed);
    if (typeof next !== 'string' || !isCursor(next)) return;
    const isRepeated = found.length > 0 && entries.length === length + found.length;
    if (isRepeated && now.size === known) {
      entries.length = length;
      throw repeatsPage(method, seen.size + 1);
    }
    checkCursor(method, next, seen);
    total += next.length;
    seen.add(next);
    cursor = next;
  }
}

function noList({ method, key }: ListKind<unknown>, answer: unknown): ListError {
  return new ListError(
    english`The answer to ${method} has no list of ${key}: ${inBrief(answer, 200)}`,
  );
}

function repeatsPage(method: string, pages: number): ListError {
  return new ListError(english`${method} repeats a page after ${pages} pages: ${endless}`);
}

function checkSize(key: string, total: number): void {
  if (total > largestList)
    throw new ListError(
      english`The server lists more than ${largestList / 1024 / 1024} MiB of ${key}.`,
    );
}

function checkCursor(method: string, next: string, seen: ReadonlySet<string>): void {
  const pages = seen.size + 1;
  if (next.length > longestCursor)
    throw new ListError(english`${method} has a cursor of more than ${longestCursor / 1024} KiB.`);
  if (seen.has(next))
    throw new ListError(
      english`${method} repeats the cursor "${shortened(next, 60)}" after ${pages} pages: ${endless}`,
    );
  if (pages >= mostPages) throw new ListError(english`${method} has more than ${mostPages} pages.`);
}

function withCount(malformed: readonly Malformed[], unnamed: number): readonly Malformed[] {
  const last = malformed.at(-1);
  if (!last || unnamed === 0) return malformed;
  const detail = english`${last.detail}; ${unnamed} more of its entries are left out too`;
  return [...malformed.slice(0, -1), { ...last, detail }];
}

/** Walks without recursion, and no further than the limits of an entry. */
function measured(entry: unknown): {
  readonly characters: number;
  readonly whatIsWrong: string | undefined;
} {
  let characters = 0;
  const left: { readonly value: unknown; readonly depth: number }[] = [{ value: entry, depth: 0 }];
  for (let next = left.pop(); next && characters <= largestEntry; next = left.pop()) {
    const { value, depth } = next;
    characters += typeof value === 'string' ? value.length + 2 : 4;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > deepestValue)
      return { characters, whatIsWrong: english`is more than ${deepestValue} levels deep` };
    // The keys of a long list would take many times its memory.
    const isLong = Array.isArray(value) && value.length > largestEntry / 4;
    const keys = isLong ? [] : Object.keys(value);
    characters += isLong ? largestEntry : keys.length * 4;
    if (characters > largestEntry) break;
    for (const key of keys) {
      characters += key.length;
      left.push({ value: (value as Record<string, unknown>)[key], depth: depth + 1 });
    }
  }
  return {
    characters,
    whatIsWrong: characters > largestEntry ? 'is larger than 1 MiB' : undefined,
  };
}

function whatIsWrongWith(
  { key, identity, whatElse }: ListKind<unknown>,
  entry: unknown,
): string | undefined {
  if (!isObject(entry)) return english`is \`${inBrief(entry, 60)}\`, not an object`;
  const { [identity]: id, name, inputSchema: schema, arguments: args } = entry;
  if (typeof id !== 'string') return english`has no ${identity}`;
  if (id === '') return english`has an empty ${identity}`;
  if (typeof name !== 'string') return 'has no name';
  if (key === 'tools' && !objectIn(schema))
    return schema === undefined || schema === null
      ? 'has no inputSchema'
      : 'has an inputSchema that is not an object';
  // A null argument is left out; the loss of a named one would go unnoticed.
  const isNamed = (one: unknown): boolean =>
    one === null || typeof asFields(one)['name'] === 'string';
  if (key === 'prompts' && Array.isArray(args) && !args.every(isNamed))
    return 'has arguments that are not a list of names';
  return whatElse?.(entry);
}

function nameOf({ identity }: ListKind<unknown>, entry: unknown, index: number): string {
  const name = isObject(entry) ? (entry[identity] ?? entry['name']) : undefined;
  return typeof name === 'string' && name !== '' ? clipped(name, 200) : english`entry ${index + 1}`;
}

export function keptListing(value: unknown): ToolListing | undefined {
  if (!isObject(value)) return undefined;
  const {
    tools: ofTools,
    prompts: ofPrompts,
    resources: ofResources,
    malformed,
  } = value as unknown as ToolListing;
  if (!isListOf(tools, ofTools) || !areMalformed(malformed)) return undefined;
  if (ofPrompts !== undefined && !isPart(ofPrompts, { prompts })) return undefined;
  if (ofResources !== undefined && !isPart(ofResources, { resources, templates })) return undefined;
  return {
    tools: ofTools,
    malformed,
    ...(ofPrompts !== undefined && { prompts: ofPrompts }),
    ...(ofResources !== undefined && { resources: ofResources }),
  };
}

function isPart(value: unknown, kinds: Readonly<Record<string, ListKind<unknown>>>): boolean {
  if (!isObject(value) || !areMalformed(value['malformed'])) return false;
  if (!['undefined', 'string'].includes(typeof value['failure'])) return false;
  return Object.entries(kinds).every(([key, kind]) => isListOf(kind, value[key]));
}

function isListOf(kind: ListKind<unknown>, value: unknown): boolean {
  const isWell = (entry: unknown): boolean =>
    (whatIsWrongWith(kind, entry) ?? measured(entry).whatIsWrong) === undefined &&
    kind.read(entry) === entry;
  return Array.isArray(value) && value.length <= kind.most && value.every(isWell);
}

function areMalformed(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((one) => hasFields(one, { name: 'string', detail: 'string' }))
  );
}

interface OfferListerDeps {
  readonly capabilities: ServerCapabilities;
  readonly clock: Clock;
  readonly share: LoopShare;
  readonly send: (
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
  ) => Promise<unknown>;
  readonly whatIsWrongWithTool?: (tool: Fields) => string | undefined;
  /** Before 2026-07-28, some servers write an empty cursor for none. */
  readonly isCursor: (next: string) => boolean;
  readonly causeOfEnd: () => string | undefined;
}

export class OfferLister {
  private readonly freshUntil = new Map<string, number>();

  constructor(private readonly deps: OfferListerDeps) {}

  takeStale(): OfferKind[] {
    const now = this.deps.clock.now();
    const kinds = [tools, prompts, resources, templates].filter(({ method, what }) => {
      const capability = this.deps.capabilities[what];
      return capability?.listChanged !== true && (this.freshUntil.get(method) ?? Infinity) <= now;
    });
    for (const { method } of kinds) this.freshUntil.delete(method);
    return [...new Set(kinds.map(({ what }) => what))];
  }

  async listTools(options: ListOptions): Promise<ToolListing> {
    options.signal.throwIfAborted();
    if (!isObject(this.deps.capabilities.tools))
      return {
        tools: [],
        malformed: [],
        declaresNone: true,
      };
    const { entries, malformed, failure } = await this.list(
      { ...tools, whatElse: this.deps.whatIsWrongWithTool },
      options,
    );
    return { tools: entries, malformed, ...(failure !== undefined && { incomplete: failure }) };
  }

  async listPrompts(options: ListOptions): Promise<PromptListing | undefined> {
    if (!isObject(this.deps.capabilities.prompts)) return undefined;
    const { entries, ...rest } = await this.listWhatComes(prompts, options);
    return { prompts: entries, ...rest };
  }

  async listResources(options: ListOptions): Promise<ResourceListing | undefined> {
    if (!isObject(this.deps.capabilities.resources)) return undefined;
    const [plain, templated] = await Promise.all([
      this.listWhatComes(resources, options),
      this.listWhatComes(templates, options),
    ]);
    const failure = plain.failure ?? templated.failure;
    return {
      resources: plain.entries,
      templates: templated.entries,
      malformed: [...plain.malformed, ...templated.malformed],
      ...(failure !== undefined && { failure }),
    };
  }

  private async listWhatComes<Entry>(
    kind: ListKind<Entry>,
    options: ListOptions,
  ): Promise<EntryListing<Entry>> {
    try {
      return await this.list(kind, options);
    } catch (error) {
      if (!(error instanceof ListError)) throw error;
      const none = { entries: [], malformed: [] };
      // Many servers declare features without having them, and resources without templates.
      const { code } = asFields(error.cause);
      return code === errorCodes.methodNotFound ? none : { ...none, failure: error.message };
    }
  }

  private async list<Entry>(
    kind: ListKind<Entry>,
    { signal, timeoutMs }: ListOptions,
  ): Promise<EntryListing<Entry>> {
    const { what, method } = kind;
    const { clock, send, causeOfEnd } = this.deps;
    signal.throwIfAborted();
    this.freshUntil.delete(method);
    const page = async (cursor: string | undefined, over: AbortSignal): Promise<unknown> => {
      const result = await send(method, cursor === undefined ? undefined : { cursor }, over);
      const ttlMs = asFields(result)['ttlMs'];
      // The first page to go stale counts. Zero says nothing about the next request.
      if (typeof ttlMs === 'number' && ttlMs > 0)
        this.freshUntil.set(
          method,
          Math.min(clock.now() + ttlMs, this.freshUntil.get(method) ?? Infinity),
        );
      return result;
    };
    const late = new ListError(
      english`The server did not list its ${what} within ${timeoutMs / 1000} s.`,
    );
    const came: Came<Entry> = { entries: [], malformed: [] };
    const run = (over: AbortSignal): Promise<void> =>
      listAll(kind, (at) => page(at, over), this.deps, came);
    try {
      await limited(clock, timeoutMs, signal, run, late);
      return came;
    } catch (error) {
      const cause = causeOfEnd();
      const isLate = signal.reason instanceof StartTimedOut;
      const isKept = came.entries.length > 0 && cause === undefined && (isLate || !signal.aborted);
      if (!isKept) signal.throwIfAborted();
      if (isKept && isLate) return { ...came, failure: late.message };
      const isListError = error instanceof ListError;
      if (!isListError && cause !== undefined)
        throw new ListError(english`The connection ended while it listed its ${what}. ${cause}`);
      const failure = isListError
        ? error
        : new ListError(english`${method} failed: ${messageOf(error)}`, { cause: error });
      if (isKept) return { ...came, failure: failure.message };
      throw failure;
    }
  }
}
