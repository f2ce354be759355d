/** Reads the index of Git (gitformat-index(5)), without running Git. */
import path from 'node:path';
import { existsSync } from 'node:fs';
import { slashed } from '../base/paths.js';
import { readTextFileSync } from '../base/textFile.js';
import { unlessThrown } from '../base/unlessThrown.js';
import { placeInGit } from './worktree.js';

/** Some 300,000 files. To read a larger index would hold up everything else (P10). */
const largestIndex = 32 << 20;
/** The sizes of a hash, SHA-1 and SHA-256. Only the config of a repository names its kind. */
const hashSizes = [20, 32];

/** Undefined if the index cannot be read, or is only a part of the truth. */
export function isTracked(file: string): boolean | undefined {
  const place = placeInGit(file);
  const at = place && path.join(place.gitFolder, 'index');
  if (!at || !existsSync(at)) return false;
  // A character for each byte.
  const bytes = unlessThrown(() =>
    readTextFileSync(at, largestIndex, (read) => read.toString('latin1')),
  );
  const name = Buffer.from(slashed(place.within)).toString('latin1');
  return bytes === undefined
    ? undefined
    : hashSizes
        .map((hashSize) => new GitIndex(bytes, hashSize).has(name))
        .find((found) => found !== undefined);
}

class GitIndex {
  constructor(
    private readonly bytes: string,
    private readonly hashSize: number,
  ) {}

  /** Undefined if the index is of another form, or does not say. */
  has(name: string): boolean | undefined {
    const { bytes } = this;
    const version = this.number(4);
    if (!this.isKnown(version)) return undefined;
    let at = 12;
    /** The length of the path before, and how much of its beginning is as in `name`. */
    let length = 0;
    let same = 0;
    for (let left = this.number(8); left > 0; left--) {
      const entry = at;
      const flags = this.short(entry + 40 + this.hashSize);
      at += 42 + this.hashSize + (flags & isExtended ? 2 : 0);
      if (version === 4) {
        const cut = this.varint(at);
        at = cut.end;
        length -= cut.value;
      } else length = 0;
      const end = bytes.indexOf('\0', at);
      if (length < 0 || end < 0) return undefined;
      same = Math.min(same, length);
      const rest = length === same ? name.slice(same) : '';
      same += sameStart(rest, bytes, at);
      length += end - at;
      if (Math.min(length, longestKnown) !== (flags & longestKnown)) return undefined;
      if (same === length && length === name.length) return true;
      // In a sparse index, a folder stands for the files in it.
      if (same === length && name[length - 1] === '/') return undefined;
      at = version === 4 ? end + 1 : entry + ((end - entry) & ~7) + 8;
    }
    return this.isWhole(at) ? false : undefined;
  }

  private isKnown(version: number): boolean {
    return this.bytes.startsWith('DIRC') && version >= 2 && version <= 4;
  }

  /** False if a part is needed that has no form known here, such as the rest of a split index. */
  private isWhole(from: number): boolean {
    let at = from;
    while (at < this.bytes.length - this.hashSize) {
      const isOptional = /^[A-Z]/.test(this.bytes[at] ?? '');
      if (!isOptional && !this.bytes.startsWith('sdir', at)) return false;
      at += 8 + this.number(at + 4);
    }
    return at === this.bytes.length - this.hashSize;
  }

  /** Each further byte counts from one, so that no number has two forms. */
  private varint(from: number): { readonly value: number; readonly end: number } {
    let at = from;
    let byte = this.bytes.charCodeAt(at);
    let value = byte & 0x7f;
    while (byte & 0x80) {
      at++;
      byte = this.bytes.charCodeAt(at);
      value = (value + 1) * 0x80 + (byte & 0x7f);
    }
    return { value, end: at + 1 };
  }

  private number(at: number): number {
    return this.short(at) * 0x1_0000 + this.short(at + 2);
  }

  private short(at: number): number {
    return (this.bytes.charCodeAt(at) << 8) | this.bytes.charCodeAt(at + 1);
  }
}

const isExtended = 0x4000;
/** The lower bits of the flags have the length of a path. A longer one has this length. */
const longestKnown = 0xfff;

function sameStart(name: string, bytes: string, at: number): number {
  let length = 0;
  while (length < name.length && name[length] === bytes[at + length]) length++;
  return length;
}
