import { isObject } from '../base/isObject.js';
import { nextTurn, pieceLength } from '../base/turns.js';

/** Resolves to the text of `JSON.stringify`, in turns (P10). @param value as `JSON.parse` gives it */
export async function jsonText(value: unknown): Promise<string> {
  const texts: string[] = [];
  let length = 0;
  for (const text of nested(value, false)) {
    texts.push(text);
    length += text.length;
    if (length < pieceLength) continue;
    length = 0;
    await nextTurn();
  }
  return texts.join('');
}

const many = 1_000;

/** @param insideMany true inside a large container, whose mostly small members are taken whole */
function* nested(value: unknown, insideMany: boolean): Generator<string> {
  const keys = isObject(value) ? Object.keys(value) : undefined;
  const size = keys?.length ?? (Array.isArray(value) ? value.length : 0);
  if (size === 0 || (insideMany && size < many)) {
    yield JSON.stringify(value) ?? 'null';
    return;
  }
  yield keys ? '{' : '[';
  for (let index = 0; index < size; index++) {
    const key = keys?.[index];
    if (index > 0) yield ',';
    if (key !== undefined) yield `${JSON.stringify(key)}:`;
    const member = key === undefined ? (value as unknown[])[index] : (value as Record<string, unknown>)[key];
    yield* nested(member, insideMany || size >= many);
  }
  yield keys ? '}' : ']';
}
