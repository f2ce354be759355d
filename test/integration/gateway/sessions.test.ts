/**
 * Sessions of clients outside the editor (L2a, G2): before the first list of their server, and
 * after our restart.
 */
import assert from 'node:assert/strict';
import { abortSignalOf } from '../../../src/core/base/cancellation.js';
import { everyToolset } from '../../../src/core/gateway/routes.js';
import { textOutcome, turn } from '../../unit/gateway/fakes.js';
import { messagesOf, type Answer, type Json } from './rawClient.js';
import { assertRefused, startRig, type Rig } from './rig.js';

const version = { 'mcp-protocol-version': '2025-11-25' };

describe('gateway: sessions of other agents', () => {
  let rig: Rig;

  beforeEach(async () => {
    rig = await startRig();
  });

  afterEach(() => rig.dispose());

  const initialize = (capabilities: Json = {}): Json => ({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 'x', version: '1' },
    },
  });
  const toolsOf = ({ body }: Answer): string[] => {
    const [message] = messagesOf(body) as { result: { tools: { name: string }[] } }[];
    return message?.result.tools.map(({ name }) => name) ?? [];
  };

  it('initialize waits for a starting server, and then has its tools (G2e)', async () => {
    let begun = (): void => {};
    rig.backend.configured.add('late');
    rig.backend.starting = new Promise((resolve) => (begun = resolve));
    const client = rig.client('late', 'agent');
    let isAnswered = false;
    const answer = client.post(initialize()).finally(() => (isAnswered = true));
    while (rig.backend.awaited < 1) await turn();
    await turn();
    assert.equal(isAnswered, false);
    rig.backend.set('late', ['a']);
    begun();
    const { status, headers } = await answer;
    assert.equal(status, 200);
    client.session = String(headers['mcp-session-id']);
    assert.deepEqual(toolsOf(await client.post(client.request('tools/list'))), ['a']);
  });

  it('initialize waits no longer than clients do, and list_changed reports the tools', async () => {
    rig.backend.configured.add('late');
    rig.backend.starting = new Promise(() => {});
    const client = rig.client('late', 'agent');
    const answer = client.post(initialize());
    while (rig.backend.awaited < 1) await turn();
    rig.clock.advance(8_000);
    const { status, headers } = await answer;
    assert.equal(status, 200);
    client.session = String(headers['mcp-session-id']);
    assert.deepEqual(toolsOf(await client.post(client.request('tools/list'))), []);
    const stream = await client.listen();
    rig.backend.set('late', ['a']);
    rig.clock.advance(20);
    assert.equal((await stream.message())?.['method'], 'notifications/tools/list_changed');
    assert.deepEqual(toolsOf(await client.post(client.request('tools/list'))), ['a']);
    stream.close();
  });

  it('initialize of all toolsets waits for starting servers once, and not again for one that hangs (G2e)', async () => {
    let begun = (): void => {};
    rig.backend.starting = new Promise((resolve) => (begun = resolve));
    rig.backend.set(everyToolset, []);
    const first = rig.client(everyToolset, 'agent').post(initialize());
    while (rig.backend.awaited < 1) await turn();
    rig.clock.advance(8_000);
    assert.equal((await first).status, 200);
    assert.equal(
      (await rig.client(everyToolset, 'agent').post(initialize())).status,
      200,
      'at once',
    );
    begun();
    await turn();
    const { awaited } = rig.backend;
    assert.equal((await rig.client(everyToolset, 'agent').post(initialize())).status, 200);
    assert.equal(rig.backend.awaited, awaited + 1, 'it waits for the next starts');
  });

  it('a toolset outside the config file gets 404', async () => {
    assert.equal((await rig.client('nobody', 'agent').post(initialize())).status, 404);
  });

  it('a session continues after a restart under its id, with its capabilities and without its state', async () => {
    rig.backend.set('play', ['a']);
    const client = rig.client('play', 'agent');
    const { headers } = await client.post(initialize({ elicitation: {} }));
    const id = String(headers['mcp-session-id']);
    await rig.dispose();
    rig = await startRig();
    rig.backend.set('play', ['a']);
    const again = rig.client('play', 'agent');
    again.session = id;
    // Some clients send no header with the version, so the id has it too; other ids have none.
    const [unknown, calling] = [
      rig.client('play', 'agent'),
      again.post(again.request('tools/call', { name: 'a' })),
    ];
    unknown.session = '8f3c3f0e-6f63-4a3f-8b1e-0123456789ab';
    assert.equal(
      (await unknown.post(unknown.request('ping'))).status,
      404,
      'nothing is known of its version',
    );
    assert.equal((await unknown.post(unknown.request('ping'), version)).status, 200);
    const { call, answer } = await rig.backend.nextCall();
    assert.deepEqual(call.client?.capabilities, { elicitation: {} });
    const past = call.client?.past;
    assert.match(past?.kind === 'lost' ? past.why : '', /its session had ended/);
    assert.equal(call.conversation, `mcp-session:${id}`);
    answer({ kind: 'result', result: { content: [] } });
    assert.equal((await calling).status, 200);
    assert.equal((await again.send('DELETE', undefined, version)).status, 204);
    assert.equal(
      (await again.post(again.request('ping'), version)).status,
      404,
      'its client has ended it',
    );
    const editor = rig.client('play', 'editor');
    editor.session = id.replace(/^./, 'a');
    assert.equal(
      (await editor.post(editor.request('ping'), version)).status,
      404,
      'the editor begins anew',
    );
  });

  it('a call right after a restart waits for its server', async () => {
    rig.backend.set('play', ['a']);
    const client = rig.client('play', 'agent');
    await client.initialize();
    const { session } = client;
    await rig.dispose();
    rig = await startRig();
    let begun = (): void => {};
    rig.backend.configured.add('play');
    rig.backend.starting = new Promise((resolve) => (begun = resolve));
    const again = rig.client('play', 'agent');
    again.session = session;
    const stream = await again.listen();
    const calling = again.call({ name: 'a' });
    let first: Json | undefined;
    const answered = calling.message().then((message) => (first = message));
    while (rig.backend.awaited < 1 && !first) await turn();
    assert.equal(first, undefined);
    rig.backend.set('play', ['a']);
    begun();
    (await rig.backend.nextCall()).answer(textOutcome('done'));
    assert.equal((await answered)?.['method'], 'notifications/tools/list_changed');
    assert.match(JSON.stringify(await calling.message()), /done/);
    stream.close();
  });

  it('the lists of all toolsets right after a restart wait for starting servers, because some clients lose tools that go and come back (G2e)', async () => {
    rig.backend.set(everyToolset, ['a']);
    const client = rig.client(everyToolset, 'agent');
    await client.initialize();
    const { session } = client;
    await rig.dispose();
    rig = await startRig();
    let begun = (): void => {};
    rig.backend.set(everyToolset, []);
    rig.backend.starting = new Promise((resolve) => (begun = resolve));
    const again = rig.client(everyToolset, 'agent');
    again.session = session;
    const listing = again.post(again.request('tools/list'));
    let hasAnswered = false;
    void listing.then(() => (hasAnswered = true));
    while (rig.backend.awaited < 1 && !hasAnswered) await turn();
    assert.ok(!hasAnswered);
    rig.backend.set(everyToolset, ['a']);
    begun();
    assert.deepEqual(toolsOf(await listing), ['a']);
  });

  it('a gateway with time to finish frees its port at once and answers the calls in flight (G2c)', async () => {
    rig.backend.set('play', ['a']);
    const { port = 0 } = rig.gateway;
    const client = rig.client('play', 'agent');
    await client.initialize();
    const calling = client.call({ name: 'a' });
    const { call, answer } = await rig.backend.nextCall();
    const ended = rig.gateway.dispose(1_000);
    await assertRefused(port);
    assert.equal(call.signal.aborted, false);
    answer({ kind: 'result', result: { content: [] } });
    assert.ok(await calling.message());
    await ended;
  });

  it('a window that ends cancels a call that takes longer than its time to finish (G2c)', async () => {
    rig.backend.set('play', ['a']);
    const client = rig.client('play', 'agent');
    await client.initialize();
    client.call({ name: 'a' });
    const { call } = await rig.backend.nextCall();
    const ended = rig.gateway.dispose(1_000);
    await rig.clock.untilScheduled(1_000);
    rig.clock.advance(1_000);
    await ended;
    assert.equal(call.signal.aborted, true);
  });

  it('a client that waited for a call counts as present at its end, also without a stream (L2a)', async () => {
    rig.backend.set('play', ['a']);
    const client = rig.client('play', 'agent');
    await client.initialize();
    const stream = await client.listen();
    const closed = rig.socketClosed();
    stream.close();
    await closed;
    await turn();
    const calling = client.call({ name: 'a' });
    const { answer } = await rig.backend.nextCall();
    rig.clock.advance(45_000);
    rig.clock.advance(44_999);
    answer({ kind: 'result', result: { content: [] } });
    assert.ok(await calling.message());
    rig.clock.advance(44_998);
    assert.equal(rig.gateway.activityOf('play').sessions, 1, 'it may be about to go on');
    rig.clock.advance(45_000);
    assert.equal(rig.gateway.activityOf('play').sessions, 0);
  });

  it('a question is withdrawn before the cancellation of its call is accepted, because clients then stop reading', async () => {
    rig.backend.set('play', ['a']);
    const client = rig.client('play', 'agent');
    await client.initialize('2025-11-25', { roots: {} });
    const calling = client.call({ name: 'a' }, 7);
    const { call } = await rig.backend.nextCall();
    const asked =
      call.client?.ask('roots/list', undefined, abortSignalOf(call.signal)) ?? Promise.resolve();
    const refused = assert.rejects(asked, /withdrawn/);
    const { id } = (await calling.message()) ?? {};
    const order: unknown[] = [];
    void calling.message().then((message) => order.push(message?.['params']));
    await client.notify('notifications/cancelled', { requestId: 7 });
    order.push('accepted');
    assert.deepEqual(order, [{ requestId: id }, 'accepted']);
    await refused;
  });

  describe('in protocol 2026-07-28, which has none', () => {
    const modern = { 'mcp-protocol-version': '2026-07-28' };
    const notification = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 1, progress: 1 },
    };
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };

    beforeEach(() => rig.backend.set('play', ['a']));

    it('a notification is accepted, with the version in the header or in the body', async () => {
      const client = rig.client('play', 'agent');
      const inBody = { ...notification, params: { ...notification.params, _meta: meta } };
      for (const { status, body } of [
        await client.post(notification, modern),
        await client.post(inBody),
      ]) {
        assert.deepEqual([status, body], [202, '']);
      }
    });

    it('GET and DELETE get 405', async () => {
      const client = rig.client('play', 'agent');
      for (const method of ['GET', 'DELETE']) {
        const { status, headers } = await client.send(method, undefined, modern);
        assert.deepEqual([status, headers.allow], [405, 'POST']);
      }
    });

    for (const [name, body, code, id, why] of [
      ['no JSON', '{"jsonrpc":"2.0",', -32700, null, /not JSON/],
      [
        'params that are a list',
        '{"jsonrpc":"2.0","id":4,"method":"tools/list","params":[1]}',
        -32600,
        4,
        /`params`/,
      ],
      [
        'a method that is no text',
        '{"jsonrpc":"2.0","id":"a","method":5}',
        -32600,
        'a',
        /`method`/,
      ],
      ['a batch', JSON.stringify([notification]), -32600, null, /Batches are not supported/],
      ['an empty batch', '[]', -32600, null, /Batches are not supported/],
      [
        'a response',
        '{"jsonrpc":"2.0","id":4,"result":{}}',
        -32600,
        null,
        /Responses cannot be posted/,
      ],
    ] as const) {
      it(`a POST with ${name} is refused with 400 and the reason`, async () => {
        const answer = await rig.client('play', 'agent').send('POST', body, modern);
        const message = JSON.parse(answer.body) as {
          id: unknown;
          error: { code: number; message: string };
        };
        assert.deepEqual([answer.status, message.id, message.error.code], [400, id, code]);
        assert.match(message.error.message, why);
      });
    }
  });
});
