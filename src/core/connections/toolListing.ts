/**
 * All pages of a server's tools as one list. Entries pass through as the server gave them; one that is no tool is named
 * and costs only itself. Pure but for the page function.
 */
import type { OfferedTool } from '../tools/catalogue.js';
import { ListError, type ToolListing } from './connection.js';
import { isObject, shortened } from './jsonRpc.js';

const mostPages = 1000;
const mostTools = 10_000;

/** @param page the result of `tools/list`; rejects when the server fails */
export async function listAllTools(page: (cursor: string | undefined) => Promise<unknown>): Promise<ToolListing> {
  const tools: OfferedTool[] = [];
  const malformed: { name: string; detail: string }[] = [];
  const seen = new Set<string>();
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
      const detail = whatIsWrong(entry);
      if (detail === undefined) tools.push(withoutNulls(entry as OfferedTool));
      else malformed.push({ name: nameOf(entry, tools.length + malformed.length), detail });
    }
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
