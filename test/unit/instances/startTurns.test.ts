import assert from 'node:assert/strict';
import { StartTurns, type StartTurn } from '../../../src/core/instances/startTurns.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('turns of starts (P8b)', () => {
  let clock: FakeClock;
  let turns: StartTurns;

  beforeEach(() => {
    clock = new FakeClock();
    turns = new StartTurns(clock, 2);
  });

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const take = (count: number, isAwaited = false): StartTurn[] =>
    Array.from({ length: count }, () => {
      const turn = turns.takeFor({ transport: 'stdio' }, isAwaited);
      assert.ok(turn);
      return turn;
    });
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

  it('starts with a waiting caller come before all others, and twice as many run at once', async () => {
    const behind = take(1);
    const awaited = take(6, true);
    await settle();
    assert.deepEqual(
      [...here(behind), ...here(awaited)],
      [false, true, true, true, true, false, false],
      'the start that nobody waits for was asked for first, in the same edit',
    );
    awaited[2]?.end();
    assert.deepEqual(here(awaited).slice(4), [true, false]);
    awaited[0]?.end();
    assert.deepEqual([...here(awaited).slice(4), ...here(behind)], [true, true, false]);
    awaited[1]?.end();
    awaited[3]?.end();
    assert.deepEqual(here(behind), [false], 'two run, as many as there are cores');
    awaited[4]?.end();
    assert.deepEqual(here(behind), [true]);
    for (const turn of [...awaited, ...behind]) turn.end();
    assert.equal(clock.pending, 0);
  });

  it('callers are served in the order in which they began to wait', async () => {
    const running = take(4, true);
    const ahead = take(2);
    await settle();
    const [late] = take(1, true);
    ahead[1]?.hurry();
    const first = (): boolean[] => here([late!, ahead[1]!, ahead[0]!]);
    running[0]?.end();
    assert.deepEqual(first(), [true, false, false]);
    running[1]?.end();
    assert.deepEqual(first(), [true, true, false]);
    for (const turn of [...running, late!, ...ahead]) turn.end();
  });

  it('no turn comes while an endpoint opens', async () => {
    let open = (): void => {};
    turns.hold(new Promise<void>((resolve) => (open = resolve)));
    const all = [...take(1, true), ...take(1)];
    await settle();
    assert.deepEqual(here(all), [false, false]);
    open();
    await settle();
    assert.deepEqual(here(all), [true, true]);
    for (const turn of all) turn.end();
  });

  it('a start over HTTP takes no turn, because it starts no process', () => {
    assert.equal(turns.takeFor({ transport: 'streamable_http' }, true), undefined);
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
