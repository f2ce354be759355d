/**
 * All pages of a server's tools as one list. Entries pass through as the server gave them; one that is no tool is named
 * and costs only itself. Pure but for the page function.
 */
import type { OfferedTool } from '../tools/catalogue.js';
import { ListError, type ToolListing } from './connection.js';
import { isObject } from '../base/isObject.js';
import { shortened } from './jsonRpc.js';

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
