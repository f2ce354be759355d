/**
 * Minimal edits of a YAML text: comments, quotes, order and line breaks stay as they are (E1, E3). Everything here is
 * pure. If a change would touch more than requested, the result is `undefined`.
 *
 * Invariants: edits of one answer do not overlap. All offsets are of the original text. The edited text is YAML with
 * the intended meaning. An anchor is never removed, because an alias may need it.
 */
import { isAlias, isMap, isPair, isScalar, isSeq } from 'yaml';
import {
  endsInBlockScalar,
  isBlockScalar,
  isEmptyValue,
  type Collection,
  type EditNodes,
  type PairPlace,
} from './editNodes.js';
import type { Span } from './textPositions.js';
import { spanOf } from './yamlDocument.js';

export interface TextEdit {
  /** The span is empty for an insertion. */
  readonly span: Span;
  readonly text: string;
}

export type Edits = readonly TextEdit[] | undefined;

/** If two edits overlap, the later one in the list is left out. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = text;
  // Behind an insertion at its start, a replacement would not have its text any more.
  const backwards = withoutOverlaps(edits).sort((a, b) => b.span.start - a.span.start || b.span.end - a.span.end);
  for (const { span, text: inserted } of backwards) {
    result = result.slice(0, span.start) + inserted + result.slice(span.end);
  }
  return result;
}

export function difference(before: string, after: string): TextEdit[] {
  if (before === after) return [];
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let rest = 0;
  while (rest < most - start && before.at(-1 - rest) === after.at(-1 - rest)) rest++;
  return [{ span: { start, end: before.length - rest }, text: after.slice(start, after.length - rest) }];
}

export function withoutOverlaps(edits: readonly TextEdit[]): TextEdit[] {
  const kept: TextEdit[] = [];
  for (const edit of edits) {
    const { start, end } = edit.span;
    const meets = ({ span }: TextEdit): boolean =>
      (start === span.start && end === span.end) || (start < span.end && span.start < end);
    if (!kept.some(meets)) kept.push(edit);
  }
  return kept;
}

export function scalarText(value: string, quote: "'" | '"' | '' = ''): string {
  if (quote === '"') return JSON.stringify(value);
  const plain =
    /^[a-zA-Z0-9_/.][a-zA-Z0-9_/.*@+-]*$/.test(value) &&
    !/^(?:true|false|null|[-+.]?[0-9].*|\.(?:inf|nan))$/i.test(value);
  return quote === '' && plain ? value : `'${value.replaceAll("'", "''")}'`;
}

export function renameKey(nodes: EditNodes, keyStart: number, name: string): Edits {
  return scalarEdit(nodes.pairAt(keyStart)?.pair.key, name);
}

export function replaceItem(nodes: EditNodes, itemStart: number, value: string): Edits {
  const place = nodes.itemAt(itemStart);
  return scalarEdit(place?.list.items[place.index], value);
}

/** Keeps the quotes. */
function scalarEdit(node: unknown, text: string): Edits {
  const span = spanOf(node);
  return isScalar(node) && span && !isBlockScalar(node) ? [{ span, text: textLike(node, text) }] : undefined;
}

/** Replaces the scalar or alias at a key. A `text` keeps its quotes. `raw` is written as given. */
export function replaceValue(nodes: EditNodes, keyStart: number, value: string, kind: 'text' | 'raw' = 'text'): Edits {
  const pair = nodes.pairAt(keyStart)?.pair;
  if (!pair) return undefined;
  return valueEdit(nodes, { pair }, isScalar(pair.value) && kind === 'text' ? textLike(pair.value, value) : value);
}

export function removeItem(nodes: EditNodes, itemStart: number): Edits {
  const place = nodes.itemAt(itemStart);
  if (!place) return undefined;
  const { list, index } = place;
  const item: unknown = list.items[index];
  const span = { start: nodes.startOf(item), end: nodes.endOf(item) };
  if (list.flow) return removeInFlow(nodes, list, index, span);
  const dash = nodes.dashBefore(span.start);
  if (dash === undefined || nodes.text.slice(dash + 1, span.start).trim() !== '') return undefined;
  return removeLines(nodes, dash, span.end);
}

export function removeKey(nodes: EditNodes, keyStart: number): Edits {
  const place = nodes.pairAt(keyStart);
  if (!place) return undefined;
  const span = nodes.pairSpan(place.pair);
  if (place.map.flow) return removeInFlow(nodes, place.map, place.index, span);
  // An anchor without content would change the meaning of its aliases.
  if (place.map.items.length === 1 && place.map.anchor !== undefined) return undefined;
  if (!nodes.beginsLine(span.start)) return undefined;
  return removeLines(nodes, span.start, span.end);
}

/** Inserts a key as the first of a map. @param value in flow style, without line breaks */
export function insertEntry(nodes: EditNodes, map: unknown, key: string, value: string): Edits {
  if (!isMap(map)) return undefined;
  const first = map.items[0];
  if (map.flow) {
    const open = spanOf(map)?.start ?? 0;
    const json = first && isScalar(first.key) && quoteOf(first.key) === '"';
    const entry = json ? `"${key}": ${value}` : `${key}: ${value}`;
    if (!first) return [insertion(open + 1, nodes.text[open + 1] === '}' ? ` ${entry} ` : ` ${entry}`)];
    const at = nodes.startOf(first.key);
    if (!nodes.beginsLine(at)) return [insertion(at, `${entry}, `)];
    return [insertion(at, `${entry},${nodes.lineBreak}${' '.repeat(nodes.column(at))}`)];
  }
  if (!first) return undefined;
  const at = nodes.startOf(first.key);
  if (!nodes.beginsLine(at)) return undefined;
  return [insertion(at, `${key}: ${value}${nodes.lineBreak}${indentation(nodes, at)}`)];
}

/** Appends items to a list. @param values in flow style */
export function appendItem(nodes: EditNodes, list: unknown, ...values: readonly string[]): Edits {
  if (!isSeq(list)) return undefined;
  const last: unknown = list.items.at(-1);
  if (list.flow) {
    if (last === undefined) return [insertion((spanOf(list)?.start ?? 0) + 1, values.join(', '))];
    const end = nodes.endOf(last);
    const trailing = nodes.skipBlank(end);
    const at = nodes.text[trailing] === ',' ? trailing : end;
    return [insertion(at, values.map((value) => `, ${value}`).join(''))];
  }
  if (last === undefined || endsInBlockScalar(list)) return undefined;
  const dash = nodes.dashBefore(nodes.startOf(list.items[0]));
  if (dash === undefined) return undefined;
  const before = `${nodes.lineBreak}${indentation(nodes, dash)}- `;
  return [insertion(nodes.lineEnd(nodes.endOf(last)), values.map((value) => before + value).join(''))];
}

/** Inserts items before the first one of a list. @param values in flow style */
export function prependItems(nodes: EditNodes, place: Pick<PairPlace, 'pair'>, values: readonly string[]): Edits {
  const { value: list } = place.pair;
  if (isEmptyValue(list)) return valueEdit(nodes, place, `[${values.join(', ')}]`);
  if (!isSeq(list)) return undefined;
  const [first] = list.items;
  if (list.flow) {
    const rest = first === undefined ? '' : ', ';
    const at = first === undefined ? (spanOf(list)?.start ?? 0) + 1 : nodes.startOf(first);
    return [insertion(at, values.join(', ') + rest)];
  }
  const dash = nodes.dashBefore(nodes.startOf(first));
  if (dash === undefined) return undefined;
  const indent = indentation(nodes, dash);
  return [insertion(dash, values.map((value) => `- ${value}${nodes.lineBreak}${indent}`).join(''))];
}

/** Inserts a key behind the key at an offset. @param value in flow style, without line breaks */
export function insertAfter(nodes: EditNodes, keyStart: number, key: string, value: string): Edits {
  const place = nodes.pairAt(keyStart);
  if (!place || endsInBlockScalar(place.pair.value)) return undefined;
  const end = nodes.pairSpan(place.pair).end;
  if (place.map.flow) return [insertion(end, `, ${key}: ${value}`)];
  if (!nodes.beginsLine(keyStart)) return undefined;
  return [insertion(nodes.lineEnd(end), `${nodes.lineBreak}${indentation(nodes, keyStart)}${key}: ${value}`)];
}

/** Puts another value in the place of a scalar or alias. A list or map is not replaced. */
export function valueEdit(nodes: EditNodes, { pair }: Pick<PairPlace, 'pair'>, text: string): Edits {
  const { value } = pair;
  if (isEmptyValue(value)) {
    const at = nodes.afterColon(pair);
    // Here an anchor has no node, or the value is on a later line.
    if (value !== null && (value as { anchor?: string; tag?: string }).anchor !== undefined) return undefined;
    return nodes.text[at - 1] === ':' ? [insertion(at, ` ${text}`)] : undefined;
  }
  const span = spanOf(value);
  if (!span || isBlockScalar(value) || !(isScalar(value) || isAlias(value))) return undefined;
  return [{ span, text }];
}

export function insertion(at: number, text: string): TextEdit {
  return { span: { start: at, end: at }, text };
}

export function indentation(nodes: EditNodes, offset: number): string {
  return nodes.text.slice(nodes.lineStart(offset), offset);
}

function quoteOf(node: { type?: string | null | undefined }): "'" | '"' | '' {
  return node.type === 'QUOTE_SINGLE' ? "'" : node.type === 'QUOTE_DOUBLE' ? '"' : '';
}

function textLike(node: { type?: string | null | undefined }, value: string): string {
  return scalarText(value, quoteOf(node));
}

function removeLines(nodes: EditNodes, start: number, end: number): Edits {
  const rest = nodes.text.slice(end, nodes.lineEnd(end)).trim();
  if ((rest !== '' && !rest.startsWith('#')) || hasAnchor(nodes.text.slice(start, end))) return undefined;
  return [{ span: { start: nodes.lineStart(start), end: nodes.nextLine(end) }, text: '' }];
}

/** Removes an item with its comma, and its line if the line has no other content. */
function removeInFlow(nodes: EditNodes, collection: Collection, index: number, span: Span): Edits {
  if (hasAnchor(nodes.text.slice(span.start, span.end))) return undefined;
  const comma = nodes.skipBlank(span.end);
  if (nodes.text[comma] === ',') {
    const edits: TextEdit[] = [];
    const near = nodes.text.slice(span.end, comma).trim() === '';
    let end = near ? comma + 1 : span.end;
    if (!near) edits.push({ span: { start: comma, end: comma + 1 }, text: '' });
    while (nodes.text[end] === ' ' || nodes.text[end] === '\t') end++;
    const alone = nodes.beginsLine(span.start) && end === nodes.lineEnd(end) && near;
    if (alone) return [{ span: { start: nodes.lineStart(span.start), end: nodes.nextLine(end) }, text: '' }];
    // A comment must not move to the line of the text before it.
    if (nodes.text[end] === '#' || end === nodes.lineEnd(end)) end = near ? comma + 1 : span.end;
    return [{ span: { start: span.start, end }, text: '' }, ...edits];
  }
  const before: unknown = collection.items[index - 1];
  if (before === undefined) return [{ span, text: '' }];
  const beforeEnd = isPair(before) ? nodes.pairSpan(before).end : nodes.endOf(before);
  const start = nodes.skipBlank(beforeEnd);
  if (nodes.text[start] !== ',') return undefined;
  if (nodes.text.slice(start + 1, span.start).trim() === '') return [{ span: { start, end: span.end }, text: '' }];
  return [
    { span: { start, end: start + 1 }, text: '' },
    { span, text: '' },
  ];
}

function hasAnchor(text: string): boolean {
  return /(?:^|[\s,[{:])&[^\s&]/.test(text);
}
