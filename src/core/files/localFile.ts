/** Keeps a local file out of Git (C7). Like the search for worktrees, it runs no program. */
import path from 'node:path';
import ignore from 'ignore';
import { foldersUp, slashed } from '../base/paths.js';
import { readTextFileSync } from '../base/textFile.js';
import { unlessThrown } from '../base/unlessThrown.js';
import { writeInside } from './realFiles.js';

const longest = 1 << 20;

/** A file in a worktree: the root of the tree, its repository, and the path from the root. */
interface GitPlace {
  readonly root: string;
  readonly repository: string;
  readonly within: string;
}

/** Adds the file to `info/exclude` of its repository, unless Git ignores it already. */
export function excludeFromGit(place: GitPlace): void {
  if (isIgnored(place)) return;
  const { repository, within } = place;
  const exclude = path.join(repository, 'info', 'exclude');
  const before = textOf(exclude);
  const separator = before === '' || before.endsWith('\n') ? '' : '\n';
  const after = `${before}${separator}/${slashed(within)}\n`;
  writeInside(repository, exclude, { before, after });
}

function isIgnored({ root, repository, within }: GitPlace): boolean {
  const file = path.join(root, within);
  // A deeper file of patterns wins, and `info/exclude` comes last.
  for (const at of foldersUp(path.dirname(file))) {
    const said = verdict(textOf(path.join(at, '.gitignore')), path.relative(at, file));
    if (said !== undefined) return said;
    if (at === root) break;
  }
  return verdict(textOf(path.join(repository, 'info', 'exclude')), within) ?? false;
}

function verdict(patterns: string, file: string): boolean | undefined {
  const { ignored, unignored } = ignore().add(patterns).test(slashed(file));
  return ignored || unignored ? ignored : undefined;
}

function textOf(file: string): string {
  return unlessThrown(() => readTextFileSync(file, longest)) ?? '';
}
