/**
 * `mcp-toolsets connect` (G6): an MCP server over stdio, connected to the gateway of the folder.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdioTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
  type ClientCapabilities,
} from '@modelcontextprotocol/sdk/types.js';
import { linesOf } from '../../../src/core/base/text.js';
import { launcherFor } from '../../../src/core/agents/agents.js';
import { writeLauncher } from '../../../src/core/files/launcherFile.js';
import { addressNotes } from '../../support/core/addressNotes.js';
import { textOf } from '../../support/core/answerText.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixture } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';
import { within } from '../../support/core/within.js';
import { untilNone } from '../../support/processes.js';

describe('mcp-toolsets connect', () => {
  let cli: CommandLine;
  let serving: Serving | undefined;
  const clients: Client[] = [];
  const modern: ModernClient[] = [];
  const servers = {
    alpha: fixture('raw', ['--tools', 'count,pid,slow,quiet,cancelled'], {
      transform: [{ prefix: 'alpha_' }],
    }),
    forms: fixture('features'),
  };

  beforeEach(async () => {
    cli = await CommandLine.open(servers);
  });

  afterEach(async () => {
    for (const client of [...clients.splice(0), ...modern.splice(0)]) await client.close();
    // A refused client closes its transport without an event for the end.
    await untilNone(
      () => cli.processes().filter(({ command }) => command.includes('cli.js connect')),
      10_000,
    );
    await cli.stopEngines();
    await serving?.end();
    serving = undefined;
    await cli.close();
  });

  const serve = async (...args: string[]): Promise<Serving> =>
    (serving = await Serving.begin(cli, ['alpha', 'forms', 'mcp_admin'], ...args));

  async function connect(
    args: string[],
    capabilities: ClientCapabilities = {},
    cwd: string = cli.folder,
  ): Promise<Client> {
    const client = new Client({ name: 'independent', version: '1' }, { capabilities });
    const { command, args: words, env } = cli.commandOf('connect', ...args);
    const options = { command, args: words, cwd, env: env as Record<string, string> };
    clients.push(client);
    await client.connect(new StdioClientTransport(options));
    return client;
  }

  async function connectModern(args: string[]): Promise<ModernClient> {
    const client = new ModernClient(
      { name: 'modern', version: '1' },
      {
        versionNegotiation: { mode: { pin: '2026-07-28' } },
        capabilities: { elicitation: { form: {} } },
      },
    );
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { answer: 'me' },
    }));
    const { command, args: words, env } = cli.commandOf('connect', ...args);
    modern.push(client);
    const options = { command, args: words, cwd: cli.folder, env: env as Record<string, string> };
    await client.connect(new ModernStdioTransport(options));
    return client;
  }

  const call = async (
    client: Pick<Client, 'callTool'> | ModernClient,
    name: string,
    args: Record<string, unknown> = {},
  ): Promise<string> => textOf(await client.callTool({ name, arguments: args }));

  /** The number of processes that host servers. Each has a guardian. */
  const hosts = (): number =>
    cli.processes().filter(({ command }) => command.includes('guardian.js')).length;

  /**
   * The names of its tools, once they include these. Each server joins after it has listed its
   * tools.
   */
  async function untilNames(client: Client, wanted: readonly string[]): Promise<string[]> {
    const names = async (): Promise<string[]> => {
      for (;;) {
        const all = (await client.listTools()).tools.map(({ name }) => name);
        if (wanted.every((name) => all.includes(name))) return all;
      }
    };
    return await within(names(), `tools ${wanted.join()}`);
  }

  const line = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });
  const opening = [
    line({
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-03-26',
        capabilities: {},
        clientInfo: { name: 'script', version: '1' },
      },
    }),
    line({ method: 'notifications/initialized' }),
  ];
  const asked = [
    line({ id: 2, method: 'tools/list' }),
    line({ id: 3, method: 'tools/call', params: { name: 'alpha_count', arguments: {} } }),
    line({ id: 4, method: 'tools/call', params: { name: 'alpha_count', arguments: {} } }),
  ];
  const inputs: readonly (readonly [string, string])[] = [
    ['lines in one go', `${[...opening, ...asked].join('\n')}\n`],
    ['lines without a line break at the end', [...opening, ...asked].join('\n')],
    ['lines without `initialized`', `${[opening[0], ...asked].join('\n')}\n`],
    ['a batch behind `initialize`', `${opening[0]}\n[${[opening[1], ...asked].join()}]\n`],
  ];
  for (const [what, input] of inputs)
    for (const args of [[], ['alpha'], ['--deny', 'x']])
      it(`\`connect ${args.join(' ')}\` answers ${what}, although the input ends at once (G6i)`, async () => {
        const client = cli.begin('connect', ...args);
        client.stdin?.end(input);
        const { code, stdout } = await cli.finishBeside(client);
        assert.equal(code, 0);
        const answers = linesOf(stdout)
          .map((each) => JSON.parse(each) as { id?: number; error?: unknown; result?: unknown })
          .filter(({ id }) => id !== undefined);
        assert.deepEqual(answers.map(({ id }) => id).sort(), [1, 2, 3, 4], stdout);
        assert.equal(answers[0]?.id, 1);
        assert.deepEqual(
          answers.flatMap(({ error }) => error ?? []),
          [],
        );
        const texts = answers.filter(({ id = 0 }) => id > 2).map(({ result }) => textOf(result));
        assert.deepEqual(texts.sort(), ['1', '2'], 'both are in one session');
        assert.match(stdout, /"alpha_count"/);
      });

  it('A request before `initialize` learns in words of MCP what is missing (G6i)', async () => {
    const client = cli.begin('connect');
    client.stdin?.end(`${asked[0]}\n`);
    const { stdout } = await cli.finishBeside(client);
    assert.match(stdout, /"id":2,"error":.*The first message of a client must be `initialize`/);
  });

  it('Each `connect` client is a conversation of `serve`, and the conversation ends with the client', async () => {
    await serve();
    const [one, two] = [await connect(['alpha']), await connect(['alpha'])];
    assert.ok((await one.listTools()).tools.some(({ name }) => name === 'alpha_count'));
    assert.deepEqual([await call(one, 'alpha_count'), await call(one, 'alpha_count')], ['1', '2']);
    assert.equal(await call(two, 'alpha_count'), '1');
    const instances = (): number =>
      cli.processes().filter(({ command }) => command.includes('raw.mjs')).length;
    const before = instances();
    assert.notEqual(await call(one, 'alpha_pid'), await call(two, 'alpha_pid'));
    assert.equal(instances(), before);
  });

  it('`connect` gives the limit of `--max-instances` to the engine that it starts (L2c)', async () => {
    const limited = ['alpha', '--max-instances', '1'];
    const [one, two] = [await connect(limited), await connect(limited)];
    assert.equal(await call(one, 'alpha_count'), '1');
    assert.match(await call(two, 'alpha_count'), /limit of 1 instances.*`--max-instances`/s);
    assert.equal(hosts(), 1);
  });

  it('A `connect` client of 2026-07-28 is a conversation with questions, notifications and a release of its instance', async () => {
    await serve();
    const [one, two] = [await connectModern(['alpha']), await connectModern(['alpha'])];
    assert.equal(one.getProtocolEra(), 'modern');
    assert.deepEqual([await call(one, 'alpha_count'), await call(two, 'alpha_count')], ['1', '1']);
    assert.equal(await call(one, 'alpha_count'), '2');
    const pid = Number(await call(one, 'alpha_pid'));
    let heard: () => void = () => {};
    const changed = new Promise<void>((resolve) => (heard = resolve));
    two.setNotificationHandler('notifications/tools/list_changed', () => heard());
    const subscription = await two.listen({ toolsListChanged: true });
    cli.save({ ...servers, alpha: { ...servers.alpha, tools: { whitelist: ['count', 'pid'] } } });
    await changed;
    assert.deepEqual(
      (await two.listTools()).tools
        .map(({ name }) => name)
        .filter((name) => name.startsWith('alpha_')),
      ['alpha_count', 'alpha_pid'],
    );
    await subscription.close();
    await one.close();
    await untilNone(() => cli.processes().filter((each) => each.pid === pid), 20_000);
    assert.equal(await call(two, 'alpha_count'), '2');
    const asked = await connectModern(['forms']);
    assert.match(await call(asked, 'elicit', { message: 'Who?' }), /"answer":"me"/);
  });

  it('A `connect` client of 2026-07-28 mirrors no parameters over stdio, and need not', async () => {
    cli.save({
      ...servers,
      mirroring: fixture('modern', [], { tools: { whitelist: ['region'] } }),
    });
    await serve();
    await serving?.until('mirroring  http');
    assert.equal(
      await call(await connectModern(['mirroring']), 'region', { region: 'north' }),
      '{}',
    );
  });

  it('A `connect` client of 2026-07-28 goes on at the next gateway and is notified that its state is lost', async () => {
    const first = await serve('--port', '0');
    const client = await connectModern(['alpha']);
    assert.equal(await call(client, 'alpha_count'), '1');
    let changes = 0;
    let heard: () => void = () => {};
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      changes += 1;
      heard();
    });
    const told = new Promise<void>((resolve) => (heard = resolve));
    await client.listen({ toolsListChanged: true });
    // The client sends nothing, yet the subscription goes on at a new gateway.
    const ended = once(first.process, 'close');
    first.process.kill('SIGTERM');
    await ended;
    serving = undefined;
    await told;
    assert.equal(changes, 1);
    const after = await client.callTool({ name: 'alpha_count', arguments: {} });
    assert.equal(textOf(after), '1');
    assert.match(JSON.stringify(after.content), /is gone/);
  });

  const engines = (): number[] =>
    cli.processes().flatMap(({ command, pid }) => (command.includes('cli.js engine') ? [pid] : []));

  it('Without `serve`, `connect` starts an engine that goes on after its client, and `stop` ends it with its servers', async () => {
    const client = await connect(['alpha']);
    assert.equal(await call(client, 'alpha_count'), '1');
    await client.close();
    await untilNone(
      () => cli.processes().filter(({ command }) => command.includes('cli.js connect')),
      10_000,
    );
    const before = engines();
    assert.equal(before.length, 1);
    assert.equal(await call(await connect(['alpha']), 'alpha_count'), '1');
    assert.deepEqual(engines(), before);
    await clients[1]?.close();
    await untilNone(
      () => cli.processes().filter(({ command }) => command.includes('cli.js connect')),
      10_000,
    );
    const stopped = await cli.run('stop');
    assert.deepEqual([stopped.code, stopped.stderr], [0, '']);
    assert.match(stopped.stdout, /^The engine \(version \S+, process \d+\) has ended\. It served /);
    assert.match((await cli.run('stop')).stdout, /No engine serves this folder/);
  });

  it('A server that shuffles changes no byte over runs of the engine, for all and for one conversation (N6)', async () => {
    cli.save({
      shuffling: fixture('raw', ['--shuffle', '--tools', 'echo,add,slow,count,pid,exit']),
    });
    await cli.run('approve', '--yes');
    const seen = new Set<string>();
    for (let run = 0; run < 3; run++) {
      const client = await connect(['shuffling']);
      await untilNames(client, ['echo']);
      seen.add(JSON.stringify((await client.listTools()).tools));
      assert.equal(await call(client, 'count'), '1');
      seen.add(JSON.stringify((await client.listTools()).tools));
      await client.close();
      await cli.run('stop');
    }
    assert.equal(seen.size, 1, [...seen].join('\n'));
  });

  it('Two `connect` clients that begin at once start one engine, and `status` names it, its start and its clients', async () => {
    const [one, two] = await Promise.all([connect(['alpha']), connectModern([])]);
    assert.equal(engines().length, 1);
    assert.deepEqual([await call(one, 'alpha_count'), await call(two, 'alpha_count')], ['1', '1']);
    const shown = await cli.finishBeside(cli.begin('status'));
    assert.match(
      shown.stdout,
      /Served by an engine \(version \S+, process \d+\) since [\d: -]+, for independent \(alpha\), modern\./,
    );
    const listed = JSON.parse((await cli.finishBeside(cli.begin('status', '--json'))).stdout) as {
      gateways: unknown[];
    };
    assert.equal(JSON.stringify(listed.gateways).includes('token'), false);
    assert.deepEqual(
      (listed.gateways as { kind: string; pid: number }[]).map(({ kind, pid }) => [kind, pid]),
      [['engine', engines()[0]]],
    );
  });

  it('The servers of a killed engine end within 5 s, and its clients go on at the next one', async () => {
    const client = await connect(['alpha']);
    assert.equal(await call(client, 'alpha_count'), '1');
    const [engine = 0] = engines();
    const servers = cli.processes().filter(({ command }) => command.includes('raw.mjs'));
    process.kill(engine, 'SIGKILL');
    await untilNone(
      () => cli.processes().filter(({ pid }) => servers.some((server) => server.pid === pid)),
      5000,
    );
    const after = await client.callTool({ name: 'alpha_count', arguments: {} });
    assert.equal(textOf(after), '1');
    assert.match(JSON.stringify(after.content), /is gone/);
    assert.equal(engines().length, 1);
    assert.notEqual(engines()[0], engine);
  });

  it('A call in flight at a killed engine is lost, in its answer and in the record of calls', async () => {
    for (const join of [() => connect(['alpha']), () => connectModern([])]) {
      const client = await join();
      const running = call(client, 'alpha_quiet', { ms: 60_000 });
      // The server gets both in order.
      assert.equal(await call(client, 'alpha_count'), '1');
      for (const engine of engines()) process.kill(engine, 'SIGKILL');
      assert.match(await running, /^Error: result unknown\. .*It may or may not have taken effect/);
      await client.close();
    }
    const { stdout } = await cli.finishBeside(cli.begin('calls', '--failed', '--json'));
    const facts = linesOf(stdout).map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      facts.flatMap(({ outcome, agent, toolset, tool }) =>
        outcome === undefined ? [] : [{ outcome, agent, toolset, tool }],
      ),
      ['independent', 'modern'].map((agent) => ({
        outcome: 'lost',
        agent,
        toolset: 'alpha',
        tool: 'alpha_quiet',
      })),
    );
  });

  it('The instance of a killed `connect` ends within 5 s, at an engine and alone (X5)', async () => {
    const begins = [
      () => connect(['alpha']),
      () => connectModern(['alpha']),
      () => connect(['alpha', '--hold-changed']),
    ];
    for (const [at, begin] of begins.entries()) {
      const client = await begin();
      const pid = Number(await call(client, 'alpha_pid'));
      // A client of a session opens its stream after its first messages. The change comes on it.
      if (client instanceof Client) {
        const heard = new Promise<void>((resolve) =>
          client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
        );
        const whitelist = at === 0 ? ['pid'] : ['count', 'pid'];
        cli.save({ ...servers, alpha: { ...servers.alpha, tools: { whitelist } } });
        await within(heard, 'the change');
      }
      for (const bridge of cli.processes())
        if (bridge.command.includes('cli.js connect')) process.kill(bridge.pid, 'SIGKILL');
      await untilNone(() => cli.processes().filter((each) => each.pid === pid), 5_000);
    }
  });

  it('A client stays at its engine when `serve` begins, and the next client goes to `serve`', async () => {
    const client = await connect(['alpha']);
    const pid = await call(client, 'alpha_pid');
    await serve();
    assert.equal(await call(client, 'alpha_pid'), pid);
    await connect(['alpha']);
    const { stdout } = await cli.finishBeside(cli.begin('status', '--json'));
    const { gateways } = JSON.parse(stdout) as { gateways: { kind: string; clients: unknown[] }[] };
    assert.deepEqual(
      gateways.map(({ kind, clients: served }) => [kind, served.length]),
      [
        ['serve', 1],
        ['engine', 1],
      ],
    );
  });

  it('The entry of the launcher, which runs by `node -e`, starts the engine that the others share', async () => {
    await writeLauncher(cli.env['HOME'] ?? '', cli.commandOf('connect').args[0] ?? '');
    const { command, args } = launcherFor('claude-code', '/');
    const client = new Client({ name: 'by the launcher', version: '1' });
    clients.push(client);
    const env = { ...cli.env, USERPROFILE: cli.env['HOME'] } as Record<string, string>;
    await client.connect(
      new StdioClientTransport({
        command,
        args: [...args, 'connect', 'alpha'],
        cwd: cli.folder,
        env,
      }),
    );
    const [engine] = engines();
    assert.ok(engine, 'an engine runs');
    await connect(['alpha']);
    assert.deepEqual(engines(), [engine]);
  });

  it('The trace of an agent reaches the server', async () => {
    cli.save({ alpha: fixture('raw', ['--tools', 'meta']) });
    const client = await connect(['alpha']);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { content } = await client.callTool({
      name: 'meta',
      arguments: {},
      _meta: { traceparent, tracestate: 'a=1', 'vscode.requestId': 'r' },
    });
    const seen = JSON.parse(textOf({ content })) as Record<string, unknown>;
    delete seen['progressToken'];
    assert.deepEqual(seen, { traceparent, tracestate: 'a=1' });
  });

  it('An engine of another version is not joined', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    await connect(['alpha']);
    const other = path.join(cli.folder, 'other');
    await cp(path.dirname(cli.commandOf('connect').args[0] ?? ''), other, { recursive: true });
    for (const file of await readdir(other, { recursive: true })) {
      if (!file.endsWith('.js')) continue;
      const text = await readFile(path.join(other, file), 'utf8');
      await writeFile(path.join(other, file), text.replaceAll(`"${version}"`, '"0.0.9"'));
    }
    const client = new Client({ name: 'older', version: '1' });
    clients.push(client);
    const args = [path.join(other, 'cli.js'), 'connect', 'alpha'];
    const env = cli.env as Record<string, string>;
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: cli.folder, env }),
    );
    assert.equal(await call(client, 'alpha_count'), '1');
    assert.equal(engines().length, 2);
  });

  it('With own permissions (S4) or `--hold-changed` (S3), `connect` serves the folder itself, because `serve` lacks them', async () => {
    await serve();
    const offered = async (...args: string[]): Promise<string[]> =>
      (await (await connect(['alpha', ...args])).listTools()).tools.map(({ name }) => name);
    assert.ok((await offered()).includes('alpha_pid'));
    const before = hosts();
    assert.ok(!(await offered('--deny', 'pid')).includes('alpha_pid'));
    assert.match(
      await call(await connect(['alpha', '--ask', 'alpha_pid']), 'alpha_pid'),
      /nobody could be asked/,
    );
    assert.match(
      await call(await connect(['alpha', '--allow', 'alpha_pid']), 'alpha_pid'),
      /^\d+$/,
    );
    await connect(['alpha', '--hold-changed']);
    assert.equal(hosts(), before + 4);
  });

  it('`connect` serves servers with secrets and files of variables, which it reads before it judges the folder', async () => {
    const values = { GIVEN: { secret: 'KEPT_TOKEN', suffix: '!' } };
    cli.save({ alpha: fixture('raw', ['--tools', 'env'], { env: values, envFile: '.env' }) });
    await writeFile(path.join(cli.folder, '.env'), 'OF_FILE=in-the-file\n');
    cli.env['KEPT_TOKEN'] = 'canary-kept-5ca1ab1e';
    cli.env['DBUS_SESSION_BUS_ADDRESS'] = `unix:path=${path.join(cli.folder, 'no-bus')}`;
    const client = await connect(['alpha']);
    assert.equal(await call(client, 'env', { name: 'GIVEN' }), 'canary-kept-5ca1ab1e!');
    assert.equal(await call(client, 'env', { name: 'OF_FILE' }), 'in-the-file');
  });

  it('Without a toolset, `connect` is one conversation with all toolsets under their published names', async () => {
    const onlyFolder = await connect([]);
    await serve();
    for (const client of [onlyFolder, await connect([])]) {
      const names = await untilNames(client, ['alpha_count', 'mcp_release', 'mcp_status', 'level']);
      assert.deepEqual(
        names.filter((name) => name.startsWith('mcp_release')),
        ['mcp_release'],
      );
      assert.equal(new Set(names).size, names.length);
      assert.deepEqual(
        [await call(client, 'alpha_count'), await call(client, 'alpha_count')],
        ['1', '2'],
      );
      assert.doesNotMatch(await call(client, 'mcp_release', { serverId: 'alpha' }), /no instance/i);
      assert.equal(await call(client, 'alpha_count'), '1');
      assert.ok((await client.listPrompts()).prompts.length > 0);
    }
  });

  it('`connect` shows its token only to a listener that proves to know it, never to a relay', async () => {
    const tokenFile = path.join(cli.folder, 'own.token');
    const served = await serve('--token-file', tokenFile);
    const [note = ''] = addressNotes(tokenFile);
    const noted = JSON.parse(await readFile(note, 'utf8')) as { port: number };
    const seen: string[] = [];
    // Passes the challenge on to the gateway, whose proof is for the gateway's port.
    const impostor = createServer((request, response) => {
      seen.push(
        `${request.method} ${new URL(request.url ?? '', 'http://here').pathname} ${request.headers.authorization}`,
      );
      void fetch(`http://127.0.0.1:${noted.port}${request.url}`)
        .then((reply) => reply.text())
        .then((text) => response.end(text));
    });
    await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
    const { port } = impostor.address() as AddressInfo;
    await writeFile(note, JSON.stringify({ ...noted, port, pid: process.pid }));
    try {
      const client = await connect(['alpha', '--token-file', tokenFile]);
      assert.equal(await call(client, 'alpha_count'), '1', 'an engine serves the folder');
      assert.deepEqual([...new Set(seen)], ['GET /proof undefined']);
      await client.close();
      await cli.stopEngines();
    } finally {
      impostor.closeAllConnections();
      await new Promise((resolve) => impostor.close(resolve));
      await served.end();
    }
  });

  it('`connect` follows a renewed token beside a running `serve`', async () => {
    const tokenFile = path.join(cli.folder, 'own.token');
    const served = await serve('--token-file', tokenFile);
    const client = await connect(['alpha', '--token-file', tokenFile]);
    const pid = await call(client, 'alpha_pid');
    await rm(tokenFile);
    await served.until(/The token was renewed[^]*Listening on/);
    const others = cli.processes().filter(({ command }) => command.includes('raw.mjs')).length;
    // The session ended with the old token, so the conversation goes on with a new instance.
    const after = await call(client, 'alpha_pid');
    assert.match(after, /^\d+$/);
    assert.notEqual(after, pid);
    assert.equal(await call(client, 'alpha_count'), '1');
    assert.ok(
      cli.processes().filter(({ command }) => command.includes('raw.mjs')).length <= others + 1,
      'no host of its own',
    );
  });

  it('Progress, cancellation and changes of tools pass through `connect`', async () => {
    await serve();
    const client = await connect(['alpha']);
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void steps.push(progress);
    await client.callTool({ name: 'alpha_slow', arguments: { ms: 600, steps: 3 } }, undefined, {
      onprogress,
    });
    // The SDK's client drops a progress that arrives in one chunk with the result. The last one
    // may.
    assert.deepEqual(steps.slice(0, 2), [1, 2]);
    const controller = new AbortController();
    const begun = client.callTool({ name: 'alpha_quiet', arguments: { ms: 60_000 } }, undefined, {
      signal: controller.signal,
    });
    await call(client, 'alpha_count');
    controller.abort();
    await assert.rejects(begun);
    await within(
      (async () => {
        while ((await call(client, 'alpha_cancelled')) !== '["quiet"]')
          await call(client, 'alpha_count');
      })(),
      'the cancellation',
    );
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    cli.save({ ...servers, alpha: { ...servers.alpha, tools: { whitelist: ['pid'] } } });
    await within(changed, 'list_changed');
  });

  it('A question of a server reaches the client through `connect`', async () => {
    await serve();
    const client = await connect(['forms'], { elicitation: { form: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
    assert.match(await call(client, 'elicit', { message: 'Which?' }), /decline/);
    assert.match(await call(client, 'capabilities'), /elicitation/);
  });

  it('`connect` finds `serve` on a new port and keeps the conversation', async () => {
    await serve();
    const client = await connect(['alpha']);
    assert.equal(await call(client, 'alpha_count'), '1');
    serving?.process.kill('SIGTERM');
    await within(
      new Promise((resolve) => serving?.process.once('close', resolve)),
      'the end of serve',
    );
    await serve();
    const after = await client.callTool({ name: 'alpha_count', arguments: {} });
    assert.equal(textOf(after), '1');
    assert.match(JSON.stringify(after.content), /is gone/);
  });

  it('The npm package contains everything for the command and runs by npx', async () => {
    await serve();
    const { folder } = cli;
    const packed = await cli.packed();
    const npm = async (...args: string[]): Promise<void> => {
      const { code, stderr } = await cli.finishWork(cli.npm('npm', args));
      assert.equal(code, 0, stderr);
    };
    await npm('install', '--offline', '--no-audit', '--no-fund', '--prefix', folder, packed);
    const client = new Client({ name: 'independent', version: '1' });
    clients.push(client);
    const args = ['--offline', '--no-install', 'mcp-toolsets', 'connect', 'alpha'];
    const env = cli.env as Record<string, string>;
    await client.connect(new StdioClientTransport({ command: 'npx', args, cwd: folder, env }));
    assert.equal(await call(client, 'alpha_count'), '1');
  }).timeout(180_000);

  it('`connect` finds its folder from the working directory up to the root of the repository, a worktree too', async () => {
    const inner = path.join(cli.folder, 'packages', 'one');
    await mkdir(inner, { recursive: true });
    const connectIn = (...args: string[]): Promise<Client> => connect(args, {}, inner);
    const withoutFile = async (): Promise<void> => {
      const client = await connectIn('alpha');
      assert.match(
        client.getInstructions() ?? '',
        /No MCP server serves here\..*\.minds\/mcp\.yaml/,
      );
      assert.deepEqual((await client.listTools()).tools, []);
    };
    await withoutFile();
    await mkdir(path.join(cli.folder, '.git'));
    assert.equal(await call(await connectIn('alpha'), 'alpha_count'), '1');
    // A worktree has a file in place of the folder.
    await writeFile(path.join(cli.folder, 'packages', '.git'), 'gitdir: elsewhere');
    await withoutFile();
    await cp(path.dirname(cli.file), path.join(cli.folder, 'packages', '.minds'), {
      recursive: true,
    });
    const waiting = await connectIn('alpha');
    assert.match(waiting.getInstructions() ?? '', /approve/);
    assert.deepEqual((await waiting.listTools()).tools, []);
    assert.equal(engines().length, 2, 'each folder has an engine of its own');
  });

  it('`connect` reports an unknown toolset', async () => {
    await serve();
    await assert.rejects(
      connect(['omega']),
      /: There is no toolset "omega"\. Known toolsets: alpha, forms, mcp_admin\.$/,
    );
  });

  it('`connect` names the error of a config file, with and without a toolset, and not how to begin', async () => {
    cli.save('version: 1\nservers: [');
    const said = /There is an error in .*mcp\.yaml: Not valid YAML/;
    await assert.rejects(connect(['alpha']), said);
    const instructions = (await connect([])).getInstructions() ?? '';
    assert.match(instructions, said);
    assert.doesNotMatch(instructions, /No MCP server serves here/);
  });
});
