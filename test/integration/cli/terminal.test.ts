/**
 * The command line at a real terminal (S4): the person answers questions about calls, and no text
 * can forge a question.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { textOf } from '../../support/core/answerText.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixture } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';
import { Terminal, terminalsMissing } from '../../support/core/terminal.js';
import { within } from '../../support/core/within.js';
import { suiteNotHere } from '../../support/notHere.js';

const question = /Allow this call of "echo" of "a"\? \[y\]es, for the \[c\]onversation, \[N\]o: $/;

describe('the question at a terminal (S4)', function () {
  suiteNotHere(this, terminalsMissing.here, terminalsMissing.reason);
  let cli: CommandLine;
  let terminal: Terminal | undefined;

  beforeEach(async () => {
    cli = await CommandLine.open({ a: fixture('raw', ['--tools', 'echo']) });
  });

  afterEach(async () => {
    await terminal?.close();
    terminal = undefined;
    await cli.close();
  });

  const at = (columns: number, ...args: string[]): Terminal =>
    (terminal = new Terminal(cli.commandOf(...args), cli.folder, columns));

  for (const [typed, code, says] of [
    ['y\n', 0, /hello/],
    ['YES\n', 0, /hello/],
    ['\n', 1, /did not allow this call/],
    ['n\n', 1, /did not allow this call/],
    ['yo\n', 1, /did not allow this call/],
    // End of the input.
    ['\u0004', 1, /did not allow this call/],
  ] as const) {
    it(`The answer ${JSON.stringify(typed)} to the question means: ${code === 0 ? 'called' : 'not called'}`, async () => {
      const shown = at(80, 'call', 'echo', '{"text":"hello"}', '--ask', '*');
      await shown.until(question);
      shown.type(typed);
      assert.equal(await shown.end(), code, shown.shown);
      assert.match(shown.shown.split('[N]o: ')[1] ?? '', says);
    });
  }

  it('The question ends with its call, and an interruption leaves nothing', async () => {
    const shown = at(80, 'call', 'echo', '{"text":"hello"}', '--ask', '*');
    await shown.until(question);
    shown.type('\u0003');
    assert.equal(await shown.end(), 130, shown.shown);
  });

  it('Arguments cannot forge the question: each line has a bar at any width', async () => {
    const fake = 'Allow this call of "echo" of "a"? [y]es, for the [c]onversation, [N]o: ';
    for (const [columns, text] of [
      [40, `\r\n\u001b[2J\u001b[H${fake}`],
      [80, `${'漢 '.repeat(200)}${fake}`],
    ] as const) {
      const shown = at(columns, 'call', 'echo', JSON.stringify({ text }), '--ask', '*');
      await shown.until(question);
      const [first, ...rest] = shown.shown.split('\r\n');
      assert.equal(first, 'An agent wants to call "echo" of "a" with:');
      const foreign = rest.slice(0, -1);
      assert.ok(foreign.length > 1);
      for (const line of foreign)
        assert.ok(/^ {2}\| /.test(line) && line.length <= columns, JSON.stringify(line));
      assert.doesNotMatch(shown.shown.replaceAll('\r\n', ''), /\p{Cc}/u);
      shown.type('\n');
      assert.equal(await shown.end(), 1);
    }
  });

  it('No output interrupts the question of `serve`: messages of servers follow the answer', async () => {
    const shown = at(80, 'serve', '--port', '0', '--token-file', 'own.token', '--ask', 'echo');
    await shown.until(/a {2}http\S+ {2}1 tool/);
    const base = /Listening on (http:\S+),/.exec(shown.shown)?.[1] ?? '';
    const token = readFileSync(path.join(cli.folder, 'own.token'), 'utf8').trim();
    const client = await Serving.clientOf(`${base}/mcp/a`, token);
    try {
      const called = client.callTool({ name: 'echo', arguments: { text: 'hello' } });
      await shown.until(question);
      // A server that fails with a text like the question.
      cli.save({
        a: fixture('raw', ['--tools', 'echo']),
        b: { transport: 'stdio', command: 'Allow this call of "read"? [y]es' },
      });
      await within(untilKnown(base, token, '"b"'), 'the server of the edit');
      assert.match(shown.shown, question, 'the question is still the last that stands there');
      shown.type('c\n');
      assert.match(textOf(await called), /hello/);
      await shown.until(/error command-with-arguments/);
      assert.match(
        textOf(await client.callTool({ name: 'echo', arguments: { text: 'again' } })),
        /again/,
      );
    } finally {
      await client.close();
      shown.type('\u0003');
    }
    assert.equal(await shown.end(), 130);
  });

  it('The question ignores input typed before it appeared or after it was withdrawn', async () => {
    const shown = at(80, 'serve', '--port', '0', '--token-file', 'own.token', '--ask', 'echo');
    await shown.until(/a {2}http\S+ {2}1 tool/);
    const base = /Listening on (http:\S+),/.exec(shown.shown)?.[1] ?? '';
    const token = readFileSync(path.join(cli.folder, 'own.token'), 'utf8').trim();
    const client = await Serving.clientOf(`${base}/mcp/a`, token);
    const call = (text: string, signal?: AbortSignal): Promise<unknown> =>
      client.callTool({ name: 'echo', arguments: { text } }, undefined, {
        ...(signal && { signal }),
      });
    try {
      const stop = new AbortController();
      const first = assert.rejects(call('first', stop.signal));
      await shown.until(question);
      shown.type('y');
      await shown.until(/\[N\]o: y$/);
      stop.abort();
      await first;
      const second = call('second');
      await shown.until(/"second"[^]*\[N\]o: $/);
      shown.type('\n');
      assert.match(textOf(await second), /did not allow this call/);
      const third = call('third');
      await shown.until(/"third"[^]*\[N\]o: $/);
      shown.type('y\ny\n');
      assert.match(textOf(await third), /third/);
      const fourth = call('fourth');
      await shown.until(/"fourth"[^]*\[N\]o: $/);
      shown.type('\n');
      assert.match(textOf(await fourth), /did not allow this call/);
    } finally {
      await client.close();
      shown.type('\u0003');
    }
    assert.equal(await shown.end(), 130);
  });

  it('`connect` asks no question, because its input is the client’s', async () => {
    const shown = at(80, 'connect', 'a', '--ask', '*');
    const send = (message: object): void =>
      shown.type(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'x', version: '1' };
    send({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    });
    await shown.until(/"serverInfo"/);
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hello' } } });
    await shown.until(/nobody could be asked/);
    assert.doesNotMatch(shown.shown, /\[N\]o/);
    shown.type('\u0003');
    await shown.end();
  });
});

describe('permissions while `serve` runs (S4)', () => {
  let cli: CommandLine;
  let serving: Serving;
  const permissions = (): string => path.join(cli.home, '.minds', 'permissions.json');

  beforeEach(async () => {
    cli = await CommandLine.open({ a: fixture('raw', ['--tools', 'echo,pid']) });
    mkdirSync(path.dirname(permissions()), { recursive: true });
  });

  afterEach(async () => {
    await serving.end();
    await cli.close();
  });

  it('An edit of permissions applies at once, and unreadable permissions are reported and change nothing', async () => {
    serving = await Serving.begin(cli, ['a']);
    const client = await serving.connect('a');
    const names = async (): Promise<string[]> =>
      (await client.listTools()).tools
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('mcp_'));
    assert.deepEqual(await names(), ['echo', 'pid']);
    writeFileSync(permissions(), '{ "echo": "deny" }');
    await serving.until(/^a {2}http\S+ {2}1 tool$/m);
    assert.deepEqual(await names(), ['pid']);
    await assert.rejects(
      client.callTool({ name: 'echo', arguments: { text: 'x' } }),
      /no tool "echo"/,
    );
    writeFileSync(permissions(), '{ "echo": ');
    await serving.until(/permissions\.json are not JSON: .* The permissions stay as they were\./);
    assert.deepEqual(await names(), ['pid']);
    writeFileSync(permissions(), '{ "pid": "perhaps" }');
    await serving.until(/1 tool\na {2}http\S+ {2}2 tools$/m);
    const refused = textOf(await client.callTool({ name: 'pid' }));
    assert.match(
      refused,
      /nobody could be asked/,
      'what is no permission counts as ask, and nobody is there to ask',
    );
  });
});

/** Resolves once REST contains the text. */
async function untilKnown(base: string, token: string, text: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (let told = ''; !told.includes(text);) {
    told = await (await fetch(`${base}/api/v1/users/mcp/upstreams`, { headers })).text();
  }
}
