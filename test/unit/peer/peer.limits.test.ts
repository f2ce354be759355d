import assert from 'node:assert/strict';
import { CallLimits } from '../../../src/core/peer/peer.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('limits of a call', () => {
  let clock: FakeClock;
  let caller: AbortController;
  let limits: CallLimits;
  let reasons: string[];
  beforeEach(() => {
    clock = new FakeClock();
    caller = new AbortController();
    reasons = [];
    limits = new CallLimits(clock, { call: 100, callMax: 250 }, caller.signal, (reason) => reasons.push(reason));
  });

  it('end it after silence', () => {
    clock.advance(99);
    assert.equal(limits.end, undefined);
    clock.advance(1);
    assert.deepEqual(limits.end, { kind: 'timedOut', limit: 'call', ms: 100 });
    assert.deepEqual(reasons, ['no sign of life within 0.1 s']);
    assert.equal(clock.pending, 0);
  });

  it('let it live on with every sign of life, up to the whole', () => {
    for (let at = 0; at < 240; at += 60) {
      clock.advance(60);
      limits.signOfLife();
      assert.equal(limits.end, undefined);
    }
    clock.advance(10);
    assert.deepEqual(limits.end, { kind: 'timedOut', limit: 'callMax', ms: 250 });
    assert.deepEqual(reasons, ['no result within 0.25 s']);
    limits.signOfLife();
    assert.equal(clock.pending, 0);
  });

  it('end it when its caller gives up, and keep the first end', () => {
    caller.abort();
    clock.advance(1000);
    assert.deepEqual(limits.end, { kind: 'cancelled' });
    assert.deepEqual(reasons, ['cancelled by the caller']);
  });

  it("pass on the caller's reason as far as it is a text, up to 1,000 characters", () => {
    for (const reason of ['enough', 'x'.repeat(2000), '', { a: 1 }, 7]) {
      const given = new AbortController();
      new CallLimits(clock, { call: 100, callMax: 250 }, given.signal, (why) => reasons.push(why));
      given.abort(reason);
    }
    const fixed = 'cancelled by the caller';
    assert.deepEqual(reasons, ['enough', `${'x'.repeat(999)}…`, fixed, fixed, fixed]);
  });

  it('leave nothing behind', () => {
    limits.dispose();
    caller.abort();
    clock.advance(1000);
    assert.equal(limits.end, undefined);
    assert.deepEqual(reasons, []);
    assert.equal(clock.pending, 0);
  });
});
