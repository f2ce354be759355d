/**
 * Makes the extension's packages from `dist/`: one for each processor that Windows runs on, with
 * the program for job objects, and one for all other systems without it. The marketplace gives each
 * editor its own.
 *
 *     node esbuild.mjs --production && node build/package.mjs
 */
import { createVSIX } from '@vscode/vsce';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { extensionPage } from './extensionPage.mjs';
import { windowsBinaries, windowsTargets } from './native.mjs';

/**
 * @param {string} root the repository, with a build in `dist` and the packages for Windows in `dist/node_modules`
 * @returns {Promise<string[]>} the paths of the packages
 */
export async function makePackages(root) {
  const readmePath = 'dist/README.md';
  await writeFile(join(root, readmePath), extensionPage(root));
  const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const pack = async (options, target) => {
    const packagePath = join(root, `${[name, target, version].filter(Boolean).join('-')}.vsix`);
    const common = { cwd: root, dependencies: false, allowMissingRepository: true, readmePath };
    await createVSIX({ ...common, ...options, packagePath });
    return packagePath;
  };
  const folder = await mkdtemp(join(tmpdir(), 'mcp-toolsets-package-'));
  try {
    const made = [await pack({})];
    const ignored = await readFile(join(root, '.vscodeignore'), 'utf8');
    for (const [target, binary] of Object.entries(windowsTargets)) {
      const ignoreFile = join(folder, target);
      await writeFile(ignoreFile, `${ignored}!dist/node_modules/${binary}/**\n`);
      made.push(await pack({ target, ignoreFile }, target));
    }
    return made;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function main(root) {
  for (const { path, contents } of await windowsBinaries(root)) {
    const file = join(root, 'dist', 'node_modules', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
  for (const path of await makePackages(root)) {
    console.log(`${path} has ${((await stat(path)).size / 1000).toFixed(0)} kB`);
  }
}

const script = fileURLToPath(import.meta.url);
if (process.argv[1] === script) await main(dirname(dirname(script)));
