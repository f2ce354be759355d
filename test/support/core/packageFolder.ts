/** A folder with everything that a build and the npm package need, apart from the packages. */
import { cpSync } from 'node:fs';
import path from 'node:path';
import { repository } from './bundles.js';

const needed = [
  'src',
  'package.json',
  'tsconfig.json',
  'esbuild.mjs',
  'build',
  '.npmignore',
  'README.md',
  'SECURITY.md',
  'docs',
  'LICENSE',
];

/** @param more other names at the top of the repository */
export function copyPackageFolder(to: string, ...more: string[]): void {
  for (const name of [...needed, ...more])
    cpSync(path.join(repository, name), path.join(to, name), { recursive: true });
}

/** The program of a build in such a folder. */
export const commandLineIn = (folder: string): string => path.join(folder, 'dist', 'cli.js');
