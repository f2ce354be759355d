import { createHash } from 'node:crypto';

/** Returns 96 bits of a hash. No second text has them by chance, and thousands fit into a store. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
