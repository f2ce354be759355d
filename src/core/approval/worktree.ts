/**
 * Finds the Git repository of a source, so that its worktrees share approvals (S1k). Runs no
 * program: Git reads settings of the folder, and some of these start programs. Invariant: a folder
 * belongs to a repository only if the repository names that folder too. Links, other owners and
 * submodules prove nothing.
 */
import { lstatSync, type Stats } from 'node:fs';
import path from 'node:path';
import { isObject, mapped } from '../base/isObject.js';
import { foldersUp, realPath, samePath } from '../base/paths.js';
import { escapeRegExp } from '../base/text.js';
import { readTextFileSync } from '../base/textFile.js';
import { folderOf } from '../config/sources.js';

export interface WorktreePlace {
  /** The real path of the folder that all worktrees of the repository share. */
  readonly repository: string;
  readonly within: string;
}

const longest = 8192;

/**
 * Returns undefined if no worktree has the source. The result describes the disk at this moment.
 */
export function worktreeOf(
  source: string,
): (WorktreePlace & { readonly root: string }) | undefined {
  const folder = realPath(folderOf(source));
  try {
    // A folder with its own repository, such as a submodule, is not part of the one around it.
    const root = foldersUp(folder).find((at) =>
      lstatSync(path.join(at, '.git'), { throwIfNoEntry: false }),
    );
    if (root === undefined) return undefined;
    const stats = lstatSync(path.join(root, '.git'));
    const repository = isOwn(stats) ? repositoryOf(root, stats) : undefined;
    const within = path.join(path.relative(root, folder), path.relative(folderOf(source), source));
    return repository === undefined ? undefined : { root, repository, within };
  } catch {
    return undefined;
  }
}

function repositoryOf(root: string, stats: Stats): string | undefined {
  const entry = path.join(root, '.git');
  if (stats.isDirectory()) return entry;
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
    ? repository
    : undefined;
}

/** Git does not trust folders of other users either. */
function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/**
 * No path and no argument of a program has the first character. The slash keeps the value from
 * passing for a word (S1e).
 */
const mark = '\0/';

/**
 * `..` at the end of a path or before more of it. An option may come first (`-I../lib`), and some
 * programs read URLs.
 */
const parent = /(?<!\.)(?:\.|%2e){2}(?![\w.])/i;

/**
 * Marks each path of the root: equal copies differ only in it. Undefined if a path may lead
 * elsewhere from another root.
 */
export function relocated<T>(value: T, root: string): T | undefined {
  const atRoot = new RegExp(`(?<=^|[=:;,])${escapeRegExp(root)}(?=$|[/\\\\:;,])`, 'g');
  let leadsOut = false;
  const moved = (one: unknown): unknown => {
    if (typeof one === 'string') {
      leadsOut ||= parent.test(one);
      return one.replaceAll('\0', '\0\0').replace(atRoot, () => mark);
    }
    if (Array.isArray(one)) return one.map(moved);
    if (one instanceof Map) return new Map([...one].map(([key, each]) => [key, moved(each)]));
    return isObject(one) ? mapped(one, moved) : one;
  };
  const copy = moved(value) as T;
  return leadsOut ? undefined : copy;
}
