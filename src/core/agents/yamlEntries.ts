/**
 * Writes entries into another program's YAML file, with a list of maps with `name` as its servers. Edits are minimal:
 * comments, order and layout of everything else stay. Everything here is pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../base/isObject.js';
import { EditNodes, endsInBlockScalar, isAlias, isAnchored, isEmptyValue, isMap, isSeq } from '../yaml/editNodes.js';
import { appendItem, applyEdits, insertAfter, scalarText, valueEdit, type Edits } from '../yaml/edits.js';
import { plainValue } from '../yaml/valueNodes.js';
import { readYaml } from '../yaml/yamlTree.js';
import type { EntryChange } from './jsonEntries.js';

type Entries = Readonly<Record<string, unknown>>;

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

/** @param text well-formed. The caller checks the result, because an entry without a minimal edit stays. */
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
  if (!isSeq(list)) return text;
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
  const set = removed.length > 0 ? undefined : withKeys(text, container, index, there, entry);
  if (set !== undefined) return set;
  const kept = Object.entries(there).filter(([key]) => !removed.includes(key));
  const merged = { ...Object.fromEntries(kept), ...entry };
  const [start, end] = [nodes.startOf(item), nodes.endOf(item)];
  const isFlow = list.flow === true || text[start] === '{';
  const written = isFlow ? JSON.stringify(merged) : block(merged, ' '.repeat(nodes.column(start)), nodes.lineBreak);
  return text.slice(0, start) + written + text.slice(end);
}

function withKeys(text: string, container: string, index: number, there: Entries, keys: Entries): string | undefined {
  let result = text;
  for (const [key, value] of Object.entries(keys)) {
    if (isDeepStrictEqual(there[key], value)) continue;
    const nodes = EditNodes.read(result);
    const list = nodes?.pairOf(nodes.root, container)?.pair.value;
    const edits = nodes && isSeq(list) && setKey(nodes, list.items[index], key, valueText(value));
    if (!edits) return undefined;
    result = applyEdits(result, edits);
  }
  return result;
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
