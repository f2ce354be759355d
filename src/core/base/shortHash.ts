import { createHash } from 'node:crypto';

/** Returns the SHA-256 digest of a text in 43 characters. */
export function longHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Returns 96 bits of a hash. No second text has them by chance, and thousands fit into a store. */
export function shortHash(text: string): string {
  return shortened(longHash(text));
}

export function shortened(hash: string): string {
  return hash.slice(0, 16);
}
