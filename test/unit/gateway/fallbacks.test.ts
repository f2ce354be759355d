import assert from 'node:assert/strict';
import { Fallbacks } from '../../../src/core/gateway/fallbacks.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

const program = { name: 'p', version: '1' };

describe('gateway: programs that fall back to the legacy era (G3)', () => {
  it('are refused again and again, also those that begin together', () => {
    const clock = new FakeClock();
    const fallbacks = new Fallbacks(clock);
    assert.deepEqual([fallbacks.refuses(program), fallbacks.refuses(program)], [true, true]);
    fallbacks.noteSession(program);
    clock.advance(60_000);
    assert.equal(fallbacks.refuses(program), true);
  });

  it('are others than those that come again without a session, which need the modern era', () => {
    const clock = new FakeClock();
    const fallbacks = new Fallbacks(clock);
    assert.equal(fallbacks.refuses(program), true);
    clock.advance(1_000);
    assert.equal(fallbacks.refuses(program), false);
    assert.equal(fallbacks.refuses({ ...program, version: '2' }), true);
    assert.equal(fallbacks.refuses(undefined), true);
  });
});
