/** The instance of each conversation, the number of instances, and their deaths (L1, L2, X4). */
import assert from 'node:assert/strict';
import {
  failure,
  listing,
  textResult,
  type FakeConnection,
} from '../../support/fakes/fakeConnector.js';
import { rest } from '../../support/fakes/fakeClock.js';
import { answer, answered, file, hostStage } from './stage.js';

describe('instances and leases (L1, L2)', () => {
  const stage = hostStage();

  it('the first conversation gets the instance that listed, and each other one gets another', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const one = stage.call('a', 'x', 'd1');
    (await warm.nextCall()).answer({ kind: 'result', result: textResult('1') });
    await one;
    const two = stage.call('a', 'x', 'd2');
    const second = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await second.nextCall()).answer({ kind: 'result', result: textResult('2') });
    await two;
    const again = stage.call('a', 'x', 'd1');
    (await warm.nextCall()).answer({ kind: 'result', result: textResult('3') });
    await again;
    assert.equal(stage.connector.connects, 2);
    assert.deepEqual(
      stage
        .server('a')
        .instances.map(({ use }) => (use.kind === 'leased' ? use.conversation : use.kind)),
      ['d1', 'd2'],
    );
  });

  it('instances with different versions of a package are a warning (C8)', async () => {
    const warm = await stage.serve('a', "command: npx, args: ['x@^1']", 'x');
    warm.runs = { version: '1.0.0', integrity: 'sha512-a' };
    const one = stage.call('a', 'x', 'd1');
    (await warm.nextCall()).answer({ kind: 'result', result: textResult('1') });
    await one;
    const codes = (): string[] => stage.host.snapshot.problems.map(({ code }) => code);
    assert.deepEqual(stage.server('a').package, {
      launcher: 'npx',
      name: 'x',
      requested: '^1',
      pinned: false,
      runs: '1.0.0',
      integrity: 'sha512-a',
      reported: '1',
    });
    assert.ok(!codes().includes('versions-differ'));
    const two = stage.call('a', 'x', 'd2');
    const second = (await stage.connector.nextConnect()).succeed(listing('x'));
    second.runs = { version: '1.1.0' };
    (await second.nextCall()).answer({ kind: 'result', result: textResult('2') });
    await two;
    const differ = stage.host.snapshot.problems.find(({ code }) => code === 'versions-differ');
    assert.match(differ?.message ?? '', /different versions of x: 1\.0\.0, 1\.1\.0\./);
    assert.deepEqual(
      stage.server('a').instances.map(({ runs }) => runs),
      ['1.0.0', '1.1.0'],
    );
  });

  it('two first calls of a conversation at once make one instance', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const keep = stage.call('a', 'x', 'd1');
    const kept = await warm.nextCall();
    const calls = [stage.call('a', 'x', 'd2'), stage.call('a', 'x', 'd2')];
    const second = (await stage.connector.nextConnect()).succeed(listing('x'));
    for (const text of ['1', '2'])
      (await second.nextCall()).answer({ kind: 'result', result: textResult(text) });
    assert.equal((await Promise.all(calls)).length, 2);
    assert.equal(stage.connector.connects, 2);
    kept.answer({ kind: 'cancelled' });
    await keep;
  });

  it('all conversations share the instance of a truly stateless server', async () => {
    const shared = await stage.serve('a', 'command: a, truely-stateless: true', 'x');
    const calls = ['d1', 'd2', 'd3'].map((conversation) => stage.call('a', 'x', conversation));
    for (const text of ['1', '2', '3'])
      (await shared.nextCall()).answer({ kind: 'result', result: textResult(text) });
    await Promise.all(calls);
    assert.equal(stage.connector.connects, 1);
  });

  it('an idle server stops at its limit, keeps its tools, and starts again with the next call', async () => {
    const warm = await stage.serve('a', 'command: a, timeouts: { idle: 10s }', 'x');
    stage.clock.advance(10_000);
    await stage.until(() => stage.server('a').state.kind === 'idle');
    assert.equal(warm.closed, true);
    assert.deepEqual(stage.published(), ['a/x']);
    const call = stage.call('a', 'x');
    const fresh = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await fresh.nextCall()).answer({ kind: 'result', result: textResult('again') });
    assert.deepEqual(await call, answered('again', { kind: 'new' }));
  });

  it('an edited idle limit also counts for an instance that is idle already (R2)', async () => {
    const idle = (limit: string): string => file({ a: `command: a, timeouts: { idle: ${limit} }` });
    const warm = await stage.serve('a', 'command: a, timeouts: { idle: 10s }', 'x');
    const first = stage.call('a', 'x');
    await answer(warm, '1');
    await first;
    stage.clock.advance(9_000);
    await stage.edit(idle('20s'));
    stage.clock.advance(10_999);
    assert.equal(warm.closed, false, 'the longer limit counts, from the last call');
    await stage.edit(idle('1m'));
    stage.clock.advance(30_000);
    await stage.edit(idle('30s'));
    stage.clock.advance(0);
    assert.equal(warm.closed, true, 'the shorter limit has passed already');
    const second = stage.call('a', 'x');
    const fresh = (await stage.connector.nextConnect()).succeed(listing('x'));
    const running = await fresh.nextCall();
    await stage.edit(idle('1s'));
    stage.clock.advance(60_000);
    assert.equal(fresh.closed, false, 'it is not idle');
    running.answer({ kind: 'result', result: textResult('2') });
    await second;
    stage.clock.advance(1_000);
    assert.equal(fresh.closed, true);
    assert.equal(stage.connector.connects, 2);
  });

  it('a running call does not count as idle time', async () => {
    const warm = await stage.serve('a', 'command: a, timeouts: { idle: 10s }', 'x');
    const running = stage.call('a', 'x');
    const call = await warm.nextCall();
    stage.clock.advance(60_000);
    assert.equal(warm.closed, false);
    call.answer({ kind: 'result', result: textResult('1') });
    await running;
    stage.clock.advance(9_999);
    assert.equal(warm.closed, false);
    stage.clock.advance(1);
    assert.equal(warm.closed, true);
  });

  it('a call right after the release of a starting lease gets another start', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const keep = stage.call('a', 'x', 'd1');
    const kept = await warm.nextCall();
    const first = stage.call('a', 'x', 'd2');
    await stage.connector.nextConnect();
    const released = stage.host.release('a', 'd2');
    const second = stage.call('a', 'x', 'd2');
    assert.match(JSON.stringify(await first), /was not called: its start was cancelled/);
    assert.equal(await released, true);
    const fresh = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await fresh.nextCall()).answer({ kind: 'result', result: textResult('2') });
    assert.equal((await second).kind, 'result');
    kept.answer({ kind: 'cancelled' });
    await keep;
  });

  it('a release ends a lease, and cancels a start', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x', 'd1');
    (await warm.nextCall()).answer({ kind: 'result', result: textResult('1') });
    await running;
    assert.equal(await stage.host.release('a', 'd1'), true);
    assert.equal(warm.closed, true);
    assert.equal(await stage.host.release('a', 'd1'), false);
    const starting = stage.call('a', 'x', 'd2');
    await stage.connector.nextConnect();
    assert.equal(await stage.host.release('a', 'd2'), true);
    assert.match(JSON.stringify(await starting), /was not called: its start was cancelled/);
  });

  it('a failed start fails its call with the reason, and the server shows it', async () => {
    await stage.serve('a', 'command: a, timeouts: { idle: 1s }', 'x');
    stage.clock.advance(1000);
    const call = stage.call('a', 'x');
    (await stage.connector.nextConnect()).fail(failure);
    assert.match(
      JSON.stringify(await call),
      /\\"x\\" was not called: the server \\"a\\" exited\. Mend it\./,
    );
    await stage.until(({ problems }) => problems.length === 1);
    assert.equal(stage.server('a').state.kind, 'failed');
    assert.deepEqual(stage.published(), ['a/x'], 'its tools stay');
    const next = stage.call('a', 'x');
    const well = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await well.nextCall()).answer({ kind: 'result', result: textResult('ok') });
    await next;
    await stage.until(({ problems }) => problems.length === 0);
  });
});

describe('news of a lease (L3)', () => {
  const stage = hostStage();

  it('the news come once with the first result, and not from a shared instance', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x');
    await answer(warm, '1');
    assert.deepEqual(await first, answered('1', { kind: 'new' }));
    const second = stage.call('a', 'x');
    await answer(warm, '2');
    assert.deepEqual(await second, answered('2'));
    const shared = await stage.serve('b', 'command: b, truely-stateless: true', 'x');
    const third = stage.call('b', 'x');
    await answer(shared, '3');
    assert.deepEqual(await third, answered('3'));
  });

  it('the news come with the first result if the first call brought none', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x');
    (await warm.nextCall()).answer({ kind: 'error', code: -32000, message: 'no' });
    await first;
    const second = stage.call('a', 'x');
    await answer(warm, '2');
    assert.deepEqual(await second, answered('2', { kind: 'new' }));
  });
});

describe('leases over a reload', () => {
  const stage = hostStage();

  it('a death before a reload is still news after it (X4)', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x');
    await answer(warm, '1');
    await first;
    warm.die('it was killed');
    const next = await stage.serve('a', 'command: b', 'x');
    const second = stage.call('a', 'x');
    await answer(next, '2');
    assert.deepEqual(await second, answered('2', { kind: 'replaced', cause: 'it was killed' }));
  });
});

describe('the limit of instances (L2b)', () => {
  const stage = hostStage();

  it('the longest idle instance ends to make room, and none with a call in flight', async () => {
    const connections = [await stage.serve('a', 'command: a', 'x')];
    const calls = [stage.call('a', 'x', 'd1')];
    for (const conversation of ['d2', 'd3']) {
      stage.clock.advance(1000);
      calls.push(stage.call('a', 'x', conversation));
      connections.push((await stage.connector.nextConnect()).succeed(listing('x')));
    }
    // d1 is busy; d2 is idle the longest.
    await answer(connections[1] as FakeConnection, '2');
    stage.clock.advance(1000);
    await answer(connections[2] as FakeConnection, '3');
    await Promise.all(calls.slice(1));
    stage.clock.advance(5 * 60_000 + 1);
    const fourth = stage.call('a', 'x', 'd4');
    const made = (await stage.connector.nextConnect()).succeed(listing('x'));
    assert.deepEqual(
      connections.map(({ closed }) => closed),
      [false, true, false],
    );
    await answer(made, '4');
    await fourth;
    await answer(connections[0] as FakeConnection, '1');
    await calls[0];
    assert.equal(stage.connector.live.size, 3);
  });

  it('a call fails with the reason if no instance is idle for five minutes', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const busy = [warm];
    const calls = [stage.call('a', 'x', 'd1')];
    for (const conversation of ['d2', 'd3']) {
      calls.push(stage.call('a', 'x', conversation));
      busy.push((await stage.connector.nextConnect()).succeed(listing('x')));
    }
    await Promise.all(busy.map((each) => each.nextCall().then((call) => each.calls.push(call))));
    assert.match(
      JSON.stringify(await stage.call('a', 'x', 'd4')),
      /the limit of 3 instances is reached.*five minutes.*raise the limit/,
    );
    await Promise.all(busy.map((each) => answer(each, 'ok')));
    await Promise.all(calls);
    assert.match(JSON.stringify(await stage.call('a', 'x', 'd4')), /did not start/);
    assert.equal(stage.connector.live.size, 3);
  });

  it('a free instance goes to a new conversation as soon as a lease of another server makes room', async () => {
    stage.connector.automatic = ({ server }) => listing(`${server}_x`);
    await stage.edit(file({ a: 'command: a', b: 'command: b' }));
    const [a, b] = [...stage.connector.live];
    const calls = ['d1', 'd2', 'd3'].map((one) => stage.call('a', 'a_x', one));
    await rest();
    for (const connection of stage.connector.live)
      if (connection !== b) await answer(connection, 'ok');
    await Promise.all(calls);
    assert.match(JSON.stringify(await stage.call('b', 'b_x', 'd4')), /did not start/);
    stage.clock.advance(5 * 60_000 + 1);
    const [fourth, again] = ['d4', 'd4'].map((one) => stage.call('b', 'b_x', one));
    await answer(b!, '1');
    await answer(b!, '2');
    assert.deepEqual([await fourth, await again], [answered('1', { kind: 'new' }), answered('2')]);
    assert.deepEqual([a!.closed, stage.connector.connects], [true, 4]);
  });

  it('more servers can be published than may be live at once', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    stage.connector.automatic = ({ server }) => listing(`${server}_x`);
    await stage.edit(file(Object.fromEntries(ids.map((id) => [id, `command: ${id}`]))));
    assert.equal(stage.published().length, 5);
    assert.equal(stage.connector.live.size, 3);
  });
});

describe('reconnecting (X4a)', () => {
  const stage = hostStage();

  const attemptOf = (id: string): number | undefined => {
    const { state } = stage.server(id);
    return state.kind === 'reconnecting' ? state.attempt : undefined;
  };
  const shared = 'command: a, truely-stateless: true';
  /** Resolves with a shared instance after three deaths in a row. */
  async function diedThrice(): Promise<FakeConnection> {
    let live = await stage.serve('a', shared, 'x');
    for (const [index, ms] of [1000, 2000, 4000].entries()) {
      live.die('crash');
      await stage.until(() => attemptOf('a') === index + 1);
      stage.clock.advance(ms);
      live = (await stage.connector.nextConnect()).succeed(listing('x'));
      await stage.until(() => stage.server('a').state.kind === 'running');
    }
    return live;
  }

  it('a dead shared instance starts again after 1 s, and the state says so until then', async () => {
    const first = await stage.serve('a', shared, 'x');
    first.die('it was killed');
    const state = (await stage.until(() => stage.server('a').state.kind === 'reconnecting'))
      .servers[0]?.state;
    assert.deepEqual(state, {
      kind: 'reconnecting',
      attempt: 1,
      at: stage.clock.now() + 1000,
      cause: 'it was killed',
    });
    assert.deepEqual(stage.published(), ['a/x'], 'its tools stay');
    stage.clock.advance(1000);
    (await stage.connector.nextConnect()).succeed(listing('x', 'y'));
    await stage.until(() => stage.published().length === 2);
    assert.deepEqual(stage.published(), ['a/x', 'a/y'], 'what it lists now');
    assert.equal(stage.server('a').state.kind, 'running');
    assert.deepEqual(stage.codes(), []);
  });

  it('two deaths within a minute are an error with cause and count, until a minute without one (X4a)', async () => {
    let live = await stage.serve('a', shared, 'x');
    for (const [index, ms] of [1000, 2000].entries()) {
      live.die('it was killed');
      await stage.until(() => attemptOf('a') === index + 1);
      stage.clock.advance(ms);
      const next = await stage.connector.nextConnect();
      assert.equal(stage.server('a').state.kind, 'reconnecting', 'also during the attempt');
      live = next.succeed(listing('x'));
      await stage.until(() => stage.server('a').state.kind === 'running');
    }
    const [problem] = stage.host.snapshot.problems;
    assert.deepEqual([problem?.code, problem?.severity], ['connection-lost', 'error']);
    assert.match(problem?.message ?? '', /"a" ended 2 times within a minute: it was killed/);
    stage.clock.advance(60_000);
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('a restart by a person ends the error about two deaths', async () => {
    await diedThrice();
    assert.match(stage.host.snapshot.problems[0]?.message ?? '', /3 times/);
    const restarted = stage.host.restart('a');
    (await stage.connector.nextConnect()).succeed(listing('x'));
    await restarted;
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('deaths of instances of conversations count too', async () => {
    await stage.serve('a', 'command: a', 'x');
    for (const count of [1, 2]) {
      const call = stage.call('a', 'x');
      const live =
        count === 1
          ? [...stage.connector.live][0]
          : (await stage.connector.nextConnect()).succeed(listing('x'));
      await live?.nextCall();
      live?.die('it was killed');
      await call;
      await stage.until(({ problems }) => problems.length === 1);
    }
    const [problem] = stage.host.snapshot.problems;
    assert.deepEqual([problem?.code, problem?.severity], ['connection-lost', 'error']);
  });

  it('after three attempts the server has failed, until a person or a call asks', async () => {
    (await stage.serve('a', shared, 'x')).die('it was killed');
    for (const [index, ms] of [1000, 2000, 4000].entries()) {
      await stage.until(() => attemptOf('a') === index + 1);
      stage.clock.advance(ms);
      (await stage.connector.nextConnect()).fail(failure);
    }
    await stage.until(() => stage.server('a').state.kind === 'failed');
    stage.clock.advance(3_600_000);
    assert.equal(stage.connector.connects, 4);
    const restarted = stage.host.restart('a');
    (await stage.connector.nextConnect()).succeed(listing('x'));
    await restarted;
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('only deaths without a minute of health in between count together', async () => {
    let live = await diedThrice();
    stage.clock.advance(60_000);
    live.die('crash');
    await stage.until(() => attemptOf('a') === 1);
    stage.clock.advance(1000);
    live = (await stage.connector.nextConnect()).succeed(listing('x'));
    await stage.until(() => stage.server('a').state.kind === 'running');
  });

  it('the fourth death in a row fails the server', async () => {
    let live = await diedThrice();
    live.die('crash');
    await stage.until(() => stage.server('a').state.kind === 'failed');
    const asked = stage.call('a', 'x');
    live = (await stage.connector.nextConnect()).succeed(listing('x'));
    await answer(live, 'the next call asks again');
    await asked;
    await stage.until(() => stage.server('a').state.kind === 'running');
  });

  it('a call starts the instance at once and ends the wait', async () => {
    (await stage.serve('a', shared, 'x')).die('it was killed');
    const call = stage.call('a', 'x');
    await answer((await stage.connector.nextConnect()).succeed(listing('x')), 'at once');
    await call;
    stage.clock.advance(60_000);
    assert.equal(stage.connector.connects, 2);
  });

  it('a dead lease comes back only with the next call of its conversation', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x');
    await answer(warm, '1');
    await first;
    warm.die('crash');
    await stage.until(() => stage.server('a').state.kind === 'idle');
    stage.clock.advance(60_000);
    assert.equal(stage.connector.connects, 1);
  });

  it('reconnecting ends with the server’s entry', async () => {
    (await stage.serve('a', shared, 'x')).die('it was killed');
    await stage.edit(undefined);
    stage.clock.advance(60_000);
    assert.equal(stage.connector.connects, 1);
  });
});

describe('an instance that dies', () => {
  const stage = hostStage();

  it('the calls on a dead instance fail as result unknown and are not repeated, and the next call starts a new one', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    await warm.nextCall();
    warm.die('it was killed by SIGKILL');
    const outcome = JSON.stringify(await running);
    assert.match(outcome, /result unknown.*it was killed by SIGKILL/);
    await stage.until(({ problems }) => problems.length === 1);
    assert.deepEqual(stage.codes(), ['connection-lost']);
    const next = stage.call('a', 'x');
    const fresh = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await fresh.nextCall()).answer({ kind: 'result', result: textResult('new') });
    assert.deepEqual(
      await next,
      answered('new', { kind: 'replaced', cause: 'it was killed by SIGKILL' }),
    );
    assert.equal(fresh.calls.length, 0);
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('a lost call returns after the death is known, even if the connection reports it later', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    const call = await warm.nextCall();
    warm.isOver = true;
    call.answer({ kind: 'lost', cause: 'it crashed' });
    setImmediate(() => warm.die('it crashed'));
    assert.match(JSON.stringify(await running), /result unknown.*it crashed/);
    const next = stage.call('a', 'x');
    const fresh = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await fresh.nextCall()).answer({ kind: 'result', result: textResult('new') });
    assert.equal((await next).kind, 'result');
  });

  it('an instance goes on if only one call was lost', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    (await warm.nextCall()).answer({ kind: 'lost', cause: 'the answer broke off' });
    assert.match(JSON.stringify(await running), /the answer broke off/);
    const next = stage.call('a', 'x');
    (await warm.nextCall()).answer({ kind: 'result', result: textResult('still') });
    assert.match(JSON.stringify(await next), /still/);
  });
});
