/**
 * An entry of a server as it is written into the config file: block style, short lists and maps in flow style.
 * Everything here is pure.
 */
import { scalarText } from '../../yaml/edits.js';

/** The parts of an entry. `undefined` is left out. */
export type EntryValue =
  | string
  | number
  | boolean
  | readonly EntryValue[]
  | { readonly [key: string]: EntryValue | undefined };

export type NewEntry = { readonly [key: string]: EntryValue | undefined };

export interface NewServer {
  readonly id: string;
  readonly entry: NewEntry;
}

const widest = 100;

export function serverLines({ id, entry }: NewServer, step: string): string[] {
  return [`${keyText(id)}:`, ...mapLines(entry, step, step)];
}

export function serverFlow({ id, entry }: NewServer): string {
  return `${keyText(id)}: ${flow(entry)}`;
}

function mapLines(map: NewEntry, indent: string, step: string): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    if (value === undefined) return [];
    const head = `${indent}${keyText(key)}:`;
    const short = `${head} ${flow(value)}`;
    // Chosen names are easier to read one below the other.
    const isNames = key === 'env' || key === 'headers';
    if (typeof value !== 'object' || (short.length <= widest && !isNames)) return [short];
    if (isList(value)) return [head, ...value.map((item) => `${indent}${step}- ${flow(item)}`)];
    return [head, ...mapLines(value, indent + step, step)];
  });
}

function flow(value: EntryValue): string {
  if (typeof value === 'string') return textOf(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(flow).join(', ')}]`;
  const entries = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : [`${keyText(key)}: ${flow(item)}`],
  );
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

function keyText(key: string): string {
  return /^[a-zA-Z_][a-zA-Z0-9_-]*$/.test(key) ? scalarText(key) : textOf(key, true);
}

function textOf(text: string, quoted = false): string {
  // Single quotes have no way to write these.
  if (/[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(text)) return JSON.stringify(text);
  return scalarText(text, quoted ? "'" : '');
}

function isList(value: object): value is readonly EntryValue[] {
  return Array.isArray(value);
}
