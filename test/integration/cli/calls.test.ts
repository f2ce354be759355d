/** `calls`: the record of what agents called, by every process of a folder. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { jsonLines } from '../../../src/core/base/text.js';
import { callFileOf } from '../../../src/core/files/callFile.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { rawWith } from '../../support/core/configText.js';
import { within } from '../../support/core/within.js';

interface Fact {
  readonly agent: string;
  readonly conversation: string;
  readonly toolset: string;
  readonly tool: string;
  readonly original: string;
  readonly outcome?: string;
  readonly event?: string;
  readonly reason?: string;
}

describe('the record of calls', () => {
  let cli: CommandLine;

  beforeEach(async () => {
    const override = { echo: { arguments: { text: { allow: ['ok*'] } } } };
    cli = await CommandLine.open({
      a: rawWith(['echo', 'fail', 'exit', 'count'], {
        transform: [{ prefix: 'a_' }],
        tools: { override },
      }),
    });
  });

  afterEach(() => cli.close());

  const facts = async (...args: string[]): Promise<Fact[]> => {
    const { stdout } = await cli.finishBeside(cli.begin('calls', '--json', ...args));
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Fact]));
  };

  it('Calls of agents and of the command line are recorded with their outcome, and without what went in and out', async () => {
    const client = new Client({ name: 'independent', version: '1' });
    const { command, args, env } = cli.commandOf('connect', 'a');
    const options = { command, args, cwd: cli.folder, env: env as Record<string, string> };
    await client.connect(new StdioClientTransport(options));
    const call = (name: string, given: object): Promise<unknown> =>
      client.callTool({ name, arguments: given as Record<string, unknown> });
    await call('a_echo', { text: 'ok canary-went-in' });
    await call('a_echo', { text: 'canary-refused' });
    await call('a_fail', { text: 'canary-error' });
    await call('a_exit', { code: 3 });
    await client.close();
    assert.equal((await cli.finishBeside(cli.begin('call', 'a_count'))).code, 0);
    // The engine writes what it has recorded when it ends.
    await cli.stopEngines();
    const all = await facts();
    const found = all.filter(({ outcome }) => outcome !== undefined);
    const events = all.flatMap(({ event }) => event ?? []);
    for (const event of ['started', 'died', 'released'])
      assert.ok(events.includes(event), `${event} in ${String(events)}`);
    assert.deepEqual(
      found.map(({ agent, tool, outcome }) => [agent, tool, outcome]).sort(),
      [
        ['independent', 'a_echo', 'ok'],
        ['independent', 'a_echo', 'refused'],
        ['independent', 'a_exit', 'lost'],
        ['independent', 'a_fail', 'error'],
        ['mcp-toolsets call', 'a_count', 'ok'],
      ].sort(),
    );
    const lost = (await facts('--agent', 'INDEP', '--failed')).at(-1);
    assert.deepEqual(
      [lost?.original, lost?.reason],
      ['exit', 'The connection ended before the answer.'],
    );
    assert.deepEqual(
      [(await facts('--server', 'b')).length, (await facts('--since', '1d')).length],
      [0, all.length],
    );
    const out = path.join(cli.folder, 'out.jsonl');
    assert.equal((await cli.run('calls', 'export', out)).code, 0);
    assert.equal((await cli.run('calls', 'export', out)).code, 1, 'an existing file stays');
    if (process.platform !== 'win32') assert.equal(statSync(out).mode & 0o777, 0o600);
    assert.doesNotMatch(readFileSync(out, 'utf8'), /canary/);
    assert.match(
      (await cli.run('calls', '--agent', 'mcp-toolsets', '--last', '1')).stdout,
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}\w+ .* ms {2}a_\w+ of a {2}/,
    );
    // The events after a call do not count.
    const latest = await facts('--last', '1');
    assert.deepEqual([latest[0]?.tool, latest.filter(({ tool }) => tool).length], ['a_count', 1]);
    for (const wrong of [['--since', '10'], ['--last', 'x'], ['import']]) {
      assert.equal((await cli.run('calls', ...wrong)).code, 2, wrong.join(' '));
    }
  });

  it('Calls are shown in the order of their beginnings, whichever program wrote first', async () => {
    assert.equal((await cli.run('call', 'a_count', '--approve')).code, 0);
    assert.equal((await cli.run('call', 'a_echo', '{"text":"ok"}')).code, 0);
    const file = callFileOf(cli.folder, cli.home);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    writeFileSync(file, jsonLines(lines.reverse().map((line) => JSON.parse(line) as object)));
    const calls = (await facts()).filter(({ outcome }) => outcome !== undefined);
    assert.deepEqual(
      calls.map(({ tool }) => tool),
      ['a_count', 'a_echo'],
    );
    assert.match((await cli.run('calls')).stdout, / mcp-toolsets call {2}conversation terminal$/m);
  });

  it('Three agents at once, a death, a refusal and an edit are in one record, and no call is missing', async () => {
    const clients = await Promise.all(
      ['first', 'second', 'third'].map(async (name) => {
        const client = new Client({ name, version: '1' });
        const { command, args, env } = cli.commandOf('connect');
        await client.connect(
          new StdioClientTransport({
            command,
            args,
            cwd: cli.folder,
            env: env as Record<string, string>,
          }),
        );
        return client;
      }),
    );
    await Promise.all(
      clients.map(async (client) => {
        for (let count = 0; count < 10; count++)
          await client.callTool({ name: 'a_count', arguments: {} });
      }),
    );
    const [first, second] = clients;
    await first?.callTool({ name: 'a_exit', arguments: { code: 3 } });
    await second?.callTool({ name: 'a_echo', arguments: { text: 'not allowed' } });
    const following = cli.begin('calls', '--follow', '--json');
    const edited = new Promise<void>((resolve) => {
      let text = '';
      following.stdout?.on('data', (chunk) => {
        text += String(chunk);
        if (text.includes('"event":"edited"')) resolve();
      });
    });
    cli.save({ a: rawWith(['echo', 'count'], { transform: [{ prefix: 'b_' }] }) });
    await within(edited, 'the edit');
    const ended = once(following, 'close');
    following.kill('SIGTERM');
    await ended;
    await Promise.all(clients.map((client) => client.close()));
    await cli.stopEngines();
    const all = await facts();
    const counts = all.filter(({ original, outcome }) => original === 'count' && outcome === 'ok');
    const conversations = ['first', 'second', 'third'].map((name) => {
      const own = counts.filter(({ agent }) => agent === name);
      assert.equal(own.length, 10, name);
      const [conversation, ...others] = new Set(own.map((fact) => fact.conversation));
      assert.deepEqual(others, [], `one conversation of ${name}`);
      return conversation;
    });
    assert.equal(new Set(conversations).size, 3);
    const others = all.flatMap(({ agent, original, outcome }) =>
      outcome === 'lost' || outcome === 'refused' ? `${agent} ${original} ${outcome}` : [],
    );
    assert.deepEqual(others, ['first exit lost', 'second echo refused']);
    assert.ok(all.some(({ event }) => event === 'died'));
  });

  it('`calls --follow` shows a call of another process when it has ended', async () => {
    const following = cli.begin('calls', '--follow', '--json', '--agent', 'mcp-toolsets');
    const seen = new Promise<string>((resolve) =>
      following.stdout?.once('data', (chunk) => resolve(String(chunk))),
    );
    await cli.finishBeside(cli.begin('call', 'a_count'));
    assert.match(await within(seen, 'the call'), /"tool":"a_count"/);
    const ended = once(following, 'close');
    following.kill('SIGTERM');
    await ended;
  });
});
