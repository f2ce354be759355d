/** Bundles a suite for the extension host: `index.cjs` with `run()`, `suite.cjs` with the tests. */
import { build } from 'esbuild';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repoRoot } from '../npm.mjs';

/** @returns the path for `extensionTestsPath` */
export async function bundleSuite(file: string, outDir: string): Promise<string> {
  const mocha = pathToFileURL(join(repoRoot, 'node_modules/mocha/index.js')).href;
  await build({
    entryPoints: { index: join(__dirname, 'hostEntry.ts'), suite: file },
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
