/**
 * Explains a place of a config file (E2). A variable's value is never shown. Words of servers are
 * plain text.
 */
import { plural, said } from '../base/language.js';
import {
  code,
  codeCell,
  formatted,
  markdownList,
  noMarkdown,
  type Markdown,
} from '../base/inert.js';
import { asFields } from '../base/isObject.js';
import { clipped } from '../base/text.js';
import type { Transform } from '../config/model.js';
import { flowText } from '../yaml/edits.js';
import type { Span } from '../yaml/textPositions.js';
import { readYaml } from '../yaml/yamlTree.js';
import { plainValue, textOf, valueIn, type MapEntry, type ValueNode } from '../yaml/valueNodes.js';
import { isValidName, transformName } from '../tools/names.js';
import { compilePattern } from '../tools/patterns.js';
import { documentation, type CompletionDeps } from './completion.js';
import { symbolsAt, symbolsOf, type ConfigSymbol } from './symbols.js';

export interface HoverDeps extends Pick<CompletionDeps, 'tools' | 'variables'> {
  /**
   * Describes a tool of a server and its override, or returns undefined before the server has
   * listed it.
   */
  readonly toolText: (server: string, tool: string) => Markdown | undefined;
  readonly serverState: (server: string) => Markdown | undefined;
  readonly other?: (server: string) => OtherFile | undefined;
}

/** The other file of a layer, or of the file below it (C7). */
interface OtherFile {
  readonly text: string;
  /** Begins the sentence about its value. */
  readonly says: Markdown;
  readonly redact: (text: string) => string;
}

interface HoverText {
  readonly span: Span;
  readonly markdown: Markdown;
}

const mostNames = 12;
const mostExamples = 3;

/** @param text without a byte order mark */
export function hover(text: string, offset: number, deps: HoverDeps): HoverText | undefined {
  const { root } = readYaml(text);
  const symbols = symbolsAt(symbolsOf(root), offset);
  const parts: Markdown[] = [];
  const keys = keysIn(valueIn(root, 'servers'), offset);
  const first = symbols[0]?.span ?? keys.at(-1)?.keySpan;
  if (!first) return undefined;
  for (const symbol of symbols) {
    const said = say(symbol, deps);
    if (said !== undefined && !parts.some(({ value }) => value === said.value)) parts.push(said);
  }
  const other = otherText(keys, deps);
  if (other) parts.push(other);
  return parts.length > 0
    ? { span: first, markdown: markdownList(parts, '\n\n---\n\n') }
    : undefined;
}

/** Returns the keys from a server to the key at an offset. */
export function keysAt(text: string, offset: number): readonly MapEntry[] {
  return keysIn(valueIn(readYaml(text).root, 'servers'), offset);
}

function keysIn(node: ValueNode | undefined, offset: number): readonly MapEntry[] {
  if (node?.kind !== 'map') return [];
  for (const entry of node.entries.values()) {
    const { keySpan, value } = entry;
    if (keySpan.start <= offset && offset <= keySpan.end) return [entry];
    const below = keysIn(value, offset);
    if (below.length > 0) return [entry, ...below];
  }
  return [];
}

const longestValue = 300;

function otherText(keys: readonly MapEntry[], { other }: HoverDeps): Markdown | undefined {
  const path = keys.map(({ key }) => key);
  const file = other?.(path[0] ?? '');
  const value = file && valueIn(readYaml(file.text).root, 'servers', ...path);
  if (!value) return undefined;
  // The name of a key tells whether its value is a secret.
  const whole = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), plainValue(value));
  const shown = path.reduce(
    (map: unknown, key) => asFields(map)[key],
    JSON.parse(file.redact(JSON.stringify(whole))),
  );
  return formatted`${file.says} ${code(clipped(flowText(shown), longestValue))}`;
}

type SymbolOf<Kind> = Extract<ConfigSymbol, { kind: Kind }>;

function say(symbol: ConfigSymbol, deps: HoverDeps): Markdown | undefined {
  switch (symbol.kind) {
    case 'key':
      return symbol.doc && formatted`**${symbol.entry.key}**\n\n${documentation(symbol.doc)}`;
    case 'server':
      return deps.serverState(symbol.entry.key);
    case 'variable':
      if (deps.variables.includes(symbol.name))
        return formatted`${code(symbol.name)} is set in the editor's environment.`;
      return formatted`${code(symbol.name)} is **not set** in the editor's environment, so ${symbol.hasDefault ? said`the default counts` : said`the server does not start`}.`;
    case 'secret':
      return formatted`${code(symbol.name)} is a secret whose value you enter with *Set Secret…*.`;
    case 'overridden':
      if (symbol.server === undefined || symbol.argument !== undefined) return undefined;
      return deps.toolText(symbol.server, symbol.tool);
    case 'pattern':
    case 'transform':
      return effectText(symbol, deps);
  }
}

function effectText(
  symbol: SymbolOf<'pattern'> | SymbolOf<'transform'>,
  deps: HoverDeps,
): Markdown | undefined {
  const { of, server } = symbol;
  if (of !== 'tools' || server === undefined) return undefined;
  const names = deps.tools(server).map(({ original }) => original);
  if (names.length === 0)
    return formatted`${code(server)} has not listed its tools yet, so their names are not known.`;
  return symbol.kind === 'pattern'
    ? patternText(symbol, server, names)
    : transformText(symbol, names);
}

function patternText(
  { node }: SymbolOf<'pattern'>,
  server: string,
  names: readonly string[],
): Markdown {
  const pattern = compilePattern(textOf(node) ?? '');
  const matched = names.filter((name) => pattern.matches(name));
  const all = plural(names.length, '1 tool', '{0} tools');
  if (matched.length === 0) return formatted`Matches **none** of the ${all} of ${code(server)}.`;
  const shown = markdownList(matched.slice(0, mostNames).map(code), ', ');
  const more = matched.length - mostNames;
  const examples = more > 0 ? formatted`${shown} and ${more} more` : shown;
  return formatted`Matches **${matched.length}** of the ${all} of ${code(server)}: ${examples}.`;
}

function transformText(
  { steps: list, index }: SymbolOf<'transform'>,
  names: readonly string[],
): Markdown | undefined {
  const steps = list.items.map(transformOf);
  const step = steps[index];
  const before = steps.slice(0, index).filter((one) => one !== undefined);
  if (!step) return undefined;
  // Examples are names with a visible change: for a replaced prefix, names with that prefix.
  const entering = names.map((name) => transformName(name, before));
  const telling = entering.filter((name) =>
    step.kind === 'replacePrefix'
      ? name.startsWith(step.remove)
      : transformName(name, [step]) !== name,
  );
  const examples = [...new Set([...telling, ...entering])].slice(0, mostExamples);
  const rows = examples.map((name) => {
    const after = transformName(name, [step]);
    const note = isValidName(after) ? noMarkdown : formatted` *(not a valid name)*`;
    return formatted`| ${codeCell(name)} | ${codeCell(after)}${note} |`;
  });
  const heading =
    index === 0
      ? said`before`
      : plural(index, 'before, after the step above', 'before, after the {0} steps above');
  return markdownList([formatted`| ${heading} | after |`, formatted`|---|---|`, ...rows], '\n');
}

function transformOf(node: ValueNode): Transform | undefined {
  const replace = valueIn(node, 'replace');
  if (replace?.kind === 'map') {
    const pairs = [...replace.entries.values()].map(
      ({ key, value }) => [key, textOf(value) ?? ''] as const,
    );
    return { kind: 'replace', pairs };
  }
  const suffix = valueIn(node, 'suffix');
  const prefix = valueIn(node, 'prefix');
  const add = textOf(suffix) ?? textOf(prefix);
  if (suffix && prefix) return undefined;
  if (add !== undefined) return suffix ? { kind: 'suffix', add } : { kind: 'prefix', add };
  const remove = textOf(valueIn(prefix, 'remove'));
  const added = textOf(valueIn(prefix, 'add'));
  return remove === undefined || added === undefined
    ? undefined
    : {
        kind: 'replacePrefix',
        remove,
        add: added,
      };
}
