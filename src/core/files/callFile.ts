/**
 * The facts of the last calls of a folder, as JSON Lines in the user's home. Several processes add to it. Lines wait for
 * less than a second, so no call waits for the disk; a crash loses no more. Invariant: at most twice `mostFacts` lines.
 */
import { appendFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { SingleFlight } from '../base/singleFlight.js';
import { makePrivateFile } from '../base/privateFile.js';
import { linesOf } from '../base/text.js';
import { anyBytes, readAdded, readBytes, readTextFile, type ReadSoFar } from '../base/textFile.js';
import { underLock } from './fileLock.js';
import { watchFolderOf } from './folderWatch.js';
import { tokenFileOf } from './tokenFile.js';

export const mostFacts = 10_000;
const flushMs = 750;
const largestFile = 32 << 20;

export function callFileOf(folder: string, home: string): string {
  const { name } = path.parse(tokenFileOf(folder, home));
  return path.join(home, '.minds', 'calls', `${name}.jsonl`);
}

/** Returns the lines, oldest first, or an empty list without a file. Rejects as `readTextFile` does. */
export async function callLines(file: string): Promise<string[]> {
  try {
    return linesOf(await readTextFile(file, largestFile, anyBytes)).slice(-mostFacts);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export function clearCalls(file: string, clock: Clock): Promise<void> {
  return underLock(file, clock, () => rm(file, { force: true }));
}

/** @param onLines called with the lines that any program adds, and at first with all; `isWhole` if earlier ones are void */
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

const newline = 0x0a;

/** Looks only for the ends of lines, because reading the lines took longer than writing their facts (P11). */
function lastLines(bytes: Buffer, most: number): { readonly bytes: Buffer; readonly count: number } {
  let [start, count] = [bytes.length, 0];
  for (; count < most && start > 1; count++) start = bytes.lastIndexOf(newline, start - 2) + 1;
  return { bytes: bytes.subarray(start), count };
}

export class CallFile {
  /** Bytes, because the many pieces of a new text would stay in memory one by one (P11). */
  private waiting: Buffer[] = [];
  private timer: Disposable | undefined;
  private writing: Promise<void> = Promise.resolve();
  private lines: number | undefined;

  /** @param onFailure called with the reason, once */
  constructor(
    private readonly file: string,
    private readonly clock: Clock,
    private onFailure: ((error: unknown) => void) | undefined,
  ) {}

  /** @param lines each with its end */
  note(lines: string): void {
    this.waiting.push(Buffer.from(lines));
    this.timer ??= this.clock.after(flushMs, () => void this.flush());
  }

  /** Resolves when everything noted so far is in the file. Never rejects. */
  async flush(): Promise<void> {
    this.timer?.dispose();
    this.timer = undefined;
    const added = Buffer.concat(this.waiting);
    this.waiting = [];
    const failed = (error: unknown): void => {
      this.onFailure?.(error);
      this.onFailure = undefined;
    };
    if (added.length > 0) this.writing = this.writing.then(() => this.write(added)).catch(failed);
    await this.writing;
  }

  private write(added: Buffer): Promise<void> {
    return underLock(this.file, this.clock, async () => {
      const { count } = lastLines(added, Infinity);
      if (this.lines !== undefined && this.lines + count <= 2 * mostFacts) {
        await appendFile(this.file, added, { mode: 0o600 });
        this.lines += count;
        return;
      }
      // A file that cannot be read again would keep all later facts out.
      const earlier = await readBytes(this.file, largestFile).catch(() => Buffer.alloc(0));
      // A program that was killed may have left half a line.
      const end = earlier.length === 0 || earlier.at(-1) === newline ? '' : '\n';
      const more = Buffer.concat([Buffer.from(end), added]);
      this.lines = lastLines(earlier, Infinity).count + count;
      if (earlier.length > 0 && this.lines <= 2 * mostFacts) return await appendFile(this.file, more);
      const kept = lastLines(Buffer.concat([lastLines(earlier, mostFacts).bytes, more]), mostFacts);
      await makePrivateFile(this.file, kept.bytes);
      this.lines = kept.count;
    });
  }
}
