/** Copies of the workspaces in `test/editor/workspaces`, because tests edit them. */
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tempFolder } from './cleanup.ts';
import { editorTests } from './suites.ts';

/**
 * @param source a folder of `test/editor/workspaces`, an absolute path, or nothing for an empty folder
 * @returns the path of the copy, whose last part is always `workspace`
 */
export function copyWorkspace(source?: string): { path: string; remove: () => Promise<void> } {
  const { path: folder, remove } = tempFolder();
  const path = join(folder, 'workspace');
  const from = source && resolve(editorTests, 'workspaces', source);
  if (from && !existsSync(from)) throw new Error(`There is no workspace ${from}`);
  if (from) cpSync(from, path, { recursive: true, verbatimSymlinks: true });
  else mkdirSync(path);
  return { path, remove };
}
