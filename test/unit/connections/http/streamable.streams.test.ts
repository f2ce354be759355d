import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import type { HttpReply } from '../../../../src/core/connections/http/exchange.js';
import { TransportFailure } from '../../../../src/core/failures/transportFailure.js';
import { basics, ChannelStage } from '../../../support/fakes/channelStage.js';
import { events, FakeEndpoint, status, unreachable } from '../../../support/fakes/fakeEndpoint.js';

describe('the streams of a channel of Streamable HTTP', () => {
  let stage: ChannelStage;
  beforeEach(() => (stage = new ChannelStage()));
  afterEach(() => stage.end());

  describe('the stream of unrequested messages (X2)', () => {
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as const;

    /** Returns the requests for the stream. */
    async function hear(...streams: HttpReply[]): Promise<string[]> {
      const server = new FakeEndpoint(basics(), () => streams.shift() ?? status(405));
      await stage.open(server);
      await stage.clock.flow(120_000);
      return server.seen.filter((line) => line.startsWith('GET'));
    }

    for (const code of [408, 409, 425, 429, 500, 503]) {
      it(`a broken event stream reopens after refusals with ${code}`, async () => {
        const asked = await hear(
          events('id: 1\ndata:\n\n'),
          status(code),
          status(code),
          events(`data: ${JSON.stringify(changed)}\n\n`),
        );
        assert.deepEqual(asked, ['GET', 'GET 1', 'GET 1', 'GET 1', 'GET 1']);
        assert.deepEqual(stage.delivered, [changed]);
      });
    }

    it('a refused event stream is retried later than an ended one', async () => {
      const busy = Array.from({ length: 100 }, () => status(429));
      assert((await hear(events('retry: 100\nid: 1\ndata:\n\n'), ...busy)).length < 12);
    });

    it('an event stream that is refused at first opens later', async () => {
      assert.deepEqual(await hear(status(429), events(`data: ${JSON.stringify(changed)}\n\n`)), [
        'GET',
        'GET',
        'GET',
      ]);
      assert.deepEqual(stage.delivered, [changed]);
    });

    it('an event stream reopens if the server has forgotten its last event', async () => {
      const asked = await hear(
        events('id: 1\ndata:\n\n'),
        status(400, 'Invalid event ID format'),
        events(`data: ${JSON.stringify(changed)}\n\n`),
      );
      assert.deepEqual(asked, ['GET', 'GET 1', 'GET', 'GET']);
      assert.deepEqual(stage.delivered, [changed]);
    });

    /** Returns the messages delivered in each turn. */
    async function heardPerTurn(text: string, count: number): Promise<number[]> {
      const body = new PassThrough();
      const server = new FakeEndpoint(basics(), () => ({ ...events(''), body }));
      await stage.open(server);
      body.write(text);
      const perTurn: number[] = [];
      while (stage.delivered.length < count) {
        const before = stage.delivered.length;
        // Its share of the loop is no matter here.
        stage.clock.advance(60_000);
        await new Promise(setImmediate);
        perTurn.push(stage.delivered.length - before);
      }
      body.destroy();
      return perTurn;
    }

    const request = (id: number) => ({ jsonrpc: '2.0', id, method: 'roots/list' }) as const;
    const many = Array.from({ length: 600 }, (_, id) => request(id));

    it('events that arrive together are delivered in several turns and in their order (P10)', async () => {
      const text = many.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');
      const perTurn = await heardPerTurn(text, many.length);
      assert.deepEqual(stage.delivered, many);
      assert.ok(Math.max(...perTurn) <= 32, `${Math.max(...perTurn)} messages in one turn`);
    });

    it('each message of an event with several gets a turn of its own (P10)', async () => {
      const batch = many.slice(0, 100);
      const perTurn = await heardPerTurn(`data: ${JSON.stringify(batch)}\n\n`, batch.length);
      assert.deepEqual(stage.delivered, batch);
      assert.ok(Math.max(...perTurn) <= 2, `${Math.max(...perTurn)} messages in one turn`);
    });

    it('a second refusal of an event stream is final', async () => {
      assert.deepEqual(await hear(events('id: 1\ndata:\n\n'), status(400), status(400)), [
        'GET',
        'GET 1',
        'GET',
      ]);
    });
  });

  describe('a posted request that the server only accepts (X2)', () => {
    const answer = { jsonrpc: '2.0', id: 7, result: { late: true } } as const;
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} } as const;

    /** Opens the channel to a server with this stream, which accepts each call with `accepted`. */
    async function accepting(stream: HttpReply | Promise<HttpReply>, accepted = status(202)) {
      const other = basics();
      const server = new FakeEndpoint(
        (message) => (message.method === 'tools/call' ? accepted : other(message)),
        () => stream,
      );
      await stage.open(server);
      await stage.channel.send(call);
    }

    for (const [name, accepted] of [
      ['202', status(202)],
      ['204', status(204)],
      ['an empty 200', { ...status(200), headers: { 'content-length': '0' } }],
    ] as const)
      it(`the stream brings the answer after ${name}`, async () => {
        const body = new PassThrough();
        await accepting({ ...events(''), body }, accepted);
        await stage.clock.flow(10_000);
        assert.deepEqual(stage.delivered, []);
        body.write(`data: ${JSON.stringify({ ...answer, id: '7' })}\n\n`);
        await stage.clock.flow(1000);
        assert.deepEqual(stage.delivered[0], { ...answer, id: '7' });
        assert.deepEqual(stage.died, []);
      });

    it('a stream that opens after the request brings the answer', async () => {
      let open = (_: HttpReply): void => {};
      await accepting(new Promise((resolve) => (open = resolve)));
      await stage.clock.flow(10_000);
      assert.deepEqual(stage.delivered, []);
      open(events(`data: ${JSON.stringify(answer)}\n\n`));
      await stage.clock.flow(100);
      assert.deepEqual(stage.delivered[0], answer);
    });

    it('the end of the stream is the end of the request', async () => {
      const body = new PassThrough();
      await accepting({ ...events(''), body });
      await stage.clock.flow(1000);
      body.end();
      await stage.clock.flow(100);
      assert.match(JSON.stringify(stage.delivered), /had to bring the answer ended/);
    });

    it('a server without a stream has refused the request', async () => {
      await accepting(status(405));
      await stage.clock.flow(100);
      assert.match(JSON.stringify(stage.delivered), /accepted the request, but did not answer it/);
    });
  });

  describe('the stream of a call (X2)', () => {
    const done = { jsonrpc: '2.0', id: 7, result: {} } as const;
    let answeredAt: number;

    /** @param streams replies to the requests for the stream; the last one has the answer */
    async function takeUp(...streams: HttpReply[]): Promise<void> {
      const other = basics();
      let isCalled = false;
      const server = new FakeEndpoint(
        (message) => {
          isCalled = message.method === 'tools/call';
          return isCalled ? events('retry: 100\nid: 1\ndata:\n\n') : other(message);
        },
        () => {
          answeredAt = stage.clock.now();
          return (isCalled && streams.shift()) || status(405);
        },
      );
      await stage.open(server);
      await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await stage.clock.flow(60_000);
      const asked = server.seen.slice(server.seen.indexOf('tools/call') + 1);
      assert.deepEqual([...new Set(asked)], ['GET 1']);
      assert.equal(streams.length, 0);
      assert.deepEqual(stage.delivered, [done]);
    }

    it('the stream of a call resumes each time it ends without the answer', async () => {
      const nothing = Array.from({ length: 20 }, () => events(''));
      await takeUp(...nothing, events(`data: ${JSON.stringify(done)}\n\n`));
    });

    for (const code of [409, 429, 502, 503]) {
      it(`the stream of a call resumes after refusals with ${code}`, async () => {
        const since = stage.clock.now();
        await takeUp(status(code), status(code), events(`data: ${JSON.stringify(done)}\n\n`));
        assert(answeredAt - since > 3_000, `after ${answeredAt - since} ms`);
      });
    }
  });

  it('a stream ends with the answer to its call, even if the server writes the id as a text (X2)', async () => {
    const other = basics();
    const answer = { jsonrpc: '2.0', id: '7', result: {} } as const;
    const body = new PassThrough();
    body.write(`id: 1\ndata: ${JSON.stringify(answer)}\n\n`);
    const server = new FakeEndpoint((message) =>
      message.method === 'tools/call' ? { ...events(''), body } : other(message),
    );
    await stage.open(server);
    await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
    await stage.clock.flow(60_000);
    assert.deepEqual(stage.delivered, [answer]);
    assert(body.destroyed, 'its socket is given back');
    assert.equal(server.seen.at(-1), 'tools/call');
  });

  describe('unknown results after a broken stream (X4)', () => {
    const failed = (reason: TransportFailure['reason']) => (): Promise<never> =>
      Promise.reject(new TransportFailure(reason));
    const url = 'http://server.test/mcp';
    const refusals: readonly (readonly [string, () => Promise<never>])[] = [
      ['the server cannot be reached', unreachable],
      ['the sign-in has ended', failed({ kind: 'signIn', why: 'It has ended.', url })],
      ['the token is not renewed', failed({ kind: 'notRenewed', why: 'It is down.', url })],
      ['the stream redirects elsewhere', failed({ kind: 'redirect', detail: 'it redirects', url })],
    ];
    for (const [what, refuse] of refusals) {
      it(`the result of a call with a broken stream is unknown if ${what}`, async () => {
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
        await stage.open(server);
        await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
        await stage.clock.flow(60_000);
        assert.equal(server.seen.filter((line) => line === 'GET 1').length, 1);
        assert.deepEqual(causes(), ['broken']);
        assert.equal(stage.died.length, refuse === unreachable ? 1 : 0);
      });
    }

    it('the result of a call is unknown if its stream breaks each time it resumes', async () => {
      const other = basics();
      const server = new FakeEndpoint(
        (message) =>
          message.method === 'tools/call' ? events('id: 1\ndata:\n\n') : other(message),
        failed({ kind: 'broken', detail: 'the server closed the connection', url }),
      );
      await stage.open(server);
      await stage.channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await stage.clock.flow(60_000);
      assert.equal(server.seen.filter((line) => line === 'GET 1').length, 5);
      assert.deepEqual(causes(), ['broken']);
    });

    /** Returns the kinds of the delivered failures. */
    function causes(): unknown[] {
      return stage.delivered.map((message) => {
        const data: unknown = 'error' in message ? message.error.data : undefined;
        return data instanceof TransportFailure ? data.reason.kind : message;
      });
    }
  });

  describe('the retry time of an event stream', () => {
    for (const [retry, leastMs, mostMs] of [
      ['0', 100, 200],
      ['2500', 2500, 2600],
      ['3000000000', 60_000, 3_600_000],
    ] as const) {
      it(`an event stream reopens in time after "retry: ${retry}"`, async () => {
        const times: number[] = [];
        const server = new FakeEndpoint(basics(), () => {
          times.push(stage.clock.now());
          return times.length > 2 ? status(405) : events(`retry: ${retry}\n\n`);
        });
        await stage.open(server);
        await stage.clock.flow(2 * mostMs);
        assert.equal(times.length, 3);
        const [first = 0, second = 0, third = 0] = times;
        for (const waited of [second - first, third - second])
          assert(waited >= leastMs && waited <= mostMs, `${waited}`);
      });
    }
  });
});
