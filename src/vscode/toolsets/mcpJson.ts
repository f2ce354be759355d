/**
 * Finds the servers in an `mcp.json` of the editor, with their places. Mistakes in it are not
 * reported. Pure.
 */
import { parse, visit } from 'jsonc-parser';
import { asFields, isObject } from '../../core/base/isObject.js';
import type { Range } from '../../core/base/problem.js';
import { leadsBackHere } from '../../core/import/ownEndpoint.js';
import type { Rival } from './presence.js';

type ConfiguredServer = Pick<Rival, 'label' | 'isOurs'> & { readonly range: Range };

/** The editor's form has `servers`. The form of other programs has `mcpServers`. */
const containers = ['servers', 'mcpServers'];

export function configuredServers(text: string): ConfiguredServer[] {
  const found: ConfiguredServer[] = [];
  const root: unknown = parse(text, [], { allowTrailingComma: true });
  let key: ConfiguredServer | undefined;
  visit(text, {
    onObjectProperty: (label, _, length, line, character, pathOf) => {
      const [container, ...rest] = pathOf();
      const range = { start: { line, character }, end: { line, character: character + length } };
      const isLabel = containers.includes(String(container)) && rest.length === 0;
      const entry = asFields(asFields(root)[String(container)])[label];
      key = isLabel ? { label, range, isOurs: isObject(entry) && leadsBackHere(entry) } : undefined;
    },
    onSeparator: (separator) => {
      // A key without a colon is not complete.
      if (separator === ':' && key) found.push(key);
      key = undefined;
    },
  });
  return found;
}
