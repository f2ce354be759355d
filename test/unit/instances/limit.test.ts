import assert from 'node:assert/strict';
import { silentLog } from '../../support/fakes/silentLog.js';
import type { ConnectOutcome } from '../../../src/core/connections/connection.js';
import { LimitedConnector, type SlotHolder } from '../../../src/core/instances/limit.js';
import { FakeConnector, listing } from '../../support/fakes/fakeConnector.js';

describe('slots of instances (L2)', () => {
  let fake: FakeConnector;
  let limited: LimitedConnector;

  beforeEach(() => {
    fake = new FakeConnector();
    fake.automatic = () => listing('x');
    limited = new LimitedConnector(fake, () => 2);
  });

  const connect = (signal = new AbortController().signal): Promise<ConnectOutcome> =>
    limited.connect({
      server: 'a',
      launch: { transport: 'stdio', command: 'x', args: [], cwd: '/', env: new Map() },
      timeoutMs: 1000,
      signal,
      log: silentLog,
    });

  /** Connects, and says what the instance would say. */
  async function live(holder: Partial<SlotHolder>): Promise<{ leave(): Promise<void> }> {
    const outcome = await connect();
    assert.ok(outcome.kind === 'connected');
    const { connection } = outcome;
    limited.hold(connection, {
      idleSince: () => undefined,
      isEnding: () => false,
      evict: () => connection.close(),
      ...holder,
    });
    return { leave: () => connection.close() };
  }

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('are made free by the longest idle', async () => {
    await live({ idleSince: () => 20 });
    const evicted: string[] = [];
    const older = await live({
      idleSince: () => 10,
      evict: () => {
        evicted.push('older');
        return older.leave();
      },
    });
    assert.equal((await connect()).kind, 'connected');
    assert.deepEqual(evicted, ['older']);
  });

  it('are not to be had while all are in use: the start fails and says so', async () => {
    await live({});
    await live({});
    const outcome = await connect();
    assert.equal(outcome.kind === 'failed' && outcome.failure.code, 'too-many-instances');
  });

  it('are waited for where an instance is ending', async () => {
    await live({});
    const ending = await live({ isEnding: () => true });
    let outcome: ConnectOutcome | undefined;
    const started = connect().then((got) => (outcome = got));
    await settle();
    assert.equal(outcome, undefined);
    await ending.leave();
    assert.equal((await started).kind, 'connected');
  });

  it('are not waited for by a start that was cancelled', async () => {
    await live({});
    await live({ isEnding: () => true });
    const giveUp = new AbortController();
    const started = connect(giveUp.signal);
    await settle();
    giveUp.abort();
    assert.equal((await started).kind, 'cancelled');
  });
});
