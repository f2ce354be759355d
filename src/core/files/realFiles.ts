/**
 * Where files really are, with links followed (S1a): nothing is written outside the folder that it names, and the user's
 * own file is theirs alone only while no workspace brings the same file along.
 */
import { isBelow, realPath, samePath } from '../base/paths.js';
import { isUserFile, sourceFiles } from '../config/sources.js';

/** Returns a sentence that says why a file must not be written, because links lead out of its folder; else undefined. */
export function leadsOutside(folder: string, file: string): string | undefined {
  if (isBelow(file, folder)) return undefined;
  return `${file} is not written: links lead to ${realPath(file)}, which is outside ${folder}.`;
}

/** Says whether a file is the user's own `~/.minds/mcp.yaml`, and not one that the workspace brings along (S1). */
export function isUsersOwnFile(file: string, folders: readonly string[], home: string): boolean {
  if (!isUserFile(file, folders, home)) return false;
  if (folders.some((folder) => isBelow(file, folder))) return false;
  const others = sourceFiles(folders, home).filter(({ origin }) => origin !== 'user');
  return !others.some((other) => samePath(other.file, file));
}

/** Says whether a folder is inside one of these, links followed. */
export function isInsideAny(folder: string, folders: readonly string[]): boolean {
  return folders.some((other) => samePath(folder, other) || isBelow(folder, other));
}
