/** The layer of a person in a folder of the window (C7). Loaded on demand. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mainFolderOf, worktreeOf } from '../../core/approval/worktree.js';
import { folderOf, localPath } from '../../core/config/sources.js';
import { excludeFromGit } from '../../core/files/localFile.js';

/** Returns the layer over a file. A worktree without its own uses the one of the main worktree. */
export function localFileOf(file: string): string {
  const folder = folderOf(file);
  const own = join(folder, localPath);
  const main = existsSync(own) ? undefined : mainFolderOf(folder);
  const shared = main === undefined ? own : join(main, localPath);
  return existsSync(shared) ? shared : own;
}

/** Is called before the product writes the file for the first time. */
export function keepOutOfGit(file: string): void {
  const git = worktreeOf(file);
  if (git) excludeFromGit(git);
}
