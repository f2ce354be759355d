/**
 * Reads files of others: only regular files, and only up to a limit (S2). A path may lead to a pipe or a device, and
 * such a read may never end.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';

const mebibyte = 1024 * 1024;

/** More text than any config file has, and as much as may be parsed at a time. */
export const largestConfigFile = mebibyte;
/** Some programs keep their history in the file of their servers. */
export const largestForeignFile = 64 * mebibyte;

export class FileRefused extends Error {
  override readonly name = 'FileRefused';

  /** @param reason a phrase such as `it is a folder` */
  constructor(
    path: string,
    readonly reason: string,
  ) {
    super(`${path} cannot be read: ${reason}.`);
  }
}

/** Opening must not wait for the other end of a pipe. Windows has no such flag and no such pipes in folders. */
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const pieceSize = 256 * 1024;

/** Returns undefined if the bytes have another encoding. */
export type Decode = (bytes: Buffer) => string | undefined;

const utf8: Decode = (bytes) => bytes.toString('utf8');

/** For a file to write again, because invalid UTF-8 would be lost. */
export const wholeUtf8: Decode = (bytes) => (isUtf8(bytes) ? utf8(bytes) : undefined);

/** Rejects as `node:fs/promises` does, and with `FileRefused`. */
export async function readTextFile(path: string, most: number, decode: Decode = utf8): Promise<string> {
  const handle = await open(path, flags);
  try {
    refuse(path, await handle.stat(), most);
    const pieces = new Pieces(path, most);
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceSize);
      const { bytesRead } = await handle.read(piece, 0, pieceSize, null);
      if (bytesRead === 0) return decoded(path, pieces, decode);
      pieces.add(piece.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/** How far a growing file was read. */
export interface ReadSoFar {
  readonly inode: number;
  readonly position: number;
}

/**
 * Reads the whole lines that were added to a file since an earlier read. Rejects as `readTextFile` does.
 *
 * @param most at most so many bytes at the end of the file
 * @returns `isWhole` is true if the lines are not behind those of the earlier read, because the file is another one
 */
export async function readAdded(
  path: string,
  most: number,
  before: ReadSoFar | undefined,
): Promise<{ readonly lines: string; readonly soFar: ReadSoFar; readonly isWhole: boolean }> {
  const handle = await open(path, flags);
  try {
    const stats = await handle.stat();
    refuse(path, stats, Infinity);
    const { ino: inode, size } = stats;
    const isSame = before?.inode === inode && before.position <= size;
    const from = isSame ? before.position : Math.max(0, size - most);
    const bytes = Buffer.allocUnsafe(Math.min(size - from, most));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    // Somebody may be writing the last line now.
    const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    return { lines: bytes.toString('utf8', 0, end), soFar: { inode, position: from + end }, isWhole: !isSame };
  } finally {
    await handle.close();
  }
}

/** Throws as `node:fs` does, and a `FileRefused`. */
export function readTextFileSync(path: string, most: number, decode: Decode = utf8): string {
  const file = openSync(path, flags);
  try {
    refuse(path, fstatSync(file), most);
    const pieces = new Pieces(path, most);
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceSize);
      const bytesRead = readSync(file, piece, 0, pieceSize, null);
      if (bytesRead === 0) return decoded(path, pieces, decode);
      pieces.add(piece.subarray(0, bytesRead));
    }
  } finally {
    closeSync(file);
  }
}

function decoded(path: string, pieces: Pieces, decode: Decode): string {
  const text = decode(pieces.bytes());
  if (text === undefined) throw new FileRefused(path, 'it is not written in UTF-8');
  return text;
}

function refuse(path: string, stats: Stats, most: number): void {
  if (stats.isDirectory()) throw new FileRefused(path, 'it is a folder');
  if (!stats.isFile()) throw new FileRefused(path, 'it is not a regular file');
  if (stats.size > most) throw tooLarge(path, most);
}

function tooLarge(path: string, most: number): FileRefused {
  return new FileRefused(
    path,
    `it is larger than ${most < mebibyte ? `${most / 1024} KiB` : `${most / mebibyte} MiB`}`,
  );
}

/** A file may grow during the read, and some report a size of 0. */
class Pieces {
  private readonly pieces: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly path: string,
    private readonly most: number,
  ) {}

  add(piece: Buffer): void {
    this.size += piece.length;
    if (this.size > this.most) throw tooLarge(this.path, this.most);
    this.pieces.push(piece);
  }

  bytes(): Buffer {
    return Buffer.concat(this.pieces);
  }
}
