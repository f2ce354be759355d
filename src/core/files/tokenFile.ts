/**
 * Keeps the secret of agents outside the editor (G6), in the user's home, so that it cannot be
 * committed and a folder cannot bring one. Invariants: a short secret, or one in a file open to
 * others, is replaced and never used. A file without a token belongs to someone else and stays.
 */
import { createHash, randomBytes } from 'node:crypto';
import { link, lstat, rename } from 'node:fs/promises';
import path from 'node:path';
import { realPath } from '../base/paths.js';
import { anyBytes, largestConfigFile, readTextFile } from '../base/textFile.js';
import { makePrivateFile } from '../base/privateFile.js';

/** @param folder absolute: it has one secret by whatever way it is reached */
export function tokenFileOf(folder: string, home: string): string {
  const real = realPath(folder);
  const plain = path.basename(real).replace(/[^A-Za-z0-9._-]+/g, '-');
  const tag = createHash('sha256').update(real).digest('hex').slice(0, 8);
  return path.join(home, '.minds', 'endpoints', `${plain.slice(0, 40) || 'root'}-${tag}.token`);
}

export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Makes a missing file. Rejects as `node:fs/promises` does, and for another kind of file. */
export async function tokenIn(file: string): Promise<string> {
  const kept = await usableToken(file);
  if (kept.kind === 'token') return kept.token;
  await makePrivateFile(file, `${newToken()}\n`, kept.kind === 'absent' ? linkOrRename : rename);
  const made = await usableToken(file);
  if (made.kind === 'token') return made.token;
  throw new Error(`${file} cannot be kept from other users of this machine`);
}

type Kept =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'absent' | 'unusable' };

async function usableToken(file: string): Promise<Kept> {
  try {
    const found = await lstat(file);
    if (found.isSymbolicLink()) return { kind: 'unusable' };
    const text = found.isFile()
      ? (await readTextFile(file, largestConfigFile, anyBytes)).trim()
      : undefined;
    if (text === undefined || !/^[\w+/=.~-]{0,512}$/.test(text)) {
      throw new Error(
        `${file} is not a token file, so it stays as it is: a token is one word of letters, digits and characters of +/=.~_-`,
      );
    }
    return text.length < 32 || isOpenToOthers(found)
      ? { kind: 'unusable' }
      : { kind: 'token', token: text };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'absent' };
    throw error;
  }
}

/** Windows has no such modes; there a home folder is closed to others. */
function isOpenToOthers({ mode, uid }: { readonly mode: number; readonly uid: number }): boolean {
  if (process.platform === 'win32') return false;
  return (mode & 0o077) !== 0 || uid !== process.getuid?.();
}

/** If two processes make the file at once, both use the first one. */
async function linkOrRename(own: string, file: string): Promise<void> {
  try {
    await link(own, file);
  } catch (error) {
    // Some file systems have no links.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rename(own, file);
  }
}
