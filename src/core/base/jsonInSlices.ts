import { inPieces, inTurns, pieceLength, type LoopShare, type Sliced } from './turns.js';

/** True if a value is large enough for writing in slices. Looks at no more of it than necessary. */
export function isLarge(value: unknown): boolean {
  return weightOf(value, longValue) > longValue;
}

/** Smaller values are written at once, in characters. */
const longValue = 256 * 1024;

/** Returns the text of `JSON.stringify` for an object, or a promise of it for a large one (P10). */
export function jsonOf(value: object, share?: LoopShare): string | Promise<string> {
  return isLarge(value) ? inTurns(jsonInSlices(value), share) : JSON.stringify(value);
}

/**
 * Returns about the length of a value's JSON. Above `most`, the number is only known to be greater.
 */
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

/**
 * Gives the text of `JSON.stringify` for an object or a list with only JSON in it and no great
 * depth.
 */
export function* jsonInSlices(value: unknown): Sliced<string> {
  const pieces: string[] = [];
  yield* write(value, pieces);
  return pieces.join('');
}

function* write(value: unknown, pieces: string[]): Sliced<void> {
  yield;
  if (typeof value === 'string' && value.length > pieceLength) {
    const inner = yield* inPieces(value, (piece) => JSON.stringify(piece).slice(1, -1));
    pieces.push(`"${inner.join('')}"`);
  } else if (Array.isArray(value)) yield* writeList(value, pieces);
  else if (typeof value === 'object' && value !== null)
    yield* writeObject(value as Record<string, unknown>, pieces);
  else pieces.push(JSON.stringify(value) ?? 'null');
}

function* writeList(list: readonly unknown[], pieces: string[]): Sliced<void> {
  for (let from = 0, to = 0; from < list.length; from = to) {
    pieces.push(from === 0 ? '[' : ',');
    // Small members are written together.
    for (let weight = 0; to < list.length; to++) {
      weight += weightOf(list[to], pieceLength);
      if (weight > pieceLength) break;
    }
    if (to > from) pieces.push(JSON.stringify(list.slice(from, to)).slice(1, -1));
    else yield* write(list[to++], pieces);
    yield;
  }
  pieces.push(list.length === 0 ? '[]' : ']');
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
