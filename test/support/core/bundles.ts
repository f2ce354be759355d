/**
 * Bundles programs of the product and of the tests. The lanes of `npm test` share one folder for
 * them, so each is made once. Another process makes its own folder, which is removed with it.
 */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, buildSync } from 'esbuild';
import { blockingWork, sharedWork } from './within.js';

export const repository = path.resolve(__dirname, '../../..');

/** The folder of the bundles of all lanes. `testRun/sharedBundles.ts` makes it. */
export const bundlesVariable = 'MCP_TOOLSETS_TEST_BUNDLES';
/** In that folder: a copy of the package folder with its build, if the run has built. */
export const sharedBuild = 'build';

let folder: string | undefined;
const bundles = new Map<string, () => Promise<string>>();

/** A folder for this process only. Files in it find the packages outside the bundle. */
export function runFolder(): string {
  if (folder === undefined) {
    const made = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-run-'));
    linkPackages(made);
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  return folder;
}

/** Files in this folder find the packages of the repository from now on. */
export function linkPackages(at: string): void {
  symlinkSync(path.join(repository, 'node_modules'), path.join(at, 'node_modules'), 'junction');
}

/** The path of a bundle, and true if it is there: another lane has made it. */
function placeOf(file: string): { readonly outfile: string; readonly isMade: boolean } {
  const outfile = path.join(process.env[bundlesVariable] ?? runFolder(), file);
  return { outfile, isMade: existsSync(outfile) };
}

/** Lanes may make a bundle at the same moment. Each renames its complete file. */
const partialOf = (outfile: string): string => `${outfile}.${process.pid}.partial`;

/** @param source from the root of the repository. Resolves with the path of one CommonJS file. */
export function bundled(source: string): Promise<string> {
  let bundle = bundles.get(source);
  if (!bundle) {
    bundle = sharedWork(`the bundle of ${source}`, async () => {
      const { outfile, isMade } = placeOf(`${path.basename(source, '.ts')}.js`);
      if (isMade) return outfile;
      const partial = partialOf(outfile);
      await build({
        absWorkingDir: repository,
        entryPoints: [source],
        outfile: partial,
        bundle: true,
        platform: 'node',
        target: 'node20',
        format: 'cjs',
        // Like the product's own build, because `jsonc-parser` can be bundled in this form only.
        mainFields: ['module', 'main'],
        logLevel: 'silent',
      });
      renameSync(partial, outfile);
      return outfile;
    });
    bundles.set(source, bundle);
  }
  return bundle();
}

export const guardianScript = (): Promise<string> => bundled('src/core/processes/guardianMain.ts');

const fixtures = new Map<string, string>();

/**
 * The path of a server of test/fixtures/servers. A server with package imports is bundled, because
 * their hundreds of files take twice as long to load.
 */
export function fixturePath(name: string): string {
  const known = fixtures.get(name);
  if (known !== undefined) return known;
  const source = path.join(repository, 'test/fixtures/servers', `${name}.mjs`);
  const usesPackages = /(?:from |import\()'(?!node:|\.)/.test(readFileSync(source, 'utf8'));
  const file = usesPackages ? bundledFixture(source) : source;
  fixtures.set(name, file);
  return file;
}

function bundledFixture(source: string): string {
  const { outfile, isMade } = placeOf(path.basename(source));
  if (!isMade) bundleModule(source, outfile);
  return outfile;
}

/** Makes one file of an ECMAScript module and its imports. An existing file is complete. */
export function bundleModule(source: string, outfile: string): void {
  const partial = partialOf(outfile);
  blockingWork(`the bundle of ${source}`, () =>
    buildSync({
      entryPoints: [source],
      outfile: partial,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      // Some packages are CommonJS and require modules of Node.
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
      logLevel: 'silent',
    }),
  );
  renameSync(partial, outfile);
}
