/** `record` and `replay` with real servers and clients of both eras. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixturePath, repository } from '../../support/core/bundles.js';

const electron = '{"name":"ELECTRON_RUN_AS_NODE"}';

/** The config and the arguments of the page. */
function ofThePage(): { readonly config: string; readonly replayed: string } {
  const section = readFileSync(path.join(repository, 'docs/cassettes.md'), 'utf8');
  const [, config = ''] = /```yaml\n([^]*?)```/.exec(section) ?? [];
  const [, replayed = ''] = /with `(args: \[replay[^`]*)`/.exec(section) ?? [];
  assert.ok(config.includes('command: mcp-toolsets') && replayed !== '', section.slice(0, 500));
  return { config, replayed };
}

describe('cassettes', () => {
  let cli: CommandLine;

  beforeEach(async () => {
    cli = await CommandLine.open();
  });

  afterEach(() => cli.close());

  const options = (...args: string[]) => {
    const { command, args: words, env } = cli.commandOf(...args);
    return { command, args: words, cwd: cli.folder, env: env as Record<string, string> };
  };

  async function legacy<Result>(
    args: string[],
    use: (client: Client) => Promise<Result>,
  ): Promise<Result> {
    const client = new Client({ name: 'independent', version: '1' });
    await client.connect(new StdioClientTransport(options(...args)));
    try {
      return await use(client);
    } finally {
      await client.close();
      await cli.untilGone();
    }
  }

  async function modern<Result>(
    args: string[],
    use: (client: ModernClient) => Promise<Result>,
  ): Promise<Result> {
    const client = new ModernClient(
      { name: 'modern', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new ModernTransport(options(...args)));
    try {
      return await use(client);
    } finally {
      await client.close();
      await cli.untilGone();
    }
  }

  const file = (): string => path.join(cli.folder, 'calls.jsonl');
  const tools = '--tools';

  it('A cassette without a last line break is continued, and a broken one stays as it is', async () => {
    const server = ['--', process.execPath, fixturePath('raw'), tools, 'echo'];
    const session = (client: Client): Promise<unknown> =>
      client.callTool({ name: 'echo', arguments: { text: 'x' } });
    await legacy(['record', file(), ...server], session);
    writeFileSync(file(), readFileSync(file(), 'utf8').trimEnd());
    await legacy(['record', file(), ...server], session);
    assert.deepEqual(
      await legacy(['replay', file()], session),
      await legacy(['replay', file()], session),
    );
    const broken = `${readFileSync(file(), 'utf8')}{"session":`;
    writeFileSync(file(), broken);
    const { code, stderr } = await cli.run('record', file(), ...server);
    assert.equal(code, 1);
    assert.match(stderr, /line \d+ is no message of a cassette\. The file stays as it is\./);
    assert.equal(readFileSync(file(), 'utf8'), broken);
  });

  it('The folder is no secret of a cassette, and a secret of the environment is found again', async () => {
    cli.env['PWD'] = cli.folder;
    cli.env['GIVEN_TOKEN'] = 'canary-recorded-5ca1ab1e';
    const server = ['--', process.execPath, fixturePath('raw'), tools, 'echo'];
    const session = (client: Client): Promise<unknown> =>
      client.callTool({
        name: 'echo',
        arguments: { text: `${cli.folder}/a canary-recorded-5ca1ab1e` },
      });
    await legacy(['record', file(), ...server], session);
    const text = readFileSync(file(), 'utf8');
    assert.ok(text.includes(`${cli.folder}/a`) && !text.includes('canary'), text);
    assert.match(JSON.stringify(await legacy(['replay', file()], session)), /\/a /);
  });

  it('A recorded session of a legacy client is answered again without the server, and a secret is in no line', async () => {
    cli.env['GIVEN_TOKEN'] = 'canary-recorded-5ca1ab1e';
    const server = ['--', process.execPath, fixturePath('raw'), tools, 'echo,count,env'];
    const session = async (client: Client): Promise<string> => {
      const listed = await client.listTools();
      const results = [];
      for (const [name, args] of [
        ['count', {}],
        ['count', {}],
        ['echo', { text: 'hello' }],
      ] as const)
        results.push(await client.callTool({ name, arguments: args }));
      return JSON.stringify([listed, results]);
    };
    const recorded = await legacy(['record', file(), ...server], async (client) => {
      const seen = await session(client);
      await client.callTool({ name: 'env', arguments: { name: 'GIVEN_TOKEN' } });
      return seen;
    });
    if (process.platform !== 'win32') assert.equal(statSync(file()).mode & 0o777, 0o600);
    assert.doesNotMatch(readFileSync(file(), 'utf8'), /canary-recorded/);
    assert.equal(await legacy(['replay', file()], session), recorded);
    await legacy(['replay', file()], async (client) => {
      await assert.rejects(
        client.callTool({ name: 'echo', arguments: { text: 'hullo' } }),
        /nearest recorded request is tools\/call .*hello/,
      );
    });
  });

  it('A recorded session of a client of 2026-07-28 is answered again', async () => {
    const server = ['--', process.execPath, fixturePath('modern')];
    const session = async (client: ModernClient): Promise<string> => {
      const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
      return JSON.stringify([(await client.listTools()).tools.map(({ name }) => name), content]);
    };
    const recorded = await modern(['record', file(), ...server], session);
    assert.match(recorded, /hello/);
    assert.equal(await modern(['replay', file()], session), recorded);
  });

  describe('as the page shows them, without `mcp-toolsets` on PATH', () => {
    const { config, replayed } = ofThePage();

    /** The server of the page, with a program that is installed. */
    const saved = (args: string): void => {
      const server = ['--', process.execPath, fixturePath('raw'), tools, 'count,env'];
      const words = args.replace('--, npx, -y, tickets-server', () =>
        server.map((word) => JSON.stringify(word)).join(', '),
      );
      cli.save(`${config.replace(/args: .*/, () => words)}`);
    };
    const called = async (name: string, args = '{}'): Promise<string> => {
      const { code, stdout, stderr } = await cli.run('call', name, args);
      assert.equal(code, 0, stderr);
      return stdout;
    };

    it('`record` and `replay` start by the running command line (H1a)', async () => {
      cli.env['ELECTRON_RUN_AS_NODE'] = undefined;
      saved(/args: .*/.exec(config)?.[0] ?? '');
      const [one, two] = [await called('count'), await called('env', electron)];
      assert.equal(two.trim(), '(unset)', 'the server has no variable of the editor');
      assert.ok(existsSync(path.join(cli.folder, 'tickets.jsonl')));
      saved(replayed);
      cli.approves = false;
      assert.equal((await cli.run('call', 'count')).code, 1, 'another launch waits for approval');
      cli.approves = true;
      assert.deepEqual([await called('count'), await called('env', electron)], [one, two]);
    });

    it('No other command of the name starts so, because it would serve or approve (S1)', async () => {
      for (const args of ['[serve]', '[approve, --yes]', '[-C, ., record]', '[]']) {
        saved(`args: ${args}`);
        const { stdout, stderr } = await cli.run('check', '--start');
        assert.match(stdout + stderr, /command-not-found: .*"mcp-toolsets" is in none/, args);
      }
    });

    it('A program of that name that appears in the workspace later is not started without a new approval (S1n)', async () => {
      saved(/args: .*/.exec(config)?.[0] ?? '');
      await called('count');
      const bin = path.join(cli.folder, 'bin');
      mkdirSync(bin);
      const ran = path.join(cli.folder, 'ran');
      writeFileSync(path.join(bin, 'mcp-toolsets'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
      writeFileSync(path.join(bin, 'mcp-toolsets.cmd'), `@type nul > "${ran}"\r\n`);
      cli.env['PATH'] = `${bin}${path.delimiter}${cli.env['PATH']}`;
      cli.approves = false;
      assert.equal((await cli.run('call', 'count')).code, 1);
      assert.ok(!existsSync(ran));
    });
  });

  it('A recorder says what is wrong, keeps an existing file, and ends with its server', async () => {
    assert.equal((await cli.run('record', file())).code, 2);
    const missing = await cli.run('record', file(), '--', 'no-such-command-anywhere');
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /"no-such-command-anywhere" could not be started/);
    const other = path.join(cli.folder, 'other.json');
    writeFileSync(other, '{}');
    const again = await cli.run('record', other, '--', process.execPath, '-e', '0');
    assert.match(again.stderr, /line 1 does not name a cassette.*The file stays as it is/);
    assert.equal(readFileSync(other, 'utf8'), '{}');
    const ended = await cli.run(
      'record',
      path.join(cli.folder, 'b.jsonl'),
      '--',
      process.execPath,
      '-e',
      'process.exit(7)',
    );
    assert.equal(ended.code, 7);
    assert.match(
      (await cli.run('replay', 'none.jsonl')).stderr,
      /none\.jsonl cannot be replayed: .*ENOENT/,
    );
  });
});
