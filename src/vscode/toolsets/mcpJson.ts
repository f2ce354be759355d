/**
 * Finds the servers in an `mcp.json` of the editor, with their places. Mistakes in it are not
 * reported. Pure.
 */
import { getNodeValue, parseTree } from 'jsonc-parser';
import { isObject } from '../../core/base/isObject.js';
import type { Range } from '../../core/base/problem.js';
import { leadsBackHere } from '../../core/import/ownEndpoint.js';
import type { Rival } from './presence.js';

type ConfiguredServer = Pick<Rival, 'label' | 'isOurs'> & { readonly range: Range };

/** The editor's form has `servers`. The form of other programs has `mcpServers`. */
const containers = ['servers', 'mcpServers'];

export function configuredServers(text: string): ConfiguredServer[] {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const found = (root?.children ?? []).flatMap(({ children: [container, servers] = [] }) =>
    containers.includes(String(container?.value)) ? (servers?.children ?? []) : [],
  );
  const lineEnds = text.matchAll(/\r\n|\r|\n/g);
  const starts = [0, ...Array.from(lineEnds, ({ 0: end, index }) => index + end.length)];
  let line = 0;
  return found.flatMap((server) => {
    const [key, value] = server.children ?? [];
    // A key without a colon is not complete.
    if (!key || server.colonOffset === undefined) return [];
    const entry: unknown = value && getNodeValue(value);
    // The servers are in the order of the text, so no line is looked at twice.
    while ((starts[line + 1] ?? Infinity) <= key.offset) line += 1;
    const start = key.offset - (starts[line] ?? 0);
    return {
      label: String(key.value),
      range: {
        start: { line, character: start },
        end: { line, character: start + key.length },
      },
      isOurs: isObject(entry) && leadsBackHere(entry),
    };
  });
}
