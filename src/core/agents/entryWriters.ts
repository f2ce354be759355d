/**
 * Writes entries by the least change of a text. Without a possible change, the text stays, so the
 * caller checks the result.
 */
import { isDeepStrictEqual } from 'node:util';
import { findNodeAtLocation, parseTree, type Node } from 'jsonc-parser';
import { asFields, isObject, type Fields } from '../base/isObject.js';
import { escapeRegExp } from '../base/text.js';
import {
  EditNodes,
  endsInBlockScalar,
  isAlias,
  isAnchored,
  isEmptyValue,
  isMap,
  isSeq,
} from '../yaml/editNodes.js';
import {
  applyEdits,
  insertAfter,
  insertAt,
  insertion,
  scalarText,
  valueEdit,
  type Edits,
} from '../yaml/edits.js';
import { commaBehind } from '../yaml/jsonTree.js';
import { plainValue } from '../yaml/valueNodes.js';
import { readYaml } from '../yaml/yamlTree.js';

export interface EntryChange {
  readonly name: string;
  readonly keys: Entries;
  /**
   * The existing entry without the keys that it loses. If undefined, `keys` are set in it, and the
   * rest stays.
   */
  readonly rest?: Entries | undefined;
  readonly isNew: boolean;
}

/** @param text well-formed, or empty */
export function withJsonEntries(
  text: string,
  container: string,
  changes: readonly EntryChange[],
): string {
  let result = text.trim() === '' ? '{}\n' : text;
  // Some programs write null for no servers.
  if (nodeAt(result, [container])?.type !== 'object') {
    result = withProperty(result, [], container, {});
  }
  for (const { name, keys, rest, isNew } of changes) {
    if (isNew || rest) {
      result = withProperty(result, [container], name, { ...rest, ...keys });
    } else {
      for (const [key, value] of Object.entries(keys)) {
        result = withProperty(result, [container, name], key, value);
      }
    }
  }
  return result;
}

/**
 * Sets a property. A new one goes behind the last: on a new line if the last one ends a line, else
 * beside it.
 */
function withProperty(text: string, path: readonly string[], key: string, value: unknown): string {
  const object = nodeAt(text, path);
  if (object?.type !== 'object') return text;
  const unit = /(?:^|\n)([ \t]+)["/]/.exec(text)?.[1] ?? '  ';
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const json = (indent: string) =>
    JSON.stringify(value, undefined, unit).replaceAll('\n', lineBreak + indent);
  const old = nodeAt(text, [...path, key]);
  if (old) {
    return text.slice(0, old.offset) + json(indentAt(text, old.offset)) + text.slice(endOf(old));
  }
  const name = JSON.stringify(key);
  const last = object.children?.at(-1);
  if (!last) {
    const start = object.offset + 1;
    const outer = indentAt(text, object.offset);
    const close = text.slice(start, endOf(object)).includes('\n') ? '' : lineBreak + outer;
    const member = `${lineBreak}${outer}${unit}${name}: ${json(outer + unit)}${close}`;
    return text.slice(0, start) + member + text.slice(start);
  }
  const end = endOf(last);
  const comma = commaBehind(text, end);
  const from = comma === undefined ? end : comma + 1;
  const lead = text.slice(0, from) + (comma === undefined ? ',' : '');
  const trail = comma === undefined ? '' : ',';
  const line = commentsBehind(text, from);
  if (line === undefined || !text.slice(object.offset, end).includes('\n')) {
    return `${lead} ${name}: ${JSON.stringify(value)}${trail}${text.slice(from)}`;
  }
  const indent = indentAt(text, last.offset);
  const member = `${lineBreak}${indent}${name}: ${json(indent)}${trail}`;
  return lead + line + member + text.slice(from + line.length);
}

/** Returns the blanks and comments up to the end of the line, or undefined if the line goes on. */
function commentsBehind(text: string, offset: number): string | undefined {
  // A comment ends with the first end mark. An ambiguous pattern would try every way to read a
  // line.
  return /^(?:[ \t]|\/\*(?:(?!\*\/)[^\r\n])*\*\/)*(?:\/\/[^\r\n]*)?(?=[\r\n])/.exec(
    text.slice(offset),
  )?.[0];
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function nodeAt(text: string, path: readonly string[]): Node | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return root && findNodeAtLocation(root, [...path]);
}

/**
 * Each entry is a table. Only the usual ways to write one are known. @param text well-formed, or
 * empty
 */
export function withTomlEntries(
  text: string,
  container: string,
  changes: readonly EntryChange[],
): string {
  // A file may have line breaks of both kinds.
  const end = text.includes('\r\n') ? '\r' : '';
  let lines = text.split('\n');
  const last = lines.pop() ?? '';
  if (last !== '') lines.push(last + end);
  for (const change of changes) {
    const { name, keys, isNew } = change;
    if (!isNew) {
      lines = withKeys(lines, container, change, end);
      continue;
    }
    if (lines.length > 0) lines.push(end);
    lines.push(`[${container}.${name}]${end}`);
    for (const [key, value] of Object.entries(keys)) {
      lines.push(`${key} = ${tomlValue(value, end)}${end}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function withKeys(
  lines: string[],
  container: string,
  { name, keys, rest }: EntryChange,
  lineEnd: string,
): string[] {
  const written = [name, JSON.stringify(name), `'${name}'`].map(escapeRegExp).join('|');
  const head = new RegExp(
    `^\\s*\\[\\s*${container}\\s*\\.\\s*(?:${written})\\s*\\]\\s*(?:#[^\\n]*)?$`,
  );
  const start = lines.findIndex((line) => head.test(line)) + 1;
  if (start === 0) return lines;
  const found = lines.findIndex((line, at) => at >= start && /^\s*\[/.test(line));
  const next = found < 0 ? lines.length : found;
  const keyOf = (line: string) => /^\s*([\w-]+)\s*=/.exec(line)?.[1] ?? '';
  const table = withWholeLists(lines.slice(start, next)).filter(
    (line) => !rest || keyOf(line) === '' || keyOf(line) in rest,
  );
  for (const [key, value] of Object.entries(keys).reverse()) {
    const own = new RegExp(
      `^(\\s*${key}\\s*=\\s*)(?:"(?:[^"\\\\]|\\\\.)*"|'[^']*'|[\\w.+-]+|\\[[^\\]]*\\])(\\s*(?:#[^\\n]*)?)$`,
    );
    const at = table.findIndex((line) => own.test(line));
    const text = tomlValue(value, lineEnd);
    if (at < 0) {
      table.unshift(`${key} = ${text}${lineEnd}`);
    } else {
      table[at] = (table[at] ?? '').replace(
        own,
        (_, before: string, after: string) => before + text + after,
      );
    }
  }
  return [...lines.slice(0, start), ...table, ...lines.slice(next)];
}

/** Each item of a list has its line, so that a difference of the file can be read. */
function tomlValue(value: unknown, lineEnd: string): string {
  if (!Array.isArray(value)) {
    return JSON.stringify(value);
  }
  const items = value.map((item) => `  ${JSON.stringify(item)},`);
  return ['[', ...items, ']'].join(`${lineEnd}\n`);
}

/** Joins the lines of each list. */
function withWholeLists(lines: readonly string[]): string[] {
  const whole: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    whole.push(isOpen ? `${whole.pop()}\n${line}` : line);
    isOpen = isOpen ? !line.includes(']') : /^\s*[\w-]+\s*=\s*\[[^\]]*$/.test(line);
  }
  return whole;
}

export type Entries = Fields;

/** Returns undefined unless the text is a map in YAML. */
export function readYamlRoot(text: string): Entries | undefined {
  const { errors, root } = readYaml(text);
  const value = plainValue(root);
  return errors.length === 0 && isObject(value) ? value : undefined;
}

/**
 * Returns the entries of a list by their names, or undefined unless it is a list of maps with
 * unique names.
 */
export function namedEntries(list: unknown): Readonly<Record<string, Entries>> | undefined {
  if (!Array.isArray(list)) return undefined;
  const entries = list.map((item: unknown) => [asFields(item)['name'], item] as const);
  const names = new Set(entries.map(([name]) => name));
  const isNamed =
    entries.every(([name]) => typeof name === 'string') && names.size === entries.length;
  return isNamed ? (Object.fromEntries(entries) as Readonly<Record<string, Entries>>) : undefined;
}

/** The servers are a list of maps with `name`. @param text well-formed */
export function withYamlEntries(
  text: string,
  container: string,
  changes: readonly EntryChange[],
): string {
  return changes.reduce((result, { name, keys, rest, isNew }) => {
    const entry = { name, ...keys };
    return isNew ? appended(result, container, entry) : replaced(result, container, entry, rest);
  }, text);
}

function appended(text: string, container: string, entry: Entries): string {
  const nodes = EditNodes.read(text);
  if (!nodes) return text;
  const { lineBreak } = nodes;
  const lines = linesOf(entry);
  const flow = JSON.stringify(entry);
  const block = lines
    .map((line, index) => `${lineBreak}  ${index === 0 ? '- ' : '  '}${line}`)
    .join('');
  const place = nodes.pairOf(nodes.root, container);
  if (!place) {
    return `${text}${text === '' || text.endsWith('\n') ? '' : lineBreak}${container}:${block}${lineBreak}`;
  }
  const list = place.pair.value;
  if (isEmptyValue(list) && place.map.flow !== true) {
    return applyEdits(text, [insertion(nodes.lineEnd(nodes.afterColon(place.pair)), block)]);
  }
  if (!isSeq(list)) {
    return applyEdits(text, valueEdit(nodes, place, `[${flow}]`) ?? []);
  }
  const [first = '', ...rest] = lines;
  const item = [`- ${first}`, ...rest.map((line) => `  ${line}`)];
  if (endsInBlockScalar(list)) return text;
  const edits = insertAt(nodes, list, list.items.length, item, flow);
  return edits ? applyEdits(text, edits) : text;
}

/**
 * Sets keys of an existing entry. Without a minimal edit, it is written again, with the person's
 * additions.
 */
function replaced(
  text: string,
  container: string,
  entry: Entries,
  rest: Entries | undefined,
): string {
  const held = readYamlRoot(text)?.[container];
  const index = Array.isArray(held)
    ? held.findIndex((each) => asFields(each)['name'] === entry['name'])
    : -1;
  const itemIn = (nodes: EditNodes | undefined): unknown => {
    const list = nodes?.pairOf(nodes.root, container)?.pair.value;
    return isSeq(list) ? list.items[index] : undefined;
  };
  const nodes = EditNodes.read(text);
  const item = itemIn(nodes);
  if (!nodes || item === undefined) return text;
  const there = (held as Entries[])[index] ?? {};
  let result: string | undefined = rest ? undefined : text;
  for (const [key, value] of Object.entries(entry)) {
    if (result === undefined) break;
    if (isDeepStrictEqual(there[key], value)) continue;
    const now = EditNodes.read(result);
    const edits: Edits = now && setKey(now, itemIn(now), key, valueText(value));
    result = edits && applyEdits(result, edits);
  }
  if (result !== undefined) return result;
  const merged = {
    name: entry['name'],
    ...(rest ?? there),
    ...entry,
  };
  const start = nodes.startOf(item);
  const end = nodes.endOf(item);
  const isFlow = text[start] === '{';
  const gap = nodes.lineBreak + ' '.repeat(nodes.column(start));
  const written = isFlow ? JSON.stringify(merged) : linesOf(merged).join(gap);
  return text.slice(0, start) + written + text.slice(end);
}

function setKey(nodes: EditNodes, item: unknown, key: string, value: string): Edits {
  const place = nodes.pairOf(item, key);
  if (!place) {
    const last = isMap(item) ? item.items.at(-1) : undefined;
    return last && insertAfter(nodes, nodes.startOf(last.key), key, value);
  }
  const { value: written } = place.pair;
  if (isEmptyValue(written)) {
    return valueEdit(nodes, place, value);
  }
  if (isAlias(written) || isAnchored(written) || endsInBlockScalar(written)) return undefined;
  const start = nodes.startOf(written);
  const end = nodes.endOf(written);
  // A list in block style may have the column of its key.
  const deeper = nodes.column(start) > nodes.column(nodes.startOf(place.pair.key)) ? '' : '  ';
  return [{ span: { start, end }, text: deeper + value }];
}

function linesOf(entry: Entries): string[] {
  return Object.entries(entry).map(([key, value]) => `${key}: ${valueText(value)}`);
}

function valueText(value: unknown): string {
  const isPlain = typeof value === 'string' && scalarText(value) === value;
  return isPlain ? value : JSON.stringify(value);
}
