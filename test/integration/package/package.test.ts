/**
 * The contents of the packages. The program for job objects (X5) is only in the packages that can
 * run it, and every file has a use.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { work } from '../../support/core/within.js';

const repository = path.resolve(__dirname, '../../..');
const sources = [
  'l10n',
  'package.nls.json',
  'package.nls.zh-cn.json',
  'src',
  'media',
  'package.json',
  'tsconfig.json',
  'esbuild.mjs',
  'build',
  '.vscodeignore',
  '.npmignore',
  'LICENSE',
];
const pages = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs'];
/** Random bytes in place of the program, as large and as incompressible. No test loads them. */
const program = randomBytes(1_000_000);
const most = 1_200_000;

/** The names in a zip archive, in the order of its central directory. */
function namesIn(archive: Buffer): string[] {
  const end = archive.lastIndexOf('PK\x05\x06');
  const names: string[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const [name, extra, comment] = [28, 30, 32].map((field) =>
      archive.readUInt16LE(at + field),
    ) as [number, number, number];
    names.push(archive.toString('utf8', at + 46, at + 46 + name));
    at += 46 + name + extra + comment;
  }
  return names;
}

describe('packages', function () {
  this.timeout(180_000);
  let folder: string;
  const packages = new Map<string, string[]>();
  let universal: string;
  /** The editor's name of each Windows target, and the package for it. */
  let windowsTargets: Record<string, string>;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'packages-'));
    for (const name of [...sources, ...pages]) {
      cpSync(path.join(repository, name), path.join(folder, name), { recursive: true });
    }
    symlinkSync(
      path.join(repository, 'node_modules'),
      path.join(folder, 'node_modules'),
      'junction',
    );
    const node = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, args, { cwd: folder })).stdout;
    const script = async (text: string): Promise<unknown> =>
      JSON.parse(
        (await node('--input-type=module', '--eval', text)).trimEnd().split('\n').at(-1) ?? '',
      );
    windowsTargets = (await script(
      `import { windowsTargets } from './build/native.mjs'; console.log(JSON.stringify(windowsTargets));`,
    )) as Record<string, string>;
    await work('the build of the packages', () => node('esbuild.mjs', '--production'));
    for (const binary of Object.values(windowsTargets)) {
      const at = path.join(folder, 'dist', 'node_modules', binary);
      mkdirSync(at, { recursive: true });
      for (const name of ['package.json', 'index.js']) writeFileSync(path.join(at, name), '{}');
      writeFileSync(path.join(at, 'koffi.node'), program);
    }
    const made = (await work('making the packages', () =>
      script(
        `import { makePackages } from './build/package.mjs'; console.log(JSON.stringify(await makePackages(process.cwd())));`,
      ),
    )) as string[];
    for (const file of made) packages.set(path.basename(file), namesIn(readFileSync(file)));
    universal = made[0] ?? '';
  });
  after(() => rmSync(folder, { recursive: true }));

  const binariesIn = (names: readonly string[]): string[] =>
    names.filter((name) => name.includes('node_modules'));

  it('There is one package for each processor of Windows, and one for all other systems', () => {
    const targets = [...packages.keys()].map(
      (name) => /^mcp-toolsets(?:-(win32-\w+))?-[\d.]+\.vsix$/.exec(name)?.[1],
    );
    assert.deepEqual(targets, [undefined, ...Object.keys(windowsTargets)]);
  });

  it('A Windows package has the program for job objects for its own processor', () => {
    for (const [target, binary] of Object.entries(windowsTargets)) {
      const [names = []] = [...packages].flatMap(([file, held]) =>
        file.includes(target) ? [held] : [],
      );
      const expected = ['index.js', 'koffi.node', 'package.json'].map(
        (name) => `extension/dist/node_modules/${binary}/${name}`,
      );
      assert.deepEqual(binariesIn(names).sort(), expected);
    }
  });

  it('The universal package is below 1.2 megabytes and contains no foreign program', () => {
    assert.deepEqual(binariesIn(packages.get(path.basename(universal)) ?? []), []);
    const { size } = statSync(universal);
    assert(size < most, `${size} bytes`);
  });

  it('Each package holds the build, its pictures and its pages, and nothing else', () => {
    const allowed =
      /^(\[Content_Types\]\.xml|extension\.vsixmanifest|extension\/((package(?:\.nls(?:\.[\w-]+)?)?\.json|l10n\/[\w.-]+\.json|readme\.md|changelog\.md|LICENSE\.txt|SECURITY\.md)|docs\/[\w.-]+\.md|media\/.+|dist\/(third-party-licenses\.txt|(chunks\/|webview\/)?[\w-]+\.js)))$/;
    for (const [file, names] of packages) {
      const own = names.filter((name) => !binariesIn(names).includes(name));
      assert.deepEqual(
        own.filter((name) => !allowed.test(name)),
        [],
        file,
      );
      for (const needed of [
        'extension.js',
        'cli.js',
        'guardian.js',
        'webview/tryTool.js',
        'third-party-licenses.txt',
      ]) {
        assert(own.includes(`extension/dist/${needed}`), `${file} lacks ${needed}`);
      }
      for (const needed of ['package.nls.json', 'l10n/bundle.l10n.zh-cn.json'])
        assert(own.includes(`extension/${needed}`), `${file} lacks ${needed}`);
    }
  });

  it('Each package that is bundled has its licence in the text beside the bundle', async () => {
    const { metafile } = await work('bundling the product', () =>
      build({
        absWorkingDir: repository,
        entryPoints: [
          'src/extension.ts',
          'src/cli.ts',
          'src/core/processes/guardianMain.ts',
          'src/webview/tryTool.ts',
        ],
        outdir: folder,
        bundle: true,
        splitting: true,
        format: 'esm',
        platform: 'node',
        mainFields: ['module', 'main'],
        external: ['vscode'],
        metafile: true,
        write: false,
        logLevel: 'error',
      }),
    );
    const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
    const names = new Set(
      bundled.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
    );
    assert.ok(names.has('zod') && names.has('@modelcontextprotocol/sdk'));
    const parts = readFileSync(path.join(folder, 'dist', 'third-party-licenses.txt'), 'utf8').split(
      /^-{80}$/m,
    );
    for (const name of names) {
      const part =
        parts.find((one) => one.trimStart().startsWith(`${name} `)) ??
        assert.fail(`no licence of ${name}`);
      assert.match(part, /Copyright|contributor/i, name);
      assert.match(part, /without (?:warranty|any warranty)|"AS IS"|as is/i, name);
    }
  });

  it('The package of npm has the licences too', async () => {
    const onWindows = process.platform === 'win32';
    const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const { stdout } = await promisify(execFile)(onWindows ? 'npm.cmd' : 'npm', pack, {
      cwd: folder,
      shell: onWindows,
    });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    assert.ok(files.some((file) => file.path === 'dist/third-party-licenses.txt'));
  });
});
