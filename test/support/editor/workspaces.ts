/** Copies of the workspaces in `test/editor/workspaces`, because tests edit them. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { repoRoot } from '../npm.mjs';
import { tempFolder } from './cleanup.ts';
import { editorTests } from './suites.ts';

/**
 * In files named `.yaml`, `.json` or `.code-workspace`, `${repo}` becomes the root of this
 * repository.
 *
 * @param source a folder of `test/editor/workspaces`, an absolute path, or nothing for an empty folder
 * @returns the path of the copy, whose last part is always `workspace`
 */
export function copyWorkspace(source?: string): { path: string; remove: () => Promise<void> } {
  const { path: folder, remove } = tempFolder();
  const path = join(folder, 'workspace');
  const from = source && resolve(editorTests, 'workspaces', source);
  if (from && !existsSync(from)) throw new Error(`There is no workspace ${from}`);
  if (from) {
    cpSync(from, path, { recursive: true, verbatimSymlinks: true });
    nameRepository(path);
  }
  if (!from) mkdirSync(path);
  return { path, remove };
}

/** The same into the open folder of an editor. The editor sees each file only in its final form. */
export async function fillWorkspace(path: string, source?: string): Promise<void> {
  const copy = copyWorkspace(source);
  cpSync(copy.path, path, { recursive: true, verbatimSymlinks: true });
  await copy.remove();
}

function nameRepository(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(yaml|json|code-workspace)$/.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    const text = readFileSync(file, 'utf8');
    if (text.includes('${repo}')) writeFileSync(file, text.replaceAll('${repo}', repoRoot));
  }
}
