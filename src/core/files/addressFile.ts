/**
 * Writes and reads a folder's gateway address, in a file beside its token file, for clients without port and token
 * (G6). The file names the process too, so the token never goes to another program with the same port.
 */
import { unlink } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { isAlive } from '../base/isAlive.js';
import { largestConfigFile, readTextFile } from '../base/textFile.js';
import { makePrivateFile } from '../base/privateFile.js';
import { watchFile } from './watchedFile.js';

function fileOf(tokenFile: string): string {
  const { dir, name } = path.parse(tokenFile);
  return path.join(dir, `${name}.address`);
}

/** Notes this process as the listener at the port. */
export async function noteAddress(tokenFile: string, port: number): Promise<void> {
  await makePrivateFile(fileOf(tokenFile), `${JSON.stringify({ port, pid: process.pid })}\n`);
}

/** Notes it again when the note is gone, because the process with the newer note has ended. */
export function keepAddress(tokenFile: string, port: number, clock: Clock): Disposable {
  const watched = watchFile(fileOf(tokenFile), { clock });
  watched.onDidChange(({ kind }) => {
    // Without the note, clients use the port of their entries.
    if (kind === 'absent') noteAddress(tokenFile, port).catch(() => undefined);
  });
  return watched;
}

/** Removes the note of this process. A newer note of another process stays. */
export async function forgetAddress(tokenFile: string): Promise<void> {
  const noted = await read(tokenFile);
  if (noted?.pid === process.pid) await unlink(fileOf(tokenFile)).catch(() => undefined);
}

/** Returns the noted port of a live process. */
export async function notedPort(tokenFile: string): Promise<number | undefined> {
  const noted = await read(tokenFile);
  return noted && isAlive(noted.pid) ? noted.port : undefined;
}

async function read(tokenFile: string): Promise<{ readonly port: number; readonly pid: number } | undefined> {
  try {
    const noted = JSON.parse(await readTextFile(fileOf(tokenFile), largestConfigFile)) as {
      port?: unknown;
      pid?: unknown;
    } | null;
    const { port, pid } = noted ?? {};
    return Number.isInteger(port) && Number.isInteger(pid) ? { port: Number(port), pid: Number(pid) } : undefined;
  } catch {
    return undefined;
  }
}
