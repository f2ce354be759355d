/** Reads the index of Git (gitformat-index(5)), without running Git. */
import path from 'node:path';
import { slashed } from '../base/paths.js';
import { readTextFileSync } from '../base/textFile.js';
import { unlessThrown } from '../base/unlessThrown.js';
import { worktreeOf } from './worktree.js';

/** An index of a million files is larger, and is not read. */
const largestIndex = 64 << 20;
/** The last version that writes each path whole. */
const lastWithWholePaths = 3;

/** True if Git tracks the file. An index of version 4 does not write its paths whole. */
export function isTracked(file: string): boolean {
  const worktree = worktreeOf(file);
  if (!worktree) return false;
  const at = path.join(worktree.gitFolder, 'index');
  // A character for each byte.
  const index = unlessThrown(() =>
    readTextFileSync(at, largestIndex, (bytes) => bytes.toString('latin1')),
  );
  if (index === undefined || index.charCodeAt(7) > lastWithWholePaths) return false;
  const name = Buffer.from(slashed(worktree.within)).toString('latin1');
  for (let found = index.indexOf(name); found >= 0; found = index.indexOf(name, found + 1)) {
    // The length of the path stands before it, or before two bytes more.
    const isPath = [2, 4].some((back) => lengthAt(index, found - back) === name.length);
    if (isPath && index[found + name.length] === '\0') return true;
  }
  return false;
}

/** The length of a path is in the lower 12 of 16 bits. */
function lengthAt(index: string, at: number): number {
  return ((index.charCodeAt(at) & 0xf) << 8) + index.charCodeAt(at + 1);
}
