/**
 * Makes the extension's packages from `dist/`: one for each processor that Windows runs on, with the program for job
 * objects, and one for all other systems without it. The marketplace gives each editor its own.
 *
 *     node esbuild.mjs --production && node package.mjs
 */
import { createVSIX } from '@vscode/vsce';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { windowsTargets } from './native.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const common = { cwd: root, dependencies: false, allowMissingRepository: true, rewriteRelativeLinks: false };

async function pack(options, target) {
  const packagePath = join(root, `${[name, target, version].filter(Boolean).join('-')}.vsix`);
  await createVSIX({ ...common, ...options, packagePath });
  console.log(`${packagePath} has ${((await stat(packagePath)).size / 1000).toFixed(0)} kB`);
}

const folder = await mkdtemp(join(tmpdir(), 'mcp-toolsets-package-'));
try {
  await pack({});
  const ignored = await readFile(join(root, '.vscodeignore'), 'utf8');
  for (const [target, binary] of Object.entries(windowsTargets)) {
    const ignoreFile = join(folder, target);
    await writeFile(ignoreFile, `${ignored}!dist/node_modules/${binary}/**\n`);
    await pack({ target, ignoreFile }, target);
  }
} finally {
  await rm(folder, { recursive: true });
}
