import { setToolFilter, toolFilterOf } from '../config/edit/serverEdits.js';
import { compilePattern } from '../tools/patterns.js';
import { withTicks } from '../tools/ticks.js';
import type { Edits } from '../yaml/edits.js';
import type { Span } from '../yaml/textPositions.js';
import { textOf } from '../yaml/valueNodes.js';
import { readYaml } from '../yaml/yamlTree.js';
import { symbolsOf } from './symbols.js';

/** Returns the shortest edits for agents to see exactly the ticked tools; see `withTicks`. */
export function tickTools(
  text: string,
  server: string,
  names: readonly string[],
  ticks: ReadonlyMap<string, boolean>,
): Edits {
  const filter = toolFilterOf(text, server);
  return filter && setToolFilter(text, server, withTicks(filter, names, ticks));
}

/** Returns the span of the deciding item, or of the whitelist if the tool is not in it. */
export function decidingPattern(text: string, server: string, tool: string): Span | undefined {
  const ofTools = symbolsOf(readYaml(text).root).filter((symbol) => symbol.server === server);
  const patterns = ofTools.flatMap((one) =>
    one.kind === 'pattern' && one.of === 'tools' ? [one] : [],
  );
  const whitelist = patterns.filter(({ list }) => list === 'whitelist');
  const blacklist = patterns.filter(({ list }) => list === 'blacklist');
  const found = [...whitelist, ...blacklist].find(({ node }) =>
    compilePattern(textOf(node) ?? '').matches(tool),
  );
  if (found || whitelist.length === 0 || blacklist.length > 0) return found?.span;
  return ofTools.find(
    (one) => one.kind === 'key' && one.level === 'tools' && one.entry.key === 'whitelist',
  )?.span;
}
