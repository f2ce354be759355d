/** Writes files readable only by their owner, in the user's home or at an option's path. */
import { randomBytes } from 'node:crypto';
import { mkdir, rename, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Creates a new file and never writes into an existing one, because it may be a link or open to others. Rejects as
 * `node:fs/promises` does.
 *
 * @param place puts the finished file in its place
 */
export async function makePrivateFile(
  file: string,
  text: string,
  place: (made: string, file: string) => Promise<void> = rename,
): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const made = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(made, text, { mode: 0o600, flag: 'wx' });
  try {
    await place(made, file);
  } finally {
    await unlink(made).catch(() => undefined);
  }
}
