/**
 * Bounds the names given by the other side to its own things (S2). Many are kept at a time, and a name may be as long
 * as a message. Everything here is pure.
 */

/** In characters; random names have some forty. */
const longest = 1_024;

export function isKeptId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longest;
}
