/**
 * The file that entries of other agents start (G6): it finds the command line after an update, and
 * passes arguments on.
 */
import assert from 'node:assert/strict';
import { execFileSync, execSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { launcherFor } from '../../../src/core/agents/agents.js';
import { isFromRegistry, writeLauncher } from '../../../src/core/files/launcherFile.js';
import { itNotHere } from '../../support/notHere.js';

const folderLauncher = launcherFor('claude-code', '/');

describe('the launcher of other agents (G6)', () => {
  let home: string;
  let versions: string;

  beforeEach(() => {
    home = realpathSync(mkdtempSync(path.join(tmpdir(), 'launcher-')));
    versions = path.join(home, 'extensions');
  });

  afterEach(() => rmSync(home, { recursive: true }));

  /** Makes a command line that prints its arguments. */
  function cliOf(version: string): string {
    const cli = path.join(versions, `minds.mcp-toolsets-${version}`, 'dist', 'cli.js');
    mkdirSync(path.dirname(cli), { recursive: true });
    writeFileSync(cli, `console.log(${JSON.stringify(version)}, ...process.argv.slice(2));`);
    return cli;
  }

  const env = (): NodeJS.ProcessEnv => ({ ...process.env, HOME: home, USERPROFILE: home });
  const run = (args: readonly string[]): string =>
    execFileSync(process.execPath, [...args, 'connect', 'a b'], {
      env: env(),
      encoding: 'utf8',
    }).trim();
  const file = (): string => path.join(home, '.minds', 'bin', 'mcp-toolsets.js');

  it('an entry and a person start the command line with their arguments', async () => {
    await writeLauncher(home, cliOf('1.0.0'));
    assert.equal(run(folderLauncher.args), '1.0.0 connect a b');
    assert.equal(run([file()]), '1.0.0 connect a b');
    assert.deepEqual(readdirSync(path.dirname(file())), ['mcp-toolsets.js']);
  });

  it('after an update, it starts the version in the next folder, also before the extension has run', async () => {
    const cli = cliOf('1.0.0');
    await writeLauncher(home, cli);
    cliOf('1.1.0');
    writeFileSync(path.join(versions, 'other.mcp-toolsets-9.0.0'), '');
    rmSync(path.dirname(path.dirname(cli)), { recursive: true });
    assert.equal(run(folderLauncher.args), '1.1.0 connect a b');
  });

  describe('on a machine without the launcher', () => {
    const step =
      /Install it, then open this folder in VS Code or run: mcp-toolsets entries claude-code --write$/;

    /** Starts a committed entry, and returns its only line. */
    function lineOf(changes: NodeJS.ProcessEnv = {}): string {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...folderLauncher.args, 'connect'],
        { env: { ...env(), ...changes }, encoding: 'utf8' },
      );
      assert.deepEqual([status, stdout], [1, ''], stderr);
      assert.match(stderr, /^MCP Toolsets [^\r\n]+\r?\n$/);
      return stderr.trim();
    }

    it('If the launcher is missing, the entry prints one line: the missing file and the next step (G6c)', () => {
      const line = lineOf();
      assert.ok(line.includes(path.posix.join('.minds', 'bin', 'mcp-toolsets.js')), line);
      assert.match(line, step);
    });

    for (const [name, HOME] of [
      ['does not exist', path.join(tmpdir(), 'no-such-home-anywhere')],
      ['is empty', ''],
    ] as const)
      it(`If the home folder ${name}, the entry prints one line too`, () => {
        assert.match(lineOf({ HOME, USERPROFILE: HOME }), step);
      });

    for (const [name, make] of [
      ['is a folder', () => mkdirSync(file(), { recursive: true })],
      ['is cut off', () => writeFileSync(file(), "const fs = require('fs'")],
      ['cannot be read', () => writeFileSync(file(), '', { mode: 0 })],
    ] as const) {
      const isAllowed = name === 'cannot be read' && (process.getuid?.() ?? 0) === 0;
      itNotHere(isAllowed, 'This user may read every file.')(
        `If the launcher ${name}, the entry prints one line with the cause`,
        () => {
          mkdirSync(path.dirname(file()), { recursive: true });
          make();
          assert.match(lineOf(), step);
        },
      );
    }

    it('If the command line cannot be loaded, the entry prints one line with the cause', async () => {
      const cli = cliOf('1.0.0');
      writeFileSync(cli, "throw new Error('no such feature\\n  at here');");
      await writeLauncher(home, cli);
      assert.match(lineOf(), /^MCP Toolsets cannot start: no such feature\. /);
    });

    it('If no command line is left, the entry prints one line: the missing folder and the next step', async () => {
      await writeLauncher(home, cliOf('1.0.0'));
      renameSync(versions, `${versions}.gone`);
      assert.match(lineOf(), /no longer in .*mcp-toolsets-1\.0\.0\. Install the extension/);
    });
  });

  it('an agent that starts a shell starts the same', async () => {
    await writeLauncher(home, cliOf('1.0.0'));
    const [option = '', code = ''] = folderLauncher.args;
    const line = `"${process.execPath}" ${option} "${code}" connect files`;
    assert.equal(execSync(line, { env: env(), encoding: 'utf8' }).trim(), '1.0.0 connect files');
  });

  /** Makes a package that prints its version. */
  function packageIn(folder: string, version: string): string {
    const cli = path.join(home, folder, 'node_modules', 'mcp-toolsets', 'dist', 'cli.js');
    mkdirSync(path.dirname(cli), { recursive: true });
    writeFileSync(path.join(path.dirname(cli), '..', 'package.json'), JSON.stringify({ version }));
    writeFileSync(cli, `console.log('package', ${JSON.stringify(version)});`);
    return cli;
  }

  it('the extension and the package both stay, and the newest starts, whoever wrote last', async () => {
    const extension = cliOf('1.9.0');
    writeFileSync(
      path.join(path.dirname(extension), '..', 'package.json'),
      '{ "version": "1.9.0" }',
    );
    const cli = packageIn('lib', '1.10.0');
    for (const order of [
      [extension, cli],
      [cli, extension],
    ]) {
      rmSync(file(), { force: true });
      for (const each of order) await writeLauncher(home, each);
      assert.equal(run([file()]), 'package 1.10.0');
      const { ino } = statSync(file());
      for (const each of order) await writeLauncher(home, each);
      assert.equal(statSync(file()).ino, ino, 'the writers do not fight');
    }
    writeFileSync(path.join(path.dirname(cli), '..', 'package.json'), '{ "version": "1.8.0" }');
    assert.match(run([file()]), /^1\.9\.0 connect/);
    rmSync(path.dirname(path.dirname(extension)), { recursive: true });
    assert.equal(run([file()]), 'package 1.10.0');
  });

  it('the launcher of an earlier version of the extension keeps its place', async () => {
    const extension = cliOf('1.0.0');
    mkdirSync(path.dirname(file()), { recursive: true });
    writeFileSync(
      file(),
      `const fs = require('fs');\n\nconst cli = ${JSON.stringify(extension)};\n`,
    );
    const cli = packageIn('lib', '0.9.0');
    await writeLauncher(home, cli);
    rmSync(cli);
    assert.match(run([file()]), /^1\.0\.0 connect/);
  });

  it('a package of a similar name beside ours never starts', async () => {
    const cli = packageIn('lib', '1.0.0');
    await writeLauncher(home, cli);
    for (const name of ['mcp-toolsets-9.9.9', 'mcp-toolsets-evil']) {
      const other = path.join(path.dirname(cli), '..', '..', name, 'dist', 'cli.js');
      mkdirSync(path.dirname(other), { recursive: true });
      writeFileSync(path.join(path.dirname(other), '..', 'package.json'), '{ "version": "9.9.9" }');
      writeFileSync(other, "console.log('PLANTED');");
    }
    assert.equal(run([file()]), 'package 1.0.0');
    rmSync(cli);
    const { status, stdout } = spawnSync(process.execPath, [file()], {
      env: env(),
      encoding: 'utf8',
    });
    assert.deepEqual([status, stdout], [1, '']);
  });

  it('the launcher takes nothing from the working directory, and has its own path as its file', async () => {
    const cli = cliOf('1.0.0');
    writeFileSync(cli, 'console.log(process.argv[1]);');
    await writeLauncher(home, cli);
    const repository = path.join(home, 'repository');
    for (const name of ['fs', 'path', 'os', 'mcp-toolsets']) {
      const planted = path.join(repository, 'node_modules', name);
      mkdirSync(planted, { recursive: true });
      writeFileSync(path.join(planted, 'index.js'), "console.log('PLANTED');");
    }
    writeFileSync(path.join(repository, 'package.json'), '{ "type": "module" }');
    writeFileSync(path.join(repository, '.npmrc'), 'node-options=--require=./x.cjs\n');
    for (const args of [[file()], folderLauncher.args]) {
      const said = execFileSync(process.execPath, [...args, 'connect'], {
        cwd: repository,
        env: env(),
        encoding: 'utf8',
      });
      assert.equal(realpathSync(said.trim()), realpathSync(file()));
    }
  });

  describe('a package from a registry', () => {
    /** As npm 11 writes the file for `npm install` and `npx`. */
    function recorded(entry: object | undefined): boolean {
      const cli = packageIn('cache', '1.2.3');
      const lock = { lockfileVersion: 3, packages: { 'node_modules/mcp-toolsets': entry } };
      const lockFile = path.join(home, 'cache', 'node_modules', '.package-lock.json');
      if (entry) writeFileSync(lockFile, JSON.stringify(lock));
      return isFromRegistry(cli);
    }
    const integrity = 'sha512-x';

    for (const [name, entry, expected] of [
      [
        'an address of a registry',
        { resolved: 'https://registry.example/mcp-toolsets/-/mcp-toolsets-1.2.3.tgz', integrity },
        true,
      ],
      [
        'an address of another registry',
        { resolved: 'http://127.0.0.1:4873/npm/mcp-toolsets/-/mcp-toolsets-1.2.3.tgz', integrity },
        true,
      ],
      ['no address, as a setting of npm wants it', { integrity }, true],
      ['a file', { resolved: 'file:../x.tgz', integrity }, false],
      [
        'an address of a file',
        { resolved: 'https://example.com/mcp-toolsets-1.2.3.tgz', integrity },
        false,
      ],
      ['Git', { resolved: 'git+ssh://git@example.com/a/mcp-toolsets.git#0a1b2c' }, false],
      ['a link', { resolved: '../mcp-toolsets', link: true }, false],
      ['nothing, as for global packages', undefined, false],
    ] as const) {
      it(`npm recorded ${name}: ${expected ? 'from a registry' : 'not from a registry'}`, () => {
        assert.equal(recorded(entry), expected);
      });
    }

    it('a file that is no record, and another folder: not from a registry', () => {
      const cli = packageIn('cache', '1.2.3');
      const lockFile = path.join(home, 'cache', 'node_modules', '.package-lock.json');
      for (const text of [
        '',
        'null',
        '[]',
        '{ "packages": null }',
        '{ "packages": { "node_modules/mcp-toolsets": "x" } }',
      ]) {
        writeFileSync(lockFile, text);
        assert.equal(isFromRegistry(cli), false, text);
      }
      assert.equal(isFromRegistry(cliOf('1.0.0')), false);
    });
  });

  it('the file is written only if its text differs', async () => {
    const cli = cliOf('1.0.0');
    await writeLauncher(home, cli);
    const { ino } = statSync(file());
    await writeLauncher(home, cli);
    assert.equal(statSync(file()).ino, ino);
    await writeLauncher(home, cliOf('1.1.0'));
    assert.notEqual(statSync(file()).ino, ino);
  });
});
