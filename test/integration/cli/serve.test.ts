/** `mcp-toolsets serve` (G6, H1): unrelated programs reach the toolsets without an editor. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request, type OutgoingHttpHeaders } from 'node:http';
import path from 'node:path';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { textOf } from '../../support/core/answerText.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixture, rawWith } from '../../support/core/configText.js';
import { inspect } from '../../support/core/inspector.js';
import { Serving } from '../../support/core/serving.js';
import { within } from '../../support/core/within.js';
import { posixIt } from '../../support/notHere.js';

const pidOf = async (client: Client, meta = {}): Promise<string> =>
  textOf(await client.callTool({ name: 'alpha_pid', _meta: meta }));

/** A module that asks the gateway in the note of an endpoint, and writes the status of its answer. */
const looksForGateway = (notes: string, file: string): string => `
  import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
  const note = readdirSync(${JSON.stringify(notes)}).find((name) => name.endsWith('.address'));
  const { port } = JSON.parse(readFileSync(${JSON.stringify(notes)} + '/' + note, 'utf8'));
  const { status } = await fetch('http://127.0.0.1:' + port + '/mcp', { method: 'POST' });
  writeFileSync(${JSON.stringify(file)}, String(status));
`;

const onWindows = process.platform === 'win32';

describe('mcp-toolsets serve', () => {
  let cli: CommandLine;
  let serving: Serving;
  const servers = {
    alpha: fixture('plain', ['--tools', 'count,pid,quiet'], { transform: [{ prefix: 'alpha_' }] }),
    beta: rawWith(['echo']),
  };

  beforeEach(async () => {
    cli = await CommandLine.open(servers);
  });

  afterEach(async () => {
    await serving.end();
    await cli.close();
  });

  const serve = async (...args: string[]): Promise<Serving> =>
    (serving = await Serving.begin(cli, ['alpha', 'beta', 'mcp_admin'], ...args));

  async function statusOf(
    url: string,
    headers: OutgoingHttpHeaders,
  ): Promise<[number | undefined, string]> {
    const sent = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    sent.end(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
    );
    const [response] = (await once(sent, 'response')) as [
      NodeJS.ReadableStream & { statusCode?: number },
    ];
    let body = '';
    for await (const chunk of response) body += String(chunk);
    return [response.statusCode, body];
  }

  /** A refused client learns the next step (G2d). */
  async function isTold(url: string, headers: OutgoingHttpHeaders, what: RegExp): Promise<void> {
    const [status, body] = await statusOf(url, headers);
    assert.equal(status, 404);
    assert.match((JSON.parse(body) as { error: { message: string } }).error.message, what);
  }

  it('The first instance fits a client like the last one, also of an earlier `serve` (L4)', async () => {
    const starts = path.join(cli.folder, 'starts');
    const begun = (): number => readFileSync(starts, 'utf8').trim().split('\n').length;
    cli.save({
      ...servers,
      alpha: fixture('raw', ['--tools', 'pid', '--starts', starts], {
        transform: [{ prefix: 'alpha_' }],
      }),
    });
    for (const expected of [2, 3]) {
      await serve();
      const client = await serving.connect('alpha', serving.token, { elicitation: { form: {} } });
      assert.match(await pidOf(client), /^\d+$/);
      assert.equal(begun(), expected);
      await serving.end();
    }
  });

  it('Each session of the SDK’s client is a conversation with a separate instance, whatever id it sends', async () => {
    await serve();
    const [one, two] = [await serving.connect('alpha'), await serving.connect('alpha')];
    const { tools } = await one.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['alpha_count', 'alpha_pid', 'alpha_quiet', 'mcp_release_alpha'],
    );
    assert.match(one.getInstructions() ?? '', /mcp_release/);
    const same = { 'vscode.conversationId': 'of-another' };
    assert.equal(await pidOf(one), await pidOf(one, same));
    assert.notEqual(await pidOf(one, same), await pidOf(two, same));
    const admin = await serving.connect('mcp_admin');
    assert.ok((await admin.listTools()).tools.some(({ name }) => name === 'mcp_status'));
  });

  it('The limit of `--max-instances` comes before that of the file, and a call beyond it says how to raise it (L2c)', async () => {
    const text = readFileSync(cli.file, 'utf8');
    cli.save(`maxInstances: 9\n${text}`);
    const { code, stderr } = await cli.run('serve', '--max-instances', '0');
    assert.equal(code, 2);
    assert.match(stderr, /"0" is not a number of instances\. Use a whole number from 1\./);
    await serve('--max-instances', '1');
    const [one, two] = [await serving.connect('alpha'), await serving.connect('alpha')];
    assert.match(await pidOf(one), /^\d+$/);
    assert.match(await pidOf(two), /limit of 1 instances.*`--max-instances`/s);
  });

  it('The gateway answers before the first server starts (P8b)', async () => {
    const starts = path.join(cli.folder, 'starts');
    const looks = path.join(cli.folder, 'looks.mjs');
    writeFileSync(looks, looksForGateway(path.join(cli.home, '.minds', 'endpoints'), starts));
    const raw = fixture('raw', ['--tools', 'echo']);
    const args = ['--import', looks, ...(raw['args'] as string[])];
    cli.save({ ...servers, beta: { ...raw, args } });
    await serve();
    assert.match(readFileSync(starts, 'utf8'), /^4\d\d$/);
  });

  posixIt('Windows cannot signal a process')(
    '`serve` reports an error of a listener, and conversations keep their instances (S2)',
    async () => {
      const script = `process.on('SIGUSR2', () => queueMicrotask(() => { throw new Error('a listener threw'); }));`;
      cli.env['NODE_OPTIONS'] = `--import=data:text/javascript,${encodeURIComponent(script)}`;
      await serve();
      const client = await serving.connect('alpha');
      const pid = await pidOf(client);
      serving.process.kill('SIGUSR2');
      await serving.until('a listener threw');
      assert.equal(await pidOf(client), pid);
    },
  );

  it('A conversation gives its instance back on its endpoint, and the note names the tool (L2a, L3)', async () => {
    await serve();
    const [one, two] = [await serving.connect('alpha'), await serving.connect('alpha')];
    const first = await one.callTool({ name: 'alpha_count' });
    const [, note] = first.content as { text: string }[];
    assert.match(
      note?.text ?? '',
      /^\n\[MCP Toolsets\] .*the tool whose name ends in "mcp_release_alpha" with no arguments/,
    );
    const others = await pidOf(two);
    assert.match(
      textOf(await one.callTool({ name: 'mcp_release_alpha' })),
      /of this conversation has ended/,
    );
    assert.match(
      textOf(await one.callTool({ name: 'mcp_release_alpha' })),
      /has no instance of "alpha"/,
    );
    assert.equal(textOf(await one.callTool({ name: 'alpha_count' })), '1', 'counted anew');
    assert.equal(await pidOf(two), others);
  });

  it('/mcp has all toolsets under their published names, mcp_admin included, and follows the file (G2)', async () => {
    await serve();
    const client = await serving.connect('');
    const names = async (): Promise<string[]> =>
      (await client.listTools()).tools.map(({ name }) => name);
    const admin = ['mcp_release', 'mcp_status', 'mcp_restart', 'mcp_reload'];
    assert.deepEqual(await names(), ['alpha_count', 'alpha_pid', 'alpha_quiet', 'echo', ...admin]);
    const [count, note] = (await client.callTool({ name: 'alpha_count' })).content as {
      text: string;
    }[];
    assert.equal(count?.text, '1');
    assert.match(note?.text ?? '', /whose name ends in "mcp_release" with \{"serverId":"alpha"\}/);
    assert.match(
      client.getInstructions() ?? '',
      /About the toolset "alpha":\nFrom its first call on, each conversation has/,
    );
    assert.match(
      textOf(await client.callTool({ name: 'mcp_status' })),
      /alpha: .*this conversation has an instance/,
    );
    const released = await client.callTool({
      name: 'mcp_release',
      arguments: { serverId: 'alpha' },
    });
    assert.match(textOf(released), /has ended/);
    await assert.rejects(client.callTool({ name: 'nobody' }), /No toolset has a tool "nobody"/);
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    cli.save({ ...servers, alpha: { ...servers.alpha, tools: { whitelist: ['pid'] } } });
    await within(changed, 'list_changed');
    assert.deepEqual(await names(), ['alpha_pid', 'echo', ...admin]);
  });

  it('Changes after the start cause a warning, and are held back if the person wants that (S3)', async () => {
    const changing = { grower: fixture('changes-tools', [], { 'truely-stateless': true }) };
    const names = (client: Client): Promise<string[]> =>
      client.listTools().then(({ tools }) => tools.map(({ name }) => name));
    const grown = async (...args: string[]): Promise<string[]> => {
      cli.save(changing);
      serving = await Serving.begin(cli, ['grower', 'mcp_admin'], ...args);
      const client = await serving.connect('grower');
      await client.callTool({ name: 'grow' });
      await serving.until(/tools-changed: .*: tool "extra_1" \(new since approval\)\./);
      assert.equal(serving.stderr.includes('Agents do not see what changed.'), args.length > 0);
      const status = await serving.connect('mcp_admin');
      assert.match(
        textOf(await status.callTool({ name: 'mcp_status' })),
        /warning: .*extra_1.*new since approval/,
      );
      return names(client);
    };
    assert.ok((await grown()).includes('extra_1'));
    await serving.end();
    assert.ok(!(await grown('--hold-changed')).includes('extra_1'));
  });

  it('A server that shuffles its tools and their keys changes no byte over runs of `serve`, in the order first seen (N6)', async () => {
    const shuffling = fixture('raw', ['--shuffle', '--tools', 'echo,add,slow,count,pid,exit'], {
      'truely-stateless': true,
    });
    const seen = new Set<string>();
    for (let run = 0; run < 4; run++) {
      cli.save({ shuffling });
      serving = await Serving.begin(cli, ['shuffling', 'mcp_admin']);
      const client = await serving.connect('shuffling');
      seen.add(JSON.stringify((await client.listTools()).tools));
      const status = await serving.connect('mcp_admin');
      await status.callTool({ name: 'mcp_restart', arguments: { serverId: 'shuffling' } });
      seen.add(JSON.stringify((await client.listTools()).tools));
      assert.doesNotMatch(serving.stderr, /tools-changed/);
      await serving.end();
    }
    assert.equal(seen.size, 1, [...seen].join('\n'));
  });

  it('The Inspector’s command line lists and calls through `serve`', async () => {
    await serve();
    const ask = (...args: string[]): Promise<unknown> =>
      inspect(`${serving.base}/mcp/alpha`, serving.token, '--method', ...args);
    const { tools } = (await ask('tools/list')) as { tools: { name: string }[] };
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['alpha_count', 'alpha_pid', 'alpha_quiet', 'mcp_release_alpha'],
    );
    const called = await ask('tools/call', '--tool-name', 'alpha_count');
    assert.equal(textOf(called), '1');
  });

  it('The token is in a file only its owner can read, stays the same, and is not printed', async () => {
    await serve('--debug');
    const { token } = serving;
    if (!onWindows) {
      assert.equal(statSync(serving.tokenFile).mode & 0o777, 0o600);
      assert.equal(statSync(path.dirname(serving.tokenFile)).mode & 0o777, 0o700);
    }
    await pidOf(await serving.connect('alpha'));
    await serving.end();
    assert.ok(!(serving.stdout + serving.stderr).includes(token));
    await serve();
    assert.equal(serving.token, token);
  });

  posixIt('files have modes on POSIX systems alone')(
    'A token that others could read is replaced',
    async () => {
      await serve();
      const { token, tokenFile } = serving;
      await serving.end();
      chmodSync(tokenFile, 0o644);
      await serve();
      assert.notEqual(serving.token, token);
      assert.equal(statSync(tokenFile).mode & 0o777, 0o600);
    },
  );

  it('Removal of the token file renews the token, ends sessions and locks out the old token', async () => {
    await serve();
    const old = serving.token;
    const { base } = serving;
    const client = await serving.connect('alpha');
    rmSync(serving.tokenFile);
    await serving.until(/The token was renewed[^]*Listening on/);
    await isTold(
      `${base}/mcp/alpha`,
      { authorization: `Bearer ${old}` },
      /token is missing or wrong/,
    );
    assert.notEqual(serving.token, old);
    await assert.rejects(client.listTools());
    assert.ok(await pidOf(await serving.connect('alpha')));
  });

  it('`serve` offers nothing without the token, for another Host or Origin, or at the editor’s path', async () => {
    await serve();
    const url = `${serving.base}/mcp/alpha`;
    const authorization = `Bearer ${serving.token}`;
    await isTold(url, {}, /MCP_TOOLSETS_TOKEN/);
    await isTold(url, { authorization: `Bearer ${'A'.repeat(43)}` }, /token is missing or wrong/);
    const [hostStatus, hostAdvice] = await statusOf(url, { authorization, host: 'evil.example' });
    assert.equal(hostStatus, 403);
    assert.match(String(hostAdvice), /The header Host must be one of 127\.0\.0\.1:/);
    const [originStatus, originAdvice] = await statusOf(url, {
      authorization,
      origin: 'https://evil.example',
    });
    assert.equal(originStatus, 403);
    assert.match(String(originAdvice), /The header Origin names another machine/);
    assert.deepEqual(await statusOf(`${serving.base}/editor/alpha`, { authorization }), [404, '']);
    assert.equal((await statusOf(url, { authorization }))[0], 200);
  });

  it('A change of the file reaches a client at once, and a new server waits until the next start', async () => {
    await serve();
    const client = await serving.connect('alpha');
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    const alpha = { ...servers.alpha, tools: { whitelist: ['pid'] } };
    cli.save({ ...servers, alpha, gamma: fixture('plain', ['--name', 'gamma', '--tools', 'add']) });
    await within(changed, 'list_changed');
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['alpha_pid', 'mcp_release_alpha'],
    );
    await serving.until('gamma waits for approval');
    assert.ok(!cli.processes().some(({ command }) => command.includes('--name gamma')));
    const waiting = await serving.connect('gamma');
    assert.deepEqual((await waiting.listTools()).tools, []);
    assert.match(waiting.getInstructions() ?? '', /waiting for a person to approve its start/);
    await serving.end();
    await serve();
    await serving.until('gamma  http');
  });

  it('An unreadable config file keeps its content, and its problem is printed and in mcp_status (C4)', async () => {
    await serve();
    const client = await serving.connect('');
    const status = async (): Promise<string> =>
      textOf(await client.callTool({ name: 'mcp_status' }));
    assert.doesNotMatch(await status(), /cannot be read/);
    const text = readFileSync(cli.file);
    writeFileSync(cli.file, Buffer.concat([text, Buffer.from('# caf\xe9\n', 'latin1')]));
    await serving.until(/error file-unreadable: .* Its previous content stays in effect\./);
    assert.match(
      await status(),
      /^alpha: running.*\nbeta: running.*\nerror in .*mcp\.yaml: .* cannot be read/,
    );
    assert.match(await pidOf(client), /^\d+$/);
    writeFileSync(cli.file, text);
    await client.callTool({ name: 'mcp_reload' });
    assert.doesNotMatch(await status(), /cannot be read/);
  });

  it('A changed launch waits while the previous one serves, and --approve-edits starts it', async () => {
    await serve();
    const client = await serving.connect('alpha');
    const before = await pidOf(client);
    cli.save({
      ...servers,
      alpha: fixture('plain', ['--name', 'other', '--tools', 'pid'], { transform: [] }),
    });
    await serving.until('alpha waits for approval');
    assert.equal(await pidOf(client), before);
    await serving.end();
    cli.save(servers);
    await serve('--approve-edits');
    cli.save({ ...servers, gamma: fixture('plain', ['--tools', 'add']) });
    await serving.until('gamma  http');
  });

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    posixIt('Windows has no signals')(
      `${signal} ends \`serve\` and every process it started, in the middle of a call`,
      async () => {
        await serve();
        const client = await serving.connect('alpha');
        const waiting = client
          .callTool({ name: 'alpha_quiet', arguments: { ms: 60_000 } })
          .catch(() => 'ended');
        await pidOf(client);
        assert.equal(await serving.end(signal), code);
        assert.equal(await waiting, 'ended');
      },
    );
  }

  it('`serve` reports a taken port and a wrong port with a next step', async () => {
    await serve();
    const { port } = new URL(serving.base);
    const second = await cli.finishBeside(cli.begin('serve', '--port', port));
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`Port ${port} is taken.*--port`));
    const wrong = await cli.finishBeside(cli.begin('serve', '--port', '70000'));
    assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
  });

  it('`serve --debug` survives a message nested 20,000 levels deep (S2b)', async () => {
    cli.save({
      ...servers,
      deep: fixture('hostile', ['deep-on-call', '--size', '20000'], {
        transform: [{ prefix: 'deep_' }],
      }),
    });
    await serve('--debug');
    await serving.until('deep  http');
    const client = await serving.connect('deep');
    await assert.rejects(
      client.callTool({ name: 'deep_echo', arguments: { text: 'result' } }),
      /more than 256 levels deep/,
    );
    await assert.rejects(
      client.callTool({ name: 'deep_echo', arguments: { text: 'error' } }),
      /It is deep/,
    );
    const other = await serving.connect('beta');
    assert.equal(textOf(await other.callTool({ name: 'echo', arguments: { text: 'on' } })), 'on');
  });

  it('`serve --json` prints one line per event, and --token-file names another file', async () => {
    const child = cli.begin('serve', '--port', '0', '--json', '--token-file', 'my.token');
    let out = '';
    child.stdout?.on('data', (chunk) => (out += String(chunk)));
    await within(
      (async () => {
        while (!/"id":"beta"/.test(out)) await once(child.stdout ?? assert.fail(), 'data');
      })(),
      'the toolsets',
    );
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { state: string; tokenFile: string });
    const file = path.join(cli.folder, 'my.token');
    assert.ok(
      lines.every(
        ({ state, tokenFile }) => state === 'listening' && tokenFile.endsWith('my.token'),
      ),
    );
    assert.match(readFileSync(file, 'utf8'), /^[\w-]{43}\n$/);
    child.kill('SIGTERM');
    await cli.finish(child);
    writeFileSync(file, '');
    serving = await Serving.begin(cli, ['alpha']);
  });
});
