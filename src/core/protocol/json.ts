/**
 * Reads foreign JSON within bounds (S2). Recursion over a value from `parseFlattened` is safe.
 * Pure.
 *
 * Long JSON is read in slices on the main thread, not in a worker: to take over the result of a
 * worker costs the main thread 1.3 to 5 times `JSON.parse`. The reader looks through the text once
 * for its brackets and leaves complete parts to `JSON.parse`.
 */
import { StringDecoder } from 'node:string_decoder';
import type { Sliced } from '../base/turns.js';
import { unlessThrown } from '../base/unlessThrown.js';

/** Readers refuse more deeply nested values. */
export const deepestValue = 256;
/** An empty list takes some twenty times the memory of its text. */
const mostContainers = 2_000_000;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const opensList = 0x5b;
const closesList = 0x5d;
const opensObject = 0x7b;
const closesObject = 0x7d;

/** Throws a `SyntaxError` for invalid JSON, and for too many lists and objects. */
export function parseJson(text: string): unknown {
  refuseTooMany(text);
  return parsed(text);
}

function refuseTooMany(text: string): void {
  if (text.length > 2 * mostContainers && holdsMore(text, mostContainers, Infinity))
    throw tooManyContainers();
}

/**
 * The escape of half of a surrogate pair. An even number of backslashes before it belongs to other
 * escapes.
 */
const high = /\\u[dD][89abAB]..(?<=(?<!\\)(?:\\\\)*\\u....)(?!\\u[dD][c-fC-F])/;
const low =
  /\\u[dD][c-fC-F]..(?<=(?<!\\)(?:\\\\)*\\u....)(?<!(?<!\\)(?:\\\\)*\\u[dD][89abAB]..\\u....)/;
const half = new RegExp(`${high.source}|${low.source}`, 'g');

/** Half of a surrogate pair becomes U+FFFD, because the API of every model refuses it (V1c). */
function parsed(text: string): unknown {
  return JSON.parse(text.replace(half, '\\ufffd'));
}

function tooManyContainers(): SyntaxError {
  return new SyntaxError(`It has more than ${mostContainers} lists and objects.`);
}

/** Keeps each text as it is. Returns undefined for invalid JSON, and if the value is too deep. */
export function storedJson(text: string): unknown {
  return unlessThrown(() => {
    refuseTooMany(text);
    const value: unknown = JSON.parse(text);
    return nestsTooDeep(text) ? undefined : value;
  });
}

/**
 * Cuts off parts below twice the accepted depth: they cost only themselves, and their reader still
 * sees the depth.
 */
export function parseFlattened(text: string): unknown {
  const value = parseJson(text);
  if (nestsTooDeep(text, 2 * deepestValue) && isContainer(value)) cutBelow(value, 2 * deepestValue);
  return value;
}

/**
 * True if valid JSON is nested too deep. Reads the text, because a walk through the value takes as
 * long as parsing.
 */
export function nestsTooDeep(text: string, limit = deepestValue): boolean {
  // Each level has two brackets.
  return text.length > 2 * limit && holdsMore(text, Infinity, limit);
}

/**
 * True if a text has more lists and objects than `mostInAll`, or is nested deeper than `deepest`.
 */
function holdsMore(text: string, mostInAll: number, deepest: number): boolean {
  let inAll = 0;
  let depth = 0;
  for (let at = 0; at < text.length && inAll <= mostInAll && depth <= deepest; at++) {
    // Numbers, because names cost time here.
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) {
      inAll++;
      depth++;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return inAll > mostInAll || depth > deepest;
}

/**
 * Returns the index of the closing quotation mark; behind `most` an escaped one, or the end of the
 * text without one.
 */
function endOfString(text: string, start: number, most = text.length): number {
  let end = text.indexOf('"', start + 1);
  while (text.charCodeAt(end - 1) === 0x5c && end < most && isEscaped(text, end))
    end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

/** @param at in a text whose part before begins outside of an escape */
function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
  return slashes % 2 === 1;
}

type Container = unknown[] | Record<string, unknown>;

/** Values known not to be too deep, so nobody has to walk through large ones. */
const shallow = new WeakSet<object>();

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
/** Longer indivisible tokens are refused: a key or a number. */
const longestToken = 1024 * 1024;
const mostKeys = 100_000;

/**
 * Gives the value of `parseFlattened` for a list or an object, and also throws for too long a
 * token.
 */
export function parsedInSlices(text: string): Sliced<unknown> {
  return new SliceReader(text).read();
}

/**
 * Leaves the members of a container to `JSON.parse`, as many at once as fit into a piece, and goes
 * into longer ones.
 */
class SliceReader {
  private at = 0;
  private containers = 0;
  private deepest = 0;
  private rested = 0;
  private readonly large: Container[] = [];
  /** The text up to here is scanned. It is inside of a string after an escaped quotation mark. */
  private ahead = 0;
  private isInString = false;
  /** The last scanned comma of each open container; -1 without one. */
  private readonly commas: number[] = [];

  constructor(private readonly text: string) {}

  *read(): Sliced<unknown> {
    const value = yield* this.container(1);
    if (!Number.isNaN(this.next())) throw this.misplaced();
    if (this.deepest <= deepestValue) for (const one of this.large) shallow.add(one);
    return value;
  }

  private *container(depth: number): Sliced<Container> {
    const opens = this.next();
    if (opens !== opensList && opens !== opensObject) throw this.misplaced();
    const isList = opens === opensList;
    const closes = isList ? closesList : closesObject;
    const value: Container = isList ? [] : {};
    this.large.push(value);
    if (this.commas.length < depth) this.opened();
    let keys = 0;
    for (let before = 0, code = 0; code !== closes; before = code) {
      this.at += 1;
      // Each rest costs as much as the container is deep.
      if (this.at > this.rested + pieceLength / 4) {
        this.rested = this.at;
        yield;
      }
      const isEnd = this.next() === closes;
      const end = this.endOfMembers(depth);
      if (end === undefined) {
        const key = isList ? '' : this.key();
        put(value, key, yield* this.longMember(depth));
        keys += 1;
      } else {
        if (this.at === end && (before === comma || !isEnd)) throw this.misplaced();
        keys += this.addMembers(value, end, depth);
      }
      code = this.behindMember(closes);
      if (!isList && keys > mostKeys)
        throw new SyntaxError(`It has an object with more than ${mostKeys} keys.`);
    }
    this.at += 1;
    this.commas.length = depth - 1;
    return value;
  }

  private behindMember(closes: number): number {
    const code = this.next();
    if (code === comma || code === closes) return code;
    throw this.misplaced();
  }

  /**
   * Returns the end of the members that fit into a piece, if one does. Scans each character once,
   * at any depth.
   */
  private endOfMembers(depth: number): number | undefined {
    const { commas } = this;
    // A member at the greatest depth is cut off, so it is read whole.
    const limit = this.at + (depth < 2 * deepestValue ? pieceLength : longestToken);
    if (this.ahead < this.at) {
      this.ahead = this.at;
      this.isInString = false;
    }
    this.scan(limit, depth);
    if (commas.length < depth) return this.ahead - 1;
    const last = commas[depth - 1] ?? -1;
    return last < this.at ? undefined : last;
  }

  /** Notes the commas of open containers, up to a place or to the end of the container. */
  private scan(limit: number, depth: number): void {
    const { text, commas } = this;
    let { ahead } = this;
    for (; ahead < limit && ahead < text.length && commas.length >= depth; ahead++) {
      const code = text.charCodeAt(ahead);
      if (this.isInString || code === quote) {
        ahead = endOfString(text, this.isInString ? ahead - 1 : ahead, limit);
        this.isInString = isEscaped(text, ahead);
      } else if (code === comma) commas[commas.length - 1] = ahead;
      else if (code === opensList || code === opensObject) this.opened();
      else if (code === closesList || code === closesObject) commas.pop();
    }
    this.ahead = ahead;
  }

  private opened(): void {
    this.deepest = Math.max(this.deepest, this.commas.push(-1));
    if (++this.containers > mostContainers) throw tooManyContainers();
  }

  private addMembers(to: Container, end: number, depth: number): number {
    const members = this.text.slice(this.at, end);
    const part = parsed(Array.isArray(to) ? `[${members}]` : `{${members}}`) as Container;
    if (this.deepest > 2 * deepestValue) cutBelow(part, 2 * deepestValue + 1 - depth);
    this.at = end;
    if (Array.isArray(part)) for (const member of part) put(to, '', member);
    else for (const key of Object.keys(part)) put(to, key, part[key]);
    return Array.isArray(part) ? part.length : Object.keys(part).length;
  }

  private key(): string {
    if (this.next() !== quote) throw this.misplaced();
    const end = endOfString(this.text, this.at, this.at + longestToken);
    if (end - this.at > longestToken) throw new SyntaxError('It has a key of more than 1 MiB.');
    const key = parsed(this.text.slice(this.at, end + 1)) as string;
    this.at = end + 1;
    if (this.next() !== colon) throw this.misplaced();
    this.at += 1;
    return key;
  }

  private *longMember(depth: number): Sliced<unknown> {
    const code = this.next();
    if (code === quote) return yield* this.longText();
    if ((code === opensList || code === opensObject) && depth < 2 * deepestValue)
      return yield* this.container(depth + 1);
    // Many blanks stand before it.
    word.lastIndex = this.at;
    const [token = ''] = word.exec(this.text) ?? [];
    if (token.length > longestToken) throw new SyntaxError('It has a number of more than 1 MiB.');
    this.at += token.length;
    return JSON.parse(token);
  }

  private *longText(): Sliced<string> {
    const pieces: string[] = [];
    this.at += 1;
    for (;;) {
      yield;
      const piece = this.text.slice(this.at, this.at + pieceLength);
      const end = endOfString(piece, -1);
      const length = end < piece.length ? end : withoutHalfEscape(piece);
      if (end === piece.length && length === 0) throw this.misplaced();
      pieces.push(JSON.parse(`"${piece.slice(0, length)}"`) as string);
      this.at += length;
      if (end === piece.length) continue;
      this.at += 1;
      // A pair may lie in two pieces.
      return pieces.join('').toWellFormed();
    }
  }

  /** Skips blanks and returns the next character; `NaN` at the end. */
  private next(): number {
    blanks.lastIndex = this.at;
    blanks.test(this.text);
    this.at = blanks.lastIndex;
    return this.text.charCodeAt(this.at);
  }

  private misplaced(): SyntaxError {
    return new SyntaxError(`It is no JSON at or behind character ${this.at}.`);
  }
}

const blanks = /[ \t\r\n]*/y;
const word = /[\w.+-]*/y;

/**
 * Adds a member as `JSON.parse` does, even if an assignment to its key would mean something else.
 */
function put(to: Container, key: string, value: unknown): void {
  if (Array.isArray(to)) to.push(value);
  else if (key !== '__proto__') to[key] = value;
  else
    Object.defineProperty(to, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}

/** Returns the length of a piece of a text without half an escape at its end. */
function withoutHalfEscape(piece: string): number {
  const slash = piece.lastIndexOf('\\');
  const length = piece.charAt(slash + 1) === 'u' ? 6 : 2;
  return slash < 0 || isEscaped(piece, slash) || slash + length <= piece.length
    ? piece.length
    : slash;
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
