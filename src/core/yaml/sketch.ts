/**
 * A tolerant reading of YAML text, whole or while it is typed: the keys of each map, and what belongs at a place. It goes
 * line by line and bracket by bracket, so that an error costs only its own place. It serves completion, outline and
 * lenses. `yamlTree` reads what a file means: the lexer of the library is of no use here, because a quote that is not
 * closed yet, or a word without its colon, takes the lines below with it.
 *
 * Invariants: never throws, takes time in proportion to the text, does not recurse. Block style, flow style, comments,
 * quotes, anchors, aliases and block texts are understood; explicit keys (`? key`) are not.
 */
import { lineEnd, nextLine, type Span } from './textPositions.js';

export type SketchPath = readonly (string | number)[];

export interface SketchEntry {
  readonly key: string;
  readonly keySpan: Span;
  /** The text behind the colon on its line, without quotes. It is empty if a map, a list or nothing follows. */
  text: string;
  /** The offset at which the entry ends, with all that is in it. */
  end: number;
  child: SketchBox | undefined;
}

/** A map or a list. */
export interface SketchBox {
  readonly kind: 'map' | 'list';
  readonly flow: boolean;
  /** The column of its keys or dashes; in flow style the column of its line. */
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
  /** True if a blank separates the place from the colon, as a value needs. */
  readonly spaced: boolean;
  /** True if the key already has its colon. */
  readonly complete: boolean;
}

export interface Sketch {
  readonly root: SketchBox | undefined;
  readonly boxes: ReadonlyMap<string, SketchBox>;
  /** The path of each anchor and of each use of an alias. */
  readonly anchors: ReadonlyMap<string, SketchPath>;
  readonly aliases: readonly { readonly name: string; readonly path: SketchPath }[];
  readonly slot: Slot | undefined;
}

export const pathKey = (path: SketchPath): string => JSON.stringify(path);

/** @param cursor the offset at which something is to be typed */
export function sketch(text: string, cursor = -1): Sketch {
  return new Sketcher(text, cursor).run();
}

interface Word extends Span {
  readonly text: string;
  readonly quote: Slot['quote'];
}

/** Deeper nesting has no paths, so that paths take no more time than the text. Files count to 64. */
const deepest = 100;

// Each pattern is tried at one place only and ends with the line.
const blanks = /[ \t]*/y;
const quoted = /"(?:[^"\\\r\n]|\\[^\r\n])*"|'(?:[^'\r\n]|'')*'/y;
const restOfLine = /[^\r\n]*/y;
/** A key without quotes goes to the first colon with a blank behind it, and has no `#`. */
const blockKey = /[^\s'"{}[\],](?:[^#:\r\n]|:(?=\S))*(?=:(?!\S))/y;
const blockWord = /(?:[^#\r\n]|(?<!\s)#)*/y;
const flowWord = /(?:[^#:,[\]{}\r\n]|(?<!\s)#|:(?=[^\s,[\]{}]))*/y;
const blockColon = /:(?!\S)/y;
const flowColon = /:(?![^\s,[\]{}])/y;

class Sketcher {
  private readonly boxes = new Map<string, SketchBox>();
  private readonly anchors = new Map<string, SketchPath>();
  private readonly aliases: { name: string; path: SketchPath }[] = [];
  /** The maps and lists that are open, the outermost first. */
  private readonly stack: SketchBox[] = [];
  private slot: Slot | undefined;
  private at = 0;
  /** The end of the last word or bracket; what closes ends here. */
  private reached = 0;

  constructor(
    private readonly text: string,
    private readonly cursor: number,
  ) {}

  run(): Sketch {
    // The line behind the last line break counts, empty as it is.
    while (this.at <= this.text.length) this.line();
    while (this.stack.length > 0) this.pop();
    const { boxes, anchors, aliases, slot } = this;
    return { root: boxes.get('[]'), boxes, anchors, aliases, slot };
  }

  private line(): void {
    const start = this.at;
    this.take(blanks);
    const column = this.at - start;
    const isEmpty = this.isLineOver();
    const blank = this.cursor - start;
    if (blank >= 0 && (blank < column || (isEmpty && blank === column))) {
      const path = this.keyPath(blank, true);
      if (path) this.note('key', path, this.cursor, this.cursor);
    }
    if (!isEmpty && (column > 0 || !this.take(/---|\.\.\.|%/y))) this.content(start);
    this.at = nextLine(this.text, lineEnd(this.text, this.at));
  }

  /** Reads dashes, then a key with its value, or a value. */
  private content(start: number): void {
    let item: SketchBox | undefined;
    let column = this.at - start;
    while (this.take(/-(?![^ \t\r\n])/y)) {
      item = this.block('list', column);
      item.items++;
      const behind = this.at;
      this.take(blanks);
      column = this.at - start;
      if (!this.isLineOver()) continue;
      this.note('value', this.next(item), behind, this.at);
      return;
    }
    const from = this.at;
    const key = this.word(blockKey);
    this.take(blanks);
    if (key.end === from || !this.take(blockColon)) {
      this.at = from;
      const path = item ? this.next(item) : this.keyPath(column, false);
      if (path) this.value(item ? 'value' : 'key', path, column, undefined, from - 1);
      return;
    }
    const map = this.block('map', column, item !== undefined);
    const entry = this.enter(map, key);
    this.note('key', map.path, from, key.end, key.quote, from, true);
    this.value('value', this.next(map), column, entry, this.at);
  }

  /** Returns the map or list with this column, which is a new one if none is open. */
  private block(kind: SketchBox['kind'], column: number, inItem = false): SketchBox {
    const isOver = (box: SketchBox): boolean => {
      if (box.indent !== column || box.kind === kind) return box.indent > column;
      // A list may have the column of the key it belongs to.
      return kind === 'map' || box.entries.at(-1)?.text !== '';
    };
    let top = this.stack.at(-1);
    for (; top && !inItem && isOver(top); top = this.stack.at(-1)) this.pop();
    if (top?.kind === kind && top.indent === column) return top;
    return this.open(kind, false, column, top ? this.next(top) : []);
  }

  /** Finds the map for a key at a column: the map that has the column, or a new one below a key without a value. */
  private keyPath(column: number, isBlank: boolean): SketchPath | undefined {
    const holds = ({ indent, kind }: SketchBox): boolean =>
      indent < column || (indent === column && (kind === 'map' || !isBlank));
    const top = this.stack.findLast(holds);
    if (!top) return this.stack.length === 0 || (isBlank && column === 0) ? [] : undefined;
    if (top.kind === 'list') return undefined;
    if (top.indent === column) return top.path;
    const last = top.entries.at(-1);
    return last?.text === '' && !last.child ? this.next(top) : undefined;
  }

  /** @param before the first offset of the cursor that counts as this place */
  private value(
    role: Slot['role'],
    path: SketchPath,
    column: number,
    entry: SketchEntry | undefined,
    before: number,
  ): void {
    const from = this.at;
    this.take(blanks);
    for (let mark; (mark = this.take(/[&!][^\s,[\]{}]*(?!\S)/y)); this.take(blanks)) this.anchor(mark, path);
    if (this.isLineOver()) return this.note(role, path, from, this.at, '', before);
    if (/[{[]/.test(this.text.charAt(this.at))) return this.flow(path, column, entry);
    const header = this.take(/[|>][-+0-9]*[ \t]*(?:#[^\r\n]*)?(?![^\r\n])/y);
    if (header) {
      if (entry) entry.text = header.charAt(0);
      return this.blockText(column);
    }
    const word = this.word(blockWord);
    this.note(role, path, word.start, word.end, word.quote, before);
    this.finish(word, path, entry);
  }

  private blockText(column: number): void {
    do this.at = lineEnd(this.text, this.at);
    while (this.below(column, /[ \t]*\S/y));
  }

  /** Goes to the line below, unless it is the empty last one or begins with this pattern at the column or before. */
  private below(column: number, beginning: RegExp): boolean {
    const end = this.at;
    const line = nextLine(this.text, end);
    this.at = line;
    const length = this.take(beginning).length;
    const isInside = line < this.text.length && (length === 0 || length - 1 > column);
    this.at = isInside ? line : end;
    return isInside;
  }

  /** Reads from a bracket to the one that closes it, and ends early if a line below cannot belong to it. */
  private flow(path: SketchPath, column: number, owner: SketchEntry | undefined): void {
    const { text, stack } = this;
    const outer = stack.length;
    let next = path;
    let entry = owner;
    // The place of the next key or value begins here.
    let gap = this.at;
    const note = (start: number, end: number, quote: Slot['quote'] = '', complete = false): void => {
      const box = stack.at(-1);
      if (!box || stack.length === outer) return;
      const isKey = box.kind === 'map' && !entry;
      this.note(isKey ? 'key' : 'value', isKey ? box.path : next, start, end, quote, gap, complete);
    };
    while (this.at < text.length) {
      if (this.take(/[ \t]+|(?<=[\s,[{])#[^\r\n]*/y)) continue;
      if (/[\r\n]/.test(text.charAt(this.at))) {
        if (this.below(stack[0]?.flow ? -1 : column, /[ \t]*[^\s\]}#]/y)) continue;
        break;
      }
      note(this.at, this.at);
      const box = stack.at(-1);
      const sign = this.take(/[{}[\],]/y);
      if (sign) {
        if (sign === '{') next = this.open('map', true, column, next, entry).path;
        else if (sign === '[') next = this.inside(this.open('list', true, column, next, entry), 0);
        else if (sign !== ',') this.pop();
        else if (box?.kind === 'list') next = this.inside(box, ++box.items);
        if (sign === '}' || sign === ']') this.reached = this.at;
        if (stack.length === outer) return;
        entry = undefined;
        gap = this.at;
        continue;
      }
      const mark = this.take(/[&!][^\s,[\]{}]*/y);
      if (mark) {
        this.anchor(mark, next);
        gap = this.at;
        continue;
      }
      if (this.take(flowColon)) continue;
      const word = this.word(flowWord);
      this.take(blanks);
      const isKey = this.take(word.quote ? /:/y : flowColon) !== '';
      note(word.start, word.end, word.quote, isKey);
      if (isKey && box?.kind === 'map' && !entry) {
        entry = this.enter(box, word);
        next = this.next(box);
        gap = this.at;
      } else {
        this.finish(word, next, entry);
        gap = word.end + 1;
      }
    }
    note(this.at, this.at);
    while (stack.length > outer) this.pop();
  }

  private open(
    kind: SketchBox['kind'],
    flow: boolean,
    indent: number,
    path: SketchPath,
    owner = this.stack.at(-1)?.entries.at(-1),
  ): SketchBox {
    const box: SketchBox = { kind, flow, indent, path, entries: [], items: 0, owner };
    if (owner && !owner.child && owner.key === path.at(-1)) owner.child = box;
    if (this.stack.length < deepest && !this.boxes.has(pathKey(path))) this.boxes.set(pathKey(path), box);
    this.stack.push(box);
    return box;
  }

  /** Closes the innermost of what is open. */
  private pop(): void {
    const box = this.stack.pop();
    this.end(box?.entries.at(-1));
    this.end(box?.owner);
  }

  private end(entry: SketchEntry | undefined): void {
    if (entry) entry.end = this.reached;
  }

  private enter(box: SketchBox, { start, end, text }: Word): SketchEntry {
    this.end(box.entries.at(-1));
    this.reached = end + 1;
    const entry: SketchEntry = { key: text, keySpan: { start, end }, text: '', end, child: undefined };
    box.entries.push(entry);
    return entry;
  }

  /** Takes a word as the value at a path. */
  private finish({ text, quote, end }: Word, path: SketchPath, entry: SketchEntry | undefined): void {
    if (!quote && text.startsWith('*')) this.aliases.push({ name: text.slice(1), path });
    if (entry) entry.text = text;
    this.reached = end;
  }

  private anchor(mark: string, path: SketchPath): void {
    if (mark.startsWith('&')) this.anchors.set(mark.slice(1), path);
  }

  /** Returns the path of the newest entry or item of a box. */
  private next(box: SketchBox): SketchPath {
    return this.inside(box, box.kind === 'list' ? box.items - 1 : (box.entries.at(-1)?.key ?? ''));
  }

  private inside({ path }: SketchBox, key: string | number): SketchPath {
    return path.length >= deepest ? path : [...path, key];
  }

  /**
   * Takes the place as the cursor's if the cursor is there.
   * @param before the first offset of the cursor that counts as this place
   */
  private note(
    role: Slot['role'],
    path: SketchPath,
    start: number,
    end: number,
    quote: Slot['quote'] = '',
    before = start,
    complete = false,
  ): void {
    const { cursor, text } = this;
    if (this.slot || cursor < Math.min(before, start) || cursor > end) return;
    const isEmpty = text.slice(start, end).trim() === '' || cursor < start;
    const spaced = role === 'key' || /[\s[{,]/.test(text[cursor - 1] ?? ' ') || !isEmpty;
    const span = isEmpty ? { start: cursor, end: cursor } : { start, end };
    this.slot = { role, path, quote, flow: this.stack.at(-1)?.flow === true, spaced, complete, span };
  }

  /** Reads a key or a value as far as it goes on its line. A quote that is not closed ends with the line. */
  private word(plain: RegExp): Word {
    const start = this.at;
    const quote = (this.take(/['"]/y) || '') as Slot['quote'];
    this.at = start;
    const raw = (quote ? this.take(quoted) || this.take(restOfLine) : this.take(plain)).trimEnd();
    return { start, end: start + raw.length, quote, text: quote ? unquoted(raw) : raw };
  }

  /** True at the end of a line and at a comment. */
  private isLineOver(): boolean {
    return /[#\r\n]/.test(this.text[this.at] ?? '\n');
  }

  /** Goes behind what matches here, and returns it. */
  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0] ?? '';
    this.at += taken.length;
    return taken;
  }
}

function unquoted(raw: string): string {
  const body = raw.slice(1, raw.length > 1 && raw.endsWith(raw.charAt(0)) ? -1 : undefined);
  return raw.startsWith("'") ? body.replaceAll("''", "'") : body.replace(/\\(.)/g, '$1');
}
