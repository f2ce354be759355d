/**
 * The facts of the last calls of a folder, as JSON Lines in the user's home, and beside them the
 * counts of its tools (H1d). `callWriter` adds to both.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { SingleFlight } from '../base/singleFlight.js';
import { linesOf } from '../base/text.js';
import { readAdded, type ReadSoFar } from '../base/textFile.js';
import { watchFolderOf } from './folderWatch.js';
import { tokenFileOf } from './tokenFile.js';

export const mostFacts = 10_000;
export const flushMs = 750;
export const largestFile = 32 << 20;

export function callFileOf(folder: string, home: string): string {
  const { name } = path.parse(tokenFileOf(folder, home));
  return path.join(home, '.minds', 'calls', `${name}.jsonl`);
}

export function countFileOf(callFile: string): string {
  return callFile.replace(/jsonl$/, 'counts.jsonl');
}

/**
 * Returns the last lines, oldest first, or an empty list without a file. Rejects as `readAdded` does.
 */
export async function callLines(file: string, most = mostFacts): Promise<string[]> {
  try {
    return linesOf((await readAdded(file, largestFile, undefined)).lines).slice(-most);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

/** Returns the lines of counts beside a record. */
export function countedLines(callFile: string): Promise<string[]> {
  return callLines(countFileOf(callFile), Infinity);
}

/** The lock is not needed on the path of `activate()`. */
async function underLock(file: string, clock: Clock, work: () => Promise<void>): Promise<void> {
  await (await import('./fileLock.js')).underLock(file, clock, work);
}

export function clearCalls(file: string, clock: Clock): Promise<void> {
  return underLock(file, clock, async () => {
    await rm(file, { force: true });
    await rm(countFileOf(file), { force: true });
  });
}

/**
 * @param onLines called with the lines that any program adds, and at first with all; `isWhole` if
 * earlier ones are void
 */
export function followCalls(
  file: string,
  clock: Clock,
  onLines: (lines: readonly string[], isWhole: boolean) => void,
  pollMs = flushMs,
): Disposable & { readNow(): Promise<void> } {
  let ended = false;
  let before: ReadSoFar | undefined;
  let poll: Disposable | undefined;
  const reading = new SingleFlight(async () => {
    const read = await readAdded(file, largestFile, before).catch(() => undefined);
    if (ended || (!read && !before)) return;
    before = read?.soFar;
    const lines = linesOf(read?.lines ?? '');
    const isWhole = read?.isWhole ?? true;
    if (lines.length > 0 || isWhole) onLines(lines, isWhole);
  });
  const look = (): void => {
    void reading.request();
    poll = clock.after(pollMs, look);
  };
  const watcher = watchFolderOf(file, () => void reading.request());
  look();
  return {
    readNow: () => reading.request(),
    dispose: () => {
      ended = true;
      poll?.dispose();
      watcher.dispose();
    },
  };
}
