/**
 * Reads only regular files, and only up to a limit (S2), because a pipe or a device may never end.
 */
import { english } from './language.js';
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';

const mebibyte = 1024 * 1024;

export const largestConfigFile = mebibyte;
/** Some programs keep their history in the file of their servers. */
export const largestForeignFile = 64 * mebibyte;

export type FileContent =
  | { readonly kind: 'absent' }
  /** A person still types the launch of the server `typed`. */
  | { readonly kind: 'text'; readonly text: string; readonly typed?: string }
  /** It is there and cannot be read as a file; `reason` is a phrase such as `permission denied`. */
  | { readonly kind: 'unreadable'; readonly reason: string };

export class FileRefused extends Error {
  override readonly name = 'FileRefused';

  constructor(
    path: string,
    readonly reason: string,
  ) {
    super(english`${path} cannot be read: ${reason}.`);
  }
}

/**
 * Opening must not wait for the other end of a pipe. Windows has no such flag and no such pipes in
 * folders.
 */
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const pieceSize = 256 * 1024;

export type Decode = (bytes: Buffer) => string | undefined;

/** For records and files that the person does not edit: a wrong byte must not cost the rest. */
export const anyBytes: Decode = (bytes) => bytes.toString('utf8');

/** Values would change silently in another encoding, and a write would lose them. */
const utf8: Decode = (bytes) =>
  isUtf8(bytes) && utf16Of(bytes) === undefined ? anyBytes(bytes) : undefined;

/** Editors on Windows also write UTF-16, with a byte order mark or without. */
export const utf8OrUtf16: Decode = (bytes) => {
  const utf16 = utf16Of(bytes);
  return utf16 === undefined && !isUtf8(bytes) ? undefined : new TextDecoder(utf16).decode(bytes);
};

function utf16Of([first, second]: Buffer): 'utf-16be' | 'utf-16le' | undefined {
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be';
  if ((first === 0xff && second === 0xfe) || (second === 0 && first !== 0)) return 'utf-16le';
  return undefined;
}

/** Rejects as `node:fs/promises` does, and with `FileRefused`. */
export async function readTextFile(
  path: string,
  most: number,
  decode: Decode = utf8,
): Promise<string> {
  const handle = await open(path, flags);
  try {
    const stats = await handle.stat();
    refuse(path, stats, most);
    const pieces: Buffer[] = [];
    for (let left = most + 1; left > 0;) {
      const size = pieces.length === 0 ? stats.size + 1 : pieceSize;
      const piece = Buffer.allocUnsafe(Math.min(size, left));
      const { bytesRead } = await handle.read(piece, 0, piece.length, null);
      if (bytesRead === 0) break;
      pieces.push(piece.subarray(0, bytesRead));
      left -= bytesRead;
    }
    return textOf(path, pieces, most, decode);
  } finally {
    await handle.close();
  }
}

export type ReadSoFar = { readonly inode: number; readonly position: number };

/**
 * Reads whole lines added since an earlier read, at most `most` bytes at the end. `isWhole`: the
 * file is another one.
 */
export async function readAdded(
  path: string,
  most: number,
  before: ReadSoFar | undefined,
): Promise<{
  readonly lines: string;
  readonly soFar: ReadSoFar;
  readonly isWhole: boolean;
}> {
  const handle = await open(path, flags);
  try {
    const stats = await handle.stat();
    refuse(path, stats, Infinity);
    const { ino: inode, size } = stats;
    const isSame = before?.inode === inode && before.position <= size;
    const from = isSame ? before.position : Math.max(0, size - most);
    const bytes = Buffer.allocUnsafe(Math.min(size - from, most));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    // The last line may still be incomplete.
    const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    return {
      lines: bytes.toString('utf8', 0, end),
      soFar: { inode, position: from + end },
      isWhole: !isSame,
    };
  } finally {
    await handle.close();
  }
}

/** Throws as `node:fs` does, and a `FileRefused`. */
export function readTextFileSync(path: string, most: number, decode: Decode = utf8): string {
  const file = openSync(path, flags);
  try {
    const stats = fstatSync(file);
    refuse(path, stats, most);
    const pieces: Buffer[] = [];
    for (let left = most + 1; left > 0;) {
      const size = pieces.length === 0 ? stats.size + 1 : pieceSize;
      const piece = Buffer.allocUnsafe(Math.min(size, left));
      const bytesRead = readSync(file, piece, 0, piece.length, null);
      if (bytesRead === 0) break;
      pieces.push(piece.subarray(0, bytesRead));
      left -= bytesRead;
    }
    return textOf(path, pieces, most, decode);
  } finally {
    closeSync(file);
  }
}

/** A file may grow during the read, and some report a size of 0. */
function textOf(path: string, pieces: readonly Buffer[], most: number, decode: Decode): string {
  const bytes = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
  if (bytes.length > most) throw tooLarge(path, most);
  const text = decode(bytes);
  if (text !== undefined) return text;
  const encoding = utf16Of(bytes) === undefined ? 'perhaps in Latin-1' : 'in UTF-16';
  throw new FileRefused(path, english`it is not written in UTF-8, but ${encoding}`);
}

function refuse(path: string, stats: Stats, most: number): void {
  if (stats.isDirectory()) throw new FileRefused(path, 'it is a folder');
  if (!stats.isFile()) throw new FileRefused(path, 'it is not a regular file');
  if (stats.size > most) throw tooLarge(path, most);
}

function tooLarge(path: string, most: number): FileRefused {
  const limit = most < mebibyte ? `${most / 1024} KiB` : `${most / mebibyte} MiB`;
  return new FileRefused(path, english`it is larger than ${limit}`);
}
