/**
 * Lists other programs' files of servers, for this workspace and on this machine (C6). It names files and reads none.
 */
import path from 'node:path';
import { formatOfPath } from './dialects.js';

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

const ofFolder = ['.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json', '.roo/mcp.json', '.codex/config.toml'];
const namesOfOpencode = ['opencode.json', 'opencode.jsonc', 'kilo.json', 'kilo.jsonc'];
const ofHome = ['.claude.json', '.cursor/mcp.json', '.codex/config.toml'];
const editors = ['Code', 'Code - Insiders', 'Cursor', 'VSCodium'];
const clineFiles = [
  'saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
  'rooveterinaryinc.roo-cline/settings/mcp_settings.json',
  'kilocode.kilo-code/settings/mcp_settings.json',
];

/** True if the editor starts the servers of a file too. It prefers them to toolsets of the same name (G3i). */
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
  // An editor on a remote host has its user's files there.
  const users = [
    ...editors.map((name) => path.join(programs, name, 'User')),
    path.join(home, '.vscode-server/data/User'),
  ];
  return [
    ...folders.flatMap((folder) => [...ofFolder, ...namesOfOpencode].map((name) => path.join(folder, name))),
    ...ofHome.map((name) => path.join(home, name)),
    path.join(programs, 'Claude/claude_desktop_config.json'),
    ...users.flatMap((user) => [
      path.join(user, 'mcp.json'),
      ...clineFiles.map((file) => path.join(user, 'globalStorage', file)),
    ]),
    path.join(config, 'otter/config.toml'),
    ...['opencode', 'kilo'].flatMap((name) => namesOfOpencode.map((file) => path.join(config, name, file))),
  ];
}
