/**
 * A tolerant reading of half-typed YAML, line by line, so an error costs only its own place. The
 * library's lexer would join a half-typed key and the key below it. Invariants: never throws, is
 * linear, does not recurse. No explicit keys (`? key`).
 */
import { lineEnd, nextLine, type Span } from './textPositions.js';

export type SketchPath = readonly (string | number)[];

export interface SketchEntry {
  readonly key: string;
  readonly keySpan: Span;
  /**
   * The text behind the colon on its line, without quotes. It is empty if a map, a list or nothing
   * follows.
   */
  text: string;
  end: number;
  child: SketchBox | undefined;
}

export interface SketchBox {
  readonly kind: 'map' | 'list';
  readonly flow: boolean;
  /** The column of its keys or dashes; in flow style the column of its line. */
  readonly indent: number;
  readonly path: SketchPath;
  readonly entries: SketchEntry[];
  /** The number of items so far, with the current one. */
  items: number;
}

export interface Slot {
  readonly span: Span;
  readonly role: 'key' | 'value';
  /** The path of the map for a key, and of the value itself for a value. */
  readonly path: SketchPath;
  readonly quote: '' | "'" | '"';
  readonly flow: boolean;
  /** True if a blank separates the place from the colon, because a value needs it. */
  readonly spaced: boolean;
  readonly complete: boolean;
}

interface Word extends Span {
  readonly text: string;
  readonly quote: Slot['quote'];
}

type Place = Span & Partial<Word>;

/** The state of reading between brackets. */
interface Flow {
  /** The depth and the column around the brackets. */
  readonly outer: number;
  readonly column: number;
  /** The path of the next value. */
  next: SketchPath;
  /** The entry that waits for its value. */
  entry: SketchEntry | undefined;
  /** The first offset that counts as the place of the next word. */
  gap: number;
}

const pathKey = (path: SketchPath): string => JSON.stringify(path);

export function sketch(text: string, cursor = -1): Sketch {
  return new Sketch(text, cursor);
}

/** Deeper nesting has no paths, so paths take no more time than the text. Files count to 64. */
const deepest = 100;

// No pattern repeats a choice, because V8 keeps each repetition on a stack and a long text exhausts
// it.
const blanks = /[ \t]*/y;
const quoted = /"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"|'[^'\r\n]*(?:''[^'\r\n]*)*'|[^\r\n]*/y;
/** A key without quotes goes to the first colon with a blank behind it, and has no `#`. */
const blockKeyEnd = /(?=:(?!\S)|[#\r\n])|$/g;
const blockWordEnd = /(?=(?<=\s)#|[\r\n])|$/g;
const flowWordEnd = /(?=:(?![^\s,[\]{}])|(?<=\s)#|[,[\]{}\r\n])|$/g;
const blockColon = /:(?!\S)/y;
const flowColon = /:(?![^\s,[\]{}])/y;
const jsonColon = /:/y;
const dash = /-(?![^ \t\r\n])/y;
const blockMark = /[&!][^\s,[\]{}]*(?!\S)/y;
const flowMark = /[&!][^\s,[\]{}]*/y;
const flowSign = /[{}[\],]/y;
const flowGap = /[ \t]+|(?<=[\s,[{])#[^\r\n]*/y;

export class Sketch {
  private readonly boxes = new Map<string, SketchBox>();
  slot: Slot | undefined;
  private readonly stack: SketchBox[] = [];
  private at = 0;
  /** The end of the last word or bracket. Closing parts end here. */
  private reached = 0;

  constructor(
    private readonly text: string,
    private readonly cursor: number,
  ) {
    // The text behind the last line break counts as a line, even if it is empty.
    while (this.at <= text.length) this.line();
    this.closeTo(0);
  }

  box(path: SketchPath): SketchBox | undefined {
    return this.boxes.get(pathKey(path));
  }

  private line(): void {
    const start = this.at;
    this.take(blanks);
    const column = this.at - start;
    const isEmpty = this.isLineOver();
    const blank = this.cursor - start;
    if (blank >= 0 && (blank < column || (isEmpty && blank === column))) {
      const path = this.keyPath(blank, true);
      if (path) this.note('key', path, { start: this.cursor, end: this.cursor });
    }
    if (!isEmpty && (column > 0 || !this.take(/---|\.\.\.|%/y))) this.content(start);
    this.at = nextLine(this.text, lineEnd(this.text, this.at));
  }

  private content(start: number): void {
    let item: SketchBox | undefined;
    let column = this.at - start;
    while (this.take(dash)) {
      item = this.block('list', column);
      item.items++;
      const gap = this.at;
      this.take(blanks);
      column = this.at - start;
      if (this.isLineOver())
        return this.note('value', this.next(item), { start: gap, end: this.at });
    }
    const from = this.at;
    const key = this.word(blockKeyEnd);
    this.take(blanks);
    if (/[\s{}[\],]/.test(this.text.charAt(from)) || !this.take(blockColon)) {
      this.at = from;
      const path = item ? this.next(item) : this.keyPath(column, false);
      if (path) this.value(item ? 'value' : 'key', path, column, from - 1);
      return;
    }
    const map = this.block('map', column, item !== undefined);
    const entry = this.enter(map, key);
    this.note('key', map.path, key, from, true);
    this.value('value', this.next(map), column, this.at, entry);
  }

  private block(kind: SketchBox['kind'], column: number, inItem = false): SketchBox {
    const isOver = (box: SketchBox): boolean => {
      if (box.indent !== column || box.kind === kind) return box.indent > column;
      // A list may have the column of the key it belongs to.
      return kind === 'map' || box.entries.at(-1)?.text !== '';
    };
    let top = this.stack.at(-1);
    for (; top && !inItem && isOver(top); top = this.stack.at(-1))
      this.closeTo(this.stack.length - 1);
    if (top?.kind === kind && top.indent === column) return top;
    return this.open(kind, column, top ? this.next(top) : []);
  }

  /**
   * The path of the map for a key at a column: the map with this column, or a new one below a key
   * without a value.
   */
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

  private value(
    role: Slot['role'],
    path: SketchPath,
    column: number,
    before: number,
    entry?: SketchEntry,
  ): void {
    const start = this.at;
    this.take(blanks);
    while (this.take(blockMark)) this.take(blanks);
    if (this.isLineOver()) return this.note(role, path, { start, end: this.at }, before);
    if (/[{[]/.test(this.text.charAt(this.at))) return this.flow(path, column, entry);
    const header = this.take(/[|>][-+0-9]*[ \t]*(?:#[^\r\n]*)?(?![^\r\n])/y);
    if (header) {
      if (entry) entry.text = header.charAt(0);
      return this.blockText(column);
    }
    const word = this.word(blockWordEnd);
    this.note(role, path, word, before);
    this.finish(word, entry);
  }

  private blockText(column: number): void {
    do this.at = lineEnd(this.text, this.at);
    while (this.below(column, /[ \t]*\S/y));
  }

  /**
   * Goes to the line below, unless it is the empty last one or begins with this pattern at the
   * column or before.
   */
  private below(column: number, beginning: RegExp): boolean {
    const end = this.at;
    const line = nextLine(this.text, end);
    this.at = line;
    const length = this.take(beginning).length;
    const isInside = line < this.text.length && (length === 0 || length - 1 > column);
    this.at = isInside ? line : end;
    return isInside;
  }

  /**
   * Reads from a bracket to its partner, and ends early if a line below is outside the brackets.
   */
  private flow(next: SketchPath, column: number, entry: SketchEntry | undefined): void {
    const { text, stack } = this;
    const flow: Flow = {
      outer: stack.length,
      column,
      next,
      entry,
      gap: this.at,
    };
    while (this.at < text.length) {
      if (this.take(flowGap)) continue;
      if (/[\r\n]/.test(text.charAt(this.at))) {
        if (this.below(stack[0]?.flow ? -1 : column, /[ \t]*[^\s\]}#]/y)) continue;
        break;
      }
      this.noteFlow(flow);
      const sign = this.take(flowSign);
      if (/[{[]/.test(sign) && stack.length > deepest) break;
      if (sign) this.sign(sign, flow);
      else if (this.take(flowMark)) flow.gap = this.at;
      else if (!this.take(flowColon)) this.flowWord(flow);
      if (sign && stack.length === flow.outer) return;
    }
    this.noteFlow(flow);
    this.closeTo(flow.outer);
  }

  private noteFlow(
    { outer, next, entry, gap }: Flow,
    word: Place = { start: this.at, end: this.at },
    complete = false,
  ): void {
    const box = this.stack.length > outer ? this.stack.at(-1) : undefined;
    if (box?.kind === 'map' && !entry) this.note('key', box.path, word, gap, complete);
    else if (box) this.note('value', next, word, gap, complete);
  }

  private sign(sign: string, flow: Flow): void {
    const box = this.stack.at(-1);
    switch (sign) {
      case '{':
        this.open('map', flow.column, flow.next, flow);
        break;
      case '[':
        flow.next = this.next(this.open('list', flow.column, flow.next, flow));
        break;
      case ',':
        if (box?.kind !== 'list') break;
        box.items++;
        flow.next = this.next(box);
        break;
      default:
        this.closeTo(this.stack.length - 1);
        this.reached = this.at;
        flow.next = [];
    }
    flow.entry = undefined;
    flow.gap = this.at;
  }

  private flowWord(flow: Flow): void {
    const box = this.stack.at(-1);
    const word = this.word(flowWordEnd);
    this.take(blanks);
    const isKey = this.take(word.quote ? jsonColon : flowColon) !== '';
    this.noteFlow(flow, word, isKey);
    if (isKey && box?.kind === 'map' && !flow.entry) {
      flow.entry = this.enter(box, word);
      flow.next = this.next(box);
      flow.gap = this.at;
    } else {
      this.finish(word, flow.entry);
      flow.gap = word.end + 1;
    }
  }

  private open(kind: SketchBox['kind'], indent: number, path: SketchPath, flow?: Flow): SketchBox {
    const owner = flow?.entry ?? this.stack.at(-1)?.entries.at(-1);
    const box: SketchBox = {
      kind,
      flow: flow !== undefined,
      indent,
      path,
      entries: [],
      items: flow ? 1 : 0,
    };
    if (owner && !owner.child && owner.key === path.at(-1)) owner.child = box;
    if (this.stack.length < deepest && !this.boxes.has(pathKey(path)))
      this.boxes.set(pathKey(path), box);
    this.stack.push(box);
    return box;
  }

  private closeTo(depth: number): void {
    while (this.stack.length > depth) this.end(this.stack.pop()?.entries.at(-1));
  }

  private end(entry: SketchEntry | undefined): void {
    if (entry) entry.end = this.reached;
  }

  private enter(box: SketchBox, { start, end, text }: Word): SketchEntry {
    this.end(box.entries.at(-1));
    this.reached = end + 1;
    const entry: SketchEntry = {
      key: text,
      keySpan: { start, end },
      text: '',
      end,
      child: undefined,
    };
    box.entries.push(entry);
    return entry;
  }

  private finish({ text, end }: Word, entry: SketchEntry | undefined): void {
    if (entry) entry.text = text;
    this.reached = end;
  }

  private next(box: SketchBox): SketchPath {
    const key = box.kind === 'list' ? box.items - 1 : (box.entries.at(-1)?.key ?? '');
    return box.path.length >= deepest ? box.path : [...box.path, key];
  }

  /**
   * Takes the cursor's place. @param before the first offset for the cursor to count as this place
   */
  private note(
    role: Slot['role'],
    path: SketchPath,
    word: Place,
    before = word.start,
    complete = false,
  ): void {
    const { cursor, text } = this;
    const { start, end, quote = '' } = word;
    if (this.slot || cursor < Math.min(before, start) || cursor > end) return;
    const isEmpty = text.slice(start, end).trim() === '' || cursor < start;
    const spaced = role === 'key' || /[\s[{,]/.test(text[cursor - 1] ?? ' ') || !isEmpty;
    const span = isEmpty ? { start: cursor, end: cursor } : { start, end };
    this.slot = {
      role,
      path,
      quote,
      flow: this.stack.at(-1)?.flow === true,
      spaced,
      complete,
      span,
    };
  }

  /**
   * Reads at least one character of a key or a value, but no line break. An open quote ends with
   * the line.
   */
  private word(plainEnd: RegExp): Word {
    const { text, at: start } = this;
    const first = text.charAt(start);
    const quote = first === "'" || first === '"' ? first : '';
    if (quote) this.take(quoted);
    else {
      plainEnd.lastIndex = start + 1;
      this.at = plainEnd.test(text) ? plainEnd.lastIndex : text.length;
    }
    const raw = text.slice(start, this.at).trimEnd();
    return {
      start,
      end: start + raw.length,
      quote,
      text: quote ? unquoted(raw) : raw,
    };
  }

  private isLineOver(): boolean {
    return /[#\r\n]/.test(this.text[this.at] ?? '\n');
  }

  private take(pattern: RegExp): string {
    const { at } = this;
    pattern.lastIndex = at;
    if (pattern.test(this.text)) this.at = pattern.lastIndex;
    return this.text.slice(at, this.at);
  }
}

function unquoted(raw: string): string {
  const body = raw.slice(1, raw.length > 1 && raw.endsWith(raw.charAt(0)) ? -1 : undefined);
  return raw.startsWith("'") ? body.replaceAll("''", "'") : body.replace(/\\(.)/g, '$1');
}
