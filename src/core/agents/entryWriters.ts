/**
 * Writes entries into files of other programs, each by the least change of its text: comments, order, line breaks and the
 * layout of everything else stay. The caller checks the result, because an entry without such a change stays.
 */
import { isDeepStrictEqual } from 'node:util';
import { findNodeAtLocation, parseTree, type Node } from 'jsonc-parser';
import { isObject } from '../base/isObject.js';
import { escapeRegExp } from '../base/text.js';
import { EditNodes, endsInBlockScalar, isAlias, isAnchored, isEmptyValue, isMap, isSeq } from '../yaml/editNodes.js';
import {
  appendItem,
  applyEdits,
  insertAfter,
  insertion,
  removeKey,
  scalarText,
  valueEdit,
  type Edits,
} from '../yaml/edits.js';
import { commaBehind } from '../yaml/jsonTree.js';
import { plainValue } from '../yaml/valueNodes.js';
import { readYaml } from '../yaml/yamlTree.js';

export interface EntryChange {
  readonly name: string;
  readonly keys: Readonly<Record<string, unknown>>;
  /** Keys that the existing entry loses. */
  readonly removed: readonly string[];
  /** If false, the keys are set in the existing entry. */
  readonly isNew: boolean;
}

/** @param text well-formed, or empty */
export function withJsonEntries(text: string, container: string, changes: readonly EntryChange[]): string {
  let result = text.trim() === '' ? '{}\n' : text;
  const set = (path: readonly string[], key: string, value: unknown): void => {
    result = withProperty(result, path, key, value);
  };
  // Some programs write null for no servers.
  if (nodeAt(result, [container])?.type !== 'object') set([], container, {});
  for (const { name, keys, removed, isNew } of changes) {
    if (isNew) set([container], name, keys);
    else for (const [key, value] of Object.entries(keys)) set([container, name], key, value);
    for (const key of removed) result = withoutProperty(result, [container, name, key]);
  }
  return result;
}

function withProperty(text: string, path: readonly string[], key: string, value: unknown): string {
  const object = nodeAt(text, path);
  if (object?.type !== 'object') return text;
  const style = styleOf(text);
  const old = nodeAt(text, [...path, key]);
  if (old) {
    const written = json(value, indentAt(text, old.offset), style);
    return text.slice(0, old.offset) + written + text.slice(old.offset + old.length);
  }
  const last = object.children?.at(-1);
  return last ? after(text, object, last, key, value, style) : within(text, object, key, value, style);
}

/** Removes a property and the comments behind it, if the line has nothing else. All other comments belong to others. */
function withoutProperty(text: string, path: readonly string[]): string {
  const property = nodeAt(text, path)?.parent;
  if (!property) return text;
  const end = property.offset + property.length;
  const comma = commaBehind(text, end);
  let [from, to] = [property.offset, comma === undefined ? end : comma + 1];
  let line = from;
  while (' \t'.includes(text[line - 1] ?? '\n')) line--;
  const rest = commentsBehind(text, to);
  if (rest === undefined) to += /^[ \t]*/.exec(text.slice(to))?.[0].length ?? 0;
  else if (/[\r\n]/.test(text[line - 1] ?? '')) {
    from = line;
    to += rest.length + (/^(?:\r\n|\r|\n)/.exec(text.slice(to + rest.length))?.[0].length ?? 0);
  } else from = line;
  const properties = property.parent?.children ?? [];
  const before = properties[properties.indexOf(property) - 1];
  // The last property takes the comma before it along.
  const earlier = comma === undefined && before ? commaBehind(text, before.offset + before.length) : undefined;
  const head = earlier === undefined ? text.slice(0, from) : text.slice(0, earlier) + text.slice(earlier + 1, from);
  return head + text.slice(to);
}

/** Returns the blanks and comments up to the end of the line, or undefined if the line goes on. */
function commentsBehind(text: string, offset: number): string | undefined {
  // A comment ends with the first end mark. An ambiguous pattern would try every way to read a line.
  return /^(?:[ \t]|\/\*(?:(?!\*\/)[^\r\n])*\*\/)*(?:\/\/[^\r\n]*)?(?=[\r\n])/.exec(text.slice(offset))?.[0];
}

/** Inserts into an object without properties, perhaps with comments. */
function within(text: string, object: Node, key: string, value: unknown, style: Style): string {
  const outer = indentAt(text, object.offset);
  const at = object.offset + 1;
  const member = style.lineBreak + outer + style.unit + property(key, value, outer + style.unit, style);
  const rest = text.slice(at, object.offset + object.length - 1);
  const close = rest.includes('\n') ? '' : style.lineBreak + outer;
  return text.slice(0, at) + member + close + text.slice(at);
}

/** Inserts behind the last property: on separate lines if that one ends a line, else beside it. */
function after(text: string, object: Node, last: Node, key: string, value: unknown, style: Style): string {
  const end = last.offset + last.length;
  const comma = commaBehind(text, end);
  const from = comma === undefined ? end : comma + 1;
  const lead = text.slice(0, end) + (comma === undefined ? ',' : '') + text.slice(end, from);
  const line = commentsBehind(text, from);
  if (line === undefined || !text.slice(object.offset, end).includes('\n')) {
    return `${lead} ${JSON.stringify(key)}: ${JSON.stringify(value)}${comma === undefined ? '' : ','}${text.slice(from)}`;
  }
  const indent = indentAt(text, last.offset);
  const member = style.lineBreak + indent + property(key, value, indent, style) + (comma === undefined ? '' : ',');
  return lead + line + member + text.slice(from + line.length);
}

interface Style {
  readonly unit: string;
  readonly lineBreak: string;
}

function styleOf(text: string): Style {
  return { unit: /(?:^|\n)([ \t]+)["/]/.exec(text)?.[1] ?? '  ', lineBreak: text.includes('\r\n') ? '\r\n' : '\n' };
}

function property(key: string, value: unknown, indent: string, style: Style): string {
  return `${JSON.stringify(key)}: ${json(value, indent, style)}`;
}

function json(value: unknown, indent: string, { unit, lineBreak }: Style): string {
  return JSON.stringify(value, undefined, unit).replaceAll('\n', lineBreak + indent);
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
}

function nodeAt(text: string, path: readonly string[]): Node | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return root && findNodeAtLocation(root, [...path]);
}

/** Each entry is a table. Only the usual ways to write one are known. @param text well-formed, or empty */
export function withTomlEntries(text: string, container: string, changes: readonly EntryChange[]): string {
  // A file may have line breaks of both kinds.
  const end = text.includes('\r\n') ? '\r' : '';
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  if (last !== '') lines.push(last + end);
  for (const { name, keys, removed, isNew } of changes) {
    const entries = Object.entries(keys).map(([key, value]) => [key, JSON.stringify(value)] as const);
    if (isNew) {
      if (lines.length > 0) lines.push(end);
      lines.push(`[${container}.${name}]${end}`);
      for (const [key, value] of entries) lines.push(`${key} = ${value}${end}`);
    } else setInTable(lines, container, name, { entries, removed }, end);
  }
  return `${lines.join('\n')}\n`;
}

function setInTable(
  lines: string[],
  container: string,
  name: string,
  {
    entries,
    removed,
  }: { readonly entries: readonly (readonly [string, string])[]; readonly removed: readonly string[] },
  lineEnd: string,
): void {
  const written = [name, JSON.stringify(name), `'${name}'`].map(escapeRegExp).join('|');
  const head = new RegExp(`^\\s*\\[\\s*${container}\\s*\\.\\s*(?:${written})\\s*\\]\\s*(?:#[^\\n]*)?$`);
  const start = lines.findIndex((line) => head.test(line));
  if (start < 0) return;
  const endOfTable = (): number => {
    const next = lines.findIndex((line, at) => at > start && /^\s*\[/.test(line));
    return next < 0 ? lines.length : next;
  };
  for (const key of removed) {
    const own = new RegExp(`^\\s*${key}\\s*=`);
    const at = lines.findIndex((line, index) => index > start && index < endOfTable() && own.test(line));
    if (at >= 0) lines.splice(at, 1);
  }
  // Each missing key becomes the first one.
  for (const [key, value] of [...entries].reverse()) {
    const end = endOfTable();
    const own = new RegExp(
      `^(\\s*${key}\\s*=\\s*)(?:"(?:[^"\\\\]|\\\\.)*"|'[^']*'|[\\w.+-]+|\\[[^\\]\\n]*\\])(\\s*(?:#[^\\n]*)?)$`,
    );
    const at = lines.findIndex((line, index) => index > start && index < end && own.test(line));
    if (at < 0) lines.splice(start + 1, 0, `${key} = ${value}${lineEnd}`);
    else lines[at] = (lines[at] ?? '').replace(own, (_, before: string, after: string) => before + value + after);
  }
}

export type Entries = Readonly<Record<string, unknown>>;

/** Returns undefined unless the text is a map in YAML. */
export function readYamlRoot(text: string): Entries | undefined {
  const { errors, root } = readYaml(text);
  const value = plainValue(root);
  return errors.length === 0 && isObject(value) ? value : undefined;
}

/** Returns the entries of a list by their names, or undefined unless it is a list of maps with unique names. */
export function namedEntries(list: unknown): Readonly<Record<string, Entries>> | undefined {
  if (!Array.isArray(list)) return undefined;
  const entries = list.map((item: unknown) => [isObject(item) ? item['name'] : undefined, item] as const);
  const names = new Set(entries.map(([name]) => name));
  const isNamed = entries.every(([name]) => typeof name === 'string') && names.size === entries.length;
  return isNamed ? (Object.fromEntries(entries) as Readonly<Record<string, Entries>>) : undefined;
}

/** The servers are a list of maps with `name`. @param text well-formed */
export function withYamlEntries(text: string, container: string, changes: readonly EntryChange[]): string {
  let result = text;
  for (const { name, keys, removed, isNew } of changes) {
    const entry = { name, ...keys };
    result = isNew ? appended(result, container, entry) : replaced(result, container, entry, removed);
  }
  return result;
}

function appended(text: string, container: string, entry: Entries): string {
  const nodes = EditNodes.read(text);
  if (!nodes) return text;
  const place = nodes.pairOf(nodes.root, container);
  if (!place) {
    const gap = text === '' || text.endsWith('\n') ? '' : nodes.lineBreak;
    return `${text}${gap}${container}:${nodes.lineBreak}  - ${block(entry, '    ', nodes.lineBreak)}${nodes.lineBreak}`;
  }
  const list = place.pair.value;
  if (isEmptyValue(list) && place.map.flow !== true) {
    const at = nodes.lineEnd(nodes.afterColon(place.pair));
    return applyEdits(text, [insertion(at, `${nodes.lineBreak}  - ${block(entry, '    ', nodes.lineBreak)}`)]);
  }
  if (!isSeq(list)) return applyEdits(text, valueEdit(nodes, place, `[${JSON.stringify(entry)}]`) ?? []);
  const first: unknown = list.items[0];
  const value =
    list.flow || first === undefined
      ? JSON.stringify(entry)
      : block(entry, ' '.repeat(nodes.column(nodes.startOf(first))), nodes.lineBreak);
  return applyEdits(text, appendItem(nodes, list, value) ?? []);
}

/** Sets keys of an existing entry. Without a minimal edit, it is written again, with the person's additions. */
function replaced(text: string, container: string, entry: Entries, removed: readonly string[]): string {
  const nodes = EditNodes.read(text);
  const list = nodes?.pairOf(nodes.root, container)?.pair.value;
  const held = readYamlRoot(text)?.[container];
  if (!nodes || !isSeq(list) || !Array.isArray(held)) return text;
  const index = held.findIndex((each: unknown) => isObject(each) && each['name'] === entry['name']);
  const item: unknown = list.items[index];
  if (item === undefined) return text;
  const there = held[index] as Entries;
  const changed = withKeys(text, container, index, there, entry, removed);
  if (changed !== undefined) return changed;
  const kept = Object.entries(there).filter(([key]) => !removed.includes(key));
  const merged = { ...Object.fromEntries(kept), ...entry };
  const [start, end] = [nodes.startOf(item), nodes.endOf(item)];
  const isFlow = list.flow === true || text[start] === '{';
  const written = isFlow ? JSON.stringify(merged) : block(merged, ' '.repeat(nodes.column(start)), nodes.lineBreak);
  return text.slice(0, start) + written + text.slice(end);
}

function withKeys(
  text: string,
  container: string,
  index: number,
  there: Entries,
  keys: Entries,
  removed: readonly string[],
): string | undefined {
  const set = Object.entries(keys).filter(([key, value]) => !isDeepStrictEqual(there[key], value));
  const changes = [
    ...set.map(
      ([key, value]) =>
        (nodes: EditNodes, item: unknown) =>
          setKey(nodes, item, key, valueText(value)),
    ),
    ...removed.map((key) => (nodes: EditNodes, item: unknown) => withoutKey(nodes, item, key)),
  ];
  let result = text;
  for (const change of changes) {
    const nodes = EditNodes.read(result);
    const list = nodes?.pairOf(nodes.root, container)?.pair.value;
    const edits = nodes && isSeq(list) && change(nodes, list.items[index]);
    if (!edits) return undefined;
    result = applyEdits(result, edits);
  }
  return result;
}

function withoutKey(nodes: EditNodes, item: unknown, key: string): Edits {
  const place = nodes.pairOf(item, key);
  if (!place) return [];
  const { start, end } = nodes.extent(place.pair);
  const edits = removeKey(nodes, start);
  if (edits || place.map.flow || place.index > 0) return edits;
  // Behind its dash: the other keys may begin on the next line.
  return [{ span: { start, end: nodes.lineEnd(end) }, text: '' }];
}

function setKey(nodes: EditNodes, item: unknown, key: string, value: string): Edits {
  const place = nodes.pairOf(item, key);
  if (!place) {
    const last = isMap(item) ? item.items.at(-1) : undefined;
    return last && insertAfter(nodes, nodes.startOf(last.key), key, value);
  }
  const { value: written } = place.pair;
  if (isEmptyValue(written)) return valueEdit(nodes, place, value);
  if (isAlias(written) || isAnchored(written) || endsInBlockScalar(written)) return undefined;
  const [start, end] = [nodes.startOf(written), nodes.endOf(written)];
  // A list in block style may have the column of its key.
  const deeper = nodes.column(start) > nodes.column(nodes.startOf(place.pair.key)) ? '' : '  ';
  return [{ span: { start, end }, text: deeper + value }];
}

function block(entry: Entries, indent: string, lineBreak: string): string {
  return Object.entries(entry)
    .map(([key, value]) => `${key}: ${valueText(value)}`)
    .join(lineBreak + indent);
}

function valueText(value: unknown): string {
  return typeof value === 'string' && scalarText(value) === value ? value : JSON.stringify(value);
}
