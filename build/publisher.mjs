/**
 * Bundles the program that publishes to the Visual Studio Marketplace into `publisher/vsce.cjs`.
 * The publishing job of `release.yml` runs this one file and installs nothing. All of its code is
 * in `package-lock.json`.
 */
import { build } from 'esbuild';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

await build({
  stdin: {
    contents: `require('@vscode/vsce/out/main')(process.argv);`,
    resolveDir: dirname(fileURLToPath(import.meta.url)),
  },
  outfile: 'publisher/vsce.cjs',
  bundle: true,
  platform: 'node',
  target: 'node20',
  // `jsonc-parser` has its ES modules under this name alone.
  mainFields: ['module', 'main'],
  // Not installed here; with an identity of Entra ID, no password is stored.
  external: ['keytar'],
  logLevel: 'warning',
});
