/** Handles long content in pieces, so that 50 MB are never copied at once and hold up nothing else. */
import { isObject } from '../base/isObject.js';

/** Yields bytes in pieces, and returns the error of the source, if it has one. Such a source is not used. */
export type Pieces = Generator<Uint8Array, string | undefined>;

/** The length of a piece in characters, or about as many bytes. */
export const pieceLength = 1 << 18;

export interface Taken {
  readonly bytes: number;
  /** The error of the source. */
  readonly unreadable: string | undefined;
  /** The first error of `put`. Nothing was put after it. */
  readonly failure: unknown;
}

/** Reads to the end even if `put` fails, because only the end shows whether the source is valid. */
export async function takeAll(pieces: Pieces, put: (piece: Uint8Array) => Promise<void>): Promise<Taken> {
  let bytes = 0;
  let failure: unknown;
  for (;;) {
    const next = pieces.next();
    if (next.done) return { bytes, unreadable: next.value, failure };
    bytes += next.value.length;
    if (failure !== undefined) {
      await turn();
      continue;
    }
    try {
      await put(next.value);
    } catch (error) {
      failure = error ?? new Error('unknown');
    }
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** No character is cut. */
export function* even(texts: Iterable<string>): Generator<string> {
  let gathered: string[] = [];
  let length = 0;
  for (const text of texts) {
    let start = 0;
    while (text.length - start > pieceLength) {
      let end = start + pieceLength;
      if (isSecondHalf(text.charCodeAt(end))) end += 1;
      yield gathered.join('') + text.slice(start, end);
      gathered = [];
      length = 0;
      start = end;
    }
    gathered.push(start === 0 ? text : text.slice(start));
    length += text.length - start;
    if (length < pieceLength) continue;
    yield gathered.join('');
    gathered = [];
    length = 0;
  }
  if (length > 0) yield gathered.join('');
}

/** @param value as `JSON.parse` gives it */
export function jsonPieces(value: unknown, indent: 0 | 2 = 0): Generator<string> {
  return nested(value, indent, '\n', false);
}

const many = 1_000;

/** @param insideMany true inside a large container, whose mostly small members are taken whole */
function* nested(value: unknown, indent: 0 | 2, line: string, insideMany: boolean): Generator<string> {
  const keys = isObject(value) ? Object.keys(value) : undefined;
  const size = keys?.length ?? (Array.isArray(value) ? value.length : 0);
  if (size === 0 || (insideMany && size < many)) {
    const json = JSON.stringify(value, undefined, indent) ?? 'null';
    // A line break in a string is escaped in JSON, so every one here is layout.
    yield indent === 0 ? json : json.replaceAll('\n', line);
    return;
  }
  const inner = indent === 0 ? '' : `${line}  `;
  yield keys ? '{' : '[';
  for (let index = 0; index < size; index++) {
    const key = keys?.[index];
    const member = key === undefined ? (value as unknown[])[index] : (value as Record<string, unknown>)[key];
    const start = `${index === 0 ? '' : ','}${inner}`;
    yield key === undefined ? start : `${start}${JSON.stringify(key)}:${indent === 0 ? '' : ' '}`;
    yield* nested(member, indent, indent === 0 ? line : inner, insideMany || size >= many);
  }
  yield (indent === 0 ? '' : line) + (keys ? '}' : ']');
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
