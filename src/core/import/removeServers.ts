/**
 * Removes imported servers from a JSON file of the editor (C6). Comments, order and layout of the
 * rest stay.
 */
import { parseTree, type Node } from 'jsonc-parser';
import { difference } from '../yaml/edits.js';
import { commaBehind } from '../yaml/jsonTree.js';

/** The editor's own form has `servers`; the common form of other programs has `mcpServers`. */
const containers = new Set<unknown>(['servers', 'mcpServers']);

/** @param names the servers to remove; case does not count, as in the editor */
export function planRemoval(text: string, names: readonly string[]) {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const removed: string[] = [];
  let after = text;
  for (;;) {
    const found = propertiesIn(after).find((property) =>
      wanted.has(nameOf(property).toLowerCase()),
    );
    if (!found)
      return {
        names: removed,
        edits: difference(text, after),
        after,
      };
    removed.push(nameOf(found));
    after = without(after, found);
  }
}

function propertiesIn(text: string): Node[] {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return (root?.type === 'object' ? (root.children ?? []) : []).flatMap(
    ({ children: [key, value] = [] }) =>
      containers.has(key?.value) && value?.type === 'object' ? (value.children ?? []) : [],
  );
}

function nameOf({ children }: Node): string {
  return String(children?.[0]?.value);
}

/** Removes a property with its comma, and with its lines if they are otherwise empty. */
function without(text: string, { offset, length, parent }: Node): string {
  const comma = commaBehind(text, offset + length);
  const end = comma === undefined ? offset + length : comma + 1;
  const before = /(?<![ \t])[ \t]*$/.exec(text.slice(0, offset))?.[0].length ?? 0;
  const behind = /^[ \t]*(?:\r?\n|$)?/.exec(text.slice(end))?.[0] ?? '';
  const beginsLine = offset === before || text[offset - before - 1] === '\n';
  const isAlone = beginsLine && /\n|^$/.test(behind);
  let head = text.slice(0, isAlone || !beginsLine ? offset - before : offset);
  const earlier = parent?.children?.findLast((other) => other.offset < offset);
  // A comma before the end of a map is an error for many programs.
  const last =
    comma === undefined && earlier ? commaBehind(text, earlier.offset + earlier.length) : undefined;
  if (last !== undefined) head = head.slice(0, last) + head.slice(last + 1);
  return head + text.slice(isAlone ? end + behind.length : end);
}
