/**
 * What is said of a place of a config file (E2): keys, what a pattern matches now, what a transform makes of names,
 * whether a variable is set. Pure.
 *
 * Invariants: never a variable's value; what servers say is escaped.
 */
import { shortList } from '../base/shortList.js';
import { docOf, type KeyDoc } from '../config/keyDocs.js';
import type { Transform } from '../config/model.js';
import { sketch } from '../yaml/sketch.js';
import type { Span } from '../yaml/textPositions.js';
import { readYaml } from '../yaml/yamlTree.js';
import { textOf, type ValueNode } from '../yaml/valueNodes.js';
import { isValidName, transformName } from '../tools/names.js';
import { compilePattern } from '../tools/patterns.js';
import { documentation } from './completion.js';
import { landmarksAt, landmarksOf, type Landmark } from './landmarks.js';
import { levelOf, placeAt } from './shapes.js';

export interface HoverSurroundings {
  /** Original names of all tools of a server, those kept out included; undefined where it has not listed any yet. */
  readonly toolNames: (server: string) => readonly string[] | undefined;
  readonly isSet: (variable: string) => boolean;
  /** Markdown about a server; undefined for one that does not count yet. */
  readonly serverState: (server: string) => string | undefined;
}

interface HoverText {
  readonly span: Span;
  readonly markdown: string;
}

/** Of names in a sentence. */
const mostNames = 12;
const mostExamples = 3;

/** @param text without a byte order mark */
export function hover(text: string, offset: number, around: HoverSurroundings): HoverText | undefined {
  const reading = readYaml(text);
  if (reading.errors.length > 0) return hoverBroken(text, offset);
  const marks = landmarksAt(landmarksOf(reading.root), offset);
  const parts: string[] = [];
  const [first] = marks;
  if (!first) return undefined;
  for (const mark of marks) {
    const said = say(mark, around);
    if (said !== undefined && !parts.includes(said)) parts.push(said);
  }
  return parts.length > 0 ? { span: first.span, markdown: parts.join('\n\n---\n\n') } : undefined;
}

/** Keys alone. */
function hoverBroken(text: string, offset: number): HoverText | undefined {
  const read = sketch(text, offset);
  if (read.slot?.role !== 'key' || !read.slot.complete) return undefined;
  const { span, path } = read.slot;
  const shape = placeAt(read, path)?.shape;
  const level = shape && levelOf(shape);
  const key = text.slice(span.start, span.end).replace(/^(['"])(.*)\1$/, '$2');
  const doc = level && docOf(level, key);
  return doc && { span, markdown: keyText(key, doc) };
}

function say(mark: Landmark, around: HoverSurroundings): string | undefined {
  switch (mark.kind) {
    case 'key':
      return mark.doc && keyText(mark.entry.key, mark.doc);
    case 'server':
      return around.serverState(mark.entry.key);
    case 'variable':
      return around.isSet(mark.name)
        ? `${code(mark.name)} is set in the editor's environment.`
        : `${code(mark.name)} is **not set** in the editor's environment, so the server does not start.`;
    case 'pattern':
      return patternText(mark, around);
    case 'transform':
      return transformText(mark, around);
  }
}

function keyText(key: string, doc: KeyDoc): string {
  return `**${key}**\n\n${documentation(doc)}`;
}

function patternText(mark: Extract<Landmark, { kind: 'pattern' }>, around: HoverSurroundings): string | undefined {
  if (mark.of !== 'tools' || mark.server === undefined || mark.node.kind !== 'scalar') return undefined;
  const names = around.toolNames(mark.server);
  if (!names) return notListed(mark.server);
  const { value, source } = mark.node;
  const pattern = compilePattern(typeof value === 'string' ? value : source);
  const matched = names.filter((name) => pattern.matches(name));
  const of = `of the ${count(names.length)} of ${code(mark.server)}`;
  if (matched.length === 0) return `Matches **none** ${of}.`;
  return `Matches **${matched.length}** ${of}: ${shortList(matched.map(code), mostNames)}.`;
}

function transformText(mark: Extract<Landmark, { kind: 'transform' }>, around: HoverSurroundings): string | undefined {
  if (mark.of !== 'tools' || mark.server === undefined) return undefined;
  const names = around.toolNames(mark.server);
  if (!names) return notListed(mark.server);
  const steps = mark.steps.items.map(transformOf);
  const step = steps[mark.index];
  const before = steps.slice(0, mark.index).filter((one) => one !== undefined);
  if (!step || names.length === 0) return undefined;
  // Those it does most to: of a prefix that is replaced, names that have it.
  const entering = names.map((name) => transformName(name, before));
  const telling = step.kind === 'replacePrefix' ? entering.filter((name) => name.startsWith(step.remove)) : entering;
  const examples = [...new Set([...telling, ...entering])].slice(0, mostExamples);
  const rows = examples.map((name) => {
    const after = transformName(name, [step]);
    return `| ${cell(name)} | ${cell(after)}${isValidName(after) ? '' : ' *(not a valid name)*'} |`;
  });
  const heading =
    mark.index === 0 ? 'before' : `before, after ${mark.index === 1 ? 'the step' : `the ${mark.index} steps`} above`;
  return [`| ${heading} | after |`, '|---|---|', ...rows].join('\n');
}

function transformOf(node: ValueNode): Transform | undefined {
  if (node.kind !== 'map') return undefined;
  const suffix = node.entries.get('suffix')?.value;
  const prefix = node.entries.get('prefix')?.value;
  const add = textOf(suffix) ?? textOf(prefix);
  if (suffix && prefix) return undefined;
  if (add !== undefined) return suffix ? { kind: 'suffix', add } : { kind: 'prefix', add };
  if (prefix?.kind !== 'map') return undefined;
  const [remove, added] = [textOf(prefix.entries.get('remove')?.value), textOf(prefix.entries.get('add')?.value)];
  return remove === undefined || added === undefined ? undefined : { kind: 'replacePrefix', remove, add: added };
}

function notListed(server: string): string {
  return `${code(server)} has not listed its tools yet, so nothing can be said of names.`;
}

function count(tools: number): string {
  return tools === 1 ? '1 tool' : `${tools} tools`;
}

/** As code, whatever is in it. */
function code(text: string): string {
  const plain = text.replace(/\s+/g, ' ');
  const fence = plain.includes('`') ? '``' : '`';
  return fence + (fence.length > 1 ? ` ${plain.replaceAll('``', '` `')} ` : plain) + fence;
}

function cell(text: string): string {
  return code(text).replaceAll('|', '\\|');
}
