import assert from 'node:assert/strict';
import { nextEvent, untilAborted } from '../../../src/core/base/events.js';
import { textOutcome } from '../../unit/gateway/fakes.js';
import { messagesOf, type Json, type RawClient } from './rawClient.js';
import { startRig, type Rig } from './rig.js';

const listChanged = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

describe('gateway: a client like the editor', () => {
  let rig: Rig;
  let client: RawClient;

  beforeEach(async () => {
    rig = await startRig();
    rig.backend.set('play', ['click', 'type'], { serverName: 'play', instructions: 'Play.' });
    client = rig.client();
  });

  afterEach(() => rig.dispose());

  async function toolNames(from = client): Promise<string[]> {
    const { tools } = (await from.ask('tools/list'))['result'] as { tools: { name: string }[] };
    return tools.map(({ name }) => name);
  }

  it('the editor may connect in its order: GET at once, setLevel before initialized, in parallel', async () => {
    assert.deepEqual(await client.initialize(), {
      jsonrpc: '2.0',
      id: 1,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true }, logging: {} },
        serverInfo: { name: 'play', version: '1.2.3' },
        instructions: 'Play.',
      },
    });
    const [stream, level, initialized, names] = await Promise.all([
      client.listen(),
      client.ask('logging/setLevel', { level: 'info' }),
      client.notify('notifications/initialized'),
      toolNames(),
    ]);
    assert.equal(stream.head.statusCode, 200);
    assert.equal(stream.head.headers['content-type'], 'text/event-stream');
    assert.deepEqual(level['result'], {});
    assert.deepEqual([initialized.status, initialized.body], [202, '']);
    assert.deepEqual(names, ['click', 'type']);
    assert.deepEqual(rig.gateway.activityOf('play', 'editor'), {
      sessions: 1,
      listed: 1,
      callsInFlight: 0,
    });
    assert.equal(rig.gateway.activityOf('play', 'agent').sessions, 0);
  });

  it('the gateway reports at once that the editor has connected and listed', async () => {
    const listed = nextEvent(
      rig.gateway.onDidChangeActivity,
      () => rig.gateway.activityOf('play').listed === 1,
    );
    await client.initialize();
    void toolNames();
    assert.equal(await listed, 'play');
  });

  it('a session without its stream does not count as listed, until the editor listens again', async () => {
    await client.initialize();
    const stream = await client.listen();
    await toolNames();
    const closed = rig.socketClosed();
    stream.close();
    await closed;
    assert.deepEqual(rig.gateway.activityOf('play'), { sessions: 1, listed: 0, callsInFlight: 0 });
    await client.listen();
    assert.equal(rig.gateway.activityOf('play').listed, 1);
  });

  for (const [asked, answered] of [
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2031-01-01', '2025-11-25'],
  ] as const) {
    it(`the answer to version ${asked} is ${answered}`, async () => {
      const { result } = (await client.initialize(asked)) as { result: Json };
      assert.equal(result['protocolVersion'], answered);
      assert.deepEqual(await toolNames(), ['click', 'type']);
    });
  }

  it('a malformed initialize gets an error and begins no session', async () => {
    const answer = await client.post(client.request('initialize', {}));
    assert.equal(answer.status, 200);
    assert.equal((messagesOf(answer.body)[0]?.['error'] as Json)['code'], -32602);
    assert.equal(rig.gateway.activityOf('play').sessions, 0);
  });

  it('the editor initialises again after 404, although it still sends the old session', async () => {
    client.session = 'of-yesterday';
    const refused = await client.post(client.request('tools/list'));
    assert.equal(refused.status, 404);
    const params = { protocolVersion: '2025-11-25', capabilities: {} };
    const answer = await client.post(client.request('initialize', params), {
      'mcp-session-id': 'of-yesterday',
    });
    assert.equal(answer.status, 200);
    assert.notEqual(answer.headers['mcp-session-id'], 'of-yesterday');
  });

  describe('a call', () => {
    beforeEach(() => client.initialize());

    it('a call is answered on its stream', async () => {
      const stream = client.call({ name: 'click', arguments: { x: 1 } }, 'c1');
      const { call, answer } = await rig.backend.nextCall();
      assert.deepEqual(
        [call.tool, call.arguments, call.policy.road],
        ['click', { x: 1 }, 'editor'],
      );
      answer(textOutcome('clicked'));
      assert.deepEqual(await stream.message(), {
        jsonrpc: '2.0',
        id: 'c1',
        result: { content: [{ type: 'text', text: 'clicked' }] },
      });
      assert.equal(await stream.message(), undefined);
    });

    it('a call of any length is kept alive every 15 s', async () => {
      const stream = client.call({ name: 'click' });
      const { answer } = await rig.backend.nextCall();
      rig.clock.advance(2_000);
      for (let n = 0; n < 40; n++) {
        rig.clock.advance(15_000);
        assert.equal(await stream.frame(), ': keep-alive');
      }
      answer(textOutcome('ten minutes later'));
      assert.match((await stream.frame()) ?? '', /ten minutes later/);
    });

    it('a call reports progress at once', async () => {
      const stream = client.call({
        name: 'click',
        _meta: { progressToken: 'p', 'vscode.conversationId': 'c' },
      });
      const { call, answer } = await rig.backend.nextCall();
      assert.equal(call.conversation, 'c');
      call.onProgress?.({ progress: 1, total: 2, message: 'half' });
      assert.deepEqual((await stream.message())?.['params'], {
        progressToken: 'p',
        progress: 1,
        total: 2,
        message: 'half',
      });
      answer(textOutcome('done'));
      assert.ok((await stream.message())?.['result']);
    });

    it('many calls run at once, and each gets its own answer', async () => {
      const streams = Array.from({ length: 40 }, (_, n) => client.call({ name: 'click' }, `c${n}`));
      const held = await Promise.all(streams.map(() => rig.backend.nextCall()));
      assert.equal(rig.gateway.activityOf('play').callsInFlight, 40);
      for (const { answer } of held.reverse()) answer(textOutcome('ok'));
      const answers = await Promise.all(streams.map((stream) => stream.message()));
      assert.deepEqual(
        answers.map((message) => message?.['id']),
        streams.map((_, n) => `c${n}`),
      );
    });

    it('a notification cancels a call: aborted, and its stream ends without an answer', async () => {
      const stream = client.call({ name: 'click' }, 9);
      const { call } = await rig.backend.nextCall();
      const aborted = untilAborted(call.signal);
      assert.equal((await client.notify('notifications/cancelled', { requestId: 9 })).status, 202);
      await aborted;
      assert.equal(await stream.message(), undefined);
    });

    it('a closed socket does not cancel a call', async () => {
      const stream = client.call({ name: 'click' });
      const { call, answer } = await rig.backend.nextCall();
      const closed = rig.socketClosed();
      stream.close();
      await closed;
      assert.equal(call.signal.aborted, false);
      assert.equal(rig.gateway.activityOf('play').callsInFlight, 1);
      const ended = nextEvent(
        rig.gateway.onDidChangeActivity,
        () => rig.gateway.activityOf('play').callsInFlight === 0,
      );
      answer(textOutcome('for nobody'));
      await ended;
    });

    it('a call is cancelled when its session is deleted', async () => {
      const stream = client.call({ name: 'click' });
      const { call } = await rig.backend.nextCall();
      assert.equal((await client.send('DELETE')).status, 204);
      assert.equal(call.signal.aborted, true);
      assert.equal(await stream.message(), undefined);
      assert.equal((await client.post(client.request('ping'))).status, 404);
      assert.equal((await client.send('DELETE')).status, 404);
    });

    it('a call is cancelled when the gateway ends, and its client gets an answer (X4)', async () => {
      const stream = client.call({ name: 'click' });
      const { call } = await rig.backend.nextCall();
      await rig.gateway.dispose();
      assert.equal(call.signal.aborted, true);
      const { error } = (await stream.message()) as { error: { message: string } };
      assert.match(
        error.message,
        /^Error: result unknown\. The call of "click" .* not sent again\.$/,
      );
    });
  });

  describe('list_changed', () => {
    beforeEach(() => client.initialize());

    it('list_changed comes on the listening stream, once for a burst', async () => {
      const stream = await client.listen();
      await toolNames();
      for (const name of ['a', 'b', 'c']) rig.backend.set('play', [name]);
      rig.clock.advance(20);
      assert.deepEqual(await stream.message(), listChanged);
      assert.deepEqual(await toolNames(), ['c']);
      rig.backend.set('play', ['d']);
      rig.clock.advance(20);
      assert.deepEqual(await stream.message(), listChanged, 'the next one is of the next change');
    });

    it('list_changed comes when the stream opens again after a change', async () => {
      const first = await client.listen();
      await toolNames();
      const closed = rig.socketClosed();
      first.close();
      await closed;
      rig.backend.set('play', ['new']);
      rig.clock.advance(20);
      const second = await client.listen();
      assert.deepEqual(await second.message(), listChanged);
    });

    it('list_changed comes on the stream of a running call before its result', async () => {
      await toolNames();
      const stream = client.call({ name: 'click' }, 5);
      const { answer } = await rig.backend.nextCall();
      rig.backend.set('play', ['click', 'new']);
      answer(textOutcome('there is a new tool'));
      assert.deepEqual(await stream.message(), listChanged);
      assert.equal((await stream.message())?.['id'], 5);
      rig.clock.advance(20);
    });

    it('the sessions of a removed toolset have an empty list, and its calls finish (R4)', async () => {
      const listening = await client.listen();
      const stream = client.call({ name: 'click' }, 5);
      const { call, answer } = await rig.backend.nextCall();
      rig.backend.remove('play');
      rig.clock.advance(20);
      assert.deepEqual(await listening.message(), listChanged);
      assert.deepEqual(await toolNames(), []);
      assert.equal(
        ((await client.ask('tools/call', { name: 'click' }))['error'] as Json)['code'],
        -32602,
      );
      assert.equal((await client.send('DELETE')).status, 204);
      assert.equal(call.signal.aborted, false);
      answer(textOutcome('finished'));
      assert.match(JSON.stringify(await stream.message()), /finished/);
      const again = await client.post(
        client.request('initialize', { protocolVersion: '2025-11-25' }),
      );
      assert.equal(again.status, 404);
    });

    it('a toolset that comes back serves its earlier sessions', async () => {
      const listening = await client.listen();
      rig.backend.remove('play');
      rig.clock.advance(20);
      assert.deepEqual(await listening.message(), listChanged);
      rig.backend.set('play', ['back']);
      rig.clock.advance(20);
      assert.deepEqual(await listening.message(), listChanged);
      assert.deepEqual(await toolNames(), ['back']);
    });

    it('the listening stream is kept alive', async () => {
      const stream = await client.listen();
      for (let n = 0; n < 3; n++) {
        rig.clock.advance(15_000);
        assert.equal(await stream.frame(), ': keep-alive');
      }
    });
  });

  describe('messages', () => {
    for (const version of ['2025-03-26', '2024-11-05']) {
      it(`batches are taken under ${version}`, async () => {
        await client.initialize(version);
        const batch = [
          client.request('ping', undefined, 'a'),
          { jsonrpc: '2.0', method: 'notifications/initialized' },
          client.request('tools/list', {}, 'b'),
          { nonsense: true },
          client.request('tools/call', { name: 'click' }, 'c'),
        ];
        rig.backend.answering = () => textOutcome('ok');
        const { status, body } = await client.post(batch);
        assert.equal(status, 200);
        assert.deepEqual(
          messagesOf(body).map(({ id, error }) => id ?? (error as Json)['code']),
          ['a', 'b', -32600, 'c'],
        );
      });
    }

    it('a batch of notifications has no answer', async () => {
      await client.initialize('2025-03-26');
      const { status, body } = await client.post([
        { jsonrpc: '2.0', method: 'notifications/initialized' },
      ]);
      assert.deepEqual([status, body], [202, '']);
    });

    it('initialize in a batch is refused', async () => {
      await client.initialize('2025-03-26');
      const { body } = await client.post([
        client.request('initialize', { protocolVersion: '2025-03-26' }),
      ]);
      assert.equal((messagesOf(body)[0]?.['error'] as Json)['code'], -32600);
    });

    it('newer protocols have no batches', async () => {
      await client.initialize('2025-06-18');
      const { status, body } = await client.post([client.request('ping')]);
      assert.deepEqual(
        [status, ((JSON.parse(body) as Json)['error'] as Json)['code']],
        [400, -32600],
      );
    });

    for (const [name, body, code] of [
      ['no JSON', '{"jsonrpc":"2.0",', -32700],
      ['an empty body', '', -32700],
      ['no message', '"hello"', -32600],
      [
        'a request without an id that can be answered',
        '{"jsonrpc":"2.0","id":{},"method":"ping"}',
        -32600,
      ],
    ] as const) {
      it(`a POST with ${name} is refused with 400`, async () => {
        await client.initialize();
        const answer = await client.send('POST', body);
        const message = JSON.parse(answer.body) as { id: unknown; error: Json };
        assert.deepEqual([answer.status, message.id, message.error['code']], [400, null, code]);
      });
    }

    it('a wrong request gets an error with its id', async () => {
      await client.initialize();
      const { status, body } = await client.post({ jsonrpc: '1.0', id: 4, method: 'ping' });
      assert.equal(status, 200);
      assert.deepEqual(
        [messagesOf(body)[0]?.['id'], (messagesOf(body)[0]?.['error'] as Json)['code']],
        [4, -32600],
      );
    });

    it('unknown methods are -32601, and unasked answers are ignored', async () => {
      await client.initialize();
      assert.equal(((await client.ask('prompts/list'))['error'] as Json)['code'], -32601);
      assert.equal((await client.post({ jsonrpc: '2.0', id: 99, result: {} })).status, 202);
    });

    it('text of any script arrives unchanged', async () => {
      await client.initialize();
      rig.backend.answering = ({ arguments: given }) => textOutcome(given?.['text'] as string);
      const text = '中文 é 🙂 \u2028 \r\n\n data: x';
      const { result } = await client.ask('tools/call', { name: 'type', arguments: { text } });
      assert.deepEqual(result, { content: [{ type: 'text', text }] });
    });
  });
});
