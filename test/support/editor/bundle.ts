/**
 * Bundles suites for the extension host: `index.cjs` with `run()`, and a file of tests for each
 * suite.
 */
import { build } from 'esbuild';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repoRoot } from '../npm.mjs';
import type { Suite } from './suites.ts';

/** The name of the file with the tests of a suite, beside `index.cjs`. */
export const bundledName = ({ name }: Pick<Suite, 'name'>): string => `${name}.suite.cjs`;

/** @returns the path for `extensionTestsPath` */
export async function bundleSuites(suites: readonly Suite[], outDir: string): Promise<string> {
  const mocha = pathToFileURL(join(repoRoot, 'node_modules/mocha/index.js')).href;
  await build({
    entryPoints: Object.fromEntries([
      ['index', join(__dirname, 'hostEntry.ts')],
      ...suites.map((suite) => [bundledName(suite).replace(/\.cjs$/, ''), suite.file]),
    ]),
    outdir: outDir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode', mocha],
    define: { MOCHA_URL: JSON.stringify(mocha) },
    sourcemap: 'inline',
    logLevel: 'silent',
  });
  return join(outDir, 'index.cjs');
}
