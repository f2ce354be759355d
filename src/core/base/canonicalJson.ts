import { isObject } from './isObject.js';

/**
 * Returns the same JSON for values that are equal: the keys of objects are sorted. It serves hashes and comparisons.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}
