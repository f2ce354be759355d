import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { literal } from '../../../src/core/config/model.js';
import { decidingFiles } from '../../../src/core/packages/decidingFiles.js';

describe('files that decide what a launcher runs (S1o)', () => {
  let root: string;

  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'deciding-')));
    mkdirSync(path.join(root, 'repository', 'sub'), { recursive: true });
  });

  afterEach(() => rmSync(root, { recursive: true }));

  function write(name: string, text = ''): void {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Underlines are spaces within a word. */
  function read(line: string, roots = [path.join(root, 'repository')]) {
    const [command = '', ...args] = line.split(' ').map((word) => word.replaceAll('_', ' '));
    return decidingFiles(roots, {
      transport: 'stdio',
      command,
      args: args.map(literal),
      cwd: path.join(root, 'repository', 'sub'),
      env: new Map(),
    });
  }

  function found(line: string, roots?: string[]): string[] {
    return read(line, roots).map(
      ({ kind, file }) => `${kind}: ${path.relative(root, file).replaceAll('\\', '/')}`,
    );
  }

  it('Settings count in the folder and above, up to the root of the repository', () => {
    for (const folder of ['', 'repository/', 'repository/sub/']) write(`${folder}.npmrc`);
    assert.deepEqual(found('npx -y x@1.0.0'), [
      'registry: repository/sub/.npmrc',
      'registry: repository/.npmrc',
    ]);
    assert.deepEqual(found('npx -y x@1.0.0', []), []);
    assert.deepEqual(found('node x.js'), []);
  });

  it('Each launcher has its files', () => {
    const files: Readonly<Record<string, string>> = {
      '.npmrc': 'npx x',
      '.yarnrc.yml': 'yarn dlx x',
      'bunfig.toml': 'bunx x',
      '.env.local': 'bunx x',
      '.pnpmfile.cjs': 'pnpm dlx x',
      'pnpm-workspace.yaml': 'pnpm dlx x',
      'uv.toml': 'uvx x',
      '.python-version': 'pipx run x',
      'mise.toml': 'npx x',
      '.tool-versions': 'uvx x',
    };
    for (const [file, line] of Object.entries(files)) {
      write(`repository/${file}`);
      assert.ok(found(line).includes(`registry: repository/${file}`), file);
      assert.deepEqual(found('docker run -i x'), [], file);
    }
  });

  it('An option that is not in the table hides no file', () => {
    write('repository/.npmrc');
    assert.deepEqual(found('npx --unknown x'), ['registry: repository/.npmrc']);
  });

  it('The files of a folder of an option count too', () => {
    write('repository/other/.npmrc');
    assert.deepEqual(found('npx --prefix ../other x'), ['registry: repository/other/.npmrc']);
    assert.deepEqual(found('npm --prefix=../other exec x'), ['registry: repository/other/.npmrc']);
  });

  it('The files of a folder to which a shell or another program changes first count too', () => {
    write('repository/sub/.npmrc');
    write('repository/sub/deep/.npmrc');
    for (const line of [
      'sh -c cd_deep_&&_npx_-y_x@1.0.0',
      'sh -c cd_"deep"_&&_npx_-y_x@1.0.0',
      'bash -lc cd_deep;_npx_x',
      'env -C deep npx x',
      'env --chdir=deep A=b npx x',
      'sudo -D deep npx x',
      'sh -c cd_.._&&_cd_sub/deep_&&_npx_x',
      'sh -c cd_deep_&&_npx_x_|_tee_log',
      'sh -c (cd_deep;_exec_npx_x)',
      'sh -c sh_-c_"cd_deep;_npx_x"',
      'env -C deep proxy -- npx -y x',
    ])
      assert.deepEqual(
        found(line).sort(),
        ['registry: repository/sub/.npmrc', 'registry: repository/sub/deep/.npmrc'],
        line,
      );
  });

  it('The files of a launcher behind a program outside the table count', () => {
    write('repository/.npmrc');
    write('repository/uv.toml');
    write('repository/node_modules/x/package.json', '{"name":"x"}');
    for (const line of [
      'proxy -- npx -y x@1.0.0',
      'proxy --stdio npx_-y_x@1.0.0',
      'timeout 9 npx -y x@1.0.0',
      'sh -c npx_-y_x@1.0.0_|_tee_log',
      'sh -c PATH=$(npx_-y_x@1.0.0)',
      'corepack npx -y x@1.0.0',
    ])
      assert.deepEqual(
        found(line).sort(),
        ['local package: repository/node_modules/x', 'registry: repository/.npmrc'],
        line,
      );
    assert.deepEqual(found('proxy uvx y'), ['registry: repository/uv.toml']);
    assert.deepEqual(found('proxy npm run x'), []);
    assert.deepEqual(found('proxy npx-like x'), []);
  });

  it('A file with settings that an option names counts', () => {
    write('repository/sub/evil.rc');
    for (const line of [
      'npx --userconfig evil.rc x',
      'npx --globalconfig=./evil.rc x',
      'uvx --config-file evil.rc x',
      'uvx -c evil.rc x',
      'bunx --config=evil.rc x',
    ])
      assert.deepEqual(found(line), ['registry: repository/sub/evil.rc'], line);
    assert.deepEqual(found('npx --userconfig /etc/passwd x'), []);
  });

  it('Many launchers in a long script are read in linear time', () => {
    const script = 'npx_cd_a;_'.repeat(9000);
    for (const line of [`sh -c ${script}`, `proxy ${'npx '.repeat(20_000)}`]) {
      const from = performance.now();
      found(line);
      assert.ok(performance.now() - from < 5000, line.slice(0, 20));
    }
  });

  it('A local package, its program and a program of the project count as local', () => {
    write('repository/node_modules/@a/x/package.json', '{"name":"@a/x"}');
    write('repository/node_modules/.bin/x');
    write('repository/node_modules/.bin/@a/x@1.0.0');
    write('repository/package.json', '{"name":"p","bin":{"b/x@1.0.0":"evil.js"}}');
    assert.deepEqual(found('npx -y @a/x@1.0.0'), [
      'local package: repository/node_modules/.bin/@a/x@1.0.0',
      'local package: repository/node_modules/@a/x',
    ]);
    assert.deepEqual(found('npx -y x@1.0.0'), ['local package: repository/package.json']);
    assert.deepEqual(found('npx -y other'), []);
    assert.deepEqual(found('pnpm dlx @a/x'), [], 'pnpm installs it elsewhere');
  });

  it('A local package counts by its own name, wherever it is (S1p)', () => {
    const places = ['y', '@a/y', 'a/node_modules/x', 'deep/node_modules/@a/b/node_modules/c'];
    for (const place of places)
      write(`repository/node_modules/${place}/package.json`, '{"name":"\\u0078"}');
    write('repository/package.json', '{"workspaces":["packages/*"]}');
    write('repository/packages/p/package.json', '{"name":"x"}');
    write('repository/node_modules/x/package.json', '{"name":"another"}');
    const packages = places.map((place) => `local package: repository/node_modules/${place}`);
    packages.push('local package: repository/packages/p');
    assert.deepEqual(found('npx x@1.0.0').sort(), packages.sort());
    assert.deepEqual(found('npx --unknown z x@1.0.0').sort(), packages, 'it may be the package');
    assert.deepEqual(found('npx -p x@1.0.0 -p z c').sort(), packages, 'one of two');
    assert.deepEqual(found('npx z'), []);
  });

  it("npm's record of a folder counts where it has another name, or cannot be read", () => {
    const record = 'repository/node_modules/.package-lock.json';
    write('repository/node_modules/y/package.json', '{"name":"y"}');
    write(record, '{"packages":{"node_modules/y":{"version":"1.0.0"}}}');
    assert.deepEqual(found('npx x'), []);
    write(record, '{"packages":{"node_modules/y":{"name":"x"}}}');
    for (const line of ['npx x', 'npm exec x@1.0.0'])
      assert.deepEqual(found(line), ['local package: repository/node_modules/y']);
    write(record, '{');
    assert.deepEqual(found('npx x'), [`local package: ${record}`]);
  });

  it('Too many packages count as one that may be meant', () => {
    for (let at = 0; at < 1001; at++)
      mkdirSync(path.join(root, `repository/node_modules/p${at}`), { recursive: true });
    assert.deepEqual(found('npx x@1.0.0'), ['local package: repository/node_modules']);
  });

  it('A program of the folder that runs in place of an interpreter counts', () => {
    write('repository/node_modules/.bin/node');
    write('repository/node_modules/.bin/sh');
    const [node, sh] = ['node', 'sh'].map(
      (name) => `local package: repository/node_modules/.bin/${name}`,
    );
    assert.deepEqual(found('npx -y x@1.0.0').sort(), [node, sh]);
    for (const line of ['pnpm dlx x', 'bunx x']) assert.deepEqual(found(line), [node]);
  });

  it('A program of `__pypackages__`, a script and the modules of the folder count for pipx', () => {
    write('repository/sub/__pypackages__/3.11/lib/bin/x');
    write('repository/sub/x==1.0.0');
    assert.deepEqual(found('pipx run x==1.0.0'), [
      'local package: repository/sub/__pypackages__',
      'local package: repository/sub/x==1.0.0',
    ]);
    write('repository/sub/json.py');
    const [before] = read('pipx run y');
    write('repository/sub/pip/__init__.py');
    assert.notDeepEqual(read('pipx run y')[0]?.digest, before?.digest);
    assert.deepEqual(found('pipx run y').at(0), 'local package: repository/sub');
    assert.deepEqual(found('uvx x==1.0.0'), []);
  });

  it('A workspace package behind a link counts with its place', function () {
    if (process.platform === 'win32') return this.skip();
    write('repository/packages/x/package.json', '{"name":"x"}');
    write('repository/packages/y/package.json', '{"name":"x"}');
    mkdirSync(path.join(root, 'repository/node_modules'));
    const link = path.join(root, 'repository/node_modules/x');
    symlinkSync('../packages/x', link);
    const [first] = read('npx x');
    rmSync(link);
    symlinkSync('../packages/y', link);
    const [second] = read('npx x');
    assert.equal(first?.kind, 'local package');
    assert.notEqual(first.digest, second?.digest);
  });

  it('Of pyproject.toml and package.json, only the parts of the launcher count', () => {
    write('repository/pyproject.toml', '[project]\nname = "a"\n');
    write('repository/package.json', '{"name":"a","scripts":{}}');
    for (const line of ['uvx x', 'npx x', 'pnpm dlx x']) assert.deepEqual(found(line), []);
    write('repository/pyproject.toml', '[project]\nname = "a"\n[[ tool . uv.index ]]\nurl = "b"\n');
    write('repository/package.json', '{"packageManager":"pnpm@1.0.0"}');
    assert.deepEqual(found('uvx x'), ['registry: repository/pyproject.toml']);
    assert.deepEqual(found('pnpm dlx x'), ['registry: repository/package.json']);
    const [before] = read('uvx x');
    write('repository/pyproject.toml', '[project]\nname = "c"\n[[ tool . uv.index ]]\nurl = "b"\n');
    assert.deepEqual(read('uvx x'), [before]);
    write('repository/pyproject.toml', '[[ tool . uv.index ]]\nurl = "c"\n');
    assert.notDeepEqual(read('uvx x'), [before]);
  });

  it('Content counts, and a file that cannot be read is not absent', () => {
    write('repository/.npmrc', 'a');
    const [a] = read('npx x');
    write('repository/.npmrc', 'b');
    assert.notEqual(read('npx x')[0]?.digest, a?.digest);
    rmSync(path.join(root, 'repository/.npmrc'));
    mkdirSync(path.join(root, 'repository/.npmrc'));
    assert.deepEqual(found('npx x'), ['registry: repository/.npmrc']);
  });
});
