/**
 * Removes imported servers from a JSON file of the editor (C6). Comments, order and layout of the
 * rest stay.
 */
import { parseTree, type Node } from 'jsonc-parser';
import { difference } from '../yaml/edits.js';
import { commaBehind } from '../yaml/jsonTree.js';
import { dialects } from './dialects.js';

const places = [...dialects.vscode.at, ...dialects['vscode-settings'].at];

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
  return places.flatMap((place) => propertiesAt(root, place.split('/')));
}

/** Settings may join keys by dots, as in `mcp.servers`. */
function propertiesAt(node: Node | undefined, keys: readonly string[]): Node[] {
  const properties = node?.type === 'object' ? (node.children ?? []) : [];
  if (keys.length === 0) return properties;
  return properties.flatMap((property) => {
    const name = nameOf(property);
    const last = keys.findIndex((_, index) => keys.slice(0, index + 1).join('.') === name);
    return last < 0 ? [] : propertiesAt(property.children?.[1], keys.slice(last + 1));
  });
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
