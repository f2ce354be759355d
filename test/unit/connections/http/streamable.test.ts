import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { HttpReply } from '../../../../src/core/connections/http/exchange.js';
import { TransportFailure } from '../../../../src/core/failures/transportFailure.js';
import { basics, ChannelStage } from '../../../support/fakes/channelStage.js';
import { rest } from '../../../support/fakes/fakeClock.js';
import {
  events,
  FakeEndpoint,
  silence,
  status,
  type Sent,
} from '../../../support/fakes/fakeEndpoint.js';

describe('a channel of Streamable HTTP', () => {
  let stage: ChannelStage;
  beforeEach(() => (stage = new ChannelStage()));
  afterEach(() => stage.end());

  describe('sessions of Streamable HTTP (X2)', () => {
    it('a stream answered with 404 counts as missing', async () => {
      const server = new FakeEndpoint(basics(), () => status(404, 'Cannot GET /mcp', 'text/html'));
      await stage.open(server);
      await stage.clock.flow(120_000);
      assert.deepEqual(server.seen, ['initialize', 'notifications/initialized', 'GET']);
      assert.equal(stage.renewed, 0);
    });

    it('a session is renewed if its open stream is no longer found', async () => {
      const streams = [events('data:\n\n'), status(404), events('data:\n\n'), status(405)];
      const server = new FakeEndpoint(basics(), () => streams.shift() ?? status(405));
      await stage.open(server);
      await stage.clock.flow(120_000);
      const initialized = ['initialize', 'notifications/initialized'];
      assert.deepEqual(server.seen, [...initialized, 'GET', 'GET', ...initialized, 'GET', 'GET']);
      assert.equal(stage.renewed, 1);
    });
  });

  describe('a channel with a server that denies the session in words (X2a)', () => {
    const error = (message: Sent, text: string, code = -32001, data?: object): string =>
      JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code, message: text, data } });
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} } as const;
    const json = 'application/json';

    async function outcomeOf(
      refuse: (message: Sent) => HttpReply,
      refusals = 1,
      asked: JSONRPCMessage = call,
    ): Promise<FakeEndpoint> {
      const other = basics();
      let left = refusals;
      const server = new FakeEndpoint((message) =>
        message.method === 'tools/call' && left-- > 0 ? refuse(message) : other(message),
      );
      await stage.open(server);
      await stage.channel.send(asked);
      await stage.clock.flow(1000);
      return server;
    }

    const withId =
      (httpStatus: number, text: string, code?: number, data?: object) =>
      (message: Sent): HttpReply =>
        status(httpStatus, error(message, text, code, data), json);
    const inWords = (httpStatus: number, text: string) => (): HttpReply => status(httpStatus, text);
    const denials: Record<string, (message: Sent) => HttpReply> = {
      '401 in plain text': inWords(401, 'Unauthorized: Session not found'),
      '400 with the id of the request': withId(400, 'Session not found'),
      '200 with the id of the request': withId(200, 'Session not found'),
      '400 with code -32603': withId(400, 'Session not found', -32603),
      '400 with code -32602': withId(400, 'Invalid session ID', -32602),
      '200 with code -32603': withId(200, 'Session expired', -32603),
      '400 with data': withId(400, 'Session not found', -32600, { sessionId: 's1' }),
      '400 with code -32002': withId(400, 'Server not initialized', -32002),
      '410 gone': () => status(410, '{"error":"Session expired"}', json),
      '400 with a code in letters': () => status(400, '{"code":"SESSION_NOT_FOUND"}', json),
    };
    for (const words of [
      'Session terminated',
      'Bad Request: Server not initialized',
      'Session timed out',
      'No such session',
      'Could not find session',
      'Session is not active',
      "Session doesn't exist",
      'Session does not exist.',
      'Bad session id',
      'Stale session',
      'Session ID 4f-a1 not recognized',
      'The session is gone',
      'Your session has expired, please reconnect',
      'MCP session "abc" could not be found',
      'Bad Request: Mcp-Session-Id header is required',
      'Bad Request: No valid session ID provided',
      'Not Found: Invalid or expired session ID',
      'No transport found for sessionId',
      'Session with ID abc was not found',
      'Session not found: 0b1f',
    ])
      denials[`400 ${words}`] = inWords(400, words);
    for (const [what, refuse] of Object.entries(denials)) {
      it(`a channel begins one new session after ${what}`, async () => {
        const server = await outcomeOf(refuse);
        assert.equal(stage.renewed, 1);
        assert.equal(server.seen.filter((method) => method === 'tools/call').length, 2);
        assert.ok(!stage.delivered.some((message) => 'error' in message));
      });
    }

    const answersOfTheirOwn: Record<string, (message: Sent) => HttpReply> = {
      'a 404 with its id': withId(404, 'No such tool', -32602),
      'a 400 with its id and other words': withId(400, 'The browser is busy'),
      'an error of the tool with another code': withId(200, 'Session not found', 5),
      'a 401 with a challenge': () => ({
        ...status(401, 'Session not found'),
        headers: { 'www-authenticate': 'Bearer' },
      }),
      'a 401 without such words': inWords(401, 'Unauthorized'),
    };
    for (const words of [
      'Your login session at GitHub has expired',
      'Browser session closed',
      'Stripe: checkout session is invalid',
      'Protocol error (Page.navigate): Session closed. Most likely the page has been closed.',
      'The session at GitHub has expired',
      'Session token expired',
      'No debug session found',
      'Invalid arguments: session_id is required',
      'Missing browser_session',
      'Database not initialized',
    ]) {
      answersOfTheirOwn[`a 200 with “${words}”`] = withId(200, words, -32000);
      answersOfTheirOwn[`a 400 with its id and “${words}”`] = withId(400, words, -32603);
      answersOfTheirOwn[`a 400 with the words “${words}”`] = inWords(400, words);
    }
    for (const [what, refuse] of Object.entries(answersOfTheirOwn)) {
      it(`a channel takes ${what} as the answer, and sends nothing again`, async () => {
        const server = await outcomeOf(refuse);
        assert.equal(stage.renewed, 0);
        assert.equal(server.seen.filter((method) => method === 'tools/call').length, 1);
        assert.ok('error' in (stage.delivered.at(-1) ?? {}));
      });
    }

    for (const [code, renewed] of [
      [-32602, 0],
      [-32603, 0],
      [-32001, 1],
    ] as const) {
      it(`with a session in the arguments of the call, a refusal with ${code} ${renewed ? 'denies' : 'does not deny'} that of the connection`, async () => {
        const asked = { ...call, params: { name: 'step', arguments: { sessionId: 'a' } } };
        await outcomeOf(withId(200, 'Session not found', code), 1, asked);
        assert.equal(stage.renewed, renewed);
      });
    }

    it('the connection ends after two sessions in a row were refused right after they began', async () => {
      const server = await outcomeOf(() => status(404, 'no such session'), Infinity);
      await stage.channel.send({ ...call, id: 8 });
      await stage.clock.flow(60_000);
      assert.match(stage.died[0] ?? '', /sticky sessions/);
      assert.ok(server.seen.filter((method) => method === 'initialize').length <= 3);
    });
  });

  describe('a channel with a server that answers in an odd form (X2)', () => {
    const json = (message: Sent): string =>
      JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { ok: true } });
    const forms: Record<string, (message: Sent) => HttpReply> = {
      'no content type': (message) => status(200, json(message), ''),
      'plain text': (message) => status(200, json(message), 'text/plain'),
      'no empty line at the end': (message) => events(`data: ${json(message)}\n`),
      'another name of the event': (message) =>
        events(`event: response\ndata: ${json(message)}\n\n`),
    };
    for (const [form, make] of Object.entries(forms)) {
      it(`a channel takes an answer with ${form}`, async () => {
        const other = basics();
        const server = new FakeEndpoint((message) =>
          message.method === 'tools/call' ? make(message) : other(message),
        );
        await stage.open(server);
        await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
        await stage.clock.flow(1000);
        assert.deepEqual(stage.delivered.at(-1), { jsonrpc: '2.0', id: 7, result: { ok: true } });
      });
    }

    for (const make of [
      (text: string) => status(200, text, 'application/json'),
      (text: string) => events(`data: ${text}\n\n`),
    ]) {
      it(`a channel takes an error without an id as the answer, in ${make('').contentType}`, async () => {
        const other = basics();
        const error = { code: -32603, message: 'Boom' };
        const server = new FakeEndpoint((message) =>
          message.method === 'tools/call'
            ? make(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
            : other(message),
        );
        await stage.open(server);
        await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
        await stage.clock.flow(1000);
        assert.deepEqual(stage.delivered, [{ jsonrpc: '2.0', id: 7, error }]);
      });
    }

    const unreadable: Record<string, (text: string) => HttpReply> = {
      notJson: (text) => status(200, text.slice(0, -1), 'application/json'),
      utf16: (text) => ({
        ...status(200, '', 'application/json'),
        body: Readable.from([Buffer.from(text, 'utf16le')]),
      }),
      compression: (text) => ({
        ...status(200, text),
        undecoded: 'zstd',
        contentType: 'text/html',
      }),
    };
    for (const [fault, make] of Object.entries(unreadable)) {
      it(`a channel says why an answer cannot be read: ${fault}`, async () => {
        const other = basics();
        const server = new FakeEndpoint((message) =>
          message.method === 'tools/call' ? make(json(message)) : other(message),
        );
        await stage.open(server);
        await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
        await stage.clock.flow(1000);
        const answer = stage.delivered.at(-1);
        assert.ok(answer && 'error' in answer && answer.error.data instanceof TransportFailure);
        const { reason } = answer.error.data;
        assert.equal(reason.kind === 'notMcp' && reason.fault, fault);
        assert.doesNotMatch(answer.error.message, /\0/);
      });
    }

    it('opens the stream of the server even if it refuses notifications/initialized', async () => {
      const other = basics();
      const server = new FakeEndpoint((message) =>
        message.method === 'notifications/initialized' ? status(400, 'no') : other(message),
      );
      await assert.rejects(stage.open(server), /HTTP 400/);
      await stage.clock.flow(1000);
      assert.deepEqual(server.seen, ['initialize', 'notifications/initialized', 'GET']);
      assert.deepEqual(stage.died, []);
    });
  });

  describe('a session that cannot be renewed (X2)', () => {
    for (const [what, isUnanswered] of [
      ['initialize is not answered again', ({ method }: Sent) => method === 'initialize'],
      [
        'the server does not answer notifications/initialized',
        ({ method }: Sent) => method === 'notifications/initialized',
      ],
    ] as const) {
      it(`a channel ends with its waiting calls if ${what}`, async () => {
        const other = basics();
        let isLost = false;
        const server = new FakeEndpoint((message) => {
          isLost ||= message.method === 'tools/call';
          if (isLost && isUnanswered(message)) return silence();
          return message.method === 'tools/call' ? status(404) : other(message);
        });
        await stage.open(server);
        for (const id of [7, 8]) {
          await stage.channel.send({ jsonrpc: '2.0', id, method: 'tools/call', params: {} });
          await rest();
        }
        await stage.clock.flow(60_000);
        const cause = `${server.url.href} forgot the session, and a new initialize came to nothing: No answer came within 30 s.`;
        const reasons = stage.delivered.map(
          (message) => 'error' in message && message.error.message,
        );
        assert.deepEqual(reasons, [cause, cause]);
        // These calls fail before the end, because the server has not read them.
        assert.equal(stage.deliveredBefore, 2);
        assert.deepEqual([...new Set(stage.died)], [cause]);
        assert.equal(server.seen.filter((method) => method === 'tools/call').length, 1);
        assert.equal(stage.clock.pending, 0);
      });
    }
  });

  it('the channel ends if it gets no new session, even if the call for it was cancelled (X2)', async () => {
    const other = basics();
    let refuse = (): void => {};
    const server = new FakeEndpoint((message) => {
      if (message.method === 'tools/call') return status(404);
      if (message.method !== 'initialize' || !server.seen.includes('tools/call'))
        return other(message);
      return new Promise((resolve) => (refuse = () => resolve(status(503))));
    });
    await stage.open(server);
    await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
    await rest();
    await stage.channel.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 7 },
    });
    await rest();
    assert.deepEqual(stage.died, []);
    refuse();
    await rest();
    assert.equal(stage.died.length, 1);
    assert.match(
      stage.died[0] ?? '',
      /forgot the session, and a new initialize came to nothing: .* HTTP 503\.$/,
    );
  });

  describe('refusals with HTTP 400 in a session (X2)', () => {
    async function call(refuse: (message: Sent) => string): Promise<FakeEndpoint> {
      const other = basics();
      let isRefused = false;
      const server = new FakeEndpoint((message) => {
        if (message.method !== 'tools/call' || isRefused) return other(message);
        isRefused = true;
        return status(400, refuse(message), 'application/json');
      });
      await stage.open(server);
      await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await stage.clock.flow(10);
      return server;
    }

    const errors = [
      {
        code: -32602,
        message: 'Invalid arguments: browser_session is required',
        data: { field: 'session' },
      },
      { code: -32602, message: `It is  ${'long '.repeat(200)}`, data: { field: 'url' } },
    ];
    for (const error of errors) {
      it(`a refusal with an error of the call gives that error: ${error.message.slice(0, 50)}`, async () => {
        const server = await call(({ id }) => JSON.stringify({ jsonrpc: '2.0', id, error }));
        assert.deepEqual(stage.delivered, [{ jsonrpc: '2.0', id: 7, error }]);
        assert.equal(server.seen.at(-1), 'tools/call');
        assert.equal(stage.renewed, 0);
      });
    }

    it('a refusal without a reason begins the session again', async () => {
      const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
      const server = await call(() => JSON.stringify({ jsonrpc: '2.0', id: null, error }));
      assert.deepEqual(stage.delivered, [{ jsonrpc: '2.0', id: 7, result: {} }]);
      assert.equal(server.seen.filter((method) => method === 'tools/call').length, 2);
      assert.equal(stage.renewed, 1);
    });

    it('a refusal with a JSON-RPC error for no request fails the call with the words of the error', async () => {
      const error = { code: -32000, message: 'There is no\nsuch toolset.' };
      await call(() => JSON.stringify({ jsonrpc: '2.0', id: null, error }));
      const [answer] = stage.delivered;
      assert(answer && 'error' in answer);
      assert.match(answer.error.message, /answered with HTTP 400: There is no such toolset\.$/);
    });

    it('a refusal with another text fails the call', async () => {
      await call(() => `{"error": "${'no '.repeat(1000)}"}`);
      const [answer] = stage.delivered;
      assert(answer && 'error' in answer);
      assert.match(answer.error.message, /answered with HTTP 400: \{"error": "no no .{250,350}$/);
      assert.equal(stage.renewed, 0);
    });
  });

  describe('cancellations of calls (X6)', () => {
    const cancelled = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 7 },
    } as const;
    let sent: { readonly signal: AbortSignal; readonly delivery: (isDelivered: boolean) => void };

    /** Sends call 7 to a server without answers to calls. */
    async function begin(
      isDelivered: boolean,
      onCancelled: () => Promise<HttpReply>,
    ): Promise<FakeEndpoint> {
      const other = basics();
      const server = new FakeEndpoint((message, signal, delivery) => {
        if (message.method === 'notifications/cancelled') return onCancelled();
        if (message.method !== 'tools/call') return other(message);
        sent = { signal, delivery };
        delivery(isDelivered);
        return silence();
      });
      await stage.open(server);
      await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await rest();
      return server;
    }

    it('a cancellation is sent before the exchange of its call ends', async () => {
      let endedBefore: boolean | undefined;
      await begin(true, () => {
        endedBefore = sent.signal.aborted;
        return Promise.resolve(status(202));
      });
      await stage.flowUntil(stage.channel.send(cancelled));
      assert.deepEqual([endedBefore, sent.signal.aborted], [false, true]);
    });

    it('a refused cancellation still ends the exchange of its call', async () => {
      await begin(true, () => Promise.resolve(status(400)));
      await assert.rejects(stage.channel.send(cancelled), /HTTP 400/);
      assert.equal(sent.signal.aborted, true);
    });

    it('an unanswered cancellation still ends the exchange of its call', async () => {
      await begin(true, silence);
      const told = assert.rejects(stage.channel.send(cancelled));
      await stage.clock.flow(60_000);
      await told;
      assert.equal(sent.signal.aborted, true);
      assert.equal(stage.clock.pending, 0);
    });

    it('a cancelled call that was not sent needs no cancellation', async () => {
      const server = await begin(false, () => assert.fail('nobody was told of the call'));
      await stage.channel.send(cancelled);
      assert.equal(sent.signal.aborted, true);
      assert.equal(server.seen.at(-1), 'tools/call');
    });

    it('a cancelled call that waits for a new session is not sent in it', async () => {
      const other = basics();
      let initializes = 0;
      let answer: () => void = () => {};
      const server = new FakeEndpoint((message, _, delivery) => {
        delivery(true);
        if (message.method === 'tools/call') return status(404);
        if (message.method !== 'initialize' || ++initializes === 1) return other(message);
        return new Promise((resolve) => (answer = () => resolve(other(message))));
      });
      await stage.open(server);
      for (const id of [7, 8]) {
        await stage.channel.send({ jsonrpc: '2.0', id, method: 'tools/call', params: {} });
        await rest();
      }
      for (const requestId of [7, 8])
        await stage.channel.send({ ...cancelled, params: { requestId } });
      answer();
      await rest();
      const after = server.seen.slice(server.seen.lastIndexOf('initialize'));
      assert.deepEqual(after, ['initialize', 'notifications/initialized', 'GET']);
      assert.equal(server.seen.filter((method) => method === 'tools/call').length, 1);
    });
  });
});
