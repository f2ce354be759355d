/**
 * A home folder that cannot be written costs only what needs it (H1c): one sentence names the place,
 * the reason and the next step, and no command prints a stack.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { apart, CommandLine } from '../../support/core/commandLine.js';
import { fixture } from '../../support/core/configText.js';
import { sandboxes, whyNot } from '../../support/core/sandboxes.js';
import { untilSo } from '../../support/core/within.js';

interface Home {
  readonly title: string;
  /** Makes it, and returns the words in front of a command line; undefined if this machine cannot. */
  readonly make: (cli: CommandLine) => Promise<readonly string[] | undefined>;
  readonly reason: RegExp;
}

const fullDisk =
  'mount -t tmpfs -o size=16k tmpfs "$1" && head -c 64k /dev/zero >"$1/fill" 2>/dev/null; shift; exec "$@"';

const homes: readonly Home[] = [
  {
    title: 'a home that is a file',
    make: (cli) => {
      writeFileSync(cli.home, '');
      return Promise.resolve([]);
    },
    reason: /a folder of its path is a file \(ENOTDIR\)/,
  },
  {
    title: 'a home below a file',
    make: (cli) => {
      writeFileSync(cli.home, '');
      cli.env['HOME'] = cli.env['USERPROFILE'] = path.join(cli.home, 'ada');
      return Promise.resolve([]);
    },
    reason: /a folder of its path is a file \(ENOTDIR\)/,
  },
  {
    title: 'a home of a read-only file system',
    make: async (cli) => {
      mkdirSync(cli.home);
      const places = {
        writable: [cli.folder],
        file: path.join(path.dirname(cli.folder), 'filter'),
      };
      const why = await whyNot(sandboxes.readOnly, places);
      return why === undefined ? sandboxes.readOnly.words(places) : undefined;
    },
    reason: /the file system is read-only \(EROFS\)/,
  },
  {
    title: 'a home on a full disk',
    make: async (cli) => {
      mkdirSync(cli.home);
      const words = ['unshare', '--map-root-user', '--mount', 'sh', '-c', fullDisk, 'sh', cli.home];
      const sandbox = { title: 'a full disk', words: () => words };
      return (await whyNot(sandbox, { writable: [], file: '' })) === undefined ? words : undefined;
    },
    reason: /the disk is full \(ENOSPC\)/,
  },
];

/** Bubblewrap passes no signal on. */
async function end(cli: CommandLine, serving: ChildProcess): Promise<void> {
  const [server] = cli
    .processes()
    .filter(({ command }) => /^\S*node \S+cli\.js serve/.test(command));
  assert.ok(server);
  process.kill(server.pid, 'SIGTERM');
  await cli.finish(serving);
}

for (const { title, make, reason } of homes)
  describe(`the command line with ${title}`, () => {
    let cli: CommandLine;
    let sandbox: readonly string[];

    beforeEach(async function () {
      cli = await CommandLine.open({ alpha: fixture('raw', ['--tools', 'count']) });
      cli.approves = false;
      const made = await make(cli);
      if (made === undefined) return this.skip();
      sandbox = made;
    });

    afterEach(async () => {
      await cli.close();
    });

    function begin(...args: string[]): ChildProcess {
      const { command, args: words, env } = cli.commandOf(...args);
      const [program = '', ...rest] = [...sandbox, command, ...words];
      return spawn(program, rest, { cwd: cli.folder, env, ...apart });
    }

    const run = (...args: string[]) => cli.finish(begin(...args));

    const isOneSentence = (stderr: string, said: RegExp): void => {
      assert.match(stderr, said);
      assert.match(stderr, reason);
      assert.doesNotMatch(stderr, /^\s+at |E[A-Z]+: |TypeError/m);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    };

    it('`serve` names the file of the token, the reason and --token-file', async () => {
      const { code, stdout, stderr } = await run('serve', '--port', '0');
      assert.deepEqual([code, stdout], [1, '']);
      isOneSentence(
        stderr,
        /^The token of this folder cannot be kept in \S+\.token: .* with --token-file/,
      );
    });

    it('`serve --token-file` serves, and one sentence says what is not kept', async () => {
      const file = path.join(cli.folder, 'token');
      const serving = begin('serve', '--port', '0', '--approve', '--token-file', file);
      let [out, err] = ['', ''];
      serving.stdout?.on('data', (chunk) => (out += String(chunk)));
      serving.stderr?.on('data', (chunk) => (err += String(chunk)));
      await untilSo(() => /^alpha .* 1 tool$/m.test(out), 'the toolset');
      const [, url = ''] = /^alpha {2}(\S+)/m.exec(out) ?? [];
      const headers = { authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` };
      assert.notEqual((await fetch(url, { method: 'POST', headers })).status, 404);
      await end(cli, serving);
      const [, code = ''] = /\((E\w+)\)/.exec(reason.source.replaceAll('\\', '')) ?? [];
      assert.match(err, /\.minds cannot be written: .* calls are not recorded/);
      assert.match(err, new RegExp(reason.source.replace(/ \\\(.*/, '')), code);
      assert.equal(err.trim().split('\n').length, 1, err);
    });

    it('`connect` answers, and says so in one line', async () => {
      const client = begin('connect');
      client.stdin?.end(
        `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } } })}\n`,
      );
      const { code, stdout, stderr } = await cli.finish(client);
      assert.equal(code, 0);
      assert.match(stdout, /"id":1,"result"/);
      const [line = '', ...more] = stderr.trim().split('\n');
      assert.match(line, /does not allow writing files in \S+ \(E\w+\), so .* not recorded\.$/);
      assert.deepEqual(more.length, 1, 'only the approval is missing');
    });

    it('commands that only read need no home', async () => {
      assert.deepEqual((await run('calls')).stdout, 'No calls are recorded.\n');
      assert.equal((await run('stop')).stdout, 'No engine serves this folder.\n');
      assert.equal((await run('check')).stdout, 'No problems.\n');
      const { code, stdout } = await run('call', 'count', '--approve');
      assert.deepEqual([code, stdout], [0, '1\n']);
    });

    it('`approve` and `entries` say what could not be stored, and change nothing else', async () => {
      const approved = await run('approve', '--yes');
      assert.equal(approved.code, 1);
      isOneSentence(
        approved.stderr.split('\n\n').at(-1) ?? '',
        /could not be stored.* --approve starts/,
      );
      const entries = await run('entries', 'claude-code', '--write', '--json');
      assert.equal(entries.code, 1);
      isOneSentence(entries.stderr, /^Nothing was written: /);
      assert.deepEqual(readdirSync(cli.folder), ['.minds']);
      assert.deepEqual(readdirSync(path.join(cli.folder, '.minds')), ['mcp.yaml']);
    });
  });

describe('the command line with a token file in a folder that cannot be written', () => {
  let cli: CommandLine;

  beforeEach(async () => {
    cli = await CommandLine.open({ alpha: fixture('raw', ['--tools', 'count']) });
  });

  afterEach(() => cli.close());

  it('`serve` serves with a token that is there, and says that `connect` does not find it (H1c)', async function () {
    const folder = path.join(path.dirname(cli.folder), 'secrets');
    const file = path.join(folder, 'token');
    mkdirSync(folder);
    writeFileSync(file, 'x'.repeat(43), { mode: 0o600 });
    mkdirSync(cli.home, { recursive: true });
    const places = { writable: [cli.folder, cli.home], file: '' };
    if ((await whyNot(sandboxes.readOnly, places)) !== undefined) return this.skip();
    const { command, args, env } = cli.commandOf('serve', '--port', '0', '--token-file', file);
    const [program = '', ...words] = [...sandboxes.readOnly.words(places), command, ...args];
    const serving = spawn(program, words, { cwd: cli.folder, env, ...apart });
    let out = '';
    serving.stdout.on('data', (chunk) => (out += String(chunk)));
    await untilSo(() => /^alpha .* 1 tool$/m.test(out), 'the toolset');
    assert.match(out, /^Listening on .* `connect` does not find it: .* read-only \(EROFS\)\.$/m);
    await end(cli, serving);
    rmSync(folder, { recursive: true });
  });
});
