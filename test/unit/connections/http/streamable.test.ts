import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { HttpReply } from '../../../../src/core/connections/http/exchange.js';
import { StreamableChannel } from '../../../../src/core/connections/http/streamable.js';
import { TransportFailure } from '../../../../src/core/connections/transport.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import {
  answered,
  events,
  FakeEndpoint,
  silence,
  status,
  unreachable,
  type Sent,
} from '../../../support/fakes/fakeEndpoint.js';

const initializeResult = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'x', version: '1' },
};

describe('a channel of Streamable HTTP', () => {
  let clock: FakeClock;
  let delivered: JSONRPCMessage[];
  let died: string[];
  let renewed: number;
  let channel: StreamableChannel;

  beforeEach(() => {
    clock = new FakeClock();
    delivered = [];
    died = [];
    renewed = 0;
  });
  afterEach(() => channel.close());

  /** Opens the channel to a server that gives sessions. */
  async function open(server: FakeEndpoint): Promise<void> {
    channel = new StreamableChannel({
      endpoint: server.endpoint,
      clock,
      log: { write: () => {} },
      timeoutMs: 30_000,
      deliver: (message) => void delivered.push(message),
      die: (cause) => void died.push(cause),
      onRenewed: () => (renewed += 1),
    });
    const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} } as const;
    assert.equal(await channel.initialize(0, initialize), undefined);
    await flowUntil(channel.send({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    delivered = [];
  }

  async function flowUntil(done: Promise<unknown>): Promise<void> {
    let isDone = false;
    void done.finally(() => (isDone = true)).catch(() => undefined);
    while (!isDone) await clock.flow(10);
    await done;
  }

  /** Answers what is not a call; each initialize gets a session of its own. */
  function basics(): (message: Sent) => ReturnType<typeof status> {
    let sessions = 0;
    return (message) => {
      if (message.method === 'initialize') {
        return answered(message, initializeResult, { 'mcp-session-id': `s${++sessions}` });
      }
      return message.id === undefined ? status(202) : answered(message, {});
    };
  }

  describe('with a server that has sessions (X2)', () => {
    it('takes a stream that is not found for one that the server does not have', async () => {
      const server = new FakeEndpoint(basics(), () => status(404, 'Cannot GET /mcp', 'text/html'));
      await open(server);
      await clock.flow(120_000);
      assert.deepEqual(server.seen, ['initialize', 'notifications/initialized', 'GET']);
      assert.equal(renewed, 0);
    });

    it('begins the session again when a stream that it had is not found any more', async () => {
      const streams = [events('data:\n\n'), status(404), events('data:\n\n'), status(405)];
      const server = new FakeEndpoint(basics(), () => streams.shift() ?? status(405));
      await open(server);
      await clock.flow(120_000);
      const initialized = ['initialize', 'notifications/initialized'];
      assert.deepEqual(server.seen, [...initialized, 'GET', 'GET', ...initialized, 'GET', 'GET']);
      assert.equal(renewed, 1);
    });
  });

  describe('ends with the calls that waited for a new session (X4) when', () => {
    for (const [what, isUnanswered] of [
      ['initialize is not answered again', ({ method }: Sent) => method === 'initialize'],
      [
        'the server does not take that it was initialized',
        ({ method }: Sent) => method === 'notifications/initialized',
      ],
    ] as const) {
      it(what, async () => {
        const other = basics();
        let isLost = false;
        const server = new FakeEndpoint((message) => {
          isLost ||= message.method === 'tools/call';
          if (isLost && isUnanswered(message)) return silence();
          return message.method === 'tools/call' ? status(404) : other(message);
        });
        await open(server);
        for (const id of [7, 8]) {
          await channel.send({ jsonrpc: '2.0', id, method: 'tools/call', params: {} });
          await rest();
        }
        await clock.flow(60_000);
        const cause = `${server.url.href} forgot the session, and a new initialize came to nothing: No answer came within 30 s.`;
        const reasons = delivered.map((message) => 'error' in message && message.error.message);
        assert.deepEqual(reasons, [cause, cause]);
        assert.deepEqual([...new Set(died)], [cause]);
        assert.equal(server.seen.filter((method) => method === 'tools/call').length, 1);
        assert.equal(clock.pending, 0);
      });
    }
  });

  describe('goes on to hear what the server says unasked (R6, X2)', () => {
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as const;

    /** Returns how the stream was asked for. */
    async function hear(...streams: HttpReply[]): Promise<string[]> {
      const server = new FakeEndpoint(basics(), () => streams.shift() ?? status(405));
      await open(server);
      await clock.flow(120_000);
      return server.seen.filter((line) => line.startsWith('GET'));
    }

    for (const code of [408, 409, 425, 429, 500, 503]) {
      it(`when its stream broke off and is refused with ${code} for a while`, async () => {
        const asked = await hear(
          events('id: 1\ndata:\n\n'),
          status(code),
          status(code),
          events(`data: ${JSON.stringify(changed)}\n\n`),
        );
        assert.deepEqual(asked, ['GET', 'GET 1', 'GET 1', 'GET 1', 'GET 1']);
        assert.deepEqual(delivered, [changed]);
      });
    }

    it('and does not ask one that refuses as soon again as one whose stream ended', async () => {
      const busy = Array.from({ length: 100 }, () => status(429));
      assert((await hear(events('retry: 100\nid: 1\ndata:\n\n'), ...busy)).length < 12);
    });

    it('when its stream is refused for a while from the beginning', async () => {
      assert.deepEqual(await hear(status(429), events(`data: ${JSON.stringify(changed)}\n\n`)), ['GET', 'GET', 'GET']);
      assert.deepEqual(delivered, [changed]);
    });

    it('when it has forgotten the event after which its stream is to go on', async () => {
      const asked = await hear(
        events('id: 1\ndata:\n\n'),
        status(400, 'Invalid event ID format'),
        events(`data: ${JSON.stringify(changed)}\n\n`),
      );
      assert.deepEqual(asked, ['GET', 'GET 1', 'GET', 'GET']);
      assert.deepEqual(delivered, [changed]);
    });

    it('and takes a second refusal for what it is', async () => {
      assert.deepEqual(await hear(events('id: 1\ndata:\n\n'), status(400), status(400)), ['GET', 'GET 1', 'GET']);
    });
  });

  describe('in a session, a refusal with HTTP 400 (X2)', () => {
    async function call(refuse: (message: Sent) => string): Promise<FakeEndpoint> {
      const other = basics();
      let isRefused = false;
      const server = new FakeEndpoint((message) => {
        if (message.method !== 'tools/call' || isRefused) return other(message);
        isRefused = true;
        return status(400, refuse(message), 'application/json');
      });
      await open(server);
      await channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await clock.flow(10);
      return server;
    }

    const errors = [
      { code: -32602, message: 'Invalid arguments: browser_session is required', data: { field: 'session' } },
      { code: -32602, message: `It is  ${'long '.repeat(200)}`, data: { field: 'url' } },
    ];
    for (const error of errors) {
      it(`and an error of the call is that error: ${error.message.slice(0, 50)}`, async () => {
        const server = await call(({ id }) => JSON.stringify({ jsonrpc: '2.0', id, error }));
        assert.deepEqual(delivered, [{ jsonrpc: '2.0', id: 7, error }]);
        assert.equal(server.seen.at(-1), 'tools/call');
        assert.equal(renewed, 0);
      });
    }

    it('that says to nobody that the session is not known begins it again', async () => {
      const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
      const server = await call(() => JSON.stringify({ jsonrpc: '2.0', id: null, error }));
      assert.deepEqual(delivered, [{ jsonrpc: '2.0', id: 7, result: {} }]);
      assert.equal(server.seen.filter((method) => method === 'tools/call').length, 2);
      assert.equal(renewed, 1);
    });

    it('that says something else is the failure of the call', async () => {
      await call(() => `{"error": "${'no '.repeat(1000)}"}`);
      const [answer] = delivered;
      assert(answer && 'error' in answer);
      assert.match(answer.error.message, /answered with HTTP 400: \{"error": "no no .{250,350}$/);
      assert.equal(renewed, 0);
    });
  });

  describe('cancels a call (X6)', () => {
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } } as const;
    let sent: { readonly signal: AbortSignal; readonly delivery: (isDelivered: boolean) => void };

    /** The call 7 is on its way to a server that does not answer it. */
    async function begin(isDelivered: boolean, onCancelled: () => Promise<HttpReply>): Promise<FakeEndpoint> {
      const other = basics();
      const server = new FakeEndpoint((message, signal, delivery) => {
        if (message.method === 'notifications/cancelled') return onCancelled();
        if (message.method !== 'tools/call') return other(message);
        sent = { signal, delivery };
        delivery(isDelivered);
        return silence();
      });
      await open(server);
      await channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await rest();
      return server;
    }

    it('by saying so before its exchange ends', async () => {
      let endedBefore: boolean | undefined;
      await begin(true, () => {
        endedBefore = sent.signal.aborted;
        return Promise.resolve(status(202));
      });
      await flowUntil(channel.send(cancelled));
      assert.deepEqual([endedBefore, sent.signal.aborted], [false, true]);
    });

    it('also where the server refuses to be told', async () => {
      await begin(true, () => Promise.resolve(status(400)));
      await assert.rejects(channel.send(cancelled), /HTTP 400/);
      assert.equal(sent.signal.aborted, true);
    });

    it('also where the server does not answer that', async () => {
      await begin(true, silence);
      const told = assert.rejects(channel.send(cancelled));
      await clock.flow(60_000);
      await told;
      assert.equal(sent.signal.aborted, true);
      assert.equal(clock.pending, 0);
    });

    it('that was not sent yet by not sending it', async () => {
      const server = await begin(false, () => assert.fail('nobody was told of the call'));
      await channel.send(cancelled);
      assert.equal(sent.signal.aborted, true);
      assert.equal(server.seen.at(-1), 'tools/call');
    });

    it('that waits for a new session by not sending it in that', async () => {
      const other = basics();
      let initializes = 0;
      let answer: () => void = () => {};
      const server = new FakeEndpoint((message, _, delivery) => {
        delivery(true);
        if (message.method === 'tools/call') return status(404);
        if (message.method !== 'initialize' || ++initializes === 1) return other(message);
        return new Promise((resolve) => (answer = () => resolve(other(message))));
      });
      await open(server);
      for (const id of [7, 8]) {
        await channel.send({ jsonrpc: '2.0', id, method: 'tools/call', params: {} });
        await rest();
      }
      for (const requestId of [7, 8]) await channel.send({ ...cancelled, params: { requestId } });
      answer();
      await rest();
      const after = server.seen.slice(server.seen.lastIndexOf('initialize'));
      assert.deepEqual(after, ['initialize', 'notifications/initialized', 'GET']);
      assert.equal(server.seen.filter((method) => method === 'tools/call').length, 1);
    });
  });

  describe('takes up the answer to a call (X2)', () => {
    const done = { jsonrpc: '2.0', id: 7, result: {} } as const;
    let answeredAt: number;

    /** @param streams with which it is taken up; the last of them has the answer */
    async function takeUp(...streams: HttpReply[]): Promise<void> {
      const other = basics();
      let isCalled = false;
      const server = new FakeEndpoint(
        (message) => {
          isCalled = message.method === 'tools/call';
          return isCalled ? events('retry: 100\nid: 1\ndata:\n\n') : other(message);
        },
        () => {
          answeredAt = clock.now();
          return (isCalled && streams.shift()) || status(405);
        },
      );
      await open(server);
      await channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await clock.flow(60_000);
      const asked = server.seen.slice(server.seen.indexOf('tools/call') + 1);
      assert.deepEqual([...new Set(asked)], ['GET 1']);
      assert.equal(streams.length, 0);
      assert.deepEqual(delivered, [done]);
    }

    it('as often as the server ends a stream that brings nothing yet', async () => {
      const nothing = Array.from({ length: 20 }, () => events(''));
      await takeUp(...nothing, events(`data: ${JSON.stringify(done)}\n\n`));
    });

    for (const code of [409, 429, 502, 503]) {
      it(`when that was refused with ${code} for a while`, async () => {
        const since = clock.now();
        await takeUp(status(code), status(code), events(`data: ${JSON.stringify(done)}\n\n`));
        assert(answeredAt - since > 3_000, `after ${answeredAt - since} ms`);
      });
    }
  });

  describe('leaves the result of a call unknown (X4) when its stream broke off and', () => {
    const failed = (reason: TransportFailure['reason']) => (): Promise<never> =>
      Promise.reject(new TransportFailure(reason));
    const url = 'http://server.test/mcp';
    const refusals: readonly (readonly [string, () => Promise<never>])[] = [
      ['the server cannot be reached', unreachable],
      ['the sign-in has ended', failed({ kind: 'signIn', why: 'It has ended.', url })],
      ['the token is not renewed', failed({ kind: 'notRenewed', why: 'It is down.', url })],
      ['what is to be taken up is elsewhere', failed({ kind: 'redirect', detail: 'it redirects', url })],
    ];
    for (const [what, refuse] of refusals) {
      it(what, async () => {
        const other = basics();
        let isCalled = false;
        const server = new FakeEndpoint(
          (message) => {
            if (message.method === 'ping') return refuse();
            if (message.method !== 'tools/call') return other(message);
            isCalled = true;
            return events('id: 1\ndata:\n\n');
          },
          () => (isCalled ? refuse() : status(405)),
        );
        await open(server);
        await channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
        await clock.flow(60_000);
        assert.equal(server.seen.filter((line) => line === 'GET 1').length, 1);
        assert.deepEqual(causes(), ['broken']);
        assert.equal(died.length, refuse === unreachable ? 1 : 0);
      });
    }

    it('breaks off again whenever it is taken up', async () => {
      const other = basics();
      const server = new FakeEndpoint(
        (message) => (message.method === 'tools/call' ? events('id: 1\ndata:\n\n') : other(message)),
        failed({ kind: 'broken', detail: 'the server closed the connection', url }),
      );
      await open(server);
      await channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await clock.flow(60_000);
      assert.equal(server.seen.filter((line) => line === 'GET 1').length, 5);
      assert.deepEqual(causes(), ['broken']);
    });

    /** The kinds of failures that were delivered. */
    function causes(): unknown[] {
      return delivered.map((message) => {
        const data: unknown = 'error' in message ? message.error.data : undefined;
        return data instanceof TransportFailure ? data.reason.kind : message;
      });
    }
  });

  describe('asks for the stream of the server again', () => {
    for (const [retry, leastMs, mostMs] of [
      ['0', 100, 200],
      ['2500', 2500, 2600],
      ['3000000000', 60_000, 3_600_000],
    ] as const) {
      it(`when the server says "retry: ${retry}"`, async () => {
        const times: number[] = [];
        const server = new FakeEndpoint(basics(), () => {
          times.push(clock.now());
          return times.length > 2 ? status(405) : events(`retry: ${retry}\n\n`);
        });
        await open(server);
        await clock.flow(2 * mostMs);
        assert.equal(times.length, 3);
        const [first = 0, second = 0, third = 0] = times;
        for (const waited of [second - first, third - second])
          assert(waited >= leastMs && waited <= mostMs, `${waited}`);
      });
    }
  });
});
