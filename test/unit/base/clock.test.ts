import assert from 'node:assert/strict';
import { Soon } from '../../../src/core/base/clock.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('Soon', () => {
  it('does once what was asked for often, and again when it is asked again', () => {
    const clock = new FakeClock();
    let done = 0;
    const soon = new Soon(clock, 1000, () => done++);
    soon.ask();
    clock.advance(999);
    soon.ask();
    assert.equal(done, 0);
    clock.advance(1);
    assert.equal(done, 1);
    soon.ask();
    clock.advance(1000);
    assert.equal(done, 2);
  });

  it('does nothing after its end', () => {
    const clock = new FakeClock();
    const soon = new Soon(clock, 1000, () => assert.fail('too late'));
    soon.ask();
    soon.dispose();
    soon.ask();
    clock.advance(2000);
  });
});
