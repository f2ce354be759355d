/** The part of the tolerant reading of `sketch` that knows flow style: `{ … }` and `[ … ]`, closed or not. */
import {
  type SketchBox,
  type SketchEntry,
  type SketchPath,
  type SketchState,
  deepest,
  quoteEnd,
  unquoted,
} from './sketchState.js';
import { lineEnd, nextLine } from './textPositions.js';

/** Reads from a bracket to the one that closes it, and ends early where a line below cannot belong to it. */
export function scanFlow(
  state: SketchState,
  from: number,
  path: SketchPath,
  indent: number,
  owner: SketchEntry | undefined,
): number {
  const { text, stack, cursor } = state;
  const outer = stack.length;
  let at = from;
  let next: SketchPath = path;
  let entry = owner;
  // The place of the next key or value begins here.
  let gap = from;
  // How many brackets are open below the deepest one that is kept. What stands there is passed over.
  let deeper = 0;
  // A line is looked through for its end once, however many words it has.
  let known = -1;
  const endOfLine = (offset: number): number => (offset <= known ? known : (known = lineEnd(text, offset)));
  const top = (): SketchBox | undefined => (stack.length > outer ? stack.at(-1) : undefined);
  const note = (start: number, end: number, quote: '' | "'" | '"', complete = false): void => {
    const box = top();
    if (!box) return;
    const asKey = box.kind === 'map' && entry === undefined;
    state.note(asKey ? 'key' : 'value', asKey ? box.path : next, start, end, quote, gap, complete);
  };
  const blankUpTo = (end: number): void => {
    if (cursor >= gap && cursor <= end && !state.slot) note(cursor, cursor, '');
  };
  while (at < text.length) {
    const character = text[at] ?? '';
    if (character === '\n' || character === '\r') {
      const line = nextLine(text, at);
      const below = /^([ \t]*)(\S?)(?:[\w.-]+:(?=\s|$))?/.exec(text.slice(line, line + 300));
      const left = (below?.[1]?.length ?? 0) <= indent && !/[\]}#]/.test(below?.[2] ?? '') && below?.[2] !== '';
      if (left && stack.length > outer && indent >= 0 && stack[0]?.flow !== true) break;
      at = line;
      continue;
    }
    if (/[ \t]/.test(character)) {
      at++;
      continue;
    }
    if (character === '#' && /[\s,[{]/.test(text[at - 1] ?? ' ')) {
      at = endOfLine(at);
      continue;
    }
    const opens = character === '{' || character === '[';
    if (deeper > 0 || (opens && stack.length - outer >= deepest)) {
      if (opens) deeper++;
      else if (character === '}' || character === ']') deeper--;
      const isQuote = character === "'" || character === '"';
      at = isQuote ? Math.max(quoteEnd(text, at, endOfLine(at)), at + 1) : at + 1;
      gap = at;
      continue;
    }
    blankUpTo(at);
    if (opens) {
      const box = state.open(character === '{' ? 'map' : 'list', true, indent, next, entry);
      entry = undefined;
      next = box.kind === 'list' ? state.inside(box, 0) : box.path;
      gap = ++at;
      continue;
    }
    if (character === '}' || character === ']') {
      const closed = state.pop();
      at++;
      if (closed?.owner) closed.owner.end = at;
      state.grow(at);
      if (stack.length <= outer) break;
      gap = at;
      entry = undefined;
      next = [];
      continue;
    }
    const box = top();
    if (character === ',') {
      if (box?.kind === 'list') next = state.inside(box, ++box.items);
      entry = undefined;
      gap = ++at;
      continue;
    }
    if (character === ':' && /[\s,[\]{}]|^$/.test(text[at + 1] ?? '')) {
      at++;
      continue;
    }
    const quote = character === "'" || character === '"' ? character : '';
    const mark = /^[&!][^\s,[\]{}]*/.exec(text.slice(at, at + 200))?.[0];
    const end = mark
      ? at + mark.length
      : quote
        ? quoteEnd(text, at, endOfLine(at))
        : flowWordEnd(text, at, endOfLine(at));
    const word = text.slice(at, end);
    const behind = end + (/^[ \t]*/.exec(text.slice(end, end + 50))?.[0].length ?? 0);
    const isKey = text[behind] === ':' && (quote !== '' || /[\s,[\]{}]|^$/.test(text[behind + 1] ?? ''));
    if (word.startsWith('&')) {
      state.anchors.set(word.slice(1), next);
    } else if (!word.startsWith('!')) {
      note(at, end, quote, isKey);
      if (word.startsWith('*')) state.aliases.push({ name: word.slice(1), path: next });
      if (box?.kind === 'map' && entry === undefined && isKey) {
        entry = state.enter(box, quote ? unquoted(word) : word, { start: at, end });
        next = state.inside(box, entry.key);
        at = behind + 1;
        gap = at;
        continue;
      }
      state.finish(entry, quote ? unquoted(word) : word, end);
    }
    at = Math.max(end, at + 1);
    // The value of an anchor is still to come.
    gap = mark ? at : at + 1;
  }
  if (stack.length > outer) {
    const end = Math.min(at, text.length);
    if (cursor >= gap && cursor <= end && !state.slot) note(cursor, cursor, '');
    state.closeTo(outer);
  }
  return at;
}

function flowWordEnd(text: string, at: number, end: number): number {
  const stop = text.slice(at, end).search(/[,[\]{}]|:(?=[\s,[\]{}]|$)|\s#/);
  let last = stop < 0 ? end : at + stop;
  // No other blank may be cut off: a word of nothing else would end where it begins, and be looked through again.
  while (last > at && /[ \t]/.test(text[last - 1] ?? '')) last--;
  return last;
}
