import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { WatchedItems } from '../../../../src/core/connections/eras/watchedItems.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';

describe('resources of a server of the modern era that several watch (X8)', () => {
  let sent: { readonly id?: unknown; readonly params?: Readonly<Record<string, unknown>> }[];
  let items: WatchedItems;

  beforeEach(() => {
    sent = [];
    items = new WatchedItems({
      clock: new FakeClock(),
      hasStreams: false,
      meta: {},
      send: (message) => Promise.resolve(void sent.push(message as (typeof sent)[number])),
      signal: new AbortController().signal,
      key: 'resourceSubscriptions',
      param: 'uri',
      onGap: () => assert.fail('there is no gap'),
    });
  });

  const add = (id: number, uri: string): Promise<JSONRPCMessage> =>
    items.add({ jsonrpc: '2.0', id, method: 'resources/subscribe', params: { uri } });

  /** The server agrees to these, of what it was asked for last. */
  async function agree(...resourceSubscriptions: string[]): Promise<void> {
    await rest();
    items.subscription.acknowledged(sent.at(-1)?.id, { resourceSubscriptions });
  }

  it('are asked for once, and each is told what came of it', async () => {
    const both = Promise.all([add(1, 'a:1'), add(2, 'a:1')]);
    await agree('a:1');
    assert.deepEqual(
      await both,
      [1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} })),
    );
    assert.equal(sent.length, 1);
  });

  it('are not watched by any of them where the server does not tell of them', async () => {
    const both = Promise.all([add(1, 'a:1'), add(2, 'a:1')]);
    await agree();
    const answers = await both;
    assert.deepEqual(
      answers.map((answer) => 'error' in answer && answer.error.code),
      [-32602, -32602],
    );
    await rest();
    const again = add(3, 'a:1');
    await agree('a:1');
    assert.deepEqual(await again, { jsonrpc: '2.0', id: 3, result: {} });
  });
});
