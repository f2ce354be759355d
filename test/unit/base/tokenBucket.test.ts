import assert from 'node:assert/strict';
import { TokenBucket } from '../../../src/core/base/tokenBucket.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('TokenBucket', () => {
  it('a bucket gives a burst, and then a rate in seconds', () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket(clock, 3, 2);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => bucket.tryTake()),
      [true, true, true, false],
    );
    clock.advance(499);
    assert.equal(bucket.tryTake(), false);
    clock.advance(1);
    assert.equal(bucket.tryTake(), true);
    clock.advance(60_000);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => bucket.tryTake()),
      [true, true, true, false],
    );
  });

  it('a bucket returns the wait for tokens taken on credit', () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket(clock, 2, 2);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => bucket.take()),
      [0, 0, 500, 1000],
    );
    clock.advance(1000);
    assert.equal(bucket.take(2), 1000);
  });

  it('a bucket loses nothing when the clock is set back', () => {
    let now = 10_000;
    const bucket = new TokenBucket({ now: () => now }, 2, 1);
    now = 0;
    assert.equal(bucket.tryTake(), true);
    assert.equal(bucket.tryTake(), true);
    now = 1000;
    assert.equal(bucket.tryTake(), true);
  });
});
