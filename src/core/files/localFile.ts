/**
 * The layer of a person in a folder (C7), and how it stays out of Git. Like the search for worktrees,
 * it runs no program.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import ignore from 'ignore';
import { mainFolderOf, placeInGit, type Worktree } from '../approval/worktree.js';
import { foldersUp, slashed } from '../base/paths.js';
import { readTextFileSync } from '../base/textFile.js';
import { unlessThrown } from '../base/unlessThrown.js';
import { folderOf, isLocalFile, layersOf } from '../config/sources.js';
import { refuseOutside, writeInside } from './realFiles.js';

const longest = 1 << 20;

/** Returns the layer over a file, which need not exist. */
export function localFileOf(file: string): string {
  const layers = layersOf(folderOf(file), mainFolderOf);
  return layers.find((one) => existsSync(one)) ?? layers[0];
}

/**
 * Call it before a new file is written. Adds a layer to `info/exclude` of its repository, unless Git
 * ignores it already. Throws if the layer must not be written (S1c).
 */
export function keepOutOfGit(file: string): void {
  if (!isLocalFile(file)) return;
  refuseOutside(folderOf(file), file);
  const place = placeInGit(file);
  if (!place || isIgnored(place)) return;
  const { repository, within } = place;
  const exclude = path.join(repository, 'info', 'exclude');
  const before = textOf(exclude);
  const separator = before === '' || before.endsWith('\n') ? '' : '\n';
  const after = `${before}${separator}/${slashed(within)}\n`;
  writeInside(repository, exclude, { before, after });
}

function isIgnored({ root, repository, within }: Worktree): boolean {
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
