/** Removes imported servers from a JSON file of the editor (C6). Comments, order and layout of the rest stay. */
import { parseTree, type Node } from 'jsonc-parser';
import { commaBehind } from '../yaml/jsonTree.js';
import type { Span } from '../yaml/textPositions.js';
import { applyEdits, type TextEdit } from '../yaml/edits.js';

/** The editor's own form has `servers`; the common form of other programs has `mcpServers`. */
const containers = new Set<unknown>(['servers', 'mcpServers']);

interface Removal {
  readonly names: readonly string[];
  readonly edits: readonly TextEdit[];
  readonly after: string;
}

/** @param names the servers to remove; case does not count, as in the editor */
export function planRemoval(text: string, names: readonly string[]): Removal {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const root = parseTree(text, [], { allowTrailingComma: true });
  const maps = (root?.type === 'object' ? (root.children ?? []) : []).flatMap(({ children: [key, value] = [] }) =>
    containers.has(key?.value) && value?.type === 'object' ? [value.children ?? []] : [],
  );
  const isWanted = (property: Node): boolean => wanted.has(nameOf(property).toLowerCase());
  const edits = maps.flatMap((properties) => {
    const found = properties.filter(isWanted);
    const spans = found.map((property) => spanOf(text, property));
    // A comma before the end of a map is an error for many programs.
    const lastKept = properties.findLastIndex((property) => !isWanted(property));
    const last = properties.at(-1);
    if (last && isWanted(last) && lastKept >= 0 && commaBehind(text, endOf(last)) === undefined) {
      const comma = commaBehind(text, endOf(properties[lastKept] ?? last));
      if (comma !== undefined) spans.unshift({ start: comma, end: comma + 1 });
    }
    return joined(spans).map((span): TextEdit => ({ span, text: '' }));
  });
  return {
    names: maps.flatMap((properties) => properties.filter(isWanted).map(nameOf)),
    edits,
    after: applyEdits(text, edits),
  };
}

/** Merges adjacent spans, because adjacent edits count as overlapping. */
function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans) {
    const before = result.at(-1);
    if (before && span.start <= before.end) result[result.length - 1] = { start: before.start, end: span.end };
    else result.push(span);
  }
  return result;
}

function nameOf({ children }: Node): string {
  return String(children?.[0]?.value);
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

/** Returns a property with its comma, and with its lines if they are otherwise empty. */
function spanOf(text: string, property: Node): Span {
  const comma = commaBehind(text, endOf(property));
  const end = comma === undefined ? endOf(property) : comma + 1;
  const before = /[ \t]*$/.exec(text.slice(0, property.offset))?.[0].length ?? 0;
  const start = property.offset - before;
  const behind = /^[ \t]*(?:\r?\n|$)?/.exec(text.slice(end))?.[0] ?? '';
  const beginsLine = start === 0 || text[start - 1] === '\n';
  if (beginsLine && /\n|^$/.test(behind)) return { start, end: end + behind.length };
  return beginsLine ? { start: property.offset, end } : { start, end };
}
