/**
 * A file is listed once (C5). If home is a workspace folder, its file is the workspace's and needs
 * approval (S1).
 */
import { english } from '../base/language.js';
import path from 'node:path';
import { isBelow, samePath, slashed } from '../base/paths.js';
import type { Problem } from '../base/problem.js';
import { startOfFile, type SourceOrigin, type SourceText } from './model.js';

type SourceFile = Required<Pick<SourceText, 'file' | 'folder' | 'origin'>>;

export const mindsPath = '.minds/mcp.yaml';
export const localPath = '.minds/mcp.local.yaml';
export const mcprcPath = '.mcprc';
export const lockPath = '.minds/mcp.lock';

/** Returns the same folder in the main worktree. */
type MainOf = (folder: string) => string | undefined;

/** Returns the layers that a folder may have (C7). The first one that exists counts. */
export function layersOf(folder: string, mainOf?: MainOf): [string, ...string[]] {
  const main = mainOf?.(folder);
  const own = path.join(folder, localPath);
  return main === undefined ? [own] : [own, path.join(main, localPath)];
}

/**
 * @param folders of the workspace, in their order, absolute
 * @param home of the user, absolute
 */
export function sourceFiles(
  folders: readonly string[],
  home: string,
  mainOf?: MainOf,
): SourceFile[] {
  const files: SourceFile[] = folders.flatMap((folder): SourceFile[] => [
    {
      file: path.join(folder, mindsPath),
      folder,
      origin: 'folder',
    },
    {
      file: path.join(folder, mcprcPath),
      folder,
      origin: 'mcprc',
    },
    ...layersOf(folder, mainOf).map((file) => ({ file, folder, origin: 'local' as const })),
  ]);
  const file = userFile(home);
  if (!files.some((other) => samePath(other.file, file)))
    files.push({
      file,
      folder: home,
      origin: 'user',
    });
  return files;
}

/** True for the layer of a person (C7), in any folder. */
export function isLocalFile(file: string): boolean {
  return slashed(file).endsWith(`/${localPath}`);
}

export function userFile(home: string): string {
  return path.join(home, mindsPath);
}

export function approvalsFile(home: string): string {
  return path.join(home, '.minds', 'approvals.json');
}

export function folderOf(file: string): string {
  const folder = path.dirname(file);
  return path.basename(file) === mcprcPath ? folder : path.dirname(folder);
}

/** True for the user's own `~/.minds/mcp.yaml`, unless it is also the workspace's (S1c). */
export function isUserFile(file: string, folders: readonly string[], home: string): boolean {
  if (!samePath(file, userFile(home)) || folders.some((folder) => isBelow(file, folder)))
    return false;
  return sourceFiles(folders, home).some(({ origin }) => origin === 'user');
}

export const originWords: Readonly<Record<SourceOrigin, string>> = {
  folder: mindsPath,
  mcprc: mcprcPath,
  local: localPath,
  user: `~/${mindsPath}`,
};

/**
 * `activate` needs no other problem of config files, so this one is apart from them (P1).
 * @param reason a phrase
 * @param kept true if the file's previous content stays in effect
 */
export function fileUnreadable(file: string, reason: string, kept = false): Problem {
  return {
    code: 'file-unreadable',
    severity: 'error',
    message: kept
      ? english`The config file cannot be read: ${reason}. Its previous content stays in effect.`
      : english`The config file cannot be read: ${reason}.`,
    fix: english`Make it a regular file in UTF-8 that you can read.`,
    place: { file, range: startOfFile },
  };
}
