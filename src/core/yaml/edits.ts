/**
 * Minimal, pure edits of a YAML text (E1, E3), or `undefined` if a change would touch more than
 * requested. Edits of one answer do not overlap. Offsets are of the original text. No anchor is
 * removed, because an alias may need it.
 */
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import { isObject } from '../base/isObject.js';
import { asText } from '../base/text.js';
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
  const backwards = withoutOverlaps(edits).sort(
    (a, b) => b.span.start - a.span.start || b.span.end - a.span.end,
  );
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
  return [
    { span: { start, end: before.length - rest }, text: after.slice(start, after.length - rest) },
  ];
}

export function withoutOverlaps(edits: readonly TextEdit[]): TextEdit[] {
  const kept: TextEdit[] = [];
  for (const edit of edits) {
    const { start, end } = edit.span;
    const meets = ({ span }: TextEdit): boolean =>
      (start === span.start && end === span.end) || (start < span.end && span.start < end);
    if (!kept.some(meets)) {
      kept.push(edit);
    }
  }
  return kept;
}

export function scalarText(value: string, quote: "'" | '"' | '' = ''): string {
  if (quote === '"') return JSON.stringify(value);
  const plain =
    /^[a-zA-Z0-9_/.][a-zA-Z0-9_/.*@+-]*$/.test(value) &&
    !/^(?:true|false|null|[-+.]?[0-9].*|\.(?:inf|nan))$/i.test(value);
  if (quote === '' && plain) return value;
  const escaped = value.replaceAll("'", "''");
  return `'${escaped}'`;
}

/** Returns a plain value in flow style. Undefined keys are left out. */
export function flowText(value: unknown): string {
  if (typeof value === 'string') return quotedText(value);
  if (Array.isArray(value)) {
    return `[${value.map(flowText).join(', ')}]`;
  }
  if (!isObject(value)) return asText(value);
  const entries = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : [`${keyText(key)}: ${flowText(item)}`],
  );
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

export function keyText(key: string): string {
  return /^[a-zA-Z_][a-zA-Z0-9_-]*$/.test(key) ? scalarText(key) : quotedText(key, true);
}

function quotedText(text: string, quoted = false): string {
  // Single quotes have no way to write these.
  if (/[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(text)) {
    return JSON.stringify(text);
  }
  return scalarText(text, quoted ? "'" : '');
}

export function renameKey(nodes: EditNodes, keyStart: number, name: string): Edits {
  return scalarEdit(nodes.pairAt(keyStart)?.pair.key, name);
}

export function replaceItem(nodes: EditNodes, itemStart: number, value: string): Edits {
  const place = nodes.itemAt(itemStart);
  return scalarEdit(place?.list.items[place.index], value);
}

function scalarEdit(node: unknown, text: string): Edits {
  const span = spanOf(node);
  if (!span || !isScalar(node) || isBlockScalar(node)) return undefined;
  return [{ span, text: textLike(node, text) }];
}

/** Writes a text with the quotes of another scalar. */
export function textLike(node: unknown, value: string): string {
  const type = isScalar(node) ? node.type : undefined;
  switch (type) {
    case 'QUOTE_SINGLE':
      return scalarText(value, "'");
    case 'QUOTE_DOUBLE':
      return scalarText(value, '"');
    default:
      return scalarText(value);
  }
}

/** Replaces the scalar or alias at a key. A `text` keeps its quotes. `raw` is written as given. */
export function replaceValue(
  nodes: EditNodes,
  keyStart: number,
  value: string,
  kind: 'text' | 'raw' = 'text',
): Edits {
  const place = nodes.pairAt(keyStart);
  if (!place) return undefined;
  const written = place.pair.value;
  const keepsQuotes = kind === 'text' && isScalar(written);
  const text = keepsQuotes ? textLike(written, value) : value;
  return valueEdit(nodes, place, text);
}

export function removeItem(nodes: EditNodes, itemStart: number): Edits {
  const place = nodes.itemAt(itemStart);
  return place && removeAt(nodes, place.list, place.index);
}

export function removeKey(nodes: EditNodes, keyStart: number): Edits {
  const place = nodes.pairAt(keyStart);
  return place && removeAt(nodes, place.map, place.index);
}

function removeAt(nodes: EditNodes, collection: Collection, index: number): Edits {
  const item: unknown = collection.items[index];
  const { start, end } = nodes.extent(item);
  const hasAnchor = /(?:^|[\s,[{:])&[^\s&]/.test(nodes.text.slice(start, end));
  if (hasAnchor) return undefined;
  if (collection.flow) {
    return removeInFlow(nodes, collection, index, { start, end });
  }
  // An anchor without content would change the meaning of its aliases.
  if (isMap(collection) && collection.items.length === 1 && collection.anchor !== undefined) {
    return undefined;
  }
  const first = nodes.firstOnLine(collection, item);
  const rest = nodes.text.slice(end, nodes.lineEnd(end)).trim();
  if (first === undefined || (rest !== '' && !rest.startsWith('#'))) return undefined;
  const lines = {
    start: nodes.lineStart(first),
    end: nodes.nextLine(end),
  };
  return [{ span: lines, text: '' }];
}

/**
 * Inserts entries into a map, or items into a list. @param lines in block style, without the common
 * indentation
 */
export function insertAt(
  nodes: EditNodes,
  collection: Collection,
  index: number,
  lines: readonly string[],
  flow = lines.join(', '),
): Edits {
  const { text, lineBreak } = nodes;
  const before: unknown = collection.items[index - 1];
  const next: unknown = collection.items[index];
  if (collection.flow) {
    if (before !== undefined) {
      return [insertion(nodes.extent(before).end, `, ${flow}`)];
    }
    const open = (spanOf(collection)?.start ?? 0) + 1;
    const blank = isMap(collection) ? ' ' : '';
    if (next === undefined) {
      return [insertion(open, blank + flow + (text[open] === '}' ? blank : ''))];
    }
    const { start } = nodes.extent(next);
    const gap = nodes.beginsLine(start) ? lineBreak + ' '.repeat(nodes.column(start)) : ' ';
    return [insertion(start, `${flow},${gap}`)];
  }
  const start = nodes.firstOnLine(collection, before ?? next);
  if (start === undefined) return undefined;
  const indent = text.slice(nodes.lineStart(start), start);
  if (before === undefined) {
    return [insertion(start, lines.map((line) => line + lineBreak + indent).join(''))];
  }
  const added = lines.map((line) => lineBreak + (line && indent + line)).join('');
  return [insertion(nodes.lineEnd(nodes.extent(before).end), added)];
}

/** Inserts a key as the first of a map. @param value in flow style, without line breaks */
export function insertEntry(nodes: EditNodes, map: unknown, key: string, value: string): Edits {
  if (!isMap(map)) return undefined;
  const first = map.items[0]?.key;
  const isJson = map.flow && isScalar(first) && first.type === 'QUOTE_DOUBLE';
  const name = isJson ? JSON.stringify(key) : key;
  return insertAt(nodes, map, 0, [`${name}: ${value}`]);
}

/** Appends items to a list. @param values in flow style */
export function appendItem(nodes: EditNodes, list: unknown, ...values: readonly string[]): Edits {
  return isSeq(list) && !endsInBlockScalar(list)
    ? insertItems(nodes, list, list.items.length, values)
    : undefined;
}

/** Inserts items before the first one of a list. @param values in flow style */
export function prependItems(
  nodes: EditNodes,
  place: Pick<PairPlace, 'pair'>,
  values: readonly string[],
): Edits {
  const { value: list } = place.pair;
  if (isEmptyValue(list)) {
    return valueEdit(nodes, place, `[${values.join(', ')}]`);
  }
  return isSeq(list) ? insertItems(nodes, list, 0, values) : undefined;
}

export function insertItems(
  nodes: EditNodes,
  list: Collection,
  index: number,
  values: readonly string[],
): Edits {
  const lines = values.map((value) => `- ${value}`);
  return insertAt(nodes, list, index, lines, values.join(', '));
}

/** Inserts a key behind the key at an offset. @param value in flow style, without line breaks */
export function insertAfter(nodes: EditNodes, keyStart: number, key: string, value: string): Edits {
  const place = nodes.pairAt(keyStart);
  if (!place || endsInBlockScalar(place.pair.value)) return undefined;
  return insertAt(nodes, place.map, place.index + 1, [`${key}: ${value}`]);
}

/** Puts another value in the place of a scalar or alias. A list or map is not replaced. */
export function valueEdit(
  nodes: EditNodes,
  { pair }: Pick<PairPlace, 'pair'>,
  text: string,
): Edits {
  const { value } = pair;
  if (isEmptyValue(value)) {
    const at = nodes.afterColon(pair);
    // Here an anchor has no node, or the value is on a later line.
    if (value !== null && (value as { anchor?: string; tag?: string }).anchor !== undefined) {
      return undefined;
    }
    const isBehindColon = nodes.text[at - 1] === ':';
    return isBehindColon ? [insertion(at, ` ${text}`)] : undefined;
  }
  if (!isScalar(value) && !isAlias(value)) return undefined;
  const span = spanOf(value);
  if (!span || isBlockScalar(value)) return undefined;
  return [{ span, text }];
}

export function insertion(at: number, text: string): TextEdit {
  return { span: { start: at, end: at }, text };
}

/**
 * Removes an item with its comma, and its line if the line has no other content. No edit if a
 * comment is before its comma.
 */
function removeInFlow(nodes: EditNodes, collection: Collection, index: number, span: Span): Edits {
  const comma = nodes.skipBlank(span.end);
  if (nodes.text[comma] === ',') {
    if (nodes.text.slice(span.end, comma).trim() !== '') return undefined;
    const behind = comma + 1;
    const gap = /^[ \t]*/.exec(nodes.text.slice(behind))?.[0].length ?? 0;
    const isLast = behind + gap === nodes.lineEnd(behind);
    if (isLast && nodes.beginsLine(span.start)) {
      return [
        { span: { start: nodes.lineStart(span.start), end: nodes.nextLine(behind) }, text: '' },
      ];
    }
    // A comment must not move to the line of the text before it.
    const end = isLast || nodes.text[behind + gap] === '#' ? behind : behind + gap;
    return [{ span: { start: span.start, end }, text: '' }];
  }
  const before: unknown = collection.items[index - 1];
  if (before === undefined) {
    return [{ span, text: '' }];
  }
  const start = nodes.skipBlank(nodes.extent(before).end);
  if (nodes.text[start] !== ',') return undefined;
  if (nodes.text.slice(start + 1, span.start).trim() === '') {
    return [{ span: { start, end: span.end }, text: '' }];
  }
  return [
    { span: { start, end: start + 1 }, text: '' },
    { span, text: '' },
  ];
}
