/** Rule X3: start failures of stdio servers. Real processes cause each failure. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixIt } from '../../support/notHere.js';
import { fixture, inShell, Rig, servers, stdio } from './rig.js';
import { literal } from '../../../src/core/config/model.js';

describe('start failures of stdio servers (X3)', function () {
  this.timeout(60_000);
  let rig: Rig;
  let folder: string;
  beforeEach(() => {
    rig = new Rig();
    folder = mkdtempSync(path.join(tmpdir(), 'failures-'));
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true, force: true });
    await rig.end();
  });

  /** Starts a fixture by its file name only, so no message has the path of the repository. */
  const short = (name: string, ...args: string[]) =>
    stdio('node', [`${name}.mjs`, ...args], { cwd: servers });

  it('a command that is not on PATH is reported with the most similar one', async () => {
    symlinkSync(process.execPath, path.join(folder, 'my-server'));
    const env = new Map([['PATH', literal(folder)]]);
    assert.deepEqual(await rig.failure(stdio('my-sever', [], { env })), {
      code: 'command-not-found',
      message:
        'did not start: the command "my-sever" is in none of the 1 folders of PATH. There is a command "my-server".',
      fix: 'Change `command` to `my-server`, or install `my-sever`, or write its full path.',
      instead: 'my-server',
      path: ['command'],
    });
    for (const command of ['something-else', 'constructor']) {
      assert.deepEqual(await rig.failure(stdio(command, [], { env })), {
        code: 'command-not-found',
        message: `did not start: the command "${command}" is in none of the 1 folders of PATH.`,
        fix: `Install ${command}, or write its full path as command.`,
        path: ['command'],
      });
    }
  });

  for (const [command, comesWith] of [
    ['npx', 'Node.js'],
    ['uvx', 'uv'],
    ['docker', 'Docker'],
    ['python', 'Python, which many systems call python3'],
  ] as const) {
    it(`a missing ${command} is reported with the product that provides it`, async () => {
      const env = new Map([['PATH', literal(folder)]]);
      const failure = await rig.failure(stdio(command, ['x'], { env }));
      assert.equal(failure.code, 'command-not-found');
      assert.equal(
        failure.message,
        `did not start: the command "${command}" is in none of the 1 folders of PATH. It comes with ${comesWith}. That is not installed, or only your shell finds it and not the editor (e.g. with nvm, pyenv or Homebrew).`,
      );
      assert.match(
        failure.fix,
        /start the editor from a terminal that finds it, or write its full path as command\.$/,
      );
    });
  }

  posixIt('PATH has a form of its own there')(
    'a file of the workspace is never taken as a command from PATH (X1)',
    async () => {
      writeFileSync(path.join(folder, 'my-server'), '#!/bin/sh\necho RAN >&2\n', { mode: 0o755 });
      for (const PATH of ['', ':/bin', '/bin:', '/bin::/usr/bin', '.:/bin', './:/bin']) {
        const failure = await rig.failure(
          stdio('my-server', [], { cwd: folder, env: new Map([['PATH', literal(PATH)]]) }),
        );
        assert.equal(failure.code, 'command-not-found', PATH);
      }
    },
  );

  posixIt('the first line has a meaning for us alone there')(
    'a script with a missing interpreter is reported, by its path and on PATH',
    async () => {
      const [server, windows] = ['venv-server', 'windows-server'].map((name) =>
        path.join(folder, name),
      );
      writeFileSync(server ?? '', '#!/no/such/venv/bin/python3 -u\n', { mode: 0o755 });
      writeFileSync(windows ?? '', '#!/bin/sh\r\necho\r\n', { mode: 0o755 });
      const env = new Map([['PATH', literal(folder)]]);
      for (const command of [server ?? '', './venv-server', 'venv-server']) {
        const failure = await rig.failure(stdio(command, [], { cwd: folder, env }));
        assert.equal(failure.code, 'command-not-executable');
        assert.equal(
          failure.message,
          `did not start: "${command}" could not be run (ENOENT). The file ${server} exists, but the program that its first line names, /no/such/venv/bin/python3, does not.`,
        );
      }
      const { message } = await rig.failure(stdio('windows-server', [], { cwd: folder, env }));
      assert.match(message, /names, \/bin\/sh, does not\. The file has Windows line endings\.$/);
    },
  );

  it('a missing file and a missing working folder are reported', async () => {
    assert.deepEqual(await rig.failure(stdio('./bin/server', [], { cwd: folder })), {
      code: 'command-not-found',
      message: `did not start: the file ./bin/server does not exist (looked for from ${folder}).`,
      fix: 'Correct the path in command. A relative path starts at cwd.',
      path: ['command'],
    });
    const gone = path.join(folder, 'gone');
    assert.deepEqual(await rig.failure(stdio(process.execPath, [], { cwd: gone })), {
      code: 'cwd-missing',
      message: `did not start: the folder ${gone} does not exist.`,
      fix: 'Create the folder, or correct cwd.',
      path: ['cwd'],
    });
  });

  it('a file without permission, a folder and a NUL character are reported as not executable', async () => {
    const script = path.join(folder, 'script.sh');
    writeFileSync(script, '#!/bin/sh\nexit 0\n');
    chmodSync(script, 0o644);
    const denied = await rig.failure(stdio(script));
    assert.equal(denied.code, 'command-not-executable');
    if (process.platform === 'win32') {
      assert.match(denied.message, /\(ENOEXEC\)\. It is not a program for this system/);
    } else {
      const why = '(EACCES). It is a folder, or a file without permission to execute.';
      assert.equal(denied.message, `did not start: "${script}" could not be run ${why}`);
      assert.match(denied.fix, /chmod \+x/);
    }
    mkdirSync(path.join(folder, 'folder'));
    assert.equal(
      (await rig.failure(stdio(path.join(folder, 'folder')))).code,
      'command-not-executable',
    );
    const odd = await rig.failure(stdio(process.execPath, ['a\0b']));
    assert.equal(odd.code, 'command-not-executable');
    assert.match(odd.message, /contain a NUL character\.$/);
  });

  it('a server that exits at once is reported with its last output', async () => {
    assert.deepEqual(await rig.failure(short('exits')), {
      code: 'server-exited',
      message:
        'exited with code 3: fatal: no configuration found.\nCommand: `node exits.mjs`. The cause is in its last output.',
      fix: 'Run the command in a terminal to see what is missing, then correct command, args or env.',
      path: [],
    });
  });

  posixIt('Windows has no signals')(
    'a server that a signal ends is reported with the signal',
    async () => {
      const failure = await rig.failure(
        short('exits', '--signal', 'SIGKILL', '--stderr', 'loading the model'),
      );
      assert.equal(failure.code, 'server-exited');
      assert.match(
        failure.message,
        /^was ended by SIGKILL: loading the model\.\nCommand: .*\. The system or another program ended it, often because memory ran out\.$/,
      );
    },
  );

  it('a server that needs an environment variable is reported with a fix', async () => {
    const failure = await rig.failure(
      short(
        'exits',
        '--code',
        '1',
        '--stderr',
        'Error: GITHUB_TOKEN environment variable is required',
      ),
    );
    assert.match(
      failure.message,
      /It seems to miss a variable of its environment: GITHUB_TOKEN\.$/,
    );
    assert.equal(
      failure.fix,
      'Set it under env of this server: `env: { GITHUB_TOKEN: { env: GITHUB_TOKEN } }`.',
    );
  });

  it('a program that exits without an error is reported as perhaps no MCP server', async () => {
    const failure = await rig.failure(stdio('node', ['--version']));
    assert.equal(failure.code, 'server-exited');
    assert.match(
      failure.message,
      /^exited with code 0: v\d+\.\d+\.\d+\.\nCommand: `node --version`\. On stdout it wrote text that is not JSON-RPC:\n {2}“v\d+\.\d+\.\d+”\n/,
    );
    assert.match(
      failure.message,
      /it may not be an MCP server, or may need an argument such as `stdio`\.$/,
    );
  });

  it('a missing script is reported as a wrong path', async () => {
    const failure = await rig.failure(stdio('node', ['no-such-file.mjs'], { cwd: folder }));
    assert.match(
      failure.message,
      /Node did not find .*no-such-file\.mjs: the path is wrong, or its dependencies are not installed\.$/,
    );
    assert.equal(
      failure.fix,
      'Correct the path in args or cwd, or install the dependencies there.',
    );
  });

  posixIt('exit code 127 is said by POSIX shells')(
    'a shell that finds no command exits with code 127',
    async () => {
      const failure = await rig.failure(stdio('sh', ['-c', 'no-such-command-at-all']));
      assert.equal(failure.code, 'server-exited');
      assert.match(failure.message, /^exited with code 127: .*no-such-command-at-all/);
    },
  );

  it('a silent server is reported with its last output, if it has any', async () => {
    const silent = await rig.failure(short('never-initialises'), { timeoutMs: 400 });
    assert.deepEqual(silent, {
      code: 'server-silent',
      message:
        'did not answer initialize within 0.4 s.\nCommand: `node never-initialises.mjs`. It wrote nothing. It may be waiting for something, or not be an MCP server that speaks over stdio.',
      fix: 'Run the command in a terminal to see what it waits for; raise timeouts.connect if it is only slow.',
      path: [],
    });
    const launch = short('never-initialises', '--stderr', 'Waiting for the database');
    const talking = await rig.failureAfter('[stderr] Waiting', launch);
    assert.match(
      talking.message,
      /within 777 s\.\nCommand: .*\. Last on stderr:\n {2}“Waiting for the database”\nIt may be waiting/,
    );
  });

  it('a launcher without an answer is reported as perhaps still fetching', async () => {
    writeFileSync(path.join(folder, 'uvx'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
    writeFileSync(
      path.join(folder, 'uvx.cmd'),
      `@"${process.execPath}" -e "setTimeout(() => {}, 60000)"\r\n`,
    );
    const env = new Map([
      ['PATH', literal(`${folder}${path.delimiter}${process.env['PATH'] ?? ''}`)],
    ]);
    const failure = await rig.failure(stdio('uvx', ['some-server'], { env }), { timeoutMs: 300 });
    assert.match(
      failure.message,
      /On its first start uvx may still have been fetching the package\. This was ended with the start\.$/,
    );
    assert.equal(
      failure.fix,
      'Raise timeouts.connect, e.g. to 5m, or run the command once in a terminal until the package is there. Then restart the server.',
    );
  });

  it('a program that writes other text to stdout is reported with that text', async () => {
    const failure = await rig.failureAfter('[1, 2, 3]', short('noisy-stdout', '--only'));
    assert.equal(failure.code, 'server-not-jsonrpc');
    assert.equal(
      failure.message,
      'did not answer initialize within 777 s.\nCommand: `node noisy-stdout.mjs --only`. On stdout it wrote text that is not JSON-RPC:\n  “Starting the server…”\n  “{"level":"info","msg":"listening"}”\n  “[1, 2, 3]”\nIt may be another kind of program, or an MCP server that needs an argument to speak over stdio.',
    );
  });

  posixIt('under Wine, an output that is closed ends with its program')(
    'a program that closes its output and keeps running is reported',
    async () => {
      const program = "require('fs').closeSync(1); setTimeout(() => {}, 60000)";
      const failure = await rig.failure(stdio(process.execPath, ['-e', program]));
      assert.equal(failure.code, 'server-not-jsonrpc');
      assert.match(
        failure.message,
        /^closed its output before it answered initialize\.\nCommand: .*\. It wrote nothing\.$/,
      );
    },
  );

  for (const [kind, words] of [
    [
      'version',
      'names protocol version 2099-01-01; known are 2024-10-07, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25.',
    ],
    ['no-info', 'has no serverInfo.'],
  ] as const) {
    it(`a wrong answer to initialize is reported: ${kind}`, async () => {
      const failure = await rig.failure(short('wrong-initialize', '--kind', kind));
      assert.equal(failure.code, 'server-protocol');
      assert.equal(failure.message, `answered, but its answer to initialize ${words}`);
    });
  }

  it('an error in answer to initialize is reported with its code', async () => {
    const failure = await rig.failure(short('wrong-initialize', '--kind', 'error'));
    assert.equal(failure.code, 'server-protocol');
    assert.equal(failure.message, 'refused initialize with error -32602: Unsupported client.');
    assert.match(
      (await rig.failure(short('wrong-initialize', '--kind', 'null'))).message,
      /^answered initialize with `null`\.$/,
    );
  });

  it('a server with an old protocol version starts', async () => {
    const { connection } = await rig.start(short('wrong-initialize', '--kind', 'old'));
    assert.equal(connection.protocolVersion, '2024-11-05');
  });

  it('a start that times out during the listing is reported as a failed listing', async () => {
    const program = `process.stdin.on('data', (lines) => {
      for (const line of String(lines).trim().split('\\n')) {
        const { id, method, params } = JSON.parse(line);
        if (method === 'tools/list') console.error('Listing');
        if (method !== 'initialize') continue;
        const result = { ...params, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } };
        console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      }
    })`;
    const failure = await rig.failureAfter(
      '[stderr] Listing',
      stdio(process.execPath, ['-e', program]),
    );
    assert.equal(failure.code, 'list-failed');
    assert.match(failure.message, /They did not come within 777 s of its start\.$/);
  });

  it('failed starts leave no processes', async () => {
    await Promise.all([
      rig.failure(fixture('exits')),
      rig.failure(fixture('never-initialises'), { timeoutMs: 300 }),
      rig.failure(inShell('never-initialises'), { timeoutMs: 300 }),
    ]);
    assert.deepEqual(
      rig.processes().filter(({ command }) => !command.includes('guardian')),
      [],
    );
  });
});
