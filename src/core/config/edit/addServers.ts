/**
 * Adds new servers at the end of a config file as one minimal edit. Undefined if a server would not
 * be as given.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  EditNodes,
  isEmptyValue,
  isMap,
  isScalar,
  spanOf,
  type PairPlace,
} from '../../yaml/editNodes.js';
import {
  applyEdits,
  flowText,
  insertAt,
  insertion,
  keyText,
  valueEdit,
  type Edits,
} from '../../yaml/edits.js';
import { serverPair, serverValues } from './serverEdits.js';

type EntryValue =
  | string
  | number
  | boolean
  | null
  | readonly EntryValue[]
  | { readonly [key: string]: EntryValue | undefined };

export type NewEntry = { readonly [key: string]: EntryValue | undefined };

interface NewServer {
  readonly id: string;
  readonly entry: NewEntry;
}

/** @param text has no byte order mark, and is empty for a missing file */
export function addServers(text = '', servers: readonly NewServer[]): Edits {
  if (servers.length === 0) return [];
  const nodes = EditNodes.read(text);
  const edits = nodes && editsFor(nodes, servers);
  if (!edits) return undefined;
  const after = applyEdits(text, edits);
  return isMeant(text, after, servers) ? edits : undefined;
}

export function offsetOfServer(text: string, id: string): number | undefined {
  const nodes = EditNodes.read(text);
  return spanOf(nodes && serverPair(nodes, id)?.pair.key)?.start;
}

function editsFor(nodes: EditNodes, servers: readonly NewServer[]): Edits {
  const { root, lineBreak } = nodes;
  if (root === null || isEmptyValue(root)) {
    return wholeFile(nodes, servers);
  }
  if (!isMap(root)) return undefined;
  const written = nodes.pairOf(root, 'servers');
  if (written) return belowKey(nodes, written, servers);
  if (root.flow) return undefined;
  const lines = ['', 'servers:', ...blockLines(servers, '  ', '  ')].join(lineBreak);
  return [insertion(nodes.lineEnd(nodes.endOf(root)), lineBreak + lines)];
}

function wholeFile({ text, lineBreak }: EditNodes, servers: readonly NewServer[]): Edits {
  const isBlank = text.trim() === '';
  const gap = isBlank || text.endsWith('\n') ? [] : [''];
  const lines = [...gap, 'version: 1', '', 'servers:', ...blockLines(servers, '  ', '  '), ''];
  const span = { start: isBlank ? 0 : text.length, end: text.length };
  return [{ span, text: lines.join(lineBreak) }];
}

function belowKey(nodes: EditNodes, written: PairPlace, servers: readonly NewServer[]): Edits {
  const { key, value } = written.pair;
  const column = nodes.column(nodes.startOf(key));
  const isEmptyMap = isMap(value) && value.flow && value.items.length === 0;
  const isNull = isScalar(value) && value.value === null;
  const isNothing = isEmptyValue(value) || isEmptyMap || isNull;
  if (isNothing && canBeBlock(nodes, value)) {
    return inPlaceOfNothing(nodes, written, blockLines(servers, ' '.repeat(column + 2), '  '));
  }
  const flow = servers.map(({ id, entry }) => `${keyText(id)}: ${flowText(entry)}`).join(', ');
  if (!isMap(value)) {
    return isNothing ? valueEdit(nodes, written, `{ ${flow} }`) : undefined;
  }
  const inner = nodes.column(nodes.startOf(value.items[0]?.key));
  const step = ' '.repeat(Math.max(inner - column, 2));
  const apart = isApart(nodes, value);
  const lines = [...(apart ? [''] : []), ...blockLines(servers, '', step, apart)];
  return insertAt(nodes, value, value.items.length, lines, flow);
}

/**
 * True for an absent value. A map in flow style has no block in it, and nobody wants its servers on
 * one line otherwise.
 */
function canBeBlock({ root, text }: EditNodes, value: unknown): boolean {
  if (isEmptyValue(value)) return true;
  const range = spanOf(value);
  const written = range ? text.slice(range.start, range.end) : '';
  return isMap(root) && !root.flow && !/[#\r\n]/.test(written);
}

function inPlaceOfNothing(nodes: EditNodes, { pair }: PairPlace, lines: readonly string[]): Edits {
  const range = isEmptyValue(pair.value) ? undefined : spanOf(pair.value);
  const start = nodes.afterColon(pair);
  const valueEnd = range?.end ?? start;
  const end = nodes.lineEnd(valueEnd);
  const rest = nodes.text.slice(valueEnd, end);
  return [{ span: { start, end }, text: [rest, ...lines].join(nodes.lineBreak) }];
}

function isApart(nodes: EditNodes, map: PairPlace['map']): boolean {
  const second = map.items[1];
  if (!second) return false;
  const before = nodes.text.slice(0, nodes.lineStart(nodes.startOf(second.key)));
  return /(?:\r\n|\r(?!\n)|\n)[ \t]*(?:\r\n|\r|\n)(?:[ \t]*#[^\r\n]*(?:\r\n|\r|\n))*$/.test(before);
}

function blockLines(
  servers: readonly NewServer[],
  indent: string,
  step: string,
  apart = false,
): string[] {
  return servers.flatMap(({ id, entry }, index) => {
    const gap = apart && index > 0 ? [''] : [];
    const lines = [`${keyText(id)}:`, ...mapLines(entry, step, step)];
    const indented = lines.map((line) => indent + line);
    return [...gap, ...indented];
  });
}

function isMeant(before: string, after: string, servers: readonly NewServer[]): boolean {
  const was = serverValues(before);
  const added = servers.map(({ id, entry }) => [id, plainEntry(entry)] as const);
  const wanted = new Map<string, unknown>([...(was ?? []), ...added]);
  const isThere = servers.some(({ id }) => was?.has(id));
  return !isThere && isDeepStrictEqual(serverValues(after), wanted);
}

/** Returns an entry like one of `serverValues`, without its undefined keys. */
export function plainEntry(entry: NewEntry): unknown {
  return JSON.parse(JSON.stringify(entry));
}

const widest = 100;

/** Block style, with short lists and maps in flow style. */
function mapLines(map: NewEntry, indent: string, step: string): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    if (value === undefined) return [];
    const head = `${indent}${keyText(key)}:`;
    const short = `${head} ${flowText(value)}`;
    // Chosen names are easier to read one below the other.
    const isNames = key === 'env' || key === 'headers';
    if (typeof value !== 'object' || value === null || (short.length <= widest && !isNames)) {
      return [short];
    }
    if (isList(value)) {
      return [head, ...value.map((item) => `${indent}${step}- ${flowText(item)}`)];
    }
    return [head, ...mapLines(value, indent + step, step)];
  });
}

function isList(value: object): value is readonly EntryValue[] {
  return Array.isArray(value);
}
