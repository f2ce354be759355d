import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { Peer, type Exchange } from '../../../src/core/peer/peer.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { silentLog } from '../../support/fakes/silentLog.js';

describe('limits of a call', () => {
  let clock: FakeClock;
  let caller: AbortController;
  let call: Exchange;
  let reasons: unknown[];

  function begin(signal: AbortSignal): Exchange {
    const send = (message: JSONRPCMessage): Promise<void> => {
      if ('method' in message && message.method === 'notifications/cancelled')
        reasons.push(message.params?.['reason']);
      return Promise.resolve();
    };
    const nothing = { answer: () => Promise.resolve(undefined), hear: () => {}, ended: () => {} };
    const peer = new Peer({ transport: { send }, clock, log: silentLog }, nothing);
    const exchange = peer.begin({ timeouts: { call: 100, callMax: 250 }, signal });
    exchange.send('tools/call').catch(() => undefined);
    return exchange;
  }

  beforeEach(() => {
    clock = new FakeClock();
    caller = new AbortController();
    reasons = [];
    call = begin(caller.signal);
  });

  it('end it after silence', () => {
    clock.advance(99);
    assert.equal(call.end, undefined);
    clock.advance(1);
    assert.deepEqual(call.end, { kind: 'timedOut', limit: 'call', ms: 100 });
    assert.deepEqual(reasons, ['no sign of life within 0.1 s']);
    assert.equal(clock.pending, 0);
  });

  it('let it live on with every sign of life, up to the whole', () => {
    for (let at = 0; at < 240; at += 60) {
      clock.advance(60);
      call.progressed({});
      assert.equal(call.end, undefined);
    }
    clock.advance(10);
    assert.deepEqual(call.end, { kind: 'timedOut', limit: 'callMax', ms: 250 });
    assert.deepEqual(reasons, ['no result within 0.25 s']);
    call.progressed({});
    assert.equal(clock.pending, 0);
  });

  it('end it when its caller gives up, and keep the first end', () => {
    caller.abort();
    clock.advance(1000);
    assert.deepEqual(call.end, { kind: 'cancelled' });
    assert.deepEqual(reasons, ['cancelled by the caller']);
  });

  it("pass on the caller's reason as far as it is a text, up to 1,000 characters", () => {
    for (const reason of ['enough', 'x'.repeat(2000), '', { a: 1 }, 7]) {
      const given = new AbortController();
      begin(given.signal);
      given.abort(reason);
    }
    const fixed = 'cancelled by the caller';
    assert.deepEqual(reasons, ['enough', `${'x'.repeat(999)}…`, fixed, fixed, fixed]);
  });

  it('leave nothing behind', () => {
    call.dispose();
    caller.abort();
    clock.advance(1000);
    assert.equal(call.end, undefined);
    assert.deepEqual(reasons, []);
    assert.equal(clock.pending, 0);
  });
});
