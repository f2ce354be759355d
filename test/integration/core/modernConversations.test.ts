/** The conversation of a modern request without a session (G3, G3d): never another one. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { everyToolset } from '../../../src/core/gateway/routes.js';
import { fixture, http, rawWith } from '../../support/core/configText.js';
import { ModernClient } from '../../support/core/modernClient.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const address = (): string => randomBytes(16).toString('base64url');
const codex = 'codex-mcp-client';

describe('modern conversations (G3)', function () {
  this.timeout(180_000);
  let stage: Stage;
  beforeEach(async () => (stage = await startStage({ maxInstances: 200 })));
  afterEach(endStages);

  it('a client of both eras takes sessions, and each has its own instance', async () => {
    await stage.edit({ s: rawWith(['count', 'pid']) });
    const { url, headers } = (await stage.gateway()).endpoint('s', 'agent');
    const connect = async (): Promise<Client> => {
      const client = new Client(
        { name: 'both', version: '1' },
        { versionNegotiation: { mode: 'auto' } },
      );
      const transport = new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: { ...headers } },
      });
      await client.connect(transport);
      stage.onDispose(() => client.close());
      return client;
    };
    // Both are refused before one has begun a session.
    const [one, two] = await Promise.all([connect(), connect()]);
    assert.deepEqual([one.getProtocolEra(), two.getProtocolEra()], ['legacy', 'legacy']);
    const pids = await Promise.all(
      [one, two].map((client) => client.callTool({ name: 'pid', arguments: {} })),
    );
    assert.notDeepEqual(pids[0]?.content[0], pids[1]?.content[0]);
  });

  it('a conversation with its own address keeps its instance, and gives it back there', async () => {
    await stage.edit({ s: fixture('raw', [], { transform: [{ prefix: 'my_' }] }) });
    const [one, two] = [address(), address()];
    const first = await ModernClient.open(stage, 's', { address: one });
    const second = await ModernClient.open(stage, 's', { address: two });
    assert.equal((await first.request('server/discover')).status, 200);
    assert.equal(await first.text('my_count'), '1');
    assert.equal(await second.text('my_count'), '1');
    assert.equal(await first.text('my_count'), '2');
    const again = await ModernClient.open(stage, 's', {
      address: one,
      name: 'another program of the conversation',
    });
    assert.equal(await again.text('my_count'), '3');
    await first.call('mcp_release_s');
    assert.equal(await first.text('my_count'), '1');
    const before = stage.instances('s').length;
    assert.equal((await second.send('DELETE')).statusCode, 204);
    await stage.until(() => stage.instances('s').length === before - 1, 'the end of its instance');
    assert.equal(await second.text('my_count'), '1');
    assert.equal(await first.text('my_count'), '2');
  });

  it('a legacy session at the address of a conversation has another instance', async () => {
    await stage.edit({ s: rawWith(['count']) });
    const own = address();
    const modern = await ModernClient.open(stage, 's', { address: own });
    assert.equal(await modern.text('count'), '1');
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'old', version: '1' },
    };
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize };
    const begun = await modern.send('POST', {}, JSON.stringify(body));
    const session = String(begun.headers['mcp-session-id']);
    begun.resume();
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'count', arguments: {} },
    };
    const answer = await modern.send('POST', { 'mcp-session-id': session }, JSON.stringify(call));
    const [text = ''] = (await answer.setEncoding('utf8').toArray()) as string[];
    assert.match(text, /"text":"1"/);
    assert.equal(await modern.text('count'), '2');
  });

  it('each thread of Codex has its own instance, in both eras and within one session', async () => {
    await stage.edit({ s: rawWith(['count']) });
    const [one, two] = [randomUUID(), randomUUID()];
    const client = await ModernClient.open(stage, 's', { name: codex });
    assert.equal((await client.request('server/discover')).status, 200);
    const count = (threadId: string): Promise<string> =>
      client.text('count', {}, { meta: { threadId } });
    assert.deepEqual([await count(one), await count(two), await count(one)], ['1', '1', '2']);
    const unnamed = await client.call('count');
    assert.match(unnamed.error?.message ?? '', /does not say which conversation/);
    const short = await client.call('count', {}, { meta: { threadId: '1' } });
    assert.match(short.error?.message ?? '', /does not say which conversation/);
    const session = await SessionClient.open(stage, 's', { name: codex });
    const inSession = async (threadId?: string): Promise<string> => {
      const params = { name: 'count', arguments: {}, ...(threadId && { _meta: { threadId } }) };
      const result = await session.client.request(
        { method: 'tools/call', params },
        CallToolResultSchema,
      );
      const [part] = result.content;
      return part?.type === 'text' ? part.text : '';
    };
    assert.deepEqual(
      [await inSession(one), await inSession(), await inSession(two)],
      ['1', '2', '1'],
    );
    assert.deepEqual([await inSession(one), await inSession(two)], ['3', '2']);
    await assert.rejects(inSession(), /does not say which one/);
    const before = stage.instances('s').length;
    await session.close();
    await stage.until(() => stage.instances('s').length === before - 2, 'the end of both');
    assert.deepEqual([await count(one), await count(two)], ['3', '2']);
  });

  it('the name of a thread counts only from Codex', async () => {
    await stage.edit({ s: rawWith(['count']) });
    const threadId = randomUUID();
    const codexClient = await ModernClient.open(stage, 's', { name: codex });
    assert.equal(await codexClient.text('count', {}, { meta: { threadId } }), '1');
    const other = await ModernClient.open(stage, 's');
    const meta = { threadId, 'vscode.conversationId': `mcp-named:${codex}:${threadId}` };
    assert.equal((await other.call('count', {}, { meta })).status, 400);
    assert.equal(await codexClient.text('count', {}, { meta: { threadId } }), '2');
  });

  it('a client without a conversation is refused, and the error says what to do (G3c)', async () => {
    await stage.edit({ s: fixture('features'), t: rawWith(['count']) });
    const started = stage.instances('s').map(({ use }) => use.kind);
    for (const toolset of ['s', everyToolset]) {
      const client = await ModernClient.open(stage, toolset);
      for (const [method, params] of [
        ['server/discover', {}],
        ['tools/list', {}],
        ['tools/call', { name: 'pid', arguments: {} }],
        ['resources/read', { uri: 'note://one' }],
        ['prompts/get', { name: 'greet', arguments: { name: 'Ada' } }],
        ['subscriptions/listen', { notifications: { toolsListChanged: true } }],
      ] as const) {
        const { status, error } = await client.request(method, params);
        assert.deepEqual([status, error?.code], [400, -32600], method);
        for (const way of [
          /`mcp-toolsets connect`/,
          /\/c\/ and 22 or more random/,
          /begin a session with `initialize`/,
        ])
          assert.match(error?.message ?? '', way, method);
      }
    }
    assert.deepEqual(
      stage.instances('s').map(({ use }) => use.kind),
      started,
      'nothing was called',
    );
  });

  it('a conversation reads a link from its own instance', async () => {
    await stage.edit({ s: fixture('features', ['--rich']) });
    const [one, two] = [
      await ModernClient.open(stage, 's', { address: address() }),
      await ModernClient.open(stage, 's', { address: address() }),
    ];
    const [first, second] = [await one.text('pid'), await two.text('pid')];
    for (const client of [one, two]) await client.call('link');
    const read = async (client: ModernClient, pid: string): Promise<string> =>
      JSON.stringify(await client.request('resources/read', { uri: `link://${pid}` }));
    assert.match(await read(one, first), new RegExp(first));
    assert.match(await read(two, second), new RegExp(second));
    assert.match(await read(one, second), /not found/);
  });

  it('a conversation with an address at all toolsets ends its instance by `mcp_admin`', async () => {
    const { url } = await stage.http('http');
    await stage.edit({ s: http(url) });
    const client = await ModernClient.open(stage, everyToolset, { address: address() });
    assert.equal(await client.text('remember', { text: 'x' }), 'x');
    assert.match(await client.text('mcp_release', { serverId: 's' }), /ended/i);
    assert.equal(await client.text('remember', { text: 'y' }), 'y');
  });

  it('each conversation gets only changes and updates of its own instance', async () => {
    await stage.edit({ s: fixture('modern') });
    const open = async (): Promise<{
      client: ModernClient;
      told: string[];
      until: (what: string) => Promise<void>;
    }> => {
      const client = await ModernClient.open(stage, 's', { address: address() });
      await client.text('pid');
      const told: string[] = [];
      let wake: () => void = () => {};
      const onTold = (method: string, params: Readonly<Record<string, unknown>>): void => {
        told.push(typeof params['uri'] === 'string' ? params['uri'] : method);
        wake();
      };
      const stop = new AbortController();
      stage.onDispose(() => Promise.resolve(stop.abort()));
      const notifications = { toolsListChanged: true, resourceSubscriptions: ['note://one'] };
      void client
        .request(
          'subscriptions/listen',
          { notifications },
          { onTold, signal: stop.signal, isLong: true },
        )
        .catch(() => {});
      const until = async (what: string): Promise<void> => {
        while (!told.includes(what)) await new Promise<void>((resolve) => (wake = resolve));
      };
      await until('notifications/subscriptions/acknowledged');
      return { client, told, until };
    };
    const [one, two] = [await open(), await open()];
    await one.client.text('add', { name: 'another' });
    await one.until('notifications/tools/list_changed');
    const names = async ({ client }: { client: ModernClient }): Promise<boolean> =>
      JSON.stringify((await client.request('tools/list')).result).includes('"another"');
    assert.deepEqual([await names(one), await names(two)], [true, false]);
    assert.equal(await one.client.text('another'), 'another');
    // The gateway subscribes in the background, so the server may not know it yet.
    for (let updated = false; !updated; updated = one.told.includes('note://one')) {
      await one.client.text('touch', { uri: 'note://one' });
    }
    await two.client.text('pid');
    assert.deepEqual(two.told, ['notifications/subscriptions/acknowledged']);
  });

  it('a conversation survives a short gap of its stream', async () => {
    await stage.edit({ s: rawWith(['count']) });
    const attended = await ModernClient.open(stage, 's', { address: address() });
    const stream = await attended.send('GET');
    assert.equal(stream.statusCode, 200);
    assert.equal(await attended.text('count'), '1');
    const closed = new Promise((resolve) => stream.on('error', () => {}).once('close', resolve));
    stream.destroy();
    await closed;
    assert.equal(await attended.text('count'), '2', 'it is waited for');
  });

  it('A hundred concurrent conversations never see a value of another (G3d)', async () => {
    const { url } = await stage.http('http');
    await stage.edit({ s: http(url, { timeouts: { connect: '60s' } }) });
    const byThread = await ModernClient.open(stage, 's', { name: codex });
    type Say = (text: string) => Promise<string>;
    const conversations = await Promise.all(
      Array.from({ length: 100 }, async (_, index): Promise<Say> => {
        if (index % 2 === 0) {
          const client = await ModernClient.open(stage, 's', { address: address() });
          return (text) => client.text('remember', { text });
        }
        const threadId = randomUUID();
        return (text) => byThread.text('remember', { text }, { meta: { threadId } });
      }),
    );
    const oracle = conversations.map((): string[] => []);
    const seed = Number(process.env['SEED'] ?? randomBytes(4).readUInt32LE());
    console.log(`      seed ${seed}`);
    const order = shuffled(
      conversations.flatMap((_, index) => [index, index, index]),
      seed,
    );
    /** The calls of one conversation follow one another, beside the calls of all others. */
    const last = conversations.map((): Promise<void> => Promise.resolve());
    for (const [step, index] of order.entries()) {
      last[index] = (last[index] ?? Promise.resolve()).then(async () => {
        const value = `v${index}-${step}`;
        oracle[index]?.push(value);
        assert.equal(await conversations[index]?.(value), oracle[index]?.join(' '));
      });
    }
    await Promise.all(last);
    assert.equal(stage.instances('s').length, 100);
  });
});

/** Shuffles with a Lehmer generator. */
function shuffled<T>(list: readonly T[], seed: number): readonly T[] {
  const copy = [...list];
  let state = (seed % 2147483646) + 1;
  for (let at = copy.length - 1; at > 0; at--) {
    state = (state * 48271) % 2147483647;
    const other = state % (at + 1);
    [copy[at], copy[other]] = [copy[other] as T, copy[at] as T];
  }
  return copy;
}
