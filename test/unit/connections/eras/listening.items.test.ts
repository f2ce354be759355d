import assert from 'node:assert/strict';
import { WatchedItems } from '../../../../src/core/connections/eras/listening.js';
import { Peer } from '../../../../src/core/peer/peer.js';
import type { ServerTransport } from '../../../../src/core/peer/transport.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { silentLog } from '../../../support/fakes/silentLog.js';

describe('resources that several clients watch (X8)', () => {
  let sent: { readonly id?: unknown; readonly params?: Readonly<Record<string, unknown>> }[];
  let items: WatchedItems;

  beforeEach(() => {
    sent = [];
    const clock = new FakeClock();
    const transport: ServerTransport = {
      causeOfEnd: '',
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: (message) => Promise.resolve(void sent.push(message as (typeof sent)[number])),
    };
    const nothing = { answer: () => Promise.resolve(undefined), hear: () => {}, ended: () => {} };
    items = new WatchedItems({
      clock,
      hasStreams: false,
      meta: {},
      peer: new Peer({ transport, clock, log: silentLog }, nothing),
      onRefused: () => {},
      signal: new AbortController().signal,
      key: 'resourceSubscriptions',
      onGap: () => assert.fail('there is no gap'),
    });
  });

  /** Acknowledges these resources of the last request. */
  async function agree(...resourceSubscriptions: string[]): Promise<void> {
    await rest();
    items.subscription.acknowledged(sent.at(-1)?.id, { resourceSubscriptions });
  }

  it('watched items are requested once, and every caller gets the answer', async () => {
    const both = Promise.all([items.add('a:1'), items.add('a:1')]);
    await agree('a:1');
    assert.deepEqual(await both, [{}, {}]);
    assert.equal(sent.length, 1);
  });

  it('items are not watched if the server does not report them, and may be requested again', async () => {
    const both = Promise.allSettled([items.add('a:1'), items.add('a:1')]);
    await agree();
    assert.deepEqual(
      (await both).map((one) => one.status === 'rejected' && (one.reason as { code: unknown }).code),
      [-32602, -32602],
    );
    await rest();
    const again = items.add('a:1');
    await agree('a:1');
    assert.deepEqual(await again, {});
  });
});
