/** One server's share of the event loop, in slices, and the others' share (S2c, P10). */
import assert from 'node:assert/strict';
import { atOnce, LoopShare, type Sliced } from '../../../src/core/base/turns.js';
import { FakeClock, rest as settled } from '../../support/fakes/fakeClock.js';

describe('the share of the event loop', () => {
  let clock: FakeClock;
  /** The duration of the work, set by the tests. */
  let worked: number;
  let share: LoopShare;

  beforeEach(() => {
    clock = new FakeClock();
    worked = 0;
    const meter = { now: () => worked };
    share = new LoopShare(clock, meter, meter);
  });

  const work = (ms: number) => (): void => void (worked += ms);

  it('a server may take 400 ms of the loop at once, and then a quarter of the time', async () => {
    share.charge(work(400));
    assert.equal(share.waitMs, 0);
    share.charge(work(100));
    assert.equal(share.waitMs, 400);
    await clock.advance(399);
    assert.ok(share.waitMs > 0);
    await clock.advance(1);
    assert.equal(share.waitMs, 0);
  });

  it('failed work is charged too', () => {
    assert.throws(() =>
      share.charge(() => {
        worked += 500;
        throw new Error('no');
      }),
    );
    assert.ok(share.waitMs > 0);
  });

  it('a reader pauses until the next permitted read, and no longer than its signal', async () => {
    share.spend(500);
    let isOver = false;
    const resting = share.rest().then(() => (isOver = true));
    await settled();
    assert.equal(isOver, false);
    await clock.flow(1000);
    await resting;
    share.spend(500);
    const unwanted = new AbortController();
    const ended = share.rest(unwanted.signal);
    unwanted.abort();
    await ended;
  });

  function* slices(count: number, ms: number): Sliced<string> {
    for (let n = 0; n < count; n++) {
      worked += ms;
      yield;
    }
    return 'done';
  }

  it('long work runs in slices, with other turns in between, and pauses beyond its share', async () => {
    let turns = 0;
    let isOver = false;
    const running = share.run(slices(100, 15)).then((value) => {
      isOver = true;
      return value;
    });
    while (!isOver && turns < 1000) {
      turns += 1;
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(10);
    }
    assert.equal(await running, 'done');
    assert.ok(turns >= 100, `${turns} turns`);
    // Beyond the free part, each millisecond of work takes four.
    assert.ok(clock.now() - new FakeClock().now() >= 1500);
  });

  it('the consequences of a message before the next turn are charged', async () => {
    await share.chargeTurn(() => {
      worked += 250;
      void Promise.resolve()
        .then(() => undefined)
        .then(() => (worked += 250));
    });
    assert.equal(share.waitMs, 400);
  });

  it('readers of one server share a turn, and go on one by one (P10)', async () => {
    share.note(3);
    assert.equal(share.turn(), undefined);
    share.spend(1);
    const order: string[] = [];
    const reader = async (name: string): Promise<void> => {
      await share.turn();
      order.push(name);
      share.note(4);
    };
    const readers = [reader('first'), reader('second'), reader('third')];
    for (let before = 0; order.length < 3; before = order.length) {
      await new Promise((resolve) => setImmediate(resolve));
      assert.ok(order.length - before <= 1);
    }
    await Promise.all(readers);
    assert.deepEqual(order, ['first', 'second', 'third']);
  });

  it('each of several consequences is charged in its own turn (P10)', async () => {
    const turns: number[] = [];
    let turn = 0;
    const count = (): void => {
      turn += 1;
      if (turns.length < 3) setImmediate(count);
    };
    count();
    await share.chargeTurns([1, 2, 3], () => {
      turns.push(turn);
      worked += 200;
    });
    assert.equal(new Set(turns).size, 3);
    assert.equal(share.waitMs, 800);
  });

  it('two long messages are taken in at once, and others wait', async () => {
    const { signal } = new AbortController();
    const first = await share.placeForLong(signal);
    await share.placeForLong(signal);
    const order: string[] = [];
    const third = share.placeForLong(signal).then(() => order.push('third'));
    const closed = new AbortController();
    const fourth = share.placeForLong(closed.signal).then(() => order.push('fourth'));
    await settled();
    assert.deepEqual(order, []);
    closed.abort();
    await fourth;
    first.dispose();
    await settled();
    assert.deepEqual(order, ['fourth']);
    share.spend(0);
    void third;
  });

  it('sliced work can run at once', () => assert.equal(atOnce(slices(3, 100)), 'done'));
});
