import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { Subscription } from '../../../../src/core/connections/eras/listening.js';
import { TransportFailure } from '../../../../src/core/failures/transportFailure.js';
import { Peer } from '../../../../src/core/peer/peer.js';
import type { ServerTransport } from '../../../../src/core/peer/transport.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { silentLog } from '../../../support/fakes/silentLog.js';

describe('a subscription to a server of the modern era (X8)', () => {
  let clock: FakeClock;
  let transport: ServerTransport;
  let peer: Peer;
  let sent: JSONRPCMessage[];
  let wanted: object | undefined;
  let closing: AbortController;

  beforeEach(() => {
    clock = new FakeClock();
    transport = {
      causeOfEnd: '',
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: (message) => Promise.resolve(void sent.push(message)),
    };
    const nothing = { answer: () => Promise.resolve(undefined), hear: () => {}, ended: () => {} };
    peer = new Peer({ transport, clock, log: silentLog }, nothing);
    sent = [];
    wanted = { resourceSubscriptions: ['test://one'] };
    closing = new AbortController();
  });

  function subscription(hasStreams: boolean, onGap: () => void = () => assert.fail('there is no gap')): Subscription {
    return new Subscription({
      clock,
      hasStreams,
      meta: {},
      peer,
      onRefused: () => {},
      wanted: () => wanted as Record<string, unknown> | undefined,
      onGap,
      signal: closing.signal,
    });
  }

  /** Begins another subscription and acknowledges it. Returns its id. */
  async function begun(one: Subscription): Promise<unknown> {
    const renewed = one.renew();
    await rest();
    const asked = sent.at(-1) as { id?: unknown; method?: string };
    assert.equal(asked.method, 'subscriptions/listen');
    one.acknowledged(asked.id, wanted);
    await renewed;
    return asked.id;
  }

  const says = (message: object): void => transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  const cancelled = (): unknown[] =>
    sent.flatMap((message) =>
      'method' in message && message.method === 'notifications/cancelled' ? [message.params?.['requestId']] : [],
    );
  const a = (): string => 'a';
  const b = (): string => 'b';

  it('a subscription ends as soon as its successor has begun if both share one stream', async () => {
    const one = subscription(false);
    const [first, second] = [await begun(one), await begun(one)];
    assert.deepEqual(cancelled(), [first]);
    assert.deepEqual([one.tells(first, a), one.tells(second, a)], [false, true]);
    assert.equal(clock.pending, 0);
  });

  it('a subscription and its successor are both read for a while if each has a stream, and duplicates count once', async () => {
    const one = subscription(true);
    const [first, second] = [await begun(one), await begun(one)];
    assert.deepEqual(cancelled(), []);
    assert.equal(one.tells(first, a), true, 'was on its way');
    assert.equal(one.tells(first, b), true);
    assert.equal(one.tells(second, b), false, 'the same by both');
    assert.equal(one.tells(second, b), true, 'another time');
    assert.equal(one.tells(first, b), false, 'the same by both');
    await clock.flow(1_000);
    assert.deepEqual(cancelled(), [first]);
    assert.deepEqual([one.tells(first, a), one.tells(second, a), one.tells(second, a)], [false, true, true]);
  });

  it('a subscription leaves at most one earlier one open', async () => {
    const one = subscription(true);
    const [first, second, third] = [await begun(one), await begun(one), await begun(one)];
    assert.deepEqual(cancelled(), [first]);
    assert.deepEqual(
      [first, second, third].map((id) => one.tells(id, a)),
      [false, true, false],
    );
    wanted = undefined;
    await one.renew();
    assert.deepEqual(cancelled(), [first, third, second]);
    assert.deepEqual(
      [first, second, third].map((id) => one.tells(id, b)),
      [false, false, false],
    );
    await clock.flow(1_000);
    assert.equal(cancelled().length, 3);
  });

  for (const [what, data] of [
    ['failed too', new TransportFailure({ kind: 'broken', detail: 'gone', url: 'http://server.test/mcp' })],
    ['was refused', undefined],
  ] as const) {
    it(`a subscription begins again if it ended during the request for its successor, which ${what}`, async () => {
      let gaps = 0;
      const one = subscription(true, () => (gaps += 1));
      const lastId = (): unknown => (sent.at(-1) as { id?: unknown }).id;
      const first = await begun(one);
      const renewed = one.renew();
      await rest();
      says({ id: first, result: {} });
      says({ id: lastId(), error: { code: -32000, message: 'no', data } });
      assert.equal((await renewed).kind, 'refused');
      const before = sent.length;
      await clock.flow(1_000);
      assert.equal(sent.length, before + 1);
      one.acknowledged(lastId(), wanted);
      await rest();
      assert.equal(gaps, 1);
      assert.deepEqual([one.tells(first, a), one.tells(lastId(), a)], [false, true]);
    });
  }

  it('a subscription sets no timer after the end of the connection', async () => {
    const one = subscription(true);
    await begun(one);
    await begun(one);
    closing.abort();
    await rest();
    assert.equal(clock.pending, 0);
  });
});
