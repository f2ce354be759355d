import { isObject } from './isObject.js';

/** Compares by code units, so the order is the same in every locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns equal JSON for equal values by sorting the keys of objects. It serves hashes and
 * comparisons.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => byCodeUnits(a, b)))
      : inner,
  );
}

/**
 * True if two values have equal JSON, in any order of keys. Parts that are the same object cost
 * nothing.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b || (typeof a === 'function' && typeof b === 'function')) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, index) => sameJson(one, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const isSame = (key: string) => sameJson(a[key], b[key]);
  // A copy of both would take most of the time.
  return (
    Object.keys(a).every(isSame) &&
    Object.keys(b).every((key) => Object.hasOwn(a, key) || isSame(key))
  );
}
