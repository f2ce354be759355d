/** What a tolerant reading of YAML text has found so far: the maps and lists that are open, and the place of the cursor. */
import type { Span } from './textPositions.js';

export type SketchPath = readonly (string | number)[];

export interface SketchEntry {
  readonly key: string;
  readonly keySpan: Span;
  /** What stands behind the colon on its line, without quotes; '' where a map or list follows or nothing does. */
  text: string;
  /** Where the entry ends, with all that is in it. */
  end: number;
  child: SketchBox | undefined;
}

/** A map or a list. */
export interface SketchBox {
  readonly kind: 'map' | 'list';
  readonly flow: boolean;
  /** The column of its keys or dashes; in flow style that of its line. */
  readonly indent: number;
  readonly path: SketchPath;
  /** Of a map. */
  readonly entries: SketchEntry[];
  /** Items of a list so far. */
  items: number;
  /** The entry it is the value of. */
  readonly owner: SketchEntry | undefined;
}

/** A place at which something can be typed. */
export interface Slot {
  /** What is there already and would be replaced, quotes included. */
  readonly span: Span;
  readonly role: 'key' | 'value';
  /** Of the map for a key, of the value itself for a value. */
  readonly path: SketchPath;
  readonly quote: '' | "'" | '"';
  readonly flow: boolean;
  /** Blank between the colon and the place: a value wants one. */
  readonly spaced: boolean;
  /** A key that has its colon already. */
  readonly complete: boolean;
}

export const pathKey = (path: SketchPath): string => JSON.stringify(path);

export class SketchState {
  readonly boxes = new Map<string, SketchBox>();
  readonly anchors = new Map<string, SketchPath>();
  readonly aliases: { name: string; path: SketchPath }[] = [];
  /** What is open, the outermost first. */
  readonly stack: SketchBox[] = [];
  slot: Slot | undefined;

  constructor(
    readonly text: string,
    readonly cursor: number,
  ) {}

  open(
    kind: SketchBox['kind'],
    flow: boolean,
    indent: number,
    path: SketchPath = this.nextPath(),
    owner: SketchEntry | undefined = this.stack.at(-1)?.entries.at(-1),
  ): SketchBox {
    const box: SketchBox = { kind, flow, indent, path, entries: [], items: 0, owner };
    if (owner && !owner.child && owner.key === path.at(-1)) owner.child = box;
    if (!this.boxes.has(pathKey(path))) this.boxes.set(pathKey(path), box);
    this.stack.push(box);
    return box;
  }

  private nextPath(): SketchPath {
    const top = this.stack.at(-1);
    if (!top) return [];
    if (top.kind === 'list') return [...top.path, Math.max(0, top.items - 1)];
    return [...top.path, top.entries.at(-1)?.key ?? ''];
  }

  close(which: (box: SketchBox) => boolean): void {
    for (let top = this.stack.at(-1); top && which(top); top = this.stack.at(-1)) this.stack.pop();
  }

  enter(box: SketchBox, key: string, keySpan: Span): SketchEntry {
    const entry: SketchEntry = { key, keySpan, text: '', end: keySpan.end, child: undefined };
    box.entries.push(entry);
    this.grow(keySpan.end + 1);
    return entry;
  }

  finish(entry: SketchEntry | undefined, text: string, end: number): void {
    if (entry) entry.text = text;
    if (entry) entry.end = end;
    this.grow(end);
  }

  /** All that is open reaches to here. */
  grow(end: number): void {
    for (const { owner, entries } of this.stack) {
      if (owner && owner.end < end) owner.end = end;
      const last = entries.at(-1);
      if (last && last.end < end) last.end = end;
    }
  }

  /** `before`: from where on the cursor is at this place. */
  note(
    role: Slot['role'],
    path: SketchPath,
    start: number,
    end: number,
    quote: Slot['quote'],
    before: number,
    complete = false,
  ): void {
    const { cursor } = this;
    if (this.slot || cursor < Math.min(before, start) || cursor > end) return;
    const empty = this.text.slice(start, end).trim() === '' || cursor < start;
    const flow = this.stack.at(-1)?.flow === true;
    const spaced = role === 'key' || /[\s[{,]/.test(this.text[cursor - 1] ?? ' ') || !empty;
    this.slot = {
      role,
      path,
      quote,
      flow,
      spaced,
      complete,
      span: empty ? { start: cursor, end: cursor } : { start, end },
    };
  }
}

/** Words of YAML text as they stand on a line, whole or not: for the tolerant reading of `sketch`. */

export function keyAt(
  text: string,
  at: number,
  end: number,
): { name: string; end: number; colon: number; quote: '' | "'" | '"' } | undefined {
  const line = text.slice(at, end);
  const found = /^(?:("(?:[^"\\]|\\.)*")|('(?:[^']|'')*')|([^\s#&*!|>'"%@`{}[\],?-][^#]*?|[?-][^\s#][^#]*?|[^\s'"{}[\],][^#]*?))([ \t]*):(?=\s|$)/.exec(line); // prettier-ignore
  if (!found) return undefined;
  const raw = found[1] ?? found[2] ?? found[3] ?? '';
  const quote = found[1] ? '"' : found[2] ? "'" : '';
  const keyEnd = at + raw.length;
  return { name: quote ? unquoted(raw) : raw, end: keyEnd, colon: keyEnd + (found[4]?.length ?? 0), quote };
}

/** Behind the closing quote; an open one ends with its line. */
export function quoteEnd(text: string, at: number, lineEnd: number): number {
  const rest = text.slice(at, lineEnd);
  const found = (rest.startsWith('"') ? /^"(?:[^"\\]|\\.)*"/ : /^'(?:[^']|'')*'/).exec(rest);
  return at + (found?.[0].length ?? rest.trimEnd().length);
}

export function plainEnd(text: string, at: number, end: number): number {
  const rest = text.slice(at, end);
  const comment = rest.search(/\s#/);
  return at + (comment < 0 ? rest : rest.slice(0, comment)).trimEnd().length;
}

export function flowWordEnd(text: string, at: number): number {
  const rest = text.slice(at, lineEnd(text, at));
  const stop = rest.search(/[,[\]{}]|:(?=[\s,[\]{}]|$)|\s#/);
  return at + (stop < 0 ? rest : rest.slice(0, stop)).trimEnd().length;
}

export function lineEnd(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    if (text[end] === '\n' || text[end] === '\r') return end;
  }
  return text.length;
}

export function nextLine(text: string, end: number): number {
  return text.startsWith('\r\n', end) ? end + 2 : end + 1;
}

export function unquoted(raw: string): string {
  const body = raw.slice(1, raw.length > 1 && raw.endsWith(raw.charAt(0)) ? -1 : undefined);
  return raw.startsWith("'") ? body.replaceAll("''", "'") : body.replace(/\\(.)/g, '$1');
}
