/** Short texts of what the other side wrote, for messages and logs. Everything here is pure. */
import { withoutSecrets } from '../base/secrets.js';

/** Secrets are longer than a text is short, and one that is cut in two must still be told to be one. */
const lookedAtBehind = 4096;

/**
 * Shortens a text for messages and logs to `limit` characters, with a mark where something was cut. What looks like a
 * secret is taken out before that (E4); a value that is known to be one is recognised at the mark by the redactor. The
 * cut is between words where that takes no more than half of it.
 */
export function shortened(text: string, limit: number): string {
  const isLong = text.length > limit + lookedAtBehind;
  const whole = withoutSecrets(isLong ? `${text.slice(0, limit + lookedAtBehind)}…` : text);
  if (!isLong && whole.length <= limit) return whole;
  let end = Math.min(limit, whole.length);
  while (end > limit / 2 && !/[\s"',;<>(){}[\]&]/.test(whole.charAt(end - 1))) end--;
  return `${whole.slice(0, end > limit / 2 ? end : limit).trimEnd()}…`;
}

/** Returns the JSON of a value for messages and logs, and looks at no more of it than is shown. */
export function inBrief(value: unknown, limit: number): string {
  return value === undefined ? 'nothing' : shortened(jsonInBrief(value, 2 * limit + 4096), limit);
}

/** Below this depth a text for people says nothing. */
const deepestInBrief = 16;

/**
 * Returns the JSON of a value for people, which is cut off at about `most` characters whatever the size of the value; the
 * cut itself is the caller's.
 */
export function jsonInBrief(value: unknown, most: number): string {
  const pieces: string[] = [];
  let left = most;
  const put = (text: string): void => {
    left -= text.length;
    pieces.push(text);
  };
  const write = (inner: unknown, depth: number): void => {
    if (left <= 0) return;
    if (typeof inner === 'string') return put(JSON.stringify(inner.length > left ? inner.slice(0, left) : inner));
    if (typeof inner !== 'object' || inner === null) return put(JSON.stringify(inner) ?? 'null');
    const isList = Array.isArray(inner);
    if (depth > deepestInBrief) return put(isList ? '[…]' : '{…}');
    const keys = isList ? undefined : Object.keys(inner);
    const size = keys?.length ?? (inner as unknown[]).length;
    put(keys ? '{' : '[');
    for (let index = 0; index < size; index++) {
      if (left <= 0) return;
      if (index > 0) put(',');
      const key = keys?.[index];
      if (key !== undefined) put(`${JSON.stringify(key.slice(0, left))}:`);
      write(key === undefined ? (inner as unknown[])[index] : (inner as Record<string, unknown>)[key], depth + 1);
    }
    put(keys ? '}' : ']');
  };
  write(value, 0);
  return pieces.join('');
}
