import assert from 'node:assert/strict';
import { StartTurns, type StartTurn } from '../../../src/core/instances/startTurns.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('turns of starts (P8)', () => {
  let clock: FakeClock;
  let turns: StartTurns;

  beforeEach(() => {
    clock = new FakeClock();
    turns = new StartTurns(clock, 2);
  });

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const take = (count: number, isAwaited = false): StartTurn[] =>
    Array.from({ length: count }, () => turns.take(isAwaited));
  const here = (all: readonly StartTurn[]): boolean[] =>
    all.map(({ coming }) => coming === undefined);

  it('turns come up to the limit, in the order of the requests, and each end starts the next', async () => {
    const all = take(4);
    await settle();
    assert.deepEqual(here(all), [true, true, false, false]);
    all[1]?.end();
    all[1]?.end();
    assert.deepEqual(here(all), [true, true, true, false]);
    for (const turn of all) turn.end();
    assert.equal(clock.pending, 0);
  });

  it('a start with a waiting caller has its turn at once, and the others wait for it too', async () => {
    const behind = take(1);
    const awaited = take(3, true);
    assert.deepEqual(here(awaited), [true, true, true]);
    await settle();
    assert.deepEqual(
      here(behind),
      [false],
      'what nobody waits for was asked for first, in the same edit',
    );
    for (const turn of awaited) turn.end();
    assert.deepEqual(here(behind), [true]);
    behind[0]?.end();
  });

  it('a turn comes at once when a caller begins to wait', async () => {
    const all = take(4);
    await settle();
    const came = all[3]?.coming;
    all[3]?.hurry();
    await came;
    assert.deepEqual(here(all), [true, true, false, true]);
    all[3]?.end();
    all[0]?.end();
    assert.deepEqual(here(all), [true, true, true, true]);
    for (const turn of all) turn.end();
  });

  it('long starts and those that gave up keep no turn', async () => {
    const all = take(5);
    await settle();
    all[2]?.end();
    clock.advance(4_999);
    assert.deepEqual(here(all).slice(3), [false, false]);
    clock.advance(1);
    assert.deepEqual(here(all).slice(3), [true, true]);
    for (const turn of all) turn.end();
    assert.equal(clock.pending, 0);
  });
});
