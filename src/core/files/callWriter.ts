/**
 * Adds facts to the record of a folder, and counts to the file beside it (H1d). Several processes
 * do. Lines wait for less than a second, so no call waits for the disk; a crash loses no more.
 */
import { open, type FileHandle } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { makePrivateFile } from '../base/privateFile.js';
import { TextBytes } from '../base/textBytes.js';
import { countLines, shortenedCounts } from '../calls/counts.js';
import { countedLines, countFileOf, flushMs, largestFile, mostFacts } from './callFile.js';
import { underLock } from './fileLock.js';

/**
 * In bytes. A file becomes this large, or twice as large as what stays of it, before it is
 * shortened.
 */
const usualFile = 8 << 20;
const usualCounts = 256 << 10;
const pieceSize = 256 << 10;

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
  private mostCounts = usualCounts;

  /**
   * @param onFailure called with the reason, once @param countedAs returns it for the id of a server
   */
  constructor(
    private readonly file: string,
    private readonly clock: Clock,
    private onFailure: ((error: unknown) => void) | undefined,
    private readonly countedAs: (server: string) => string = () => '',
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
    const size = await appended(this.file, added);
    if (size > this.most) {
      const kept = await shortenedToLast(this.file);
      this.most = Math.max(usualFile, 2 * kept);
    }
    await this.count(added);
  }

  private async count(added: Buffer): Promise<void> {
    const lines = countLines(added.toString(), this.countedAs);
    if (lines === '') return;
    const file = countFileOf(this.file);
    const size = await appended(file, Buffer.from(lines));
    if (size <= this.mostCounts) return;
    const kept = shortenedCounts(await countedLines(this.file), this.clock.now());
    await makePrivateFile(file, kept);
    this.mostCounts = Math.max(usualCounts, 2 * kept.length);
  }
}

/** Returns the size of the file afterwards. */
async function appended(path: string, added: Buffer): Promise<number> {
  const file = await open(path, 'a+', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES') throw error;
  });
  try {
    const stats = await file?.stat();
    // A file that cannot be read would keep all later lines out.
    if (!file || !stats?.isFile()) {
      await makePrivateFile(path, added);
      return added.length;
    }
    const { size } = stats;
    const last = Buffer.of(newline);
    await file.read(last, 0, 1, Math.max(0, size - 1));
    // A program that was killed may have left half a line.
    const end = last[0] === newline ? 0 : 1;
    if (end > 0) await file.appendFile('\n');
    await file.appendFile(added);
    return size + end + added.length;
  } finally {
    await file?.close();
  }
}

/** Returns the size of the last facts, which stay. */
async function shortenedToLast(path: string): Promise<number> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const from = await placeOfLast(file, size);
    await makePrivateFile(path, piecesFrom(from, file));
    return size - from;
  } finally {
    await file.close();
  }
}
