import assert from 'node:assert/strict';
import { silentLog } from '../../support/fakes/silentLog.js';
import type { ConnectOutcome } from '../../../src/core/connections/connection.js';
import { LimitedConnector, type SlotHolder } from '../../../src/core/instances/limit.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeConnector, listing } from '../../support/fakes/fakeConnector.js';

const minute = 60_000;

describe('the limit of instances (L2b)', () => {
  let fake: FakeConnector;
  let limited: LimitedConnector;
  let evicted: string[];
  let clock: FakeClock;
  let given: number | undefined;

  beforeEach(() => {
    evicted = [];
    given = 2;
    clock = new FakeClock();
    // The times of the tests are long ago.
    clock.advance(10 * minute);
    fake = new FakeConnector();
    fake.automatic = () => listing('x');
    limited = new LimitedConnector(fake, clock, silentLog, () => given);
  });

  const busyHolder: SlotHolder = {
    phase: 'live',
    isLease: true,
    idleSince: undefined,
    waitsSince: undefined,
    isSpare: false,
    end: () => Promise.resolve(),
  };

  const startUnder = (signal: AbortSignal): SlotHolder => ({
    ...busyHolder,
    get phase() {
      return signal.aborted ? ('ending' as const) : ('starting' as const);
    },
  });

  const connect = (
    signal = new AbortController().signal,
    holder: SlotHolder = startUnder(signal),
  ): Promise<ConnectOutcome> =>
    limited.connect(
      {
        server: 'a',
        launch: { transport: 'stdio', command: 'x', args: [], cwd: '/', env: new Map() },
        timeoutMs: 1000,
        signal,
        log: silentLog,
      },
      holder,
    );

  /** Connects, and holds the slot as an instance does. */
  async function live(holder: Partial<SlotHolder>, name = ''): Promise<{ leave(): Promise<void> }> {
    const outcome = await connect(undefined, { ...busyHolder, phase: 'starting', ...holder });
    assert.ok(outcome.kind === 'connected');
    const { connection } = outcome;
    const end = (reason: string): Promise<void> => {
      evicted.push(`${name}: ${reason}`);
      return connection.close();
    };
    limited.setHolder(connection, { ...busyHolder, end, ...holder });
    return { leave: () => connection.close() };
  }

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('the longest idle instance makes room', async () => {
    await live({ idleSince: 20 });
    await live({ idleSince: 10 }, 'older');
    assert.equal((await connect()).kind, 'connected');
    assert.deepEqual(evicted, [
      'older: it was idle the longest, and another instance needed the room',
    ]);
  });

  it('a lease used in the last five minutes makes no room, and the failure says how to raise the limit', async () => {
    const used = clock.now();
    await live({ idleSince: used }, 'a');
    await live({ idleSince: used + 1 }, 'b');
    clock.advance(5 * minute);
    const outcome = await connect();
    assert.ok(outcome.kind === 'failed' && outcome.failure.code === 'too-many-instances');
    assert.match(outcome.failure.message, /limit of 2 .*five minutes/);
    assert.match(
      outcome.failure.fix,
      /`maxInstances`.*`--max-instances`.*mcpToolsets\.maxInstances/,
    );
    clock.advance(1);
    assert.equal((await connect()).kind, 'connected');
    assert.match(evicted.join(), /^a:/);
  });

  it('instances without a conversation count apart, and a spare one is the first of them to make room', async () => {
    const other = { isLease: false, idleSince: clock.now() };
    await live(other, 'warm');
    await live({ ...other, isSpare: true }, 'spare');
    await live({});
    await live({});
    assert.deepEqual(evicted, []);
    assert.equal((await connect()).kind, 'failed', 'two leases, as the limit says');
    const shared = { ...busyHolder, phase: 'starting', isLease: false } as const;
    assert.equal((await connect(undefined, shared)).kind, 'connected');
    assert.match(evicted.join(), /^spare:/);
  });

  it('the option or setting decides, then the config files, then 32', () => {
    limited.setLimitOfFiles(7);
    assert.equal(limited.most, 2);
    given = undefined;
    assert.equal(limited.most, 7);
    limited.setLimitOfFiles(undefined);
    assert.equal(limited.most, 32);
  });

  it('a higher limit of the config files lets a waiting start begin', async () => {
    given = undefined;
    limited.setLimitOfFiles(1);
    await live({ phase: 'ending' });
    const started = connect();
    await settle();
    limited.setLimitOfFiles(2);
    assert.equal((await started).kind, 'connected');
  });

  it('evictions count when their conversations come back, until the limit changes (L2c)', async () => {
    await live({ idleSince: 10 }, 'a');
    await live({});
    await connect();
    assert.equal(limited.evictedInVain, 0);
    limited.noteReplaced(evicted[0]?.replace('a: ', '') ?? '');
    limited.noteReplaced('a person ended it');
    assert.equal(limited.evictedInVain, 1);
    given = 3;
    assert.equal(limited.evictedInVain, 0);
  });

  it('the longest wait for a client makes room if no instance is idle or ending', async () => {
    await live({ waitsSince: 20 }, 'younger');
    await live({ waitsSince: 10 }, 'elder');
    assert.equal((await connect()).kind, 'connected');
    assert.match(evicted.join(), /^elder: its client left a question/);
  });

  it('a start waits for an ending instance before one with a waiting client makes room', async () => {
    await live({ waitsSince: 10 });
    const ending = await live({ phase: 'ending' });
    const started = connect();
    await settle();
    assert.deepEqual(evicted, []);
    await ending.leave();
    assert.equal((await started).kind, 'connected');
    assert.deepEqual(evicted, []);
  });

  it('an idle instance makes room before one with a waiting client', async () => {
    await live({ waitsSince: 1 });
    await live({ idleSince: 20 }, 'idle');
    assert.equal((await connect()).kind, 'connected');
    assert.match(evicted.join(), /^idle:/);
  });

  it('a start fails with the reason while all slots are in use', async () => {
    await live({});
    await live({});
    const outcome = await connect();
    assert.equal(outcome.kind === 'failed' && outcome.failure.code, 'too-many-instances');
  });

  it('a start waits for an ending instance', async () => {
    await live({});
    const ending = await live({ phase: 'ending' });
    let outcome: ConnectOutcome | undefined;
    const started = connect().then((got) => (outcome = got));
    await settle();
    assert.equal(outcome, undefined);
    await ending.leave();
    assert.equal((await started).kind, 'connected');
  });

  it('no other instance makes room if enough are ending for all waiting starts', async () => {
    await live({ idleSince: 10 }, 'idle');
    const ending = await live({ phase: 'ending' });
    const first = connect();
    await settle();
    assert.deepEqual(evicted, []);
    const second = connect();
    await settle();
    assert.match(evicted.join(), /^idle:/);
    await ending.leave();
    assert.deepEqual(
      [(await first).kind, (await second).kind, evicted.length],
      ['connected', 'connected', 1],
    );
  });

  it('a start waits for the process of a cancelled start', async () => {
    await live({ idleSince: 10 }, 'idle');
    fake.automatic = undefined;
    let processEnds = (): void => {};
    const ended = new Promise<void>((resolve) => (processEnds = resolve));
    const slow = fake.connect.bind(fake);
    fake.connect = async (request) => {
      const outcome = await slow(request);
      if (outcome.kind === 'cancelled') await ended;
      return outcome;
    };
    const giveUp = new AbortController();
    const cancelled = connect(giveUp.signal);
    await fake.nextConnect();
    giveUp.abort();
    const started = connect();
    await settle();
    assert.deepEqual(evicted, []);
    processEnds();
    (await fake.nextConnect()).succeed(listing('x'));
    assert.deepEqual(
      [(await cancelled).kind, (await started).kind, evicted],
      ['cancelled', 'connected', []],
    );
  });

  it('an instance that becomes idle makes room during another start', async () => {
    const busy = await connect();
    assert.ok(busy.kind === 'connected');
    const by = {
      ...busyHolder,
      idleSince: undefined as number | undefined,
      end: () => busy.connection.close(),
    };
    limited.setHolder(busy.connection, by);
    fake.automatic = undefined;
    const starting = connect();
    const slow = await fake.nextConnect();
    const waiting = connect();
    by.idleSince = 10;
    limited.announceIdle();
    (await fake.nextConnect()).succeed(listing('x'));
    assert.equal((await waiting).kind, 'connected');
    slow.succeed(listing('x'));
    assert.equal((await starting).kind, 'connected');
  });

  for (const isTaken of [false, true]) {
    it(`a start ahead ${isTaken ? 'makes no room if a caller waits for it' : 'makes room before others'}`, async () => {
      await live({ idleSince: 10, isLease: isTaken }, 'idle');
      fake.automatic = undefined;
      const giveUp = new AbortController();
      const end = (reason: string): Promise<void> => {
        evicted.push(`start: ${reason}`);
        giveUp.abort();
        return Promise.resolve();
      };
      const starting = connect(giveUp.signal, {
        ...busyHolder,
        phase: 'starting',
        isLease: isTaken,
        isSpare: !isTaken,
        end,
      });
      const slow = await fake.nextConnect();
      const waiting = connect(undefined, { ...busyHolder, phase: 'starting', isLease: isTaken });
      (await fake.nextConnect()).succeed(listing('x'));
      assert.equal((await waiting).kind, 'connected');
      assert.match(evicted.join(), isTaken ? /^idle:/ : /^start:/);
      slow.succeed(listing('x'));
      assert.equal((await starting).kind, isTaken ? 'connected' : 'cancelled');
    });
  }

  it('a cancelled start does not wait for a slot', async () => {
    await live({});
    await live({ phase: 'ending' });
    const giveUp = new AbortController();
    const started = connect(giveUp.signal);
    await settle();
    giveUp.abort();
    assert.equal((await started).kind, 'cancelled');
  });
});
