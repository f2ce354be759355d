/** Rule X1: arguments arrive unchanged and run nothing, with every kind of command. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suiteNotHere } from '../../support/notHere.js';
import { Rig, servers, stdio, textOf } from './rig.js';
import { literal } from '../../../src/core/config/model.js';

const raw = path.join(servers, 'raw.mjs');
const odd = [
  ...[
    'plain',
    'with space',
    '',
    'ü€🌍',
    'C:\\a b\\',
    'back\\slash',
    'two\\\\',
    "it's",
    '*',
    '?',
    '~',
    '--',
    '/?',
  ],
  ...[
    'a"b',
    '"quoted"',
    '""',
    '"',
    '\\"',
    'a\\\\"b',
    '{"a":"x y"}',
    '{"a":"b&c"}',
    '{"a":"\\"<b>\\""}',
  ],
  ...[
    'a&b',
    '&',
    'a|b',
    'a^b',
    '^',
    '^^',
    '<in',
    'a>b',
    '>',
    '(x)',
    ')',
    '!x!',
    '!',
    ';',
    ',',
    '=',
    'a=b',
    '@x',
  ],
  ...['%', '%%', '%PATH%', '%OS%', '%~dp0', '%1', '%*', '100%', '%cd:~,%', '$HOME', '`x`', '$(x)'],
  ...[
    'a"&echo INJECTED>injected&"',
    'a" & echo INJECTED>injected & "',
    '"|more>injected',
    '\\"&echo x>injected&\\"',
  ],
];

/** The file that `npm install` writes, see `cmd-shim`. */
const shim = `@ECHO off\r
GOTO start\r
:find_dp0\r
SET dp0=%~dp0\r
EXIT /b\r
:start\r
SETLOCAL\r
CALL :find_dp0\r
\r
IF EXIST "%dp0%\\node.exe" (\r
  SET "_prog=%dp0%\\node.exe"\r
) ELSE (\r
  SET "_prog=node"\r
  SET PATHEXT=%PATHEXT:;.JS;=;%\r
)\r
\r
endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "${raw}" %*\r
`;

describe('arguments of commands (X1)', function () {
  this.timeout(120_000);
  let rig: Rig;
  let folder: string;
  beforeEach(() => {
    rig = new Rig();
    folder = mkdtempSync(path.join(tmpdir(), 'arguments-'));
  });
  afterEach(async () => {
    await rig.end();
    assert(!existsSync(path.join(folder, 'injected')), 'an argument was run');
    rmSync(folder, { recursive: true });
  });

  async function arrive(
    command: string,
    before: readonly string[],
    args: readonly string[],
  ): Promise<void> {
    const { connection } = await rig.start(stdio(command, [...before, ...args], { cwd: folder }));
    assert.deepEqual(JSON.parse(await textOf(connection, 'args')), args);
    await connection.close();
  }

  const lines = ['two\nlines', 'two\r\nlines', '\n'];

  it('arguments of a program arrive unchanged', () =>
    arrive(process.execPath, [raw], [...odd, ...lines]));

  it('arguments of npx are read by no shell', async () => {
    const failure = await rig.failure(
      stdio('npx', ['--offline', '--no', '--', 'missing"&echo INJECTED>injected&"', '%PATH%'], {
        cwd: folder,
      }),
    );
    assert.equal(failure.code, 'server-exited');
  });

  describe('arguments of a batch file (X1)', function () {
    suiteNotHere(this, process.platform !== 'win32', 'batch files are of Windows');

    for (const [name, text] of [
      ['that passes all arguments on', `@echo off\r\n"${process.execPath}" "${raw}" %*\r\n`],
      ['that passes all arguments on through another', '@echo off\r\n"%~dp0other.cmd" %*\r\n'],
      [
        'that passes each argument on',
        `@"${process.execPath}" "${raw}" %1 %2 %3 %4 %5 %6 %7 %8 %9\r\n`,
      ],
      ['that npm made', shim],
    ] as const) {
      it(`arguments arrive unchanged through a batch file ${name}`, async () => {
        writeFileSync(path.join(folder, 'other.cmd'), `@"${process.execPath}" "${raw}" %*\r\n`);
        const file = path.join(folder, 'run.cmd');
        writeFileSync(file, text);
        if (!text.includes('%9')) return arrive(file, [], odd);
        for (let at = 0; at < odd.length; at += 9) await arrive(file, [], odd.slice(at, at + 9));
      });
    }

    it('arguments arrive unchanged through a batch file in .bin, or on PATH without its extension', async () => {
      const bin = path.join(folder, 'node_modules', '.bin');
      mkdirSync(bin, { recursive: true });
      writeFileSync(path.join(bin, 'run.cmd'), shim);
      await arrive(path.join(bin, 'run'), [], odd);
      rig.env['path'] = `${bin};${rig.env['Path'] ?? rig.env['PATH'] ?? ''}`;
      delete rig.env['Path'];
      delete rig.env['PATH'];
      await arrive('run', [], odd);
    });

    it('npm and npx start as Node programs, so no shell reads their arguments', async () => {
      const scripts = path.join(folder, 'node_modules', 'npm', 'bin');
      mkdirSync(scripts, { recursive: true });
      for (const name of ['npm', 'npx']) {
        writeFileSync(path.join(folder, `${name}.cmd`), '@echo PLANTED %*\r\n');
        writeFileSync(
          path.join(scripts, `${name}-cli.js`),
          `import(${JSON.stringify(`file:///${raw}`)});\n`,
        );
        await arrive(path.join(folder, name), [], [...odd, ...lines]);
      }
    });

    it('a batch file does not start if an argument has a line break, which would end the command line', async () => {
      const file = path.join(folder, 'run.cmd');
      writeFileSync(file, shim);
      for (const text of lines) {
        const failure = await rig.failure(stdio(file, [text]));
        assert.equal(failure.code, 'command-not-executable');
        assert.match(failure.message, /line break/);
      }
    });
  });
});

describe('the search for the program of a command', function () {
  this.timeout(60_000);
  suiteNotHere(this, process.platform !== 'win32', 'this is how Windows finds programs');
  let rig: Rig;
  let folder: string;
  beforeEach(() => {
    rig = new Rig();
    folder = mkdtempSync(path.join(tmpdir(), 'commands-'));
  });
  afterEach(async () => {
    await rig.end();
    rmSync(folder, { recursive: true });
  });

  it('a command never starts a program from the working folder of the server', async () => {
    for (const name of ['npx.cmd', 'npx.exe', 'npx.bat', 'only-here.cmd']) {
      writeFileSync(path.join(folder, name), '@echo PLANTED\r\n');
    }
    // npx starts its program through a shell.
    await rig.start(stdio('npx', ['-c', `node ${raw}`], { cwd: folder }));
    writeFileSync(path.join(folder, 'node.cmd'), '@echo PLANTED\r\n');
    await rig.start(stdio('node', [raw], { cwd: folder }));
    const failure = await rig.failure(stdio('only-here', [], { cwd: folder }));
    assert.equal(failure.code, 'command-not-found');
    assert(!rig.lines.some(({ text }) => text.includes('PLANTED')));
  });

  it('a command is found on PATH in any spelling of that name, in the order of PATHEXT', async () => {
    writeFileSync(path.join(folder, 'server'), '#!/bin/sh\nexit 1\n');
    writeFileSync(path.join(folder, 'server.cmd'), `@"${process.execPath}" "${raw}"\r\n`);
    for (const name of ['PATH', 'Path', 'path', 'pAtH']) {
      await rig.start(
        stdio('server', [], { env: new Map([[name, literal(`"${folder}";C:\\windows`)]]) }),
      );
    }
    await rig.start(stdio('.\\server', [], { cwd: folder }));
    await rig.start(stdio('./server.cmd', [], { cwd: folder }));
  });

  it('a script runs with the interpreter in its first line', async () => {
    writeFileSync(
      path.join(folder, 'script'),
      `#!/usr/bin/env node\nimport(${JSON.stringify(`file:///${raw}`)});\n`,
    );
    const { connection } = await rig.start(stdio('./script', ['a b'], { cwd: folder }));
    assert.deepEqual(JSON.parse(await textOf(connection, 'args')), ['a b']);
  });

  it('a folder or another file is not executable, and a missing file or folder is reported', async () => {
    writeFileSync(path.join(folder, 'server.js'), 'process.exit(0);');
    for (const command of [folder, '.', './server.js', path.join(folder, 'server.js')]) {
      const failure = await rig.failure(stdio(command, [], { cwd: folder }));
      assert.equal(failure.code, 'command-not-executable', command);
    }
    assert.equal(
      (await rig.failure(stdio('./missing', [], { cwd: folder }))).code,
      'command-not-found',
    );
    assert.equal(
      (await rig.failure(stdio('missing', [], { cwd: folder }))).code,
      'command-not-found',
    );
    const gone = path.join(folder, 'gone');
    assert.equal(
      (await rig.failure(stdio(process.execPath, [raw], { cwd: gone }))).code,
      'cwd-missing',
    );
    assert.equal((await rig.failure(stdio('node', [raw], { cwd: gone }))).code, 'cwd-missing');
  });
});
