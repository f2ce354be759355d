/** Approval on the command line (S1): nothing runs that a person did not see, whoever starts the command, and whatever was pulled. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { systemClock } from '../../../src/core/base/clock.js';
import { SharedFile } from '../../../src/core/files/sharedFile.js';
import { ApprovalLedger } from '../../../src/core/approval/ledger.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixturePath } from '../../support/core/bundles.js';
import { http, type Entry } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';
import { Terminal, terminalsMissing } from '../../support/core/terminal.js';
import { within } from '../../support/core/within.js';
import { suiteNotHere } from '../../support/notHere.js';
import { untilNone } from '../../support/processes.js';

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

describe('approval on the command line (S1)', () => {
  let cli: CommandLine;
  let outside: string;
  const clients: Client[] = [];

  beforeEach(async () => {
    cli = await CommandLine.open();
    cli.approves = false;
    outside = path.dirname(cli.folder);
    cli.env['STAMP'] = path.join(outside, 'stamp');
    cli.env['TOOLS'] = path.join(outside, 'tools');
    writeFileSync(
      path.join(outside, 'server.mjs'),
      `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
       appendFileSync(process.env.STAMP, process.argv[2] + '\\n');
       process.argv.push('--tools', existsSync(process.env.TOOLS) ? readFileSync(process.env.TOOLS, 'utf8') : 'echo');
       await import(${JSON.stringify(pathToFileURL(fixturePath('raw')).href)});`,
    );
  });

  afterEach(async () => {
    await end();
    await cli.close();
  });

  /** Notes that it ran. */
  const server = (mark: string, rest: Entry = {}): Entry => ({
    transport: 'stdio',
    command: process.execPath,
    args: [path.join(outside, 'server.mjs'), mark],
    transform: [{ prefix: `${mark}_` }],
    ...rest,
  });
  const ran = (): string[] => {
    const file = cli.env['STAMP'] ?? '';
    return existsSync(file) ? [...new Set(readFileSync(file, 'utf8').trim().split('\n'))].sort() : [];
  };
  const stored = (): { server: string; source: string }[] =>
    existsSync(cli.approvalsFile)
      ? (JSON.parse(readFileSync(cli.approvalsFile, 'utf8')) as { approvals: { server: string; source: string }[] })
          .approvals
      : [];
  const approve = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await cli.finishBeside(cli.begin('approve', '--yes', ...args));
    assert.equal(code, 0, stderr);
  };

  async function connect(...args: string[]): Promise<Client> {
    const client = new Client({ name: 'independent', version: '1' });
    const { command, args: words, env } = cli.commandOf('connect', ...args);
    clients.push(client);
    await client.connect(
      new StdioClientTransport({
        command,
        args: words,
        cwd: cli.folder,
        env: env as Record<string, string>,
        stderr: 'ignore',
      }),
    );
    return client;
  }

  const end = async (): Promise<void> => {
    for (const client of clients.splice(0)) await client.close();
    await untilNone(() => cli.processes(), 10_000);
  };

  const names = async (client: Client): Promise<string[]> =>
    (await client.listTools()).tools.map(({ name }) => name).filter((name) => !name.startsWith('mcp_'));

  it('`connect` starts nothing that waits, says so, and starts it when it is approved meanwhile', async () => {
    cli.save({ a: server('a'), b: server('b') });
    const [one, all] = [await connect('a'), await connect()];
    assert.deepEqual([await names(one), await names(all), ran()], [[], [], []]);
    assert.match(
      one.getInstructions() ?? '',
      /waiting for a person to approve its start \(by `mcp-toolsets approve a`/,
    );
    assert.match(
      textOf(await all.callTool({ name: 'mcp_status' })),
      /b: waits for the person to approve its start \(by `mcp-toolsets approve b` at a terminal, or in the editor\)/,
    );
    const changed = new Promise<void>((resolve) => {
      one.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    await approve('a');
    await within(changed, 'list_changed');
    assert.deepEqual([await names(one), ran()], [['a_echo'], ['a']]);
    assert.deepEqual(
      stored().map(({ server: id }) => id),
      ['a'],
    );
  });

  it('`connect NAME` starts that server alone', async () => {
    cli.save({ a: server('a'), b: server('b') });
    await approve();
    assert.deepEqual(await names(await connect('b')), ['b_echo']);
    assert.deepEqual(ran(), ['b']);
  });

  it('a revoked approval counts for `connect` too, while it runs and afterwards', async () => {
    cli.save({ a: server('a') });
    await approve();
    const client = await connect('a');
    assert.deepEqual(await names(client), ['a_echo']);
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    // As the editor does.
    const store = new SharedFile(cli.approvalsFile, systemClock);
    const ledger = new ApprovalLedger({ store, asks: () => true });
    await ledger.load();
    await ledger.revoke(ledger.servers[0] ?? assert.fail('nothing was approved'));
    ledger.dispose();
    store.dispose();
    await within(changed, 'list_changed');
    assert.deepEqual(await names(client), []);
    assert.deepEqual(await names(await connect('a')), []);
  });

  describe('what was approved is what was shown', () => {
    let listener: Server;
    let url: string;
    const asked: string[] = [];

    beforeEach(async () => {
      asked.length = 0;
      listener = createServer((request, response) => {
        asked.push(JSON.stringify(request.headers));
        response.writeHead(404).end();
      });
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`;
      cli.env['STORED'] = 'canary-0123456789';
      writeFileSync(path.join(cli.folder, '.env'), 'OF_FILE=1\n');
      mkdirSync(path.join(cli.folder, 'sub'));
    });

    afterEach(async () => {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    });

    const base = (): Record<string, Entry> => ({ a: server('a', { envFile: '.env' }), web: http(url) });
    const edits: [string, () => Record<string, Entry>][] = [
      ['an argument', () => ({ ...base(), a: server('evil', { envFile: '.env' }) })],
      [
        'a variable',
        () => ({ ...base(), a: server('a', { envFile: '.env', env: { NODE_OPTIONS: '--no-warnings' } }) }),
      ],
      [
        'a stored secret in a variable',
        () => ({ ...base(), a: server('a', { envFile: '.env', env: { X: { env: 'STORED' } } }) }),
      ],
      ['the folder it runs in', () => ({ ...base(), a: server('a', { envFile: '.env', cwd: 'sub' }) })],
      [
        'the file of variables',
        () => {
          writeFileSync(path.join(cli.folder, '.env'), 'OF_FILE=2\n');
          return base();
        },
      ],
      ['an added server', () => ({ ...base(), evil: server('evil') })],
      [
        'a header with a stored secret',
        () => ({ ...base(), web: http(url, { headers: { 'X-Sent': { secret: 'STORED' } } }) }),
      ],
      ['an address', () => ({ ...base(), web: http(`${url}/elsewhere`) })],
    ];
    for (const [what, edited] of edits) {
      it(`${what} that is pulled in waits, at each start of \`connect\``, async () => {
        cli.save(base());
        await approve();
        assert.deepEqual(await names(await connect('a')), ['a_echo']);
        await clients.pop()?.close();
        rmSync(cli.env['STAMP'] ?? '');
        cli.save(edited());
        for (let start = 0; start < 2; start++) {
          const client = await connect();
          const status = textOf(await client.callTool({ name: 'mcp_status' }));
          assert.match(status, /waits for the person to approve/);
          await clients.pop()?.close();
        }
        const { stdout } = await cli.run('status', '--json');
        const waiting = (JSON.parse(stdout) as { servers: { id: string; state: { kind: string } }[] }).servers.filter(
          ({ state }) => state.kind === 'pending',
        );
        assert.equal(waiting.length, 1);
        assert.ok(!ran().includes('evil'));
        if (waiting[0]?.id === 'a') assert.deepEqual(ran(), []);
        assert.ok(!asked.some((headers) => headers.includes('canary')));
      });
    }
  });

  it('a folder is one by whatever link it is reached; a copy, and another folder behind the link, are others', async () => {
    cli.save({ a: server('a') });
    await approve();
    const status = async (folder: string): Promise<string> => {
      const { stdout } = await cli.run('status', '--json', '-C', folder);
      return (JSON.parse(stdout) as { servers: { state: { kind: string } }[] }).servers[0]?.state.kind ?? 'none';
    };
    const [link, copy] = [path.join(outside, 'link'), path.join(outside, 'copy')];
    symlinkSync(cli.folder, link, 'junction');
    cpSync(cli.folder, copy, { recursive: true });
    assert.deepEqual([await status(link), await status(copy)], ['running', 'pending']);
    rmSync(link);
    symlinkSync(copy, link, 'junction');
    assert.equal(await status(link), 'pending');
    await approve('-C', link);
    assert.equal(await status(copy), 'running');
    assert.deepEqual(
      stored().map(({ source }) => source),
      [cli.folder, copy].map((folder) => path.join(realpathSync(folder), '.minds', 'mcp.yaml')),
    );
  });

  it('a folder that holds the approvals brings none: they would come with the folder', async () => {
    cli.save({ a: server('a') });
    await approve();
    // The same approvals as part of the folder, as in a home folder that is a repository.
    const home = path.join(cli.folder, 'home');
    mkdirSync(path.join(home, '.minds'), { recursive: true });
    cpSync(cli.approvalsFile, path.join(home, '.minds', 'approvals.json'));
    cli.useHome(home);
    assert.deepEqual(await names(await connect('a')), []);
    const { code, stderr } = await cli.finishBeside(cli.begin('approve', '--yes'));
    assert.equal(code, 1);
    assert.match(stderr, /lies in this folder/);
    assert.deepEqual(ran(), []);
  });

  describe('`approve`', () => {
    it('shows what would run whole and inert, and approves nothing without a terminal or --yes', async () => {
      const long = 'x'.repeat(5000);
      cli.save({ a: server('a', { args: ['-e', `1;${long};2`, '\u001b[2Jowned\u202e'] }), b: server('b') });
      const { code, stdout, stderr } = await cli.run('approve', 'a');
      assert.equal(code, 1);
      assert.match(stderr, /Nothing is approved: .*terminal.*--yes/);
      assert.ok(stdout.replace(/\n\s*… /g, '').includes(`1;${long};2`));
      assert.ok(stdout.includes(process.execPath) && stdout.includes('owned'));
      assert.doesNotMatch(stdout, /[\u001b\u202e]/);
      assert.doesNotMatch(stdout, /\bb {2}·/);
      assert.deepEqual(stored(), []);
    });

    it('approves what is named, or all that waits, and says what is left', async () => {
      cli.save({ a: server('a'), b: server('b'), off: server('off', { enabled: false }) });
      assert.match((await cli.run('approve', '--yes', 'a')).stdout, /Approved: a\./);
      assert.match((await cli.run('approve', '--yes')).stdout, /Approved: b\./);
      const { code, stdout } = await cli.run('approve');
      assert.deepEqual([code, stdout], [0, 'No server waits for approval.\n']);
      assert.deepEqual(ran(), [], 'it starts none');
    });

    it('says what it does not know, and of `--json` what waits', async () => {
      cli.save({ a: server('a') });
      const unknown = await cli.run('approve', '--yes', 'zeta', 'a');
      assert.deepEqual([unknown.code, stored()], [1, []]);
      assert.match(unknown.stderr, /There is no server "zeta"/);
      const { stdout } = await cli.run('approve', '--json', '--yes');
      assert.deepEqual(
        (JSON.parse(stdout) as { server: string }[]).map(({ server: id }) => id),
        ['a'],
      );
      assert.equal(stored().length, 1);
      assert.equal((await cli.run('approve', '--json')).stdout, '[]\n');
    });

    it('never stores the value of a secret', async () => {
      const secret = 'sk-canary-5ca1ab1e5ca1ab1e';
      cli.env['FROM_HOST'] = secret;
      writeFileSync(path.join(cli.folder, '.env'), `API_TOKEN=${secret}\n`);
      cli.save({ a: server('a', { envFile: '.env', env: { API_KEY: secret, X: { env: 'FROM_HOST' } } }) });
      await approve();
      assert.doesNotMatch(readFileSync(cli.approvalsFile, 'utf8'), /canary/);
    });
  });

  it('a command without a terminal starts what was approved; `--approve` lets the rest start for that run', async () => {
    cli.save({ a: server('a') });
    const refused = await cli.run('call', 'a_echo', '{"text":"hello"}');
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /^a waits for approval\. Run `mcp-toolsets approve a`, or approve it in the editor\.$/m,
    );
    assert.deepEqual(ran(), []);
    const called = await cli.run('call', 'a_echo', '{"text":"hello"}', '--approve');
    assert.match(called.stdout, /hello/);
    assert.deepEqual(stored(), []);
    const { code } = await cli.run('connect', 'a', '--approve');
    assert.equal(code, 2);
  });

  it('`serve` without a terminal starts what was approved, and the rest when it is approved', async () => {
    cli.save({ a: server('a'), b: server('b') });
    await approve('a');
    const serving = await Serving.begin(cli, ['a', 'mcp_admin']);
    try {
      await serving.until('b waits for approval');
      assert.deepEqual(ran(), ['a']);
      await approve('b');
      await serving.until('b  http');
    } finally {
      await serving.end();
    }
  });

  it('what changed since the approval is told at each start, until it was shown and accepted (S3)', async () => {
    cli.save({ a: server('a') });
    await approve();
    assert.deepEqual(await names(await connect('a')), ['a_echo']);
    await end();
    writeFileSync(cli.env['TOOLS'] ?? '', 'echo,add');
    for (let start = 0; start < 2; start++) {
      assert.deepEqual(await names(await connect('a', '--hold-changed')), ['a_echo']);
      await end();
    }
    const { code, stdout } = await cli.run('approve', 'a');
    assert.equal(code, 1);
    assert.match(stdout, /tool add {2}· {2}new since approval[^]*description/);
    assert.deepEqual(await names(await connect('a', '--hold-changed')), ['a_echo']);
    await end();
    assert.match((await cli.run('approve', 'a', '--yes')).stdout, /tool add[^]*Accepted\./);
    assert.deepEqual(await names(await connect('a', '--hold-changed')), ['a_echo', 'a_add']);
    await end();
    assert.match((await cli.run('approve', 'a')).stdout, /nothing that was offered has changed/);
  });

  it('writing entries approves what they start, once it was shown', async () => {
    cli.save({ a: server('a'), off: server('off', { enabled: false }) });
    const shown = await cli.run('entries', 'windsurf');
    assert.match(shown.stderr, /These entries start what you have not approved\.[^]*argument {5}a\n/);
    assert.match(
      shown.stderr,
      /Nothing is written yet: --write does it\. What is shown first is approved by that too\./,
    );
    assert.deepEqual(stored(), []);
    const written = await cli.run('entries', 'windsurf', '--write');
    assert.equal(written.code, 0);
    assert.match(written.stderr, /argument {5}a\n/);
    assert.deepEqual(
      stored().map(({ server: id }) => id),
      ['a'],
    );
    assert.deepEqual(await names(await connect('a')), ['a_echo']);
    await end();
    cli.save({ a: server('evil') });
    const json = await cli.run('entries', 'windsurf', '--json');
    assert.equal((JSON.parse(json.stdout) as { starts: unknown[] }).starts.length, 1);
    assert.equal(stored().length, 1);
  });

  describe('at a terminal', function () {
    suiteNotHere(this, terminalsMissing.here, terminalsMissing.reason);
    let terminal: Terminal | undefined;

    afterEach(async () => {
      await terminal?.close();
      terminal = undefined;
    });

    for (const [args, question] of [
      [['approve'], /Let "a" start\? \[y\]es, \[N\]o: $/],
      [['call', 'a_echo', '{"text":"hello"}'], /Let "a" start\? \[y\]es, \[N\]o: $/],
    ] as const) {
      it(`\`${args[0]}\` shows what would start and asks; only a yes approves it`, async () => {
        cli.save({ a: server('a') });
        for (const [typed, count] of [
          ['\n', 0],
          ['y\n', 1],
        ] as const) {
          terminal = new Terminal(cli.commandOf(...args), cli.folder, 100);
          await terminal.until(question);
          assert.match(terminal.shown, /server\.mjs[^]*argument {5}a\r\n/);
          assert.deepEqual(ran(), []);
          terminal.type(typed);
          assert.equal(await terminal.end(), count === 0 ? 1 : 0, terminal.shown);
          assert.equal(stored().length, count);
          await terminal.close();
        }
      });
    }

    it('`serve` asks before it listens, and starts what was agreed to', async () => {
      cli.save({ a: server('a'), b: server('b') });
      terminal = new Terminal(cli.commandOf('serve', '--port', '0'), cli.folder, 100);
      await terminal.until(/Let these 2 servers start\? \[y\]es, \[N\]o: $/);
      assert.doesNotMatch(terminal.shown, /Listening/);
      terminal.type('y\n');
      await terminal.until(/b {2}http/);
      terminal.type('\u0003');
      assert.equal(await terminal.end(), 130);
      assert.equal(stored().length, 2);
    });

    it('an interruption of the question starts nothing', async () => {
      cli.save({ a: server('a') });
      terminal = new Terminal(cli.commandOf('status'), cli.folder, 100);
      await terminal.until(/Let "a" start\?/);
      terminal.type('\u0003');
      assert.equal(await terminal.end(), 130);
      assert.deepEqual([ran(), stored()], [[], []]);
    });
  });
});
