/**
 * The files that servers come from, and in which order they count (C5): of each workspace folder its
 * `.minds/mcp.yaml`, then its `.mcprc`; last the user's own `~/.minds/mcp.yaml`. It names files and reads none.
 *
 * Invariant: a file is listed once. Where the home folder is a workspace folder too, its file is the workspace's: what a
 * workspace brings along is asked about (S1).
 */
import path from 'node:path';
import { isBelow, samePath } from '../base/paths.js';
import type { SourceOrigin, SourceText } from './model.js';

export type SourceFile = Required<Pick<SourceText, 'file' | 'folder' | 'origin'>>;

export const mindsPath = '.minds/mcp.yaml';
const mcprcPath = '.mcprc';

/** @param folders of the workspace, in their order, absolute; @param home of the user, absolute. */
export function sourceFiles(folders: readonly string[], home: string): SourceFile[] {
  const files: SourceFile[] = folders.flatMap((folder): SourceFile[] => [
    { file: path.join(folder, mindsPath), folder, origin: 'folder' },
    { file: path.join(folder, mcprcPath), folder, origin: 'mcprc' },
  ]);
  const file = userFile(home);
  if (!files.some((other) => samePath(other.file, file))) files.push({ file, folder: home, origin: 'user' });
  return files;
}

export function userFile(home: string): string {
  return path.join(home, mindsPath);
}

/** Returns the file that has what the user approved (S1). */
export function approvalsFile(home: string): string {
  return path.join(home, '.minds', 'approvals.json');
}

/** Returns the folder that a source belongs to. */
export function folderOf(file: string): string {
  const folder = path.dirname(file);
  return path.basename(file) === mcprcPath ? folder : path.dirname(folder);
}

/** Says whether a file is the user's own `~/.minds/mcp.yaml`, and not one that the workspace brings along (S1). */
export function isUserFile(file: string, folders: readonly string[], home: string): boolean {
  if (!samePath(file, userFile(home)) || folders.some((folder) => isBelow(file, folder))) return false;
  return sourceFiles(folders, home).some(({ origin }) => origin === 'user');
}

/** Returns a word that says where a server comes from and tells the sources of one folder apart. */
export function originWord(origin: SourceOrigin): string {
  switch (origin) {
    case 'folder':
      return mindsPath;
    case 'mcprc':
      return mcprcPath;
    case 'user':
      return `~/${mindsPath}`;
  }
}
