/**
 * The facts of the last calls of a folder, as JSON Lines in the user's home. Several processes add to it. Lines wait for up to a
 * second, so no call waits for the disk; a crash loses no more.
 *
 * Invariants: mode 0600; at most twice `mostFacts` lines.
 */
import { appendFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { SingleFlight } from '../base/singleFlight.js';
import { makePrivateFile } from '../base/privateFile.js';
import { readAdded, readTextFile, type ReadSoFar } from '../base/textFile.js';
import { lock } from './fileLock.js';
import { watchFolderOf } from './folderWatch.js';
import { tokenFileOf } from './tokenFile.js';

export const mostFacts = 10_000;
const flushMs = 1_000;
/** A longer file was not written here, in bytes. */
const largestFile = 32 << 20;

/** @param folder absolute */
export function callFileOf(folder: string, home: string): string {
  const { name } = path.parse(tokenFileOf(folder, home));
  return path.join(home, '.minds', 'calls', `${name}.jsonl`);
}

/** Returns the lines, oldest first; none if there is no such file. Rejects as `readTextFile` does. */
export async function callLines(file: string): Promise<string[]> {
  try {
    return (await allLines(file)).slice(-mostFacts);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Removes what every program has recorded so far. */
export async function clearCalls(file: string, clock: Clock): Promise<void> {
  const unlock = await lock(`${file}.lock`, clock);
  try {
    await rm(file, { force: true });
  } finally {
    await unlock();
  }
}

/**
 * Reads the lines that any program adds. It reads only what is new, because the file of a busy folder has megabytes.
 *
 * @param onLines called with the new lines, and at first with all. `isWhole` is true if earlier lines no longer count
 */
export function followCalls(
  file: string,
  clock: Clock,
  onLines: (lines: readonly string[], isWhole: boolean) => void,
): Disposable & { readNow(): Promise<void> } {
  let ended = false;
  let before: ReadSoFar | undefined;
  let poll: Disposable | undefined;
  const reading = new SingleFlight(async () => {
    const read = await readAdded(file, largestFile, before).catch(() => undefined);
    if (ended || (!read && !before)) return;
    before = read?.soFar;
    const lines = linesOf(read?.lines ?? '').slice(-mostFacts);
    const isWhole = read?.isWhole ?? true;
    if (lines.length > 0 || isWhole) onLines(lines, isWhole);
  });
  const look = (): void => {
    void reading.request();
    poll = clock.after(flushMs, look);
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

async function allLines(file: string): Promise<string[]> {
  return linesOf(await readTextFile(file, largestFile));
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

export class CallFile implements Disposable {
  private waiting: string[] = [];
  private timer: Disposable | undefined;
  private writing: Promise<void> = Promise.resolve();
  /** The number of lines in the file, as far as this process knows. */
  private lines: number | undefined;

  /** @param onFailure called with the reason, once */
  constructor(
    private readonly file: string,
    private readonly clock: Clock,
    private onFailure: ((error: unknown) => void) | undefined,
  ) {}

  /** @param fact one line */
  note(fact: string): void {
    this.waiting.push(fact);
    this.timer ??= this.clock.after(flushMs, () => void this.flush());
  }

  /** Resolves when everything noted so far is in the file. Never rejects. */
  async flush(): Promise<void> {
    this.timer?.dispose();
    this.timer = undefined;
    const facts = this.waiting;
    this.waiting = [];
    if (facts.length > 0) {
      this.writing = this.writing
        .then(() => this.write(facts))
        .catch((error: unknown) => {
          this.onFailure?.(error);
          this.onFailure = undefined;
        });
    }
    await this.writing;
  }

  dispose(): void {
    void this.flush();
  }

  private async write(facts: readonly string[]): Promise<void> {
    const unlock = await lock(`${this.file}.lock`, this.clock);
    try {
      this.lines ??= (await allLines(this.file).catch(() => [])).length;
      const text = `${facts.join('\n')}\n`;
      if (this.lines === 0 || this.lines + facts.length > 2 * mostFacts) {
        const kept = [...(await callLines(this.file)), ...facts].slice(-mostFacts);
        await makePrivateFile(this.file, `${kept.join('\n')}\n`);
        this.lines = kept.length;
      } else {
        await appendFile(this.file, text, { mode: 0o600 });
        this.lines += facts.length;
      }
    } finally {
      await unlock();
    }
  }
}
