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
  return `${whole.slice(0, end > limit / 2 ? end : limit).trimEnd()}…`;
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
  const put = (text: string): void => {
    left -= text.length;
    pieces.push(text);
  };
  const write = (inner: unknown, depth: number): void => {
    if (left <= 0) return;
    if (typeof inner === 'string')
      return put(JSON.stringify(inner.length > left ? inner.slice(0, left) : inner));
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
      write(
        key === undefined ? (inner as unknown[])[index] : (inner as Record<string, unknown>)[key],
        depth + 1,
      );
    }
    put(keys ? '}' : ']');
  };
  write(value, 0);
  return pieces.join('');
}
