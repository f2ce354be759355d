/**
 * Finds the labels of the servers in an `mcp.json` of the editor, with their places. A file with mistakes is read as far as
 * possible, and nothing reports the mistakes. Pure.
 */
import { visit } from 'jsonc-parser';
import type { Range } from '../../core/base/problem.js';

interface ConfiguredLabel {
  readonly label: string;
  readonly range: Range;
}

/** The editor's form has `servers`. The form of other programs has `mcpServers`. */
const containers = new Set<unknown>(['servers', 'mcpServers']);

export function configuredLabels(text: string): ConfiguredLabel[] {
  const labels: ConfiguredLabel[] = [];
  let key: ConfiguredLabel | undefined;
  visit(text, {
    onObjectProperty: (label, _, length, line, character, pathOf) => {
      const path = pathOf();
      const isLabel = path.length === 1 && containers.has(path[0]);
      const range = { start: { line, character }, end: { line, character: character + length } };
      key = isLabel ? { label, range } : undefined;
    },
    onSeparator: (separator) => {
      // A key without a colon is not complete.
      if (separator === ':' && key) labels.push(key);
      key = undefined;
    },
  });
  return labels;
}
