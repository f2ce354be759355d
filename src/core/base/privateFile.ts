/**
 * Writes files readable only by their owner: in the user's home, at an option's path, or in the
 * editor's storage.
 */
import { randomBytes } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access, mkdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Never writes into an existing file, because it may be a link or open to others. @param place puts
 * it in its place
 */
export async function makePrivateFile(
  file: string,
  text: string | Buffer | AsyncIterable<Buffer>,
  place: (made: string, file: string) => Promise<void> = rename,
): Promise<void> {
  await makePrivateFolder(path.dirname(file));
  const made = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(made, text, { mode: 0o600, flag: 'wx' });
    await place(made, file);
  } finally {
    await unlink(made).catch(() => undefined);
  }
}

export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(
    async (error: NodeJS.ErrnoException) => {
      // Node says ENOENT where a folder cannot be made.
      if (error.code === 'ENOENT') await access(nearestFolder(folder), constants.W_OK);
      throw error;
    },
  );
}

function nearestFolder(folder: string): string {
  const parent = path.dirname(folder);
  return existsSync(folder) || parent === folder ? folder : nearestFolder(parent);
}

/** A folder of the editor's storage has one file for each launch, `<fingerprint>.json`. */
const fileName = /^([0-9a-f]{64})\.json$/;

export function launchOfFile(name: string): string | undefined {
  return fileName.exec(name)?.[1];
}

export function fileOfLaunch(folder: string, launch: string): string {
  return path.join(folder, `${launch}.json`);
}

/** Replaces the file of a launch, or removes it without a text. Other names have no file. */
export async function putLaunchFile(
  folder: string,
  launch: string,
  text: string | undefined,
): Promise<void> {
  const file = fileOfLaunch(folder, launch);
  if (launchOfFile(path.basename(file)) !== launch) return;
  if (text === undefined) return await rm(file, { force: true });
  await makePrivateFile(file, text);
}
