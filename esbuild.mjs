/**
 * Bundles the product into `dist/`.
 *
 * The editor loads CommonJS, and what `activate()` does not need must not be loaded by it (P1). So the sources are
 * bundled as ES modules, where esbuild splits at every dynamic `import()` and shares what several parts need, and each
 * part is then turned into CommonJS. A module exists once at run time, whichever part asks for it.
 * The build fails if a package of node_modules gets onto the path of `activate()`.
 */
import { build, context, transform } from 'esbuild';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const outdir = join(root, 'dist');
const production = process.argv.includes('--production');
const watching = process.argv.includes('--watch');

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  outdir,
  external: ['vscode'],
  // `jsonc-parser` has its ES modules under this name alone; its other form cannot be bundled.
  mainFields: ['module', 'main'],
  minify: production,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  write: false,
};

const existing = (paths) => paths.filter((path) => existsSync(join(root, path)));

/** Parts that share modules with each other. */
const parts = {
  ...common,
  entryPoints: existing(['src/extension.ts', 'src/cli.ts']),
  format: 'esm',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  sourcemap: production ? false : 'inline',
};

/** A program that runs alone, as small and as quick to start as can be. */
const guardian = {
  ...common,
  entryPoints: existing(['src/core/processes/guardianMain.ts']).map((path) => ({ in: path, out: 'guardian' })),
  format: 'cjs',
  sourcemap: production ? false : 'inline',
};

/** What runs in a page of its own, beside the rest. */
const webview = {
  ...common,
  entryPoints: existing(['src/webview/tryTool.ts']),
  platform: 'browser',
  target: 'es2022',
  format: 'iife',
  outdir: join(outdir, 'webview'),
  sourcemap: production ? false : 'inline',
};

/** Parts that stand alone. */
const programs = [guardian, webview];

async function toCommonJs(file) {
  const { code, map } = await transform(file.text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minify: production,
    sourcemap: production ? false : 'external',
    sourcefile: basename(file.path),
    // `import()` of a part becomes `require`, which the editor serves faster than its ES module loader.
    supported: { 'dynamic-import': false },
    banner: basename(file.path) === 'cli.js' && !file.text.startsWith('#!') ? '#!/usr/bin/env node' : '',
  });
  if (production) return [{ path: file.path, text: code }];
  return [
    { path: file.path, text: `${code}//# sourceMappingURL=${basename(file.path)}.map\n` },
    { path: `${file.path}.map`, text: map },
  ];
}

/** The sources that are loaded when an entry is, with what it imports statically. */
function loadedBy(metafile, entry) {
  const sources = new Set();
  const seen = new Set();
  const visit = (path) => {
    const output = metafile.outputs[path];
    if (!output || seen.has(path)) return;
    seen.add(path);
    Object.keys(output.inputs).forEach((input) => sources.add(input));
    output.imports.filter(({ kind }) => kind === 'import-statement').forEach((imported) => visit(imported.path));
  };
  visit(Object.keys(metafile.outputs).find((path) => metafile.outputs[path].entryPoint === entry));
  return [...sources];
}

function refusePackagesOnActivation(metafile) {
  const packages = loadedBy(metafile, 'src/extension.ts').filter((path) => path.includes('node_modules/'));
  if (packages.length === 0) return;
  throw new Error(`Loaded by activate(), which must load no package (P1):\n  ${packages.join('\n  ')}`);
}

/** Writes what changed and removes what is no longer built. */
async function write(files) {
  const wanted = new Set(files.map(({ path }) => resolve(path)));
  for (const { path, text } of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  if (wanted.has(join(outdir, 'cli.js'))) await chmod(join(outdir, 'cli.js'), 0o755);
  for (const entry of await readdir(outdir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (!entry.isDirectory() && !wanted.has(path)) await rm(path, { force: true });
  }
}

async function finish(partsResult) {
  refusePackagesOnActivation(partsResult.metafile);
  const files = (await Promise.all(partsResult.outputFiles.map(toCommonJs))).flat();
  for (const program of programs.filter(({ entryPoints }) => entryPoints.length > 0)) {
    const { outputFiles } = await build(program);
    files.push(...outputFiles.map(({ path, text }) => ({ path, text })));
  }
  await write(files);
  const scripts = files.filter(({ path }) => path.endsWith('.js'));
  for (const { path, text } of scripts) {
    console.log(`${relative(root, path).padEnd(40)} ${(Buffer.byteLength(text) / 1024).toFixed(1).padStart(8)} kB`);
  }
}

async function buildOnce() {
  await finish(await build(parts));
}

if (watching) {
  const again = { name: 'finish', setup: (on) => on.onEnd((result) => rebuilt(result)) };
  const rebuilt = async (result) => {
    if (result.errors.length > 0) return;
    try {
      await finish(result);
    } catch (error) {
      console.error(error);
    }
  };
  await (await context({ ...parts, plugins: [again] })).watch();
} else {
  await buildOnce();
}
