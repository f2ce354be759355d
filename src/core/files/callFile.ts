/**
 * The facts of the last calls of a folder, as JSON Lines in the user's home. Several processes add to it. Lines wait for
 * up to a second, so no call waits for the disk; a crash loses no more. Invariant: at most twice `mostFacts` lines.
 */
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { makePrivateFile } from '../base/privateFile.js';
import { readTextFile } from '../base/textFile.js';
import { lock } from './fileLock.js';
import { tokenFileOf } from './tokenFile.js';

export const mostFacts = 10_000;
const flushMs = 1_000;
const largestFile = 32 << 20;

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

async function allLines(file: string): Promise<string[]> {
  const text = await readTextFile(file, largestFile);
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
