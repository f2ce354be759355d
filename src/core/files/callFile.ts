/**
 * The facts of the last calls of a folder, as JSON Lines in the user's home. Several processes add
 * to it. Lines wait for less than a second, so no call waits for the disk; a crash loses no more.
 */
import { open, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { SingleFlight } from '../base/singleFlight.js';
import { makePrivateFile } from '../base/privateFile.js';
import { linesOf } from '../base/text.js';
import { TextBytes } from '../base/textBytes.js';
import { readAdded, type ReadSoFar } from '../base/textFile.js';
import { underLock } from './fileLock.js';
import { watchFolderOf } from './folderWatch.js';
import { tokenFileOf } from './tokenFile.js';

export const mostFacts = 10_000;
const flushMs = 750;
/**
 * In bytes. A file becomes this large, or twice as large as its last facts, before it is shortened
 * to them.
 */
const usualFile = 8 << 20;
const pieceSize = 256 << 10;
const largestFile = 32 << 20;

export function callFileOf(folder: string, home: string): string {
  const { name } = path.parse(tokenFileOf(folder, home));
  return path.join(home, '.minds', 'calls', `${name}.jsonl`);
}

/**
 * Returns the lines, oldest first, or an empty list without a file. Rejects as `readAdded` does.
 */
export async function callLines(file: string): Promise<string[]> {
  try {
    return linesOf((await readAdded(file, largestFile, undefined)).lines).slice(-mostFacts);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

export function clearCalls(file: string, clock: Clock): Promise<void> {
  return underLock(file, clock, () => rm(file, { force: true }));
}

/**
 * @param onLines called with the lines that any program adds, and at first with all; `isWhole` if
 * earlier ones are void
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

const newline = 0x0a;

/**
 * Returns the place of the last lines, each with a fact or more. Reading them would take longer
 * than writing them (P11).
 */
async function placeOfLast(file: FileHandle, size: number): Promise<number> {
  const piece = Buffer.allocUnsafe(pieceSize);
  let place = size;
  let count = 0;
  for (let from = size; from > 0;) {
    // Another file may have no lines at all.
    if (size - from > largestFile) return place;
    const length = Math.min(piece.length, from);
    from -= length;
    await file.read(piece, 0, length, from);
    for (let end = length; end > 0 && (end = piece.lastIndexOf(newline, end - 1)) >= 0;) {
      place = from + end + 1;
      if (count++ === mostFacts) return place;
    }
  }
  return 0;
}

/** Each piece is valid until the next one. */
async function* piecesFrom(position: number, file: FileHandle): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(pieceSize);
  for (let at = position, read = 1; read > 0; at += read) {
    read = (await file.read(piece, 0, piece.length, at)).bytesRead;
    if (read > 0) yield piece.subarray(0, read);
  }
}

export class CallFile {
  private waiting = new TextBytes();
  private written = new TextBytes();
  private timer: Disposable | undefined;
  private writing: Promise<void> = Promise.resolve();
  private most = usualFile;

  /** @param onFailure called with the reason, once */
  constructor(
    private readonly file: string,
    private readonly clock: Clock,
    private onFailure: ((error: unknown) => void) | undefined,
  ) {}

  /** @param lines each with its end */
  note(lines: string): void {
    this.waiting.add(lines);
    this.timer ??= this.clock.after(flushMs, () => void this.flush());
  }

  /** Resolves when everything noted so far is in the file. Never rejects. */
  async flush(): Promise<void> {
    this.timer?.dispose();
    this.timer = undefined;
    const failed = (error: unknown): void => {
      this.onFailure?.(error);
      this.onFailure = undefined;
    };
    this.writing = this.writing.then(() => this.write()).catch(failed);
    await this.writing;
  }

  private async write(): Promise<void> {
    const { waiting } = this;
    if (waiting.all.length === 0) return;
    this.waiting = this.written;
    this.written = waiting;
    try {
      await underLock(this.file, this.clock, () => this.append(waiting.all));
    } finally {
      waiting.clear();
    }
  }

  private async append(added: Buffer): Promise<void> {
    const file = await open(this.file, 'a+', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EACCES') throw error;
    });
    try {
      const stats = await file?.stat();
      // A file that cannot be read would keep all later facts out.
      if (!file || !stats?.isFile()) return await makePrivateFile(this.file, added);
      const { size } = stats;
      const last = Buffer.of(newline);
      await file.read(last, 0, 1, Math.max(0, size - 1));
      // A program that was killed may have left half a line.
      const end = last[0] === newline ? 0 : 1;
      if (end > 0) await file.appendFile('\n');
      await file.appendFile(added);
      const whole = size + end + added.length;
      if (whole <= this.most) return;
      const from = await placeOfLast(file, whole);
      await makePrivateFile(this.file, piecesFrom(from, file));
      this.most = Math.max(usualFile, 2 * (whole - from));
    } finally {
      await file?.close();
    }
  }
}
