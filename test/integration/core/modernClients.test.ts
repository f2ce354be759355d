/**
 * Clients of SDK 2.x, which try 2026-07-28 first, with shared and with leased toolsets (X8).
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { fixture } from '../../support/core/configText.js';
import { ModernClient } from '../../support/core/modernClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const shared = { 'truely-stateless': true };
const version = '2026-07-28';

async function connect(stage: Stage, toolset: string): Promise<Client> {
  const { url, headers } = (await stage.gateway()).endpoint(toolset, 'agent');
  const client = new Client(
    { name: 'modern', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } }),
  );
  stage.onDispose(() => client.close());
  return client;
}

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** Posts a request unchanged. */
async function post(
  stage: Stage,
  toolset: string,
  headers: Record<string, string>,
  body: object,
): Promise<Reply> {
  const { url, headers: own } = (await stage.gateway()).endpoint(toolset, 'agent');
  return await new Promise((resolve, reject) => {
    const all = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...own,
      ...headers,
    };
    const sent = request(url, { method: 'POST', headers: all, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }));
  });
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const says = (method: string, name?: string): Record<string, string> => ({
  'mcp-protocol-version': version,
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});

describe('clients of the modern era (X8)', function () {
  this.timeout(60_000);
  let stage: Stage;
  beforeEach(async () => (stage = await startStage()));
  afterEach(endStages);

  for (const [era, server] of [
    ['legacy', 'features'],
    ['modern', 'modern'],
  ] as const) {
    it(`Modern clients use a shared server of the ${era} era without a session`, async () => {
      await stage.edit({ s: fixture(server, [], { ...shared, transform: [{ prefix: 'my_' }] }) });
      const client = await connect(stage, 's');
      assert.equal(client.getProtocolEra(), 'modern');
      assert.equal(client.getServerVersion()?.name, 's');
      const { tools } = await client.listTools();
      assert(tools.some(({ name }) => name === 'my_pid'));
      const pid = await client.callTool({ name: 'my_pid', arguments: {} });
      assert.equal(pid.content[0]?.type, 'text');
      const [offered] = (await client.listPrompts()).prompts;
      const prompt = await client.getPrompt({
        name: offered?.name ?? '',
        arguments: { name: 'Ada' },
      });
      assert.match(JSON.stringify(prompt.messages), /Ada/);
      const { contents } = await client.readResource({ uri: 'note://one' });
      assert.equal(contents.length, 1);
      await assert.rejects(
        client.callTool({ name: 'nothing', arguments: {} }),
        /has no tool "nothing"/,
      );
      assert.equal(stage.instances('s').length, 1);
    });
  }

  it('Modern clients receive progress and tool errors, and cancel by closing the stream', async () => {
    await stage.edit({ s: fixture('modern', [], shared) });
    const client = await connect(stage, 's');
    const steps: unknown[] = [];
    const onprogress = ({ message }: { message?: string | undefined }): void =>
      void steps.push(message);
    await client.callTool({ name: 'steps', arguments: { count: 2 } }, { onprogress });
    assert.deepEqual(steps, ['step 1', 'step 2']);
    const stop = new AbortController();
    const held = client.callTool(
      { name: 'hold', arguments: {} },
      { signal: stop.signal, onprogress: () => stop.abort('enough') },
    );
    await assert.rejects(held);
    for (let count = '0'; count !== '1';) {
      const [content] = (await client.callTool({ name: 'cancelled', arguments: {} })).content;
      count = content?.type === 'text' ? content.text : '';
    }
    const failed = await client.callTool({ name: 'fails', arguments: {} });
    assert.deepEqual(
      [failed.isError, failed.content],
      [true, [{ type: 'text', text: 'it failed' }]],
    );
  });

  it('Modern clients may send notifications', async () => {
    await stage.edit({ s: fixture('modern', [], shared) });
    const client = await connect(stage, 's');
    await client.notification({
      method: 'notifications/progress',
      params: { progressToken: 1, progress: 1 },
    });
  });

  it('Modern clients receive changes of lists and resources on their own stream', async () => {
    await stage.edit({ s: fixture('modern', [], shared) });
    const client = await connect(stage, 's');
    const heard: string[] = [];
    let wake: () => void = () => {};
    const until = async (what: string): Promise<void> => {
      while (!heard.includes(what)) await new Promise<void>((resolve) => (wake = resolve));
    };
    const hear = (what: string): void => {
      heard.push(what);
      wake();
    };
    client.setNotificationHandler('notifications/tools/list_changed', () => hear('tools'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
      hear(params.uri),
    );
    const subscription = await client.listen({
      toolsListChanged: true,
      resourceSubscriptions: ['note://one'],
    });
    await client.callTool({ name: 'add', arguments: { name: 'another' } });
    await until('tools');
    assert((await client.listTools()).tools.some(({ name }) => name === 'another'));
    await client.callTool({ name: 'touch', arguments: { uri: 'note://one' } });
    await until('note://one');
    heard.length = 0;
    await stage.edit({ s: fixture('modern', [], { ...shared, tools: { whitelist: ['echo'] } }) });
    await until('tools');
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['echo'],
    );
    await subscription.close();
  });

  it('Modern clients may cache a read as long as the server says, but no list and no read of a leased instance', async () => {
    await stage.edit({
      s: fixture('modern', ['--ttl', '5000'], shared),
      leased: fixture('modern'),
    });
    const hints = async (client: ModernClient, method: string, params = {}): Promise<unknown[]> => {
      const { result } = await client.request(method, params);
      return [result?.['ttlMs'], result?.['cacheScope']];
    };
    const one = { uri: 'note://one' };
    const client = await ModernClient.open(stage, 's');
    assert.deepEqual(await hints(client, 'resources/read', one), [5000, 'public']);
    const own = await ModernClient.open(stage, 'leased', {
      address: randomBytes(16).toString('base64url'),
    });
    assert.deepEqual(await hints(own, 'resources/read', one), [0, 'private']);
    for (const what of [
      'server/discover',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
    ]) {
      assert.deepEqual(await hints(client, what), [0, 'private'], what);
    }
  });

  it('Listing again shows a change at a server that only limits the age of its lists', async () => {
    const renamed = { ...shared, transform: [{ prefix: 'my_' }] };
    await stage.edit({
      s: fixture('modern', ['--ttl', '1'], shared),
      t: fixture('modern', ['--ttl', '3600000'], renamed),
    });
    const hasAnother = async (client: ModernClient): Promise<boolean> =>
      JSON.stringify((await client.request('tools/list')).result).includes('another"');
    const [soon, late] = [await ModernClient.open(stage, 's'), await ModernClient.open(stage, 't')];
    await soon.text('add', { name: 'another' });
    await late.text('my_add', { name: 'another' });
    while (!(await hasAnother(soon)));
    assert.equal(await hasAnother(late), false);
    assert.equal(await late.text('my_lists'), '1', 'a list that is fresh is not asked for');
  });

  it('Modern clients use the legacy era if each conversation has its own instance, and keep that instance (G3)', async () => {
    await stage.edit({ s: fixture('modern') });
    const [one, two] = [await connect(stage, 's'), await connect(stage, 's')];
    assert.deepEqual([one.getProtocolEra(), two.getProtocolEra()], ['legacy', 'legacy']);
    const pid = async (client: Client): Promise<string> =>
      JSON.stringify((await client.callTool({ name: 'pid', arguments: {} })).content[0]);
    const pids = [await pid(one), await pid(two), await pid(one)];
    assert.notEqual(pids[0], pids[1]);
    const body = { method: 'tools/call', params: { name: 'pid', arguments: {}, _meta: meta } };
    const refused = await post(stage, 's', says('tools/call', 'pid'), body);
    assert.equal(refused.status, 400);
    assert.match(refused.body, /begin a session with `initialize`/);
    assert.equal(stage.instances('s').length, 2);
  });

  it('A modern request with contradicting headers, missing fields or another version is refused', async () => {
    await stage.edit({ s: fixture('raw', [], shared) });
    const params = { name: 'echo', arguments: {}, _meta: meta };
    const call = { method: 'tools/call', params };
    const codeOf = async (
      headers: Record<string, string>,
      body: object,
      toolset = 's',
    ): Promise<[number, number]> => {
      const { status, body: text } = await post(stage, toolset, headers, body);
      const [json = ''] = /\{.*\}/s.exec(text) ?? [];
      return [status, (JSON.parse(json) as { error: { code: number } }).error.code];
    };
    assert.deepEqual(await codeOf(says('tools/call', 'other'), call), [400, -32020]);
    assert.deepEqual(await codeOf(says('tools/list', 'echo'), call), [400, -32020]);
    assert.deepEqual(await codeOf(says('tools/call'), call), [400, -32020]);
    assert.deepEqual(await codeOf({}, call), [400, -32020]);
    assert.deepEqual(
      await codeOf(says('tools/call', 'echo'), { ...call, params: { ...params, _meta: {} } }),
      [400, -32602],
    );
    for (const [method, toolset] of [
      ['ping', 's'],
      ['initialize', 's'],
      ['prompts/list', 'mcp_admin'],
    ] as const)
      assert.deepEqual(
        await codeOf(says(method), { method, params: { _meta: meta } }, toolset),
        [404, -32601],
      );
    await stage.edit({ s: fixture('modern', [], { ...shared, transform: [{ prefix: 'my_' }] }) });
    const region = {
      ...call,
      params: { ...params, name: 'my_region', arguments: { region: 'north' } },
    };
    const said = says('tools/call', 'my_region');
    assert.deepEqual(await codeOf(said, region), [400, -32020]);
    assert.deepEqual(await codeOf({ ...said, 'mcp-param-region': 'south' }, region), [400, -32020]);
    const { body } = await post(stage, 's', { ...said, 'mcp-param-region': 'north' }, region);
    assert.match(body, /"resultType":"complete"/);
    const asked = {
      ...call,
      params: { ...params, name: 'my_elicit', arguments: { message: 'Who?' } },
    };
    assert.deepEqual(await codeOf(says('tools/call', 'my_elicit'), asked), [400, -32021]);
    const later = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' };
    assert.deepEqual(
      await codeOf(
        { ...says('tools/list'), 'mcp-protocol-version': '2031-01-01' },
        { method: 'tools/list', params: { _meta: later } },
      ),
      [400, -32022],
    );
  });
});
