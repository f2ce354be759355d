/**
 * Finds the repository of a folder, so that its worktrees share approvals (S1k). A folder proves that it is a worktree:
 * its `.git` names an entry of the repository, and this entry names the folder back. Otherwise any folder could claim
 * the approvals of another.
 */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { realPath } from '../base/paths.js';
import { readTextFileSync } from '../base/textFile.js';

interface Worktree {
  /** The real path of the folder that all worktrees of the repository share. */
  readonly repository: string;
  /** The real path of the root of this worktree. */
  readonly root: string;
}

/** The longest of these files, in bytes. They hold one path. */
const longest = 64 * 1024;

/** Returns undefined outside a repository. @param folder an absolute path */
export function worktreeOf(folder: string): Worktree | undefined {
  for (let root = realPath(folder); ; root = path.dirname(root)) {
    const git = path.join(root, '.git');
    const found = lstatSync(git, { throwIfNoEntry: false });
    if (found?.isDirectory()) return { repository: git, root };
    if (found) return found.isFile() ? linked(root, git) : undefined;
    if (path.dirname(root) === root) return undefined;
  }
}

function linked(root: string, git: string): Worktree | undefined {
  const named = /^gitdir: (.+?)\s*$/.exec(read(git))?.[1];
  const entry = named === undefined ? undefined : realPath(path.resolve(root, named));
  // A submodule has its own history, and no entry among the worktrees.
  if (entry === undefined || path.basename(path.dirname(entry)) !== 'worktrees') return undefined;
  const repository = path.dirname(path.dirname(entry));
  const back = read(path.join(entry, 'gitdir')).trim();
  return back !== '' && realPath(path.resolve(entry, back)) === git ? { repository, root } : undefined;
}

function read(file: string): string {
  try {
    return readTextFileSync(file, longest);
  } catch {
    return '';
  }
}
