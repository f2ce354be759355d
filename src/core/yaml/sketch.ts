/**
 * A tolerant reading of YAML text, whole or while it is typed: which keys stand in which, and what belongs at a place.
 * It goes line by line and bracket by bracket, so that an error costs only the place where it is. It serves completion,
 * outline and lenses; what a file means is read by `yamlTree`.
 *
 * Invariants: never throws, takes time in proportion to the text, does not recurse. Block style, flow style, comments,
 * quotes, anchors, aliases and block texts are understood; explicit keys (`? key`) are not.
 */
import { scanFlow } from './sketchFlow.js';
import {
  SketchState,
  type SketchBox,
  type SketchEntry,
  type SketchPath,
  type Slot,
  quoteEnd,
  unquoted,
} from './sketchState.js';
import { lineEnd, nextLine } from './textPositions.js';

export interface Sketch {
  readonly root: SketchBox | undefined;
  readonly boxes: ReadonlyMap<string, SketchBox>;
  /** The paths at which each anchor stands and each alias is used. */
  readonly anchors: ReadonlyMap<string, SketchPath>;
  readonly aliases: readonly { readonly name: string; readonly path: SketchPath }[];
  readonly slot: Slot | undefined;
}

/** @param cursor the offset at which something is to be typed */
export function sketch(text: string, cursor = -1): Sketch {
  return new Sketcher(text, cursor).run();
}

class Sketcher {
  private readonly state: SketchState;
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly cursor: number,
  ) {
    this.state = new SketchState(text, cursor);
  }

  run(): Sketch {
    while (this.at < this.text.length) this.line();
    if (this.cursor === this.text.length && /(?:^|[\r\n])$/.test(this.text)) this.blank(0);
    this.state.closeTo(0);
    const { boxes, anchors, aliases, slot } = this.state;
    return { root: boxes.get('[]'), boxes, anchors, aliases, slot };
  }

  private line(): void {
    const start = this.at;
    const end = lineEnd(this.text, start);
    let column = start;
    while (column < end && (this.text[column] === ' ' || this.text[column] === '\t')) column++;
    const inBlank = this.cursor >= start && this.cursor <= column;
    if (column === end || this.text[column] === '#') {
      if (inBlank) this.blank(this.cursor - start);
    } else if (column > start || !/^(?:---|\.\.\.|%)/.test(this.text.slice(start, start + 3))) {
      if (inBlank && this.cursor < column) this.blank(this.cursor - start);
      this.content(start, column, end);
    }
    this.at = Math.max(this.at, nextLine(this.text, end));
  }

  /** Finds what an empty line is for: a key of the map that has this column, or the first key of a new map. */
  private blank(column: number): void {
    const open = this.state.stack.filter((box) => box.indent < column || (box.indent === column && box.kind === 'map'));
    const top = open.at(-1);
    const span = { start: this.cursor, end: this.cursor };
    const base = { span, quote: '', flow: false, spaced: true, complete: false } as const;
    if (!top) {
      if (this.state.stack.length === 0 || column === 0) this.state.slot = { ...base, role: 'key', path: [] };
      return;
    }
    const last = top.entries.at(-1);
    if (top.kind === 'map' && top.indent === column) this.state.slot = { ...base, role: 'key', path: top.path };
    else if (top.kind === 'map' && last?.text === '' && !last.child) {
      this.state.slot = { ...base, role: 'key', path: [...top.path, last.key] };
    }
  }

  /** Reads dashes, then a key with its value, or a value. */
  private content(lineStart: number, from: number, end: number): void {
    let at = from;
    while (this.text[at] === '-' && (at + 1 >= end || /[ \t]/.test(this.text[at + 1] ?? ''))) {
      const list = this.listAt(at - lineStart);
      list.items++;
      const behind = at + 1;
      at = behind;
      while (at < end && /[ \t]/.test(this.text[at] ?? '')) at++;
      if (at === end || this.text[at] === '#') {
        this.state.note('value', [...list.path, list.items - 1], behind, Math.max(behind, at), '', behind);
        return;
      }
    }
    const item = at > from ? this.state.stack.at(-1) : undefined;
    const key = keyAt(this.text, at, end);
    if (!key) {
      const path = this.valuePath(at - lineStart, item);
      if (path) this.value(path.path, at, end, path.role, at - lineStart, undefined, at - 1);
      return;
    }
    const map = this.mapAt(at - lineStart, item !== undefined);
    const entry = this.state.enter(map, key.name, { start: at, end: key.end });
    if (this.cursor >= at && this.cursor <= key.end) {
      this.state.note('key', map.path, at, key.end, key.quote, at - 1, true);
    }
    this.value([...map.path, entry.key], key.colon + 1, end, 'value', at - lineStart, entry, key.colon + 1);
  }

  private listAt(column: number): SketchBox {
    this.state.close((box) => box.indent > column || (box.indent === column && box.kind === 'map' && !hangs(box)));
    const top = this.state.stack.at(-1);
    if (top?.kind === 'list' && top.indent === column) return top;
    return this.state.open('list', false, column);
  }

  private mapAt(column: number, inItem: boolean): SketchBox {
    if (!inItem) this.state.close((box) => box.indent > column || (box.indent === column && box.kind === 'list'));
    const top = this.state.stack.at(-1);
    if (top?.kind === 'map' && top.indent === column) return top;
    return this.state.open('map', false, column);
  }

  /** Finds what a word without a colon is: the beginning of a key, an item, or the rest of a text above. */
  private valuePath(
    column: number,
    item: SketchBox | undefined,
  ): { path: SketchPath; role: 'key' | 'value' } | undefined {
    if (item) return { path: [...item.path, item.items - 1], role: 'value' };
    if (this.state.stack.length === 0) return { path: [], role: 'key' };
    const open = this.state.stack.filter((box) => box.indent <= column);
    const top = open.at(-1);
    if (top?.kind !== 'map') return undefined;
    if (top.indent === column) return { path: top.path, role: 'key' };
    const last = top.entries.at(-1);
    return last && last.text === '' && !last.child ? { path: [...top.path, last.key], role: 'key' } : undefined;
  }

  private value(
    path: SketchPath,
    from: number,
    end: number,
    role: 'key' | 'value',
    indent: number,
    entry: SketchEntry | undefined,
    before: number,
  ): void {
    let at = from;
    for (;;) {
      while (at < end && /[ \t]/.test(this.text[at] ?? '')) at++;
      if (this.text[at] !== '&' && this.text[at] !== '!') break;
      const mark = /^([&!])([^\s,[\]{}]*)(?=\s|$)/.exec(this.text.slice(at, Math.min(end, at + 200)));
      if (!mark) break;
      if (mark[1] === '&') this.state.anchors.set(mark[2] ?? '', path);
      at += mark[0].length;
    }
    const first = this.text[at];
    if (at >= end || first === '#') {
      this.state.note(role, path, from, Math.min(at, end), '', before);
      return;
    }
    if (first === '{' || first === '[') {
      this.at = scanFlow(this.state, at, path, indent, entry);
      return;
    }
    if ((first === '|' || first === '>') && /^[|>][-+0-9]*\s*(?:#.*)?$/.test(this.text.slice(at, end))) {
      if (entry) entry.text = first;
      this.blockText(end, indent);
      return;
    }
    if (first === "'" || first === '"') {
      const close = quoteEnd(this.text, at, end);
      this.state.note(role, path, at, close, first, before);
      this.state.finish(entry, unquoted(this.text.slice(at, close)), close);
      return;
    }
    const close = plainEnd(this.text, at, end);
    const word = this.text.slice(at, close);
    if (word.startsWith('*')) this.state.aliases.push({ name: word.slice(1), path });
    this.state.note(role, path, at, close, '', before);
    this.state.finish(entry, word, close);
  }

  private blockText(end: number, indent: number): void {
    let line = nextLine(this.text, end);
    while (line < this.text.length) {
      const below = /^([ \t]*)(\S?)/.exec(this.text.slice(line, line + 300));
      if (below?.[2] !== '' && (below?.[1]?.length ?? 0) <= indent) break;
      line = nextLine(this.text, lineEnd(this.text, line));
    }
    this.at = line;
  }
}

/** A list may stand at the column of the key it belongs to. */
function hangs(box: SketchBox): boolean {
  const last = box.entries.at(-1);
  return last !== undefined && last.text === '';
}

function keyAt(
  text: string,
  at: number,
  end: number,
): { name: string; end: number; colon: number; quote: '' | "'" | '"' } | undefined {
  const line = text.slice(at, end);
  if (line[0] !== '"' && line[0] !== "'") return plainKeyAt(line, at);
  const found = /^(?:("(?:[^"\\]|\\.)*")|('(?:[^']|'')*'))([ \t]*):(?=\s|$)/.exec(line);
  if (!found) return plainKeyAt(line, at);
  const raw = found[1] ?? found[2] ?? '';
  const keyEnd = at + raw.length;
  const quote = found[1] ? '"' : "'";
  return { name: unquoted(raw), end: keyEnd, colon: keyEnd + (found[3]?.length ?? 0), quote };
}

/** A key without quotes goes to the first colon with a blank behind it, and has no `#`. */
function plainKeyAt(line: string, at: number): ReturnType<typeof keyAt> {
  const colon = line.slice(1).search(/:(?=\s|$)/) + 1;
  if (colon === 0 || !/^[^\s'"{}[\],]/.test(line) || line.slice(1, colon).includes('#')) return undefined;
  let length = colon;
  while (line[length - 1] === ' ' || line[length - 1] === '\t') length--;
  return { name: line.slice(0, length), end: at + length, colon: at + colon, quote: '' };
}

function plainEnd(text: string, at: number, end: number): number {
  const rest = text.slice(at, end);
  const comment = rest.search(/\s#/);
  return at + (comment < 0 ? rest : rest.slice(0, comment)).trimEnd().length;
}
