/** The state of the tolerant reading of `sketch`: the maps and lists that are open, and what stands at the cursor. */
import type { Span } from './textPositions.js';

export type SketchPath = readonly (string | number)[];

export interface SketchEntry {
  readonly key: string;
  readonly keySpan: Span;
  /** The text behind the colon on its line, without quotes. It is empty where a map, a list or nothing follows. */
  text: string;
  /** The offset at which the entry ends, with all that is in it. */
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
  /** The entries of a map so far. */
  readonly entries: SketchEntry[];
  /** The number of items of a list so far. */
  items: number;
  /** The entry whose value this is. */
  readonly owner: SketchEntry | undefined;
}

/** A place at which something can be typed. */
export interface Slot {
  /** The text that is there already and would be replaced, quotes included. */
  readonly span: Span;
  readonly role: 'key' | 'value';
  /** The path of the map for a key, and of the value itself for a value. */
  readonly path: SketchPath;
  readonly quote: '' | "'" | '"';
  readonly flow: boolean;
  /** Says whether a blank stands between the colon and the place, as a value needs. */
  readonly spaced: boolean;
  /** Says whether the key already has its colon. */
  readonly complete: boolean;
}

/** What is nested deeper has no path of its own, so that paths take no more time than the text. Files count to 64. */
export const deepest = 100;

export const pathKey = (path: SketchPath): string => JSON.stringify(path);

export class SketchState {
  readonly boxes = new Map<string, SketchBox>();
  readonly anchors = new Map<string, SketchPath>();
  readonly aliases: { name: string; path: SketchPath }[] = [];
  /** The maps and lists that are open, the outermost first. */
  readonly stack: SketchBox[] = [];
  slot: Slot | undefined;
  /** How far was read of what is open; what closes has its end here. */
  private reached = 0;

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
    if (this.stack.length < deepest && !this.boxes.has(pathKey(path))) this.boxes.set(pathKey(path), box);
    this.stack.push(box);
    return box;
  }

  private nextPath(): SketchPath {
    const top = this.stack.at(-1);
    if (!top) return [];
    if (this.stack.length >= deepest) return top.path;
    if (top.kind === 'list') return this.inside(top, Math.max(0, top.items - 1));
    return this.inside(top, top.entries.at(-1)?.key ?? '');
  }

  /** Returns the path of something in a box, which is that of the box itself where it is nested too deep. */
  inside(box: SketchBox, key: string | number): SketchPath {
    return box.path.length >= deepest ? box.path : [...box.path, key];
  }

  close(which: (box: SketchBox) => boolean): void {
    for (let top = this.stack.at(-1); top && which(top); top = this.stack.at(-1)) this.pop();
  }

  /** Closes the innermost of what is open. */
  pop(): SketchBox | undefined {
    const box = this.stack.pop();
    if (box) this.end(box.entries.at(-1));
    if (box) this.end(box.owner);
    return box;
  }

  /** Closes all but so many, the outermost. */
  closeTo(depth: number): void {
    while (this.stack.length > depth) this.pop();
  }

  /** What ended then is not made longer by what is read later. */
  private end(entry: SketchEntry | undefined): void {
    if (entry && entry.end < this.reached) entry.end = this.reached;
  }

  enter(box: SketchBox, key: string, keySpan: Span): SketchEntry {
    this.end(box.entries.at(-1));
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

  /** Extends everything that is open to this offset. */
  grow(end: number): void {
    if (end > this.reached) this.reached = end;
  }

  /** Takes the place as the cursor's if the cursor is there. @param before the first offset of the cursor that counts as this place */
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

/** The offset behind the closing quote; a text that is not closed ends with its line. */
export function quoteEnd(text: string, at: number, lineEnd: number): number {
  const rest = text.slice(at, lineEnd);
  const found = (rest.startsWith('"') ? /^"(?:[^"\\]|\\.)*"/ : /^'(?:[^']|'')*'/).exec(rest);
  return at + (found?.[0].length ?? rest.trimEnd().length);
}

export function unquoted(raw: string): string {
  const body = raw.slice(1, raw.length > 1 && raw.endsWith(raw.charAt(0)) ? -1 : undefined);
  return raw.startsWith("'") ? body.replaceAll("''", "'") : body.replace(/\\(.)/g, '$1');
}
