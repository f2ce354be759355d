/**
 * Bundles the product into `dist/`.
 *
 * The editor loads CommonJS, and what `activate()` does not need must not be loaded by it (P1). So
 * the sources are bundled as ES modules, where esbuild splits at every dynamic `import()` and
 * shares what several parts need. Rollup then joins the pieces that are always loaded together, as
 * CommonJS: it knows what is loaded already when a part is asked for, which leaves a third of the
 * files (P8). A module exists once at run time, whichever part asks for it. The build fails if a
 * package of node_modules gets onto the path of `activate()`.
 */
import { build, context, transform } from 'esbuild';
import { rollup } from 'rollup';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { licencesOf } from './build/licences.mjs';

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

/** The bench loads these parts without the extension. */
const loadedAlone = ['src/vscode/engine/engine.ts', 'src/core/remembered/offerFiles.ts'];

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
  entryPoints: existing(['src/core/processes/guardianMain.ts']).map((path) => ({
    in: path,
    out: 'guardian',
  })),
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

/**
 * Returns the chunks of Rollup for the outputs of esbuild. The ids of their modules are the paths
 * of these outputs.
 */
async function joined({ outputFiles, metafile }) {
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const isRoot = ({ entryPoint }) => [...parts.entryPoints, ...loadedAlone].includes(entryPoint);
  const roots = Object.entries(metafile.outputs).filter(([, output]) => isRoot(output));
  const fromEsbuild = {
    name: 'from esbuild',
    resolveId: (id, importer) => {
      const path = importer ? resolve(dirname(importer), id) : id;
      return texts.has(path) ? path : { id, external: true };
    },
    load: (path) => ({ code: texts.get(path), map: mapIn(texts.get(path)) }),
  };
  const bundle = await rollup({
    input: Object.fromEntries(
      roots.map(([path]) => [path.slice('dist/'.length, -'.js'.length), join(root, path)]),
    ),
    plugins: [fromEsbuild],
    // esbuild has left out what nothing uses.
    treeshake: false,
    preserveEntrySignatures: 'allow-extension',
  });
  const { output } = await bundle.generate({
    dir: outdir,
    format: 'cjs',
    chunkFileNames: 'chunks/[name].js',
    // `import()` of a part becomes `require`, which the editor serves faster than its ES module
    // loader.
    dynamicImportInCjs: false,
    // The API of the editor is used as it is; the modules of Node have a default export.
    interop: (id) => (id === 'vscode' ? 'esModule' : 'default'),
    esModule: false,
    sourcemap: !production,
  });
  return output.filter(({ type }) => type === 'chunk');
}

const mapStart = '//# sourceMappingURL=data:application/json;base64,';

function mapIn(text) {
  const [, map] = text.split(mapStart);
  return map === undefined ? undefined : JSON.parse(Buffer.from(map, 'base64').toString());
}

/** The files of a chunk, in the JavaScript of the oldest Node. */
async function filesOf({ fileName, code, map }) {
  const whole = await transform(
    map ? `${code}${mapStart}${Buffer.from(map.toString()).toString('base64')}` : code,
    {
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      minify: production,
      sourcemap: production ? false : 'external',
      sourcefile: basename(fileName),
    },
  );
  const path = join(outdir, fileName);
  if (production) return [{ path, text: whole.code }];
  return [
    { path, text: `${whole.code}//# sourceMappingURL=${basename(path)}.map\n` },
    { path: `${path}.map`, text: whole.map },
  ];
}

/** The sources that are loaded when an entry is, with what it imports statically. */
function loadedBy(chunks, metafile, fileName) {
  const sources = new Set();
  const seen = new Set();
  const visit = (name) => {
    const chunk = chunks.find((each) => each.fileName === name);
    if (!chunk || seen.has(name)) return;
    seen.add(name);
    for (const path of chunk.moduleIds) {
      Object.keys(metafile.outputs[relative(root, path)].inputs).forEach((input) =>
        sources.add(input),
      );
    }
    chunk.imports.forEach(visit);
  };
  visit(fileName);
  return [...sources];
}

function refusePackagesOnActivation(chunks, metafile) {
  const packages = loadedBy(chunks, metafile, 'extension.js').filter((path) =>
    path.includes('node_modules/'),
  );
  if (packages.length === 0) return;
  throw new Error(
    `Loaded by activate(), which must load no package (P1):\n  ${packages.join('\n  ')}`,
  );
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
  const chunks = await joined(partsResult);
  refusePackagesOnActivation(chunks, partsResult.metafile);
  const files = (await Promise.all(chunks.map(filesOf))).flat();
  const metafiles = [partsResult.metafile];
  for (const program of programs.filter(({ entryPoints }) => entryPoints.length > 0)) {
    const { outputFiles, metafile } = await build(program);
    metafiles.push(metafile);
    files.push(...outputFiles.map(({ path, text }) => ({ path, text })));
  }
  files.push({
    path: join(outdir, 'third-party-licenses.txt'),
    text: await licencesOf(root, metafiles),
  });
  await write(files);
  const scripts = files.filter(({ path }) => path.endsWith('.js'));
  for (const { path, text } of scripts) {
    console.log(
      `${relative(root, path).padEnd(40)} ${(Buffer.byteLength(text) / 1024).toFixed(1).padStart(8)} kB`,
    );
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
