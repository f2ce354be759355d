/**
 * Reads foreign JSON within bounds (S2). Recursion over a value from `parseFlattened` is safe, and its memory is in
 * proportion to its text. Everything here is pure.
 */
import { StringDecoder } from 'node:string_decoder';
import type { Sliced } from '../base/turns.js';

/** Readers refuse more deeply nested values. */
export const deepestValue = 256;
/** An empty list takes some twenty times the memory of its text. */
const mostContainers = 2_000_000;

/** Throws a `SyntaxError` for invalid JSON, and for too many lists and objects. */
export function parseJson(text: string): unknown {
  if (text.length > 2 * mostContainers && holdsMore(text, mostContainers, Infinity)) {
    throw tooManyContainers();
  }
  return JSON.parse(text);
}

function tooManyContainers(): SyntaxError {
  return new SyntaxError(`It has more than ${mostContainers} lists and objects.`);
}

/** Returns undefined if `parseJson` refuses the text or its value is too deep. */
export function storedJson(text: string): unknown {
  try {
    const value = parseJson(text);
    return nestsTooDeep(text) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Parts below twice the accepted depth are cut off. So a part of too great a depth costs only itself, and its reader
 * still sees the depth.
 */
export function parseFlattened(text: string): unknown {
  const value = parseJson(text);
  if (nestsDeeper(text, 2 * deepestValue) && isContainer(value)) cutBelow(value, 2 * deepestValue);
  return value;
}

/** True if valid JSON is nested too deep. Its value may be less deep only if an object has a key twice. */
export function nestsTooDeep(text: string): boolean {
  return nestsDeeper(text, deepestValue);
}

/** Reads the text, because a walk through the value takes as long as parsing it. */
function nestsDeeper(text: string, limit: number): boolean {
  // Each level has two brackets.
  return text.length > 2 * limit && holdsMore(text, Infinity, limit);
}

/** True if a text has more lists and objects than `mostInAll`, or is nested deeper than `deepest`. */
function holdsMore(text: string, mostInAll: number, deepest: number): boolean {
  let [inAll, depth] = [0, 0];
  for (let at = 0; at < text.length && inAll <= mostInAll && depth <= deepest; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) at = endOfString(text, at);
    else if (unit === 0x5b || unit === 0x7b) {
      inAll++;
      depth++;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return inAll > mostInAll || depth > deepest;
}

/** Returns the end of the text without a closing quotation mark. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

type Container = unknown[] | Record<string, unknown>;

/** Values known not to be too deep, so nobody has to walk through large ones. */
const shallow = new WeakSet<object>();

function knowShallow(value: object): void {
  shallow.add(value);
}

export function isTooDeep(value: unknown): boolean {
  if (isContainer(value) && shallow.has(value)) return false;
  return isContainer(value) && someInner(value, (inner) => reaches(inner, deepestValue - 1));
}

/** True if a container is nested to this depth. Recurses no deeper. */
function reaches(container: Container, depth: number): boolean {
  return depth === 0 || someInner(container, (inner) => reaches(inner, depth - 1));
}

/** Empties containers with others in them at this depth. Recurses no deeper. */
function cutBelow(container: Container, depth: number): void {
  const isCut = someInner(container, (inner) => {
    if (depth === 1) return true;
    cutBelow(inner, depth - 1);
    return false;
  });
  if (!isCut) return;
  if (Array.isArray(container)) container.length = 0;
  else for (const key of Object.keys(container)) delete container[key];
}

/** Makes no list of the members, because every result passes here (P3). */
function someInner(container: Container, test: (inner: Container) => boolean): boolean {
  if (Array.isArray(container)) return container.some((inner) => isContainer(inner) && test(inner));
  for (const key in container) {
    const inner = container[key];
    if (isContainer(inner) && test(inner)) return true;
  }
  return false;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

/** The size of one piece for `JSON.parse`, in characters. */
const pieceLength = 16 * 1024;
/** Longer strings are read in pieces. */
const longString = 4 * pieceLength;
/** Longer indivisible tokens are refused: a key, a number, white space. */
const longestToken = 1024 * 1024;
const mostKeys = 100_000;
/** If strings are short or have many quotes, this many quotes make a slice. */
const quotesOfSlice = 4096;

const [quote, comma, colon, backslash, opensList, closesList, opensObject, closesObject] = [
  0x22, 0x2c, 0x3a, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
];

interface Open {
  readonly start: number;
  readonly isList: boolean;
  /**
   * Present from the end of the first slice with this container open. The containers around it then have theirs too.
   */
  value: Container | undefined;
  key: string | undefined;
  /** Members up to this index are in the value. */
  done: number;
  /** The last comma after `done`; -1 without one. */
  comma: number;
  /** The number of keys in the value. Among very many keys, each one costs more than its predecessor. */
  keys: number;
  /** The next token at `done`: `next` is a required member. */
  awaits: 'any' | 'next' | 'commaOrEnd';
}

/** Gives the value of `parseFlattened` for a list or an object, and also throws for too long a token. */
export function* parsedInSlices(text: string): Sliced<unknown> {
  const open: Open[] = [];
  const large: Container[] = [];
  let result: Container | undefined;
  let [containers, deepest, quotes] = [0, 0, 0];
  let sliceStart = 0;
  let end = 0;

  const isBlank = (from: number, to: number): boolean => text.slice(from, to).trim() === '';

  function flush(one: Open, depth: number, to: number): void {
    if (to - one.done > longestToken) throw new SyntaxError('It has a key, a number or a blank of more than 1 MiB.');
    const members = text.slice(one.done, to);
    const part = JSON.parse(one.isList ? `[${members}]` : `{${members}}`) as Container;
    const keys = Array.isArray(part) ? [] : Object.keys(part);
    if (keys.length === 0 && (!Array.isArray(part) || part.length === 0)) throw misplaced(one.done);
    if (deepest > 2 * deepestValue) cutBelow(part, 2 * deepestValue + 1 - depth);
    if (Array.isArray(part)) for (const member of part) (one.value as unknown[]).push(member);
    else for (const key of keys) if (Object.hasOwn(part, key)) put(one.value as Container, key, part[key]);
    one.keys += keys.length;
    if (one.keys > mostKeys) throw new SyntaxError(`It has an object with more than ${mostKeys} keys.`);
  }

  /** Makes a container for everything open, so the text before this index is no longer needed. */
  function settle(): void {
    if (open.length > 2 * deepestValue) throw misplaced(at);
    for (const [index, one] of open.entries()) {
      if (!one.value) {
        one.value = one.isList ? [] : {};
        large.push(one.value);
        if (index > 0) one.key = keyOf(open[index - 1] as Open, one.start);
      }
      if (one.comma < 0) continue;
      flush(one, index + 1, one.comma);
      one.done = one.comma + 1;
      one.comma = -1;
      one.awaits = 'next';
    }
    sliceStart = at;
  }

  /** Reads the text before a member read in pieces: nothing in a list, its key in an object. */
  function keyOf(one: Open, to: number): string | undefined {
    if (one.awaits === 'commaOrEnd' || to - one.done > longestToken) throw misplaced(one.done);
    const before = text.slice(one.done, to);
    if (one.isList) {
      if (before.trim() !== '') throw misplaced(one.done);
      return undefined;
    }
    const keys = Object.keys(JSON.parse(`{${before}0}`) as object);
    if (keys.length !== 1) throw misplaced(one.done);
    return keys[0];
  }

  function take(one: Open, key: string | undefined, value: unknown, to: number): void {
    if (Array.isArray(one.value)) one.value.push(value);
    else put(one.value as Container, key ?? '', value);
    one.done = to;
    one.comma = -1;
    one.awaits = 'commaOrEnd';
  }

  function close(one: Open, code: number): void {
    if (!one.value) {
      if (open.length > 0) return;
      const value = JSON.parse(text.slice(one.start, at + 1)) as Container;
      if (deepest > 2 * deepestValue) cutBelow(value, 2 * deepestValue);
      result = value;
      return;
    }
    if (one.isList !== (code === closesList)) throw misplaced(at);
    const isEnd = one.awaits !== 'next' && isBlank(one.done, at);
    if (!isEnd) {
      if (one.awaits === 'commaOrEnd') throw misplaced(one.done);
      flush(one, open.length + 1, at);
    }
    const around = open.at(-1);
    if (around) take(around, one.key, one.value, at + 1);
    else result = one.value;
  }

  let at = 0;
  for (; at < text.length; at++) {
    if (at - sliceStart >= pieceLength || quotes >= quotesOfSlice) {
      quotes = 0;
      // Deeper values are cut off at the end, so they stay together until then.
      if (open.length <= 2 * deepestValue || at - sliceStart > longestToken) settle();
      yield;
    }
    const code = text.charCodeAt(at);
    switch (code) {
      case quote: {
        const start = at;
        for (let next = text.indexOf('"', at + 1); ; next = text.indexOf('"', next + 1)) {
          if (next < 0) throw misplaced(start);
          if (++quotes % quotesOfSlice === 0) yield;
          if (!isEscaped(text, next, start + 1)) {
            at = next;
            break;
          }
        }
        const one = open.at(-1);
        if (!one) throw misplaced(start);
        if (at - start < longString || isKey(text, at + 1, one)) break;
        const behind = at + 1;
        at = start;
        settle();
        const key = keyOf(one, start);
        const pieces: string[] = [];
        for (let from = start + 1; from < behind - 1; from = end) {
          end = pieceEnd(text, from, behind - 1);
          pieces.push(JSON.parse(`"${text.slice(from, end)}"`) as string);
          yield;
        }
        take(one, key, pieces.join(''), behind);
        at = behind - 1;
        sliceStart = behind;
        break;
      }
      case comma: {
        const one = open.at(-1);
        if (!one) throw misplaced(at);
        if (one.awaits !== 'commaOrEnd') one.comma = at;
        else {
          if (!isBlank(one.done, at)) throw misplaced(one.done);
          one.done = at + 1;
          one.awaits = 'next';
        }
        break;
      }
      case opensList:
      case opensObject:
        if (open.length === 0 && (result !== undefined || !isBlank(0, at))) throw misplaced(at);
        if (++containers > mostContainers) throw tooManyContainers();
        open.push({
          start: at,
          isList: code === opensList,
          value: undefined,
          key: undefined,
          done: at + 1,
          comma: -1,
          keys: 0,
          awaits: 'any',
        });
        deepest = Math.max(deepest, open.length);
        break;
      case closesList:
      case closesObject: {
        const one = open.pop();
        if (!one) throw misplaced(at);
        close(one, code);
        if (open.length === 0) end = at + 1;
        break;
      }
    }
  }
  if (result === undefined || open.length > 0 || !isBlank(end, text.length)) throw misplaced(text.length);
  if (deepest <= deepestValue) for (const one of large) knowShallow(one);
  return result;
}

/** Sets a key as `JSON.parse` does, even if an assignment to it would mean something else. */
function put(to: Container, key: string, value: unknown): void {
  if (key !== '__proto__') (to as Record<string, unknown>)[key] = value;
  else Object.defineProperty(to, key, { value, writable: true, enumerable: true, configurable: true });
}

/** @param from an index outside of escapes */
function isEscaped(text: string, at: number, from: number): boolean {
  let slashes = 0;
  while (at - 1 - slashes >= from && text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
  return slashes % 2 === 1;
}

function isKey(text: string, behind: number, { isList }: Open): boolean {
  if (isList) return false;
  let at = behind;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === colon;
}

function pieceEnd(text: string, from: number, behind: number): number {
  let end = from + pieceLength;
  if (end >= behind) return behind;
  for (let back = 1; back <= 5; back++) {
    const at = end - back;
    if (text.charCodeAt(at) !== backslash || isEscaped(text, at, from)) continue;
    const length = text.charCodeAt(at + 1) === 0x75 ? 6 : 2;
    if (length > back) end = at + length;
    break;
  }
  return Math.min(end, behind);
}

function misplaced(at: number): SyntaxError {
  return new SyntaxError(`It is no JSON at or behind character ${at}.`);
}

/** True if a value is large enough for writing in slices. Looks at no more of it than necessary. */
export function isLarge(value: unknown): boolean {
  return weightOf(value, longValue) > longValue;
}

/** Smaller values are written at once, in characters. */
const longValue = 256 * 1024;

/** Returns about the length of a value's JSON. Above `most`, the number is only known to be greater. */
function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  let weight = 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && weight <= most; index++)
      weight += 1 + weightOf(value[index], most - weight);
    return weight;
  }
  for (const key in value) {
    if (weight > most) break;
    weight += key.length + 4 + weightOf((value as Record<string, unknown>)[key], most - weight);
  }
  return weight;
}

/** Gives the text of `JSON.stringify` for an object or a list with only JSON in it and no great depth. */
export function* jsonInSlices(value: unknown): Sliced<string> {
  const pieces: string[] = [];
  yield* write(value, pieces);
  return pieces.join('');
}

function* write(value: unknown, pieces: string[]): Sliced<void> {
  yield;
  if (typeof value === 'string' && value.length > longString) {
    pieces.push('"');
    for (let from = 0, end = 0; from < value.length; from = end) {
      end = Math.min(from + pieceLength, value.length);
      const last = value.charCodeAt(end - 1);
      if (last >= 0xd800 && last <= 0xdbff && end < value.length) end += 1;
      pieces.push(JSON.stringify(value.slice(from, end)).slice(1, -1));
      yield;
    }
    pieces.push('"');
  } else if (Array.isArray(value)) yield* writeList(value, pieces);
  else if (isContainer(value)) yield* writeObject(value as Record<string, unknown>, pieces);
  else pieces.push(JSON.stringify(value) ?? 'null');
}

function* writeList(list: readonly unknown[], pieces: string[]): Sliced<void> {
  let before = '[';
  let from = 0;
  let weight = 0;
  for (let at = 0; at <= list.length; at++) {
    const own = at < list.length ? weightOf(list[at], pieceLength) : 0;
    const isHeavy = own > pieceLength;
    weight += own;
    if (!isHeavy && weight <= pieceLength && at < list.length) continue;
    // Small members up to here are written at once.
    if (at > from) {
      pieces.push(before, JSON.stringify(list.slice(from, at)).slice(1, -1));
      before = ',';
      yield;
    }
    from = at;
    weight = own;
    if (!isHeavy) continue;
    pieces.push(before);
    yield* write(list[at], pieces);
    before = ',';
    from = at + 1;
    weight = 0;
  }
  pieces.push(before === '[' ? '[]' : ']');
}

function* writeObject(fields: Readonly<Record<string, unknown>>, pieces: string[]): Sliced<void> {
  let before = '{';
  let written = 0;
  for (const key of Object.keys(fields)) {
    const member = fields[key];
    if (member === undefined) continue;
    pieces.push(`${before}${JSON.stringify(key)}:`);
    before = ',';
    if (weightOf(member, pieceLength) > pieceLength) yield* write(member, pieces);
    else pieces.push(JSON.stringify(member));
    if (++written % 256 === 0) yield;
  }
  pieces.push(before === '{' ? '{}' : '}');
}

export function* decodedInSlices(pieces: readonly Buffer[]): Sliced<string> {
  const decoder = new StringDecoder('utf8');
  const texts: string[] = [];
  for (const piece of pieces) {
    texts.push(decoder.write(piece));
    yield;
  }
  texts.push(decoder.end());
  return texts.join('');
}
