import assert from 'node:assert/strict';
import { clockOver, systemClock, Throttle } from '../../../src/core/base/clock.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('the clock of the system', () => {
  it('a wait beyond the longest timer does not end at once', async () => {
    const late = systemClock.after(2 ** 31, () => assert.fail('too early'));
    await new Promise<void>((resolve) => systemClock.after(5, resolve));
    late.dispose();
  });

  it('a limit counts the time awake, and leaves time to read what came in a sleep (X6)', async () => {
    let time = 0;
    const clock = clockOver(() => time);
    const before = clock.awake();
    const rang = new Promise<string>((resolve) => clock.after(5, () => resolve('the limit')));
    time += 8 * 3600 * 1000;
    const read = new Promise<string>((resolve) => setTimeout(resolve, 50, 'the pipe'));
    assert.equal(await Promise.race([rang, read]), 'the pipe');
    assert.equal(clock.awake(), before);
    time += 1000;
    assert.equal(clock.awake(), before + 1000, 'a busy second is no sleep');
    assert.equal(await rang, 'the limit');
  });
});

describe('Throttle', () => {
  it('a throttle runs once for many requests, and again for later ones', () => {
    const clock = new FakeClock();
    let done = 0;
    const throttle = new Throttle(clock, 1000, () => done++);
    throttle.ask();
    clock.advance(999);
    throttle.ask();
    assert.equal(done, 0);
    clock.advance(1);
    assert.equal(done, 1);
    throttle.ask();
    clock.advance(1000);
    assert.equal(done, 2);
  });

  it('a disposed throttle does not run', () => {
    const clock = new FakeClock();
    const throttle = new Throttle(clock, 1000, () => assert.fail('too late'));
    throttle.ask();
    throttle.dispose();
    throttle.ask();
    clock.advance(2000);
  });
});
