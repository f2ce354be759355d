/**
 * Finds the Git repository of a source, so that its worktrees share approvals (S1k). Runs no
 * program: Git reads settings of the folder, and some of these start programs. Invariant: a folder
 * belongs to a repository only if the repository names that folder too. Links, other owners and
 * submodules prove nothing.
 */
import { lstatSync, type Stats } from 'node:fs';
import path from 'node:path';
import { foldersUp, realPath, samePath } from '../base/paths.js';
import { readTextFileSync } from '../base/textFile.js';
import { folderOf, mindsPath } from '../config/sources.js';

export interface WorktreePlace {
  /** The real path of the folder that all worktrees of the repository share. */
  readonly repository: string;
  readonly within: string;
}

const longest = 8192;

/** A worktree with its repository. */
export interface Worktree extends WorktreePlace {
  readonly root: string;
  /** Git's own files of this worktree, such as the index. */
  readonly gitFolder: string;
}

/**
 * Returns undefined if no worktree has the source. The result describes the disk at this moment.
 */
export function worktreeOf(source: string): Worktree | undefined {
  const folder = realPath(folderOf(source));
  try {
    // A folder with its own repository, such as a submodule, is not part of the one around it.
    const root = foldersUp(folder).find((at) =>
      lstatSync(path.join(at, '.git'), { throwIfNoEntry: false }),
    );
    if (root === undefined) return undefined;
    const stats = lstatSync(path.join(root, '.git'));
    const found = isOwn(stats) ? repositoryOf(root, stats) : undefined;
    const within = path.join(path.relative(root, folder), path.relative(folderOf(source), source));
    return found && { ...found, root, within };
  } catch {
    return undefined;
  }
}

/** Returns where Git has a file. Git follows no link, so a linked folder is where it leads. */
export function placeInGit(file: string): Worktree | undefined {
  const found = worktreeOf(file);
  const real = path.join(realPath(path.dirname(file)), path.basename(file));
  return found && { ...found, within: path.relative(found.root, real) };
}

/** Returns the same folder in the main worktree; undefined for a folder of that worktree itself. */
export function mainFolderOf(folder: string): string | undefined {
  const { root, repository } = worktreeOf(path.join(folder, mindsPath)) ?? {};
  if (root === undefined || repository === undefined || path.basename(repository) !== '.git')
    return undefined;
  const main = path.dirname(repository);
  return samePath(main, root) ? undefined : path.join(main, path.relative(root, realPath(folder)));
}

function repositoryOf(
  root: string,
  stats: Stats,
): Pick<Worktree, 'repository' | 'gitFolder'> | undefined {
  const entry = path.join(root, '.git');
  if (stats.isDirectory()) return { repository: entry, gitFolder: entry };
  const named = stats.isFile()
    ? /^gitdir: (.+)/.exec(readTextFileSync(entry, longest))?.[1]
    : undefined;
  if (named === undefined) return undefined;
  const own = realPath(path.resolve(root, named.trimEnd()));
  const back = path.resolve(own, readTextFileSync(path.join(own, 'gitdir'), longest).trimEnd());
  const isNamed = path.basename(back) === '.git' && samePath(path.dirname(back), root);
  // `commondir` would name it too, but the folder could bring that file.
  const list = path.dirname(own);
  const repository = path.dirname(path.dirname(own));
  return isNamed && path.basename(list) === 'worktrees' && isOwn(lstatSync(repository))
    ? { repository, gitFolder: own }
    : undefined;
}

/** Git does not trust folders of other users either. */
function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}
