/**
 * Makes the outline of a config file, broken or not, and renames its servers (E2).
 * `core/team/renaming` renames them in other files. Pure.
 */
import { english, translated } from '../base/language.js';
import { validateId } from '../config/edit/newServer.js';
import { EditNodes } from '../yaml/editNodes.js';
import { renameKey, type TextEdit } from '../yaml/edits.js';
import { sketch, type SketchEntry } from '../yaml/sketch.js';
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
  const entries = sketch(text).box([])?.entries ?? [];
  return entries.map((entry) => outlined(entry, entry.key === 'servers' ? 'servers' : 'key', 0));
}

export function serversIn(text: string): { readonly id: string; readonly keySpan: Span }[] {
  const servers = sketch(text).box(['servers'])?.entries ?? [];
  return servers
    .filter(({ key }) => key !== '<<')
    .map(({ key, keySpan }) => ({ id: key, keySpan }));
}

const deepest = 6;

/** The values of these keys may be secrets and are never shown. */
const silent = new Set(['url', 'sessionId', 'env', 'headers', 'oauth']);

/** @param kind a `name` is shown without its value */
function outlined(
  entry: SketchEntry,
  kind: 'key' | 'servers' | 'server' | 'name',
  depth: number,
): OutlineEntry {
  const { key, keySpan, child, text, end } = entry;
  const inside = child?.entries ?? [];
  const below = kind === 'servers' ? 'server' : silent.has(key) ? 'name' : 'key';
  const textAt = (name: string): string => inside.find((one) => one.key === name)?.text ?? '';
  const launched = textAt('command').slice(0, 80) || textAt('transport');
  const isHidden = kind === 'name' || silent.has(key);
  return {
    name: key === '' ? "''" : key,
    detail: kind === 'server' ? launched : isHidden ? '' : text.slice(0, 80),
    kind: kind === 'server' ? 'server' : 'key',
    span: { start: keySpan.start, end: Math.max(end, keySpan.end) },
    keySpan,
    children:
      kind === 'name' || depth >= deepest
        ? []
        : inside.map((one) => outlined(one, below, depth + 1)),
  };
}

export function serverAt(
  text: string,
  offset: number,
): { readonly id: string; readonly keySpan: Span } | undefined {
  return serversIn(text).find(({ keySpan }) => keySpan.start <= offset && offset <= keySpan.end);
}

/** Renames a server in a layer, or in the file below it (C7). Throws with a sentence. */
export function renamedInOther(
  text: string,
  { from, to }: { readonly from: string; readonly to: string },
): readonly TextEdit[] {
  const found = serversIn(text).find(({ id }) => id === from);
  const made = found ? renamedServer(text, found.keySpan, to) : [];
  if (typeof made === 'string') throw new Error(translated(made));
  return made;
}

/** Returns the edits, or a sentence with the reason against the new id. */
export function renamedServer(
  text: string,
  { start }: Span,
  to: string,
): readonly TextEdit[] | string {
  const nodes = EditNodes.read(text);
  if (!nodes) return english`The file has an error. Correct it before you rename a server.`;
  const why = validateId(to, new Set(serversIn(text).map(({ id }) => id)));
  return why ?? renameKey(nodes, start, to) ?? english`This id cannot be changed here.`;
}
