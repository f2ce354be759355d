/**
 * Lists where other programs keep their servers, for this workspace and on this machine (C6). It names files and reads
 * none.
 */
import path from 'node:path';
import { dialects, formatOfPath, type Dialect } from './dialects.js';

interface Machine {
  /** The absolute paths of the workspace folders. */
  readonly folders: readonly string[];
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** The value of `%APPDATA%` on Windows. */
  readonly appData: string | undefined;
  /** The value of `$XDG_CONFIG_HOME`. */
  readonly configHome: string | undefined;
}

const editors = ['Code', 'Code - Insiders', 'Cursor', 'VSCodium'];

/** Returns whether the editor starts the servers of a file too. It prefers them to toolsets of the same name (G3i). */
export function isOfEditor(file: string, folders: readonly string[]): boolean {
  return formatOfPath(file) === 'vscode' || folders.some((folder) => file === path.join(folder, '.mcp.json'));
}

/** Returns the files, those of the workspace first. */
export function knownFiles({ folders, home, platform, appData, configHome }: Machine): string[] {
  const config = configHome ?? path.join(home, '.config');
  const programs =
    platform === 'darwin'
      ? path.join(home, 'Library/Application Support')
      : platform === 'win32'
        ? (appData ?? path.join(home, 'AppData/Roaming'))
        : config;
  // An editor that runs as a server has its user's files there.
  const users = [
    ...editors.map((name) => path.join(programs, name, 'User')),
    path.join(home, '.vscode-server/data/User'),
  ];
  const bases = { './': folders, '~/': [home], '$programs/': [programs], '$user/': users, '$config/': [config] };
  const files = Object.values<Dialect>(dialects).flatMap((dialect) => dialect.files);
  return Object.entries(bases).flatMap(([start, inFolders]) => {
    const names = files.filter((file) => file.startsWith(start)).map((file) => file.slice(start.length));
    return inFolders.flatMap((folder) => names.map((name) => path.join(folder, name)));
  });
}
