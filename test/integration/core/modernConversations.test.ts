/** A request of the modern era has no session, yet always belongs to its own conversation (G3, L1). */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { everyToolset } from '../../../src/core/gateway/backend.js';
import { fixture, http, rawWith } from '../../support/core/configText.js';
import { handleIn, ModernClient, modernAlone, textIn } from '../../support/core/modernClient.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const address = (): string => randomBytes(16).toString('base64url');
const codex = 'codex-mcp-client';

describe('conversations of the modern era (G3)', function () {
  this.timeout(180_000);
  let stage: Stage;
  beforeEach(async () => (stage = await startStage({ maxInstances: 200 })));
  afterEach(endStages);

  it('A client of both eras uses sessions, and each session has its own instance', async () => {
    await stage.edit({ s: rawWith(['count', 'pid']) });
    const { url, headers } = (await stage.gateway()).endpoint('s', 'plain');
    const connect = async (): Promise<Client> => {
      const client = new Client({ name: 'both', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } });
      await client.connect(transport);
      stage.onDispose(() => client.close());
      return client;
    };
    // The gateway refuses both before either has a session.
    const [one, two] = await Promise.all([connect(), connect()]);
    assert.deepEqual([one.getProtocolEra(), two.getProtocolEra()], ['legacy', 'legacy']);
    const pids = await Promise.all([one, two].map((client) => client.callTool({ name: 'pid', arguments: {} })));
    assert.notDeepEqual(pids[0]?.content[0], pids[1]?.content[0]);
  });

  it('A client at its own address keeps its instance and releases it there', async () => {
    await stage.edit({ s: fixture('raw', [], { transform: [{ prefix: 'my_' }] }) });
    const [one, two] = [address(), address()];
    const first = await ModernClient.open(stage, 's', { address: one });
    const second = await ModernClient.open(stage, 's', { address: two });
    assert.equal((await first.request('server/discover')).status, 200);
    assert.equal(await first.text('my_count'), '1');
    assert.equal(await second.text('my_count'), '1');
    assert.equal(await first.text('my_count'), '2');
    const again = await ModernClient.open(stage, 's', { address: one, name: 'another program of the conversation' });
    assert.equal(await again.text('my_count'), '3');
    const schema = JSON.stringify((await first.request('tools/list')).result);
    assert.doesNotMatch(schema, /mcp_toolsets_conversation/);
    await first.call('mcp_release_s');
    assert.equal(await first.text('my_count'), '1');
    const before = stage.instances('s').length;
    assert.equal((await second.send('DELETE')).statusCode, 204);
    await stage.until(() => stage.instances('s').length === before - 1, 'the end of its instance');
    assert.equal(await second.text('my_count'), '1');
    assert.equal(await first.text('my_count'), '2');
  });

  it('A legacy session at such an address is a session with a separate instance', async () => {
    await stage.edit({ s: rawWith(['count']) });
    const own = address();
    const modern = await ModernClient.open(stage, 's', { address: own });
    assert.equal(await modern.text('count'), '1');
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize };
    const begun = await modern.send('POST', {}, JSON.stringify(body));
    const session = String(begun.headers['mcp-session-id']);
    begun.resume();
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'count', arguments: {} } };
    const answer = await modern.send('POST', { 'mcp-session-id': session }, JSON.stringify(call));
    const [text = ''] = (await answer.setEncoding('utf8').toArray()) as string[];
    assert.match(text, /"text":"1"/);
    assert.equal(await modern.text('count'), '2');
  });

  it('Each Codex thread has its own instance in both eras, also within one session', async () => {
    await stage.edit({ s: rawWith(['count']) });
    const [one, two] = [randomUUID(), randomUUID()];
    const client = await ModernClient.open(stage, 's', { name: codex });
    assert.equal((await client.request('server/discover')).status, 200);
    const count = (threadId: string): Promise<string> => client.text('count', {}, { meta: { threadId } });
    assert.deepEqual([await count(one), await count(two), await count(one)], ['1', '1', '2']);
    const unnamed = await client.call('count');
    assert.match(unnamed.error?.message ?? '', /does not say which conversation/);
    const short = await client.call('count', {}, { meta: { threadId: '1' } });
    assert.match(short.error?.message ?? '', /does not say which conversation/);
    const session = await SessionClient.open(stage, 's', { name: codex });
    const inSession = async (threadId?: string): Promise<string> => {
      const params = { name: 'count', arguments: {}, ...(threadId && { _meta: { threadId } }) };
      const result = await session.client.request({ method: 'tools/call', params }, CallToolResultSchema);
      const [part] = result.content;
      return part?.type === 'text' ? part.text : '';
    };
    assert.deepEqual([await inSession(one), await inSession(), await inSession(two)], ['1', '2', '1']);
    assert.deepEqual([await inSession(one), await inSession(two)], ['3', '2']);
    await assert.rejects(inSession(), /does not say which one/);
    const before = stage.instances('s').length;
    await session.close();
    await stage.until(() => stage.instances('s').length === before - 2, 'the end of both');
    assert.deepEqual([await count(one), await count(two)], ['3', '2']);
  });

  it('A conversation name belongs to one program only', async () => {
    await stage.edit({ s: rawWith(['count']) });
    const threadId = randomUUID();
    const codexClient = await ModernClient.open(stage, 's', { name: codex });
    assert.equal(await codexClient.text('count', {}, { meta: { threadId } }), '1');
    const other = await modernAlone(stage, 's');
    const meta = { threadId, 'vscode.conversationId': `mcp-named:${codex}:${threadId}` };
    assert.equal((await other.call('count', {}, { meta })).result?.['isError'], true);
    assert.equal(await codexClient.text('count', {}, { meta: { threadId } }), '2');
  });

  it('A client of the modern era passes the handle from the first answer', async () => {
    await stage.edit({ s: rawWith(['count', 'echo']) });
    const client = await ModernClient.open(stage, 's', { name: 'modern alone' });
    assert.deepEqual(
      [(await client.request('server/discover')).status, (await client.call('count')).status],
      [400, 400],
      'it may speak the legacy era',
    );
    const alone = await modernAlone(stage, 's', 'modern alone');
    const instructions = String((await alone.request('server/discover')).result?.['instructions']);
    assert.match(instructions, /mcp_toolsets_conversation/);
    const listed = (await alone.request('tools/list')).result?.['tools'] as { inputSchema: object }[];
    for (const { inputSchema } of listed) assert.match(JSON.stringify(inputSchema), /"mcp_toolsets_conversation"/);
    const started = stage.instances('s').map(({ use }) => use.kind);
    const first = await alone.call('count');
    assert.deepEqual([first.status, first.result?.['isError']], [200, true]);
    assert.deepEqual(
      stage.instances('s').map(({ use }) => use.kind),
      started,
      'nothing was called',
    );
    const one = handleIn(first);
    const two = handleIn(await alone.call('count'));
    assert.notDeepEqual(one, two);
    assert.deepEqual(
      [await alone.text('count', one), await alone.text('count', two), await alone.text('count', one)],
      ['1', '1', '2'],
    );
    assert.equal(await alone.text('echo', { text: 'as it was', ...one }), 'as it was');
    const [[argument = '', handle = ''] = []] = Object.entries(one);
    for (const wrong of [`${handle.slice(0, -1)}${handle.endsWith('A') ? 'B' : 'A'}`, 'x', 5, null, { handle }]) {
      const answer = await alone.call('count', { [argument]: wrong });
      assert.match(textIn(answer), /is not a handle that MCP Toolsets gave out/, JSON.stringify(wrong));
    }
    assert.equal(await alone.text('count', one), '3');
  });

  it('A handle in `_meta` is valid, also for requests without arguments', async () => {
    await stage.edit({ s: fixture('features') });
    const alone = await modernAlone(stage, 's');
    const [[, handle = ''] = []] = Object.entries(handleIn(await alone.call('pid')));
    const meta = { 'mcp-toolsets/conversation': handle };
    const pid = await alone.text('pid', {}, { meta });
    const link = { uri: `link://${pid}` };
    const read = await alone.request('resources/read', link, { meta });
    assert.match(JSON.stringify(read.result), new RegExp(pid));
    const received = await alone.text('received', {}, { meta: { ...meta, 'example.com/key': { of: 'theirs' } } });
    assert.match(received, /"example\.com\/key":\{"of":"theirs"\}/);
    assert.doesNotMatch(received, /mcp-toolsets\/conversation/, 'ours is not passed on');
  });

  it('A read without a conversation uses an unleased instance, and a link is read from the instance that made it', async () => {
    await stage.edit({ s: fixture('features', ['--rich']) });
    const alone = await modernAlone(stage, 's');
    const handles = [handleIn(await alone.call('pid')), handleIn(await alone.call('pid'))] as const;
    const pids = [await alone.text('pid', handles[0]), await alone.text('pid', handles[1])];
    const read = async (uri: string): Promise<string> => JSON.stringify(await alone.request('resources/read', { uri }));
    assert.match(await read('note://one'), /"contents"/);
    const prompt = await alone.request('prompts/get', { name: 'greet', arguments: { name: 'Ada' } });
    assert.match(JSON.stringify(prompt.result), /Ada/);
    const ref = { type: 'ref/prompt', name: 'greet' };
    const completed = await alone.request('completion/complete', { ref, argument: { name: 'name', value: 'A' } });
    assert.match(JSON.stringify(completed.result), /"values":\["/);
    for (const [index, handle] of handles.entries()) {
      await alone.call('link', handle);
      assert.match(await read(`link://${pids[index]}`), new RegExp(`${pids[index]}`));
    }
    assert.match(await read('link://1'), /not found/);
    const held = stage.instances('s').flatMap(({ use, pid }) => (use.kind === 'leased' ? [String(pid)] : []));
    assert.deepEqual(held.sort(), [...pids].sort(), 'nothing was leased for that');
    for (const handle of handles) await alone.call('contents', handle);
    assert.match(await read('note://one'), /does not say which conversation/, 'both were given it');
  });

  it('A conversation by handle is asked to pass the handle when it releases its instance', async () => {
    await stage.edit({ s: rawWith(['count']) });
    const alone = await modernAlone(stage, 's');
    const instructions = String((await alone.request('server/discover')).result?.['instructions']);
    assert.doesNotMatch(instructions, /no arguments/);
    const handle = handleIn(await alone.call('count'));
    const first = JSON.stringify((await alone.call('count', handle)).result);
    const [[argument = '', value = ''] = []] = Object.entries(handle);
    assert(
      first.includes(JSON.stringify(`ends in "mcp_release_s" with {"${argument}":"${value}"} when`).slice(1, -1)),
      first,
    );
    await alone.text('mcp_release_s', handle);
    const again = JSON.stringify((await alone.call('count', { ...handle })).result);
    assert.match(again, /"text":"1"/);
    const inMeta = await alone.call('count', {}, { meta: { 'mcp-toolsets/conversation': value } });
    assert.doesNotMatch(JSON.stringify(inMeta.result), /no arguments/);
  });

  it('A handle is valid for all toolsets at once, and `mcp_admin` ends an instance of its conversation', async () => {
    const { url } = await stage.http('http');
    await stage.edit({ s: http(url) });
    const alone = await modernAlone(stage, everyToolset);
    const handle = handleIn(await alone.call('remember', { text: 'x' }));
    assert.equal(await alone.text('remember', { text: 'x', ...handle }), 'x');
    assert.match(await alone.text('mcp_release', { serverId: 's', ...handle }), /ended/i);
    assert.equal(await alone.text('remember', { text: 'y', ...handle }), 'y');
  });

  it('Each conversation receives changes and updates of its instance only', async () => {
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
        .request('subscriptions/listen', { notifications }, { onTold, signal: stop.signal, isLong: true })
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
    // The server gets the subscription asynchronously and may not know it yet.
    for (let updated = false; !updated; updated = one.told.includes('note://one')) {
      await one.client.text('touch', { uri: 'note://one' });
    }
    await two.client.text('pid');
    assert.deepEqual(two.told, ['notifications/subscriptions/acknowledged']);
  });

  it('A program with its own address may pause for a while', async () => {
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

  it('A hundred concurrent conversations never see a value of another', async () => {
    const { url } = await stage.http('http');
    await stage.edit({ s: http(url, { timeouts: { connect: '60s' } }) });
    const alone = await modernAlone(stage, 's');
    const byThread = await ModernClient.open(stage, 's', { name: codex });
    type Say = (text: string) => Promise<string>;
    const conversations = await Promise.all(
      Array.from({ length: 100 }, async (_, index): Promise<Say> => {
        if (index % 3 === 0) {
          const client = await ModernClient.open(stage, 's', { address: address() });
          return (text) => client.text('remember', { text });
        }
        if (index % 3 === 1) {
          const threadId = randomUUID();
          return (text) => byThread.text('remember', { text }, { meta: { threadId } });
        }
        const handle = handleIn(await alone.call('remember', { text: 'nothing yet' }));
        return (text) => alone.text('remember', { text, ...handle });
      }),
    );
    const oracle = conversations.map((): string[] => []);
    const seed = Number(process.env['SEED'] ?? randomBytes(4).readUInt32LE());
    console.log(`      seed ${seed}`);
    const order = shuffled(
      conversations.flatMap((_, index) => [index, index, index]),
      seed,
    );
    /** Calls of one conversation run in sequence, and conversations run in parallel. */
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
