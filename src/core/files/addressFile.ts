/**
 * Writes and reads the file that says where the gateway of a folder listens now, beside its token file, for clients
 * that know neither port nor token (G6). It names the process too: a port that another program has taken since is never
 * shown the token.
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

/** Notes that this process listens at the port. */
export async function noteAddress(tokenFile: string, port: number): Promise<void> {
  await makePrivateFile(fileOf(tokenFile), `${JSON.stringify({ port, pid: process.pid })}\n`);
}

/** Notes it again whenever there is no note: another process that noted its own in its place has ended. */
export function keepAddress(tokenFile: string, port: number, clock: Clock): Disposable {
  const watched = watchFile(fileOf(tokenFile), { clock });
  watched.onDidChange(({ kind }) => {
    // Where it cannot be written, clients are told the port by their entries.
    if (kind === 'absent') noteAddress(tokenFile, port).catch(() => undefined);
  });
  return watched;
}

/** Removes the note of this process; what another process has noted since stays. */
export async function forgetAddress(tokenFile: string): Promise<void> {
  const noted = await read(tokenFile);
  if (noted?.pid === process.pid) await unlink(fileOf(tokenFile)).catch(() => undefined);
}

/** Returns the port at which a process that is alive said that it listens. */
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
