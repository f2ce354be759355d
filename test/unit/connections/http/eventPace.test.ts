/** How fast what nobody asked for is read of an event stream (S2). */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { EventPace } from '../../../../src/core/connections/http/eventPace.js';
import { FakeClock, rest as settled } from '../../../support/fakes/fakeClock.js';

const told: JSONRPCMessage = { jsonrpc: '2.0', method: 'm' };
const asks: JSONRPCMessage = { jsonrpc: '2.0', id: 1, method: 'ping' };
const answer: JSONRPCMessage = { jsonrpc: '2.0', id: 1, result: {} };

describe('the pace of an event stream', () => {
  let clock: FakeClock;
  let pace: EventPace;
  let body: PassThrough;

  beforeEach(() => {
    clock = new FakeClock();
    pace = new EventPace(clock);
    body = new PassThrough();
  });

  const spend = (times: number, messages: readonly JSONRPCMessage[] | undefined, length = 2, isAsked = false): void => {
    for (let n = 0; n < times; n++) pace.spend(length, messages, () => isAsked);
  };

  async function isHeldUp(): Promise<boolean> {
    let isReading = false;
    const reads = pace.rest(body).then(() => (isReading = true));
    await settled();
    const held = !isReading;
    await clock.flow(10_000);
    await reads;
    return held;
  }

  it('is not slowed by what was asked for', async () => {
    spend(10_000, [answer], 1_000_000, true);
    assert.equal(await isHeldUp(), false);
  });

  const atOnce: readonly [string, number, readonly JSONRPCMessage[] | undefined, number][] = [
    ['2,000 messages', 2000, [told], 40],
    ['2,000 answers to nothing', 2000, [answer], 40],
    ['2,000 events that are no messages', 2000, undefined, 40],
    ['100 requests, which have to be answered', 100, [asks], 40],
    ['4 batches', 4, Array.from({ length: 500 }, () => told), 20_000],
    ['16 MiB', 16, [told], 1_024_000],
  ];
  for (const [what, times, messages, length] of atOnce) {
    it(`lets ${what} through at once, and then only more in a while`, async () => {
      spend(times, messages, length);
      assert.equal(await isHeldUp(), false);
      clock = new FakeClock();
      pace = new EventPace(clock);
      spend(times + 1, messages, length);
      assert.equal(await isHeldUp(), true);
    });
  }

  it('lets 2,000 comments through at once, and then only more in a while', async () => {
    for (let n = 0; n < 2000; n++) pace.spendOther(10);
    assert.equal(await isHeldUp(), false);
    clock = new FakeClock();
    pace = new EventPace(clock);
    for (let n = 0; n < 2001; n++) pace.spendOther(10);
    assert.equal(await isHeldUp(), true);
  });

  it('ends with the stream', async () => {
    spend(20_000, [told]);
    const resting = pace.rest(body);
    body.destroy();
    await resting;
    await pace.rest(body);
  });
});
