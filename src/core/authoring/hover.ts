/** Explains a place of a config file (E2). A variable's value is never shown. Words of servers are plain text. */
import { code, codeCell, formatted, markdownList, noMarkdown, type Markdown } from '../base/inert.js';
import { docOf, type KeyDoc } from '../config/keys.js';
import type { Transform } from '../config/model.js';
import { sketch } from '../yaml/sketch.js';
import type { Span } from '../yaml/textPositions.js';
import { readYaml } from '../yaml/yamlTree.js';
import { textOf, valueIn, type ValueNode } from '../yaml/valueNodes.js';
import { isValidName, transformName } from '../tools/names.js';
import { compilePattern } from '../tools/patterns.js';
import { documentation, placeAt } from './completion.js';
import { symbolsAt, symbolsOf, type ConfigSymbol } from './symbols.js';

export interface HoverDeps {
  /** Returns the original names of all tools of a server, with filtered ones, or undefined before its first list. */
  readonly toolNames: (server: string) => readonly string[] | undefined;
  /** Describes a tool of a server and its override, or returns undefined before the server has listed it. */
  readonly toolText: (server: string, tool: string) => Markdown | undefined;
  readonly isSet: (variable: string) => boolean;
  readonly serverState: (server: string) => Markdown | undefined;
}

interface HoverText {
  readonly span: Span;
  readonly markdown: Markdown;
}

const mostNames = 12;
const mostExamples = 3;

/** @param text without a byte order mark */
export function hover(text: string, offset: number, deps: HoverDeps): HoverText | undefined {
  const reading = readYaml(text);
  if (reading.errors.length > 0) return hoverBroken(text, offset);
  const symbols = symbolsAt(symbolsOf(reading.root), offset);
  const parts: Markdown[] = [];
  const [first] = symbols;
  if (!first) return undefined;
  for (const symbol of symbols) {
    const said = say(symbol, deps);
    if (said !== undefined && !parts.some(({ value }) => value === said.value)) parts.push(said);
  }
  return parts.length > 0 ? { span: first.span, markdown: markdownList(parts, '\n\n---\n\n') } : undefined;
}

/** Explains only keys, because the text is broken. */
function hoverBroken(text: string, offset: number): HoverText | undefined {
  const { slot } = sketch(text, offset);
  if (slot?.role !== 'key' || !slot.complete) return undefined;
  const { span } = slot;
  const level = placeAt(slot.path)?.shape.level;
  const key = text.slice(span.start, span.end).replace(/^(['"])(.*)\1$/, '$2');
  const doc = level && docOf(level, key);
  return doc && { span, markdown: keyText(key, doc) };
}

function say(symbol: ConfigSymbol, deps: HoverDeps): Markdown | undefined {
  switch (symbol.kind) {
    case 'key':
      return symbol.doc && keyText(symbol.entry.key, symbol.doc);
    case 'server':
      return deps.serverState(symbol.entry.key);
    case 'variable':
      if (deps.isSet(symbol.name)) return formatted`${code(symbol.name)} is set in the editor's environment.`;
      return formatted`${code(symbol.name)} is **not set** in the editor's environment, so ${symbol.hasDefault ? 'the default counts' : 'the server does not start'}.`;
    case 'secret':
      return formatted`${code(symbol.name)} is a secret whose value you enter with *Set Secret…*.`;
    case 'overridden':
      if (symbol.server === undefined || symbol.argument !== undefined) return undefined;
      return deps.toolText(symbol.server, symbol.tool);
    case 'pattern':
      return patternText(symbol, deps);
    case 'transform':
      return transformText(symbol, deps);
  }
}

function keyText(key: string, doc: KeyDoc): Markdown {
  return formatted`**${key}**\n\n${documentation(doc)}`;
}

function patternText(symbol: Extract<ConfigSymbol, { kind: 'pattern' }>, deps: HoverDeps): Markdown | undefined {
  if (symbol.of !== 'tools' || symbol.server === undefined || symbol.node.kind !== 'scalar') return undefined;
  const names = deps.toolNames(symbol.server);
  if (!names) return notListed(symbol.server);
  const { value, source } = symbol.node;
  const pattern = compilePattern(typeof value === 'string' ? value : source);
  const matched = names.filter((name) => pattern.matches(name));
  const of = formatted`of the ${names.length} ${names.length === 1 ? 'tool' : 'tools'} of ${code(symbol.server)}`;
  if (matched.length === 0) return formatted`Matches **none** ${of}.`;
  const shown = markdownList(matched.slice(0, mostNames).map(code), ', ');
  const rest = matched.length > mostNames ? formatted` and ${matched.length - mostNames} more` : noMarkdown;
  return formatted`Matches **${matched.length}** ${of}: ${shown}${rest}.`;
}

function transformText(symbol: Extract<ConfigSymbol, { kind: 'transform' }>, deps: HoverDeps): Markdown | undefined {
  if (symbol.of !== 'tools' || symbol.server === undefined) return undefined;
  const names = deps.toolNames(symbol.server);
  if (!names) return notListed(symbol.server);
  const steps = symbol.steps.items.map(transformOf);
  const step = steps[symbol.index];
  const before = steps.slice(0, symbol.index).filter((one) => one !== undefined);
  if (!step || names.length === 0) return undefined;
  // Examples are names with a visible change: for a replaced prefix, names with that prefix.
  const entering = names.map((name) => transformName(name, before));
  const telling = step.kind === 'replacePrefix' ? entering.filter((name) => name.startsWith(step.remove)) : entering;
  const examples = [...new Set([...telling, ...entering])].slice(0, mostExamples);
  const rows = examples.map((name) => {
    const after = transformName(name, [step]);
    const note = isValidName(after) ? noMarkdown : formatted` *(not a valid name)*`;
    return formatted`| ${codeCell(name)} | ${codeCell(after)}${note} |`;
  });
  const heading =
    symbol.index === 0
      ? 'before'
      : `before, after ${symbol.index === 1 ? 'the step' : `the ${symbol.index} steps`} above`;
  return markdownList([formatted`| ${heading} | after |`, formatted`|---|---|`, ...rows], '\n');
}

function transformOf(node: ValueNode): Transform | undefined {
  const [suffix, prefix] = [valueIn(node, 'suffix'), valueIn(node, 'prefix')];
  const add = textOf(suffix) ?? textOf(prefix);
  if (suffix && prefix) return undefined;
  if (add !== undefined) return suffix ? { kind: 'suffix', add } : { kind: 'prefix', add };
  const [remove, added] = [textOf(valueIn(prefix, 'remove')), textOf(valueIn(prefix, 'add'))];
  return remove === undefined || added === undefined ? undefined : { kind: 'replacePrefix', remove, add: added };
}

function notListed(server: string): Markdown {
  return formatted`${code(server)} has not listed its tools yet, so their names are not known.`;
}
