/**
 * A lock between processes, as a file. It counts for `staleMs`, so the work under it has to be
 * shorter.
 */
import { link, lstat, rename, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../base/clock.js';
import { makePrivateFolder } from '../base/privateFile.js';

const staleMs = 5000;
/** A longer wait for the lock fails, because it cannot be removed or is never free. */
const patienceMs = 15_000;

/** Resolves with the function that gives the lock back. Rejects as `node:fs/promises` does. */
export async function lock(file: string, clock: Clock): Promise<() => Promise<void>> {
  await makePrivateFolder(path.dirname(file));
  for (const since = clock.now(); ;) {
    try {
      await writeFile(file, '', { mode: 0o600, flag: 'wx' });
      return () => unlink(file).catch(() => undefined);
    } catch (error) {
      const isHeld = (error as NodeJS.ErrnoException).code === 'EEXIST';
      if (!isHeld || clock.now() - since > patienceMs) throw error;
      await breakStale(file, clock);
      // A timer of the clock would let the process end here.
      await pause(5 + Math.random() * 20);
    }
  }
}

export async function underLock<T>(file: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  const unlock = await lock(`${file}.lock`, clock);
  try {
    return await work();
  } finally {
    await unlock();
  }
}

/** Another process may have broken it and taken the lock in between. That lock is put back. */
async function breakStale(file: string, clock: Clock): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (!found || Math.abs(clock.now() - found.mtimeMs) < staleMs) return;
  const broken = `${file}.${process.pid}`;
  await rename(file, broken).catch(() => undefined);
  const taken = await lstat(broken).catch(() => undefined);
  if (taken && taken.ino !== found.ino) await link(broken, file).catch(() => undefined);
  await unlink(broken).catch(() => undefined);
}
