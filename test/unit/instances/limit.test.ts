import assert from 'node:assert/strict';
import { silentLog } from '../../support/fakes/silentLog.js';
import type { ConnectOutcome } from '../../../src/core/connections/connection.js';
import { LimitedConnector, type SlotHolder } from '../../../src/core/instances/limit.js';
import { FakeConnector, listing } from '../../support/fakes/fakeConnector.js';

describe('slots of instances (L2)', () => {
  let fake: FakeConnector;
  let limited: LimitedConnector;
  let evicted: string[];

  beforeEach(() => {
    evicted = [];
    fake = new FakeConnector();
    fake.automatic = () => listing('x');
    limited = new LimitedConnector(fake, silentLog, () => 2);
  });

  const busyHolder: SlotHolder = {
    phase: 'live',
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
    const outcome = await connect();
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

  it('a spare instance makes room before any other', async () => {
    await live({ idleSince: 10 });
    await live({ idleSince: 20, isSpare: true }, 'spare');
    assert.equal((await connect()).kind, 'connected');
    assert.match(evicted.join(), /^spare:/);
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
    it(`a start ahead ${isTaken ? 'makes no room if a caller waits for it' : 'makes room before a lease'}`, async () => {
      await live({ idleSince: 10 }, 'idle');
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
        isSpare: !isTaken,
        end,
      });
      const slow = await fake.nextConnect();
      const waiting = connect();
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
