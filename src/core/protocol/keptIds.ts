/**
 * Says which of the names that the other side gives to things of its own are kept (S2): many are kept at a time, and a name
 * may be as long as a message. Everything here is pure.
 */

/** In characters; those that are random have some forty. */
const longest = 1_024;

export function isKeptId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longest;
}
