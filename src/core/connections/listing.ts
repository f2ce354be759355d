/**
 * All pages of a server's tools as one list. Entries pass through as the server gave them; one that is no tool is named
 * and costs only itself. Pure but for the page function.
 */
import type { OfferedTool } from '../tools/catalogue.js';
import {
  ListError,
  type ListOptions,
  type Malformed,
  type PromptListing,
  type ResourceListing,
  type ToolListing,
} from './connection.js';
import { isObject } from '../base/isObject.js';
import { shortened } from './jsonRpc.js';
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import { errorCodes } from '../protocol/errors.js';
import { rpcMessage } from './outcomes.js';

const mostPages = 1000;
/** In characters, of one tool and of the whole list: what is larger is an attack or an accident. */
const largestTool = 1024 * 1024;
const largestList = 64 * 1024 * 1024;
/** Of one tool; what is deeper cannot be written as JSON again. */
const deepestTool = 256;
const mostTools = 10_000;

/** @param page the result of `tools/list`; rejects when the server fails */
export async function listAllTools(page: (cursor: string | undefined) => Promise<unknown>): Promise<ToolListing> {
  const tools: OfferedTool[] = [];
  const malformed: { name: string; detail: string }[] = [];
  const seen = new Set<string>();
  let total = 0;
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const result = await page(cursor);
    const entries = isObject(result) ? result['tools'] : undefined;
    if (!Array.isArray(entries)) {
      throw new ListError(
        `The answer to tools/list has no list of tools: ${shortened(JSON.stringify(result) ?? 'nothing', 200)}`,
      );
    }
    for (const entry of entries as unknown[]) {
      const size = measured(entry);
      const detail = whatIsWrong(entry) ?? size.trouble;
      total += size.characters;
      if (detail === undefined) tools.push(withoutNulls(entry as OfferedTool));
      else malformed.push({ name: nameOf(entry, tools.length + malformed.length), detail });
    }
    if (total > largestList) throw new ListError('The server lists more than 64 MiB of tools.');
    if (tools.length > mostTools) throw new ListError(`The server lists more than ${mostTools} tools.`);
    const next = (result as { nextCursor?: unknown }).nextCursor;
    // An empty cursor is how some servers write that there is none.
    if (typeof next !== 'string' || next === '') return { tools, malformed };
    if (seen.has(next)) {
      throw new ListError(`tools/list repeats the cursor ${quoted(next)} after ${pages} pages: the list has no end.`);
    }
    if (pages >= mostPages) throw new ListError(`tools/list has more than ${mostPages} pages.`);
    seen.add(next);
    cursor = next;
  }
}

/** Walks without recursion, and no further than the limits. */
function measured(entry: unknown): { readonly characters: number; readonly trouble: string | undefined } {
  let characters = 0;
  const left: { readonly value: unknown; readonly depth: number }[] = [{ value: entry, depth: 0 }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, depth } = next;
    characters += typeof value === 'string' ? value.length + 2 : 4;
    if (typeof value === 'object' && value !== null) {
      if (depth > deepestTool) return { characters, trouble: `is more than ${deepestTool} levels deep` };
      const keys = Object.keys(value);
      characters += keys.length * 4;
      if (characters > largestTool) break;
      for (const key of keys) {
        characters += key.length;
        left.push({ value: (value as Record<string, unknown>)[key], depth: depth + 1 });
      }
    }
    if (characters > largestTool) break;
  }
  return { characters, trouble: characters > largestTool ? 'is larger than 1 MiB' : undefined };
}

function whatIsWrong(entry: unknown): string | undefined {
  if (!isObject(entry)) return `is not an object but ${shortened(JSON.stringify(entry), 60)}`;
  const { name, description, inputSchema } = entry;
  if (typeof name !== 'string') return 'has no name';
  if (name === '') return 'has an empty name';
  if (!isObject(inputSchema))
    return inputSchema === undefined ? 'has no inputSchema' : 'has an inputSchema that is no object';
  if (!(description === undefined || description === null || typeof description === 'string')) {
    return 'has a description that is no text';
  }
  return undefined;
}

function nameOf(entry: unknown, index: number): string {
  const name = isObject(entry) ? entry['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : `(entry ${index + 1})`;
}

/** Some servers write null for what they leave out; a strict reader behind us would refuse the whole list for it. */
const optionalFields = ['title', 'description', 'outputSchema', 'annotations', 'icons', 'execution', '_meta'];

function withoutNulls(tool: OfferedTool): OfferedTool {
  const fields = tool as Record<string, unknown>;
  if (!optionalFields.some((key) => fields[key] === null)) return tool;
  const kept = Object.entries(fields).filter(([key, value]) => value !== null || !optionalFields.includes(key));
  return Object.fromEntries(kept) as OfferedTool;
}

function quoted(text: string): string {
  return `"${shortened(text, 60)}"`;
}

/**
 * Asks one server for what it offers: tools, prompts, resources and templates, every page of each. What it has not
 * declared is not asked for. Only the tools can fail as a whole; of the rest a list that fails says why.
 */

interface OfferListerParts {
  readonly capabilities: ServerCapabilities;
  readonly clock: Clock;
  readonly send: (method: string, params: object | undefined, signal: AbortSignal) => Promise<unknown>;
  /** In words; undefined while the connection lives. */
  readonly causeOfEnd: () => string | undefined;
}

export class OfferLister {
  constructor(private readonly parts: OfferListerParts) {}

  async listTools(options: ListOptions): Promise<ToolListing> {
    options.signal.throwIfAborted();
    if (!isObject(this.parts.capabilities.tools)) return { tools: [], malformed: [] };
    return await this.pages('tools', 'tools/list', options, listAllTools);
  }

  async listPrompts(options: ListOptions): Promise<PromptListing | undefined> {
    if (!isObject(this.parts.capabilities.prompts)) return undefined;
    const { entries, ...rest } = await this.entries<PromptListing['prompts'][number]>(
      ['prompts', 'prompts/list', 'prompts', 'name'],
      options,
    );
    return { prompts: entries, ...rest };
  }

  async listResources(options: ListOptions): Promise<ResourceListing | undefined> {
    if (!isObject(this.parts.capabilities.resources)) return undefined;
    const [resources, templates] = await Promise.all([
      this.entries<ResourceListing['resources'][number]>(['resources', 'resources/list', 'resources', 'uri'], options),
      this.entries<ResourceListing['templates'][number]>(
        ['resources', 'resources/templates/list', 'resourceTemplates', 'uriTemplate'],
        options,
      ),
    ]);
    const failure = resources.failure ?? templates.failure;
    return {
      resources: resources.entries,
      templates: templates.entries,
      malformed: [...resources.malformed, ...templates.malformed],
      ...(failure !== undefined && { failure }),
    };
  }

  private async entries<Entry>(
    [what, method, key, identity]: readonly [string, string, string, string],
    options: ListOptions,
  ): Promise<EntryListing<Entry> & { readonly failure?: string }> {
    try {
      return await this.pages(what, method, options, (page) => listEntries<Entry>(method, key, identity, page));
    } catch (error) {
      if (!(error instanceof ListError)) throw error;
      const none = { entries: [], malformed: [] };
      // Many servers declare what they do not have, and resources without templates.
      const { code } = (error.cause ?? {}) as { code?: unknown };
      return code === errorCodes.methodNotFound ? none : { ...none, failure: error.message };
    }
  }

  /** @param what is listed, for messages. */
  private async pages<Listed>(
    what: string,
    method: string,
    { signal, timeoutMs }: ListOptions,
    all: (page: (cursor: string | undefined) => Promise<unknown>) => Promise<Listed>,
  ): Promise<Listed> {
    signal.throwIfAborted();
    // One for each page: the client never takes its listeners back, and would cancel pages that came long ago.
    let page = new AbortController();
    let timedOut = false;
    const aborted = (): void => page.abort(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    const timer = this.parts.clock.after(timeoutMs, () => {
      timedOut = true;
      page.abort(`${method} took too long`);
    });
    try {
      return await all((cursor) => {
        if (!page.signal.aborted) page = new AbortController();
        return this.parts.send(method, cursor === undefined ? undefined : { cursor }, page.signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ListError) throw error;
      if (timedOut) throw new ListError(`The server did not list its ${what} within ${timeoutMs / 1000} s.`);
      const cause = this.parts.causeOfEnd();
      if (cause !== undefined) throw new ListError(`The connection ended while it listed its ${what}. ${cause}`);
      throw new ListError(`${method} failed: ${rpcMessage(error)}`, { cause: error });
    } finally {
      timer.dispose();
      signal.removeEventListener('abort', aborted);
    }
  }
}

const mostEntries = 50_000;
/** In characters of JSON. */
const largestEntry = 1024 * 1024;

interface EntryListing<Entry> {
  readonly entries: readonly Entry[];
  readonly malformed: readonly Malformed[];
}

/**
 * @param method of the list, for messages
 * @param key under which the entries stand in a page
 * @param identity what every entry has to have, a text that is not empty
 * @param page the result of the list; rejects when the server fails
 */
async function listEntries<Entry>(
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
      const detail = whatIsWrongWithEntry(entry, identity);
      if (detail === undefined) entries.push(entry as Entry);
      else malformed.push({ name: nameOfEntry(entry, identity, entries.length + malformed.length), detail });
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

function whatIsWrongWithEntry(entry: unknown, identity: string): string | undefined {
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

function nameOfEntry(entry: unknown, identity: string, index: number): string {
  const name = isObject(entry) ? (entry[identity] ?? entry['name']) : undefined;
  return typeof name === 'string' && name !== '' ? name : `(entry ${index + 1})`;
}
