import { isObject, type Fields } from '../base/isObject.js';
import { withoutSecrets } from '../base/secrets.js';

/** Secrets are longer than a short text, and half a secret must still be recognised. */
const lookedAtBehind = 4096;

/**
 * Removes what looks like a secret first (E4). The cut has a mark, and is between words if that
 * costs at most half.
 */
export function shortened(text: string, limit: number): string {
  const isLong = text.length > limit + lookedAtBehind;
  const whole = withoutSecrets(isLong ? `${text.slice(0, limit + lookedAtBehind)}…` : text);
  if (!isLong && whole.length <= limit) return whole;
  let end = Math.min(limit, whole.length);
  while (end > limit / 2 && !/[\s"',;<>(){}[\]&]/.test(whole.charAt(end - 1))) end--;
  return `${whole
    .slice(0, end > limit / 2 ? end : limit)
    .trimEnd()
    .toWellFormed()}…`;
}

/** Looks at no more of the value than it shows. */
export function inBrief(value: unknown, limit: number): string {
  return value === undefined ? 'nothing' : shortened(jsonInBrief(value, 2 * limit + 4096), limit);
}

/** Below this depth, a text for people says nothing. */
const deepestInBrief = 16;

/** Returns about `most` characters, whatever the size of the value. The caller cuts them. */
export function jsonInBrief(value: unknown, most: number): string {
  const pieces: string[] = [];
  let left = most;
  const put = (text: string) => {
    left -= text.length;
    pieces.push(text);
  };
  const write = (inner: unknown, depth: number) => {
    if (left <= 0) return;
    if (typeof inner === 'string') put(JSON.stringify(inner.slice(0, left)));
    else if (Array.isArray(inner)) writeList(inner, depth);
    else if (isObject(inner)) writeObject(inner, depth);
    else put(JSON.stringify(inner) ?? 'null');
  };
  const writeList = (list: readonly unknown[], depth: number): void => {
    if (depth > deepestInBrief) return put('[…]');
    let before = '[';
    for (const item of list) {
      if (left <= 0) return;
      put(before);
      write(item, depth + 1);
      before = ',';
    }
    put(list.length === 0 ? '[]' : ']');
  };
  const writeObject = (fields: Fields, depth: number): void => {
    if (depth > deepestInBrief) return put('{…}');
    let before = '{';
    for (const key of Object.keys(fields)) {
      if (left <= 0) return;
      put(`${before}${JSON.stringify(key.slice(0, left))}:`);
      write(fields[key], depth + 1);
      before = ',';
    }
    put(before === '{' ? '{}' : '}');
  };
  write(value, 0);
  return pieces.join('');
}
