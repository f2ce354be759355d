/** Makes the outline of a config file, broken or not, of its servers and keys. Everything here is pure. */
import type { SketchEntry } from '../yaml/sketch.js';
import { sketch } from '../yaml/sketch.js';
import type { Span } from '../yaml/textPositions.js';

export interface OutlineEntry {
  readonly name: string;
  /** The value if it is a word. For a server, its command or address. */
  readonly detail: string;
  readonly kind: 'key' | 'server';
  readonly span: Span;
  readonly keySpan: Span;
  readonly children: readonly OutlineEntry[];
}

/** @param text without a byte order mark */
export function outline(text: string): OutlineEntry[] {
  const entries = sketch(text).root?.entries ?? [];
  return entries.map((entry) => outlined(entry, entry.key === 'servers' ? 'servers' : 'key', 0));
}

/** Returns the spans of the servers of a file. */
export function serversIn(text: string): { readonly id: string; readonly keySpan: Span }[] {
  const servers = sketch(text).root?.entries.find(({ key }) => key === 'servers');
  return (
    servers?.child?.entries.filter(({ key }) => key !== '<<').map(({ key, keySpan }) => ({ id: key, keySpan })) ?? []
  );
}

/** The depth of the format. */
const deepest = 6;

/** The values of these keys may be secrets and are never shown. */
const silent = new Set(['url', 'sessionId', 'env', 'headers', 'oauth']);

function outlined(entry: SketchEntry, kind: 'key' | 'servers' | 'server', depth: number): OutlineEntry {
  const inside = entry.child?.entries ?? [];
  const below = kind === 'servers' ? 'server' : 'key';
  const shown =
    depth >= deepest
      ? []
      : silent.has(entry.key)
        ? inside.map(named)
        : inside.map((one) => outlined(one, below, depth + 1));
  return {
    name: entry.key === '' ? "''" : entry.key,
    detail: kind === 'server' ? launched(inside) : silent.has(entry.key) ? '' : entry.text.slice(0, 80),
    kind: kind === 'server' ? 'server' : 'key',
    span: { start: entry.keySpan.start, end: Math.max(entry.end, entry.keySpan.end) },
    keySpan: entry.keySpan,
    children: shown,
  };
}

/** Returns a name without its value. */
function named(entry: SketchEntry): OutlineEntry {
  const { key, keySpan, end } = entry;
  const span = { start: keySpan.start, end: Math.max(end, keySpan.end) };
  return { name: key === '' ? "''" : key, detail: '', kind: 'key', span, keySpan, children: [] };
}

function launched(entries: readonly SketchEntry[]): string {
  const text = (key: string): string => entries.find((entry) => entry.key === key)?.text ?? '';
  return text('command').slice(0, 80) || text('transport');
}
