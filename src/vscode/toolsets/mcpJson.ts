/**
 * Finds the labels under which an `mcp.json` of the editor configures servers, and where they stand. A file that is
 * being written is read as far as it goes, and its mistakes are not reported here. Everything here is pure.
 */
import { visit } from 'jsonc-parser';
import type { Range } from '../../core/base/problem.js';

interface ConfiguredLabel {
  readonly label: string;
  readonly range: Range;
}

/** The editor's own form has `servers`; the form that other programs share has `mcpServers`. */
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
      // A key counts once its colon is written.
      if (separator === ':' && key) labels.push(key);
      key = undefined;
    },
  });
  return labels;
}
