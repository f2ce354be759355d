/** The host over servers that are played by hand: what an edit, a failure, a call and a person bring about (spec R, L). */
import assert from 'node:assert/strict';
import { adminId } from '../../../src/core/host/admin.js';
import { nextEvent } from '../../../src/core/base/events.js';
import type { ServerClient } from '../../../src/core/protocol/client.js';
import type { LeaseNews } from '../../../src/core/protocol/request.js';
import { testCore } from '../../support/core/testCore.js';
import type { Host } from '../../../src/core/host/hostContract.js';
import type { ToolOutcome } from '../../../src/core/protocol/request.js';
import type { ServerStatus, StatusSnapshot } from '../../../src/core/reconcile/status.js';
import { toolsAlone } from '../../../src/core/tools/features.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { failure, FakeConnector, listing, textResult, type FakeConnection } from '../../support/fakes/fakeConnector.js';

interface Stage {
  readonly host: Host;
  readonly connector: FakeConnector;
  readonly clock: FakeClock;
  edit(text: string | undefined): Promise<void>;
  published(): string[];
  server(id: string): ServerStatus;
  until(accept: (snapshot: StatusSnapshot) => boolean): Promise<StatusSnapshot>;
  call(toolset: string, tool: string, dialog?: string, signal?: AbortSignal): Promise<ToolOutcome>;
}

let stage: Stage;

beforeEach(() => {
  const connector = new FakeConnector();
  const clock = new FakeClock();
  const { host } = testCore({ clock, connector, env: { SECRET: 'hunter2222' }, maxInstances: () => 3 });
  stage = {
    host,
    connector,
    clock,
    edit: (text) => host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]),
    published: () =>
      host.catalogue.toolsets
        .filter(({ id }) => id !== adminId)
        .flatMap(({ id, tools }) => tools.map((tool) => `${id}/${tool.published}`)),
    server: (id) => {
      const found = host.snapshot.servers.find((server) => server.id === id);
      assert.ok(found, `no server ${id}`);
      return found;
    },
    until: async (accept) =>
      accept(host.snapshot) ? host.snapshot : nextEvent(host.onDidChange, (snapshot) => accept(snapshot)),
    call: (toolset, tool, dialog = 'd1', signal = new AbortController().signal) =>
      host.call({ toolset, tool, arguments: {}, dialog, signal }),
  };
});

afterEach(async () => {
  await stage.host.dispose();
  assert.equal(stage.connector.live.size, 0, 'a connection was left open');
  assert.equal(stage.clock.pending, 0, 'a timer was left');
});

const file = (servers: Record<string, string>): string =>
  `version: 1\nservers:\n${Object.entries(servers)
    .map(([id, rest]) => `  ${id}: { transport: stdio, ${rest} }\n`)
    .join('')}`;

async function serve(id: string, rest: string, ...tools: string[]): Promise<FakeConnection> {
  const edited = stage.edit(file({ [id]: rest }));
  const connection = (await stage.connector.nextConnect()).succeed(listing(...tools));
  await edited;
  return connection;
}

const answered = (text: string, news?: LeaseNews): ToolOutcome => ({
  kind: 'result',
  result: textResult(text),
  ...(news && { news }),
});

/** Lets the next call of a connection be answered with this text. */
async function answer(connection: FakeConnection, text: string): Promise<void> {
  (await connection.nextCall()).answer({ kind: 'result', result: textResult(text) });
}

function codes(): string[] {
  return stage.host.snapshot.problems.map((problem) => problem.code);
}

describe('reload (R2, R3)', () => {
  it('publishes each toolset as its server answers, in file order', async () => {
    const edited = stage.edit(file({ a: 'command: a', b: 'command: b' }));
    const a = await stage.connector.nextConnect();
    const b = await stage.connector.nextConnect();
    b.succeed(listing('y'));
    await stage.until(() => stage.published().length === 1);
    assert.deepEqual(stage.published(), ['b/y']);
    a.succeed(listing('x'));
    await edited;
    assert.deepEqual(stage.published(), ['a/x', 'b/y']);
  });

  it('lets the first in the file have a contested name, whoever connects first, and gives it back', async () => {
    const edited = stage.edit(file({ a: 'command: a', b: 'command: b' }));
    const a = await stage.connector.nextConnect();
    (await stage.connector.nextConnect()).succeed(listing('same', 'own'));
    a.succeed(listing('same'));
    await edited;
    assert.deepEqual(stage.published(), ['a/same', 'b/own']);
    assert.deepEqual(codes(), ['name-taken']);
    await stage.edit(file({ b: 'command: b' }));
    assert.deepEqual(stage.published(), ['b/same', 'b/own']);
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('applies a filter and a transform without restarting anything', async () => {
    const connection = await serve('a', 'command: a', 'x', 'y');
    await stage.edit(file({ a: 'command: a, tools: { whitelist: [x] }, transform: [{ suffix: _v2 }]' }));
    assert.deepEqual(stage.published(), ['a/x_v2']);
    assert.equal(stage.connector.connects, 1);
    assert.equal(connection.closed, false);
  });

  it('keeps the old instance serving until the new one has listed', async () => {
    const old = await serve('a', 'command: a', 'x');
    const edited = stage.edit(file({ a: 'command: a2' }));
    const starting = await stage.connector.nextConnect();
    assert.deepEqual(stage.published(), ['a/x']);
    await stage.until(() => stage.server('a').state.kind === 'starting');
    assert.equal(stage.server('a').previous?.reason, 'Its new definition is starting.');
    starting.succeed(listing('z'));
    await edited;
    assert.deepEqual(stage.published(), ['a/z']);
    assert.equal(old.closed, true);
    await stage.until(() => stage.server('a').previous === undefined);
  });

  it('keeps the last-known-good when the new definition fails, says so, and recovers', async () => {
    const old = await serve('a', 'command: a', 'x');
    const edited = stage.edit(file({ a: 'command: broken' }));
    (await stage.connector.nextConnect()).fail(failure);
    await edited;
    await stage.until(({ problems }) => problems.length > 0);
    assert.deepEqual(stage.published(), ['a/x']);
    assert.equal(old.closed, false);
    assert.deepEqual(codes(), ['server-exited']);
    const status = stage.server('a');
    assert.equal(status.state.kind, 'running');
    assert.deepEqual(status.previous, { since: stage.clock.now(), reason: 'It exited.' });

    await stage.edit(file({ a: 'command: a' }));
    await stage.until(({ problems }) => problems.length === 0);
    assert.equal(stage.connector.connects, 2, 'back to what serves: nothing to start');
    assert.equal(stage.server('a').previous, undefined);
  });

  it('keeps the last-known-good of an entry that became wrong', async () => {
    await serve('a', 'command: a', 'x');
    await stage.edit(file({ a: "command: ''" }));
    await stage.until(({ problems }) => problems.length > 0);
    assert.deepEqual(stage.published(), ['a/x']);
    assert.equal(stage.server('a').previous?.reason, 'Its new definition has an error.');
  });

  it('keeps everything when the file as a whole is refused, and says since when', async () => {
    await serve('a', 'command: a', 'x');
    await stage.edit('version: 1\nservers: [');
    await stage.until(({ refused }) => refused.length === 1);
    assert.deepEqual(stage.published(), ['a/x']);
    assert.ok(codes().includes('yaml-syntax'));
    await stage.edit(file({ a: 'command: a' }));
    await stage.until(({ refused, problems }) => refused.length === 0 && problems.length === 0);
    assert.equal(stage.connector.connects, 1);
  });

  it('refuses an update that gives two tools one name, and keeps the names before it', async () => {
    await serve('a', 'command: a', 'p_x', 'x');
    await stage.edit(file({ a: "command: a, transform: [{ prefix: { remove: p_, add: '' } }]" }));
    await stage.until(({ problems }) => problems.length > 0);
    assert.deepEqual(codes(), ['name-twice-in-server']);
    assert.deepEqual(stage.published(), ['a/p_x', 'a/x']);
    await stage.edit(file({ a: 'command: a' }));
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('ends a start that a later edit overtakes, and ends in the state of the last', async () => {
    const first = stage.edit(file({ a: 'command: one' }));
    const one = await stage.connector.nextConnect();
    const second = stage.edit(file({ a: 'command: two' }));
    assert.equal(one.request.signal.aborted, true);
    (await stage.connector.nextConnect()).succeed(listing('two'));
    await Promise.all([first, second]);
    assert.deepEqual(stage.published(), ['a/two']);
    assert.equal(stage.connector.live.size, 1);
  });

  it('ends what an overtaken start connected after all', async () => {
    void stage.edit(file({ a: 'command: one' }));
    const one = await stage.connector.nextConnect();
    const late = one.succeed(listing('one'));
    await stage.edit(undefined);
    await stage.host.dispose();
    assert.equal(late.closed, true);
    assert.deepEqual(stage.published(), []);
  });

  it('lets a start go on when only the filter of its definition changes', async () => {
    const first = stage.edit(file({ a: 'command: a' }));
    const starting = await stage.connector.nextConnect();
    const second = stage.edit(file({ a: 'command: a, tools: { blacklist: [y] }' }));
    starting.succeed(listing('x', 'y'));
    await Promise.all([first, second]);
    assert.deepEqual(stage.published(), ['a/x']);
    assert.equal(stage.connector.connects, 1);
  });

  it('starts nothing that is disabled, and withdraws what becomes disabled or is removed', async () => {
    const connection = await serve('a', 'command: a', 'x');
    await stage.edit(file({ a: 'command: a, enabled: false' }));
    assert.deepEqual(stage.published(), []);
    await stage.until(() => stage.server('a').state.kind === 'disabled');
    assert.equal(connection.closed, true);
    await stage.edit(undefined);
    await stage.until(({ servers }) => servers.length === 0);
  });

  it('survives a defect of the connector: it costs that one start', async () => {
    stage.connector.automatic = ({ server }) => {
      if (server === 'a') throw new Error('not built yet');
      return listing('y');
    };
    await stage.edit(file({ a: 'command: a', b: 'command: b' }));
    await stage.until(({ problems }) => problems.length === 1);
    assert.deepEqual(stage.published(), ['b/y']);
    assert.equal(stage.server('a').state.kind, 'failed');
    assert.match(stage.host.snapshot.problems[0]?.message ?? '', /defect of MCP Toolsets itself: Error: not built yet/);
    stage.connector.automatic = () => listing('x');
    await stage.host.restart('a');
    assert.deepEqual(stage.published(), ['a/x', 'b/y']);
  });

  it('asks a failed server again with the next edit', async () => {
    const first = stage.edit(file({ a: 'command: a' }));
    (await stage.connector.nextConnect()).fail(failure);
    await first;
    await stage.until(() => stage.server('a').state.kind === 'failed');
    const second = stage.edit(`${file({ a: 'command: a' })}\n# edited`);
    (await stage.connector.nextConnect()).succeed(listing('x'));
    await second;
    await stage.until(({ problems }) => problems.length === 0);
    assert.deepEqual(stage.published(), ['a/x']);
  });

  it('asks again with the next edit where only the last start of what serves failed, and waits for it', async () => {
    const warm = await serve('a', 'command: a', 'x');
    warm.die('it crashed');
    const call = stage.call('a', 'x');
    (await stage.connector.nextConnect()).fail(failure);
    await call;
    let settled = false;
    const edited = stage.edit(`${file({ a: 'command: a' })}\n# edited`).then(() => (settled = true));
    const starting = await stage.connector.nextConnect();
    assert.equal(settled, false);
    starting.succeed(listing('x', 'new'));
    await edited;
    assert.deepEqual(stage.published(), ['a/x', 'a/new']);
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('counts the registry version up with each change agents can see, and not else', async () => {
    await serve('a', 'command: a', 'x');
    const { version } = stage.host.catalogue;
    await stage.edit(`# a comment\n${file({ a: 'command: a' })}`);
    assert.equal(stage.host.catalogue.version, version);
    await stage.edit(file({ a: 'command: a, transform: [{ prefix: p_ }]' }));
    assert.equal(stage.host.catalogue.version, version + 1);
  });
});

describe('calls in flight (R4)', () => {
  it('finish on the instance they started on, which ends with the last of them', async () => {
    const old = await serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    const call = await old.nextCall();
    await stage.edit(undefined);
    assert.equal(old.closed, false);
    assert.deepEqual(await stage.call('a', 'x'), {
      kind: 'error',
      code: -32602,
      message: 'The toolset "a" has no tool "x".',
    });
    call.answer({ kind: 'result', result: textResult('done') });
    assert.deepEqual(await running, answered('done', { kind: 'new' }));
    assert.equal(old.closed, true);
  });

  it('fail as result unknown at the drain limit', async () => {
    const old = await serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    await old.nextCall();
    await stage.edit(undefined);
    stage.clock.advance(29_999);
    assert.equal(old.closed, false);
    stage.clock.advance(1);
    const outcome = await running;
    assert.equal(outcome.kind, 'result');
    assert.match(JSON.stringify(outcome), /result unknown.*drain limit/);
    assert.equal(old.closed, true);
  });

  it('of a server that was removed do not hold up the end of the host', async () => {
    const old = await serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    await old.nextCall();
    await stage.edit(undefined);
    await stage.host.dispose();
    assert.equal(old.closed, true);
    assert.match(JSON.stringify(await running), /result unknown.*the host is shutting down/);
  });

  it('that still wait for their instance get it, though its definition was removed meanwhile', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x', 'd1');
    const firstCall = await warm.nextCall();
    const second = stage.call('a', 'x', 'd2');
    const starting = await stage.connector.nextConnect();
    await stage.edit(undefined);
    const late = starting.succeed(listing('x'));
    (await late.nextCall()).answer({ kind: 'result', result: textResult('late') });
    assert.deepEqual(await second, answered('late', { kind: 'new' }));
    firstCall.answer({ kind: 'result', result: textResult('first') });
    await first;
  });
});

describe('instances and leases (L1, L2, L4)', () => {
  it('gives the instance that listed to the first dialog, and each further dialog one of its own', async () => {
    const warm = await serve('a', 'command: a', 'x');
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
      stage.server('a').instances.map(({ use }) => (use.kind === 'leased' ? use.dialog : use.kind)),
      ['d1', 'd2'],
    );
  });

  it('makes one instance for two first calls of a dialog at once', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const keep = stage.call('a', 'x', 'd1');
    const kept = await warm.nextCall();
    const calls = [stage.call('a', 'x', 'd2'), stage.call('a', 'x', 'd2')];
    const second = (await stage.connector.nextConnect()).succeed(listing('x'));
    for (const text of ['1', '2']) (await second.nextCall()).answer({ kind: 'result', result: textResult(text) });
    assert.equal((await Promise.all(calls)).length, 2);
    assert.equal(stage.connector.connects, 2);
    kept.answer({ kind: 'cancelled' });
    await keep;
  });

  it('shares one instance of a truly stateless server', async () => {
    const shared = await serve('a', 'command: a, truely-stateless: true', 'x');
    const calls = ['d1', 'd2', 'd3'].map((dialog) => stage.call('a', 'x', dialog));
    for (const text of ['1', '2', '3']) (await shared.nextCall()).answer({ kind: 'result', result: textResult(text) });
    await Promise.all(calls);
    assert.equal(stage.connector.connects, 1);
  });

  it('stops what nobody uses for the idle limit, keeps the tools, and starts again with the next call', async () => {
    const warm = await serve('a', 'command: a, timeouts: { idle: 10s }', 'x');
    stage.clock.advance(10_000);
    await stage.until(() => stage.server('a').state.kind === 'idle');
    assert.equal(warm.closed, true);
    assert.deepEqual(stage.published(), ['a/x']);
    const call = stage.call('a', 'x');
    const fresh = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await fresh.nextCall()).answer({ kind: 'result', result: textResult('again') });
    assert.deepEqual(await call, answered('again', { kind: 'new' }));
  });

  it('does not count a running call as idle', async () => {
    const warm = await serve('a', 'command: a, timeouts: { idle: 10s }', 'x');
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

  it('a call right after the release of a lease that was starting gets a start of its own', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const keep = stage.call('a', 'x', 'd1');
    const kept = await warm.nextCall();
    const first = stage.call('a', 'x', 'd2');
    await stage.connector.nextConnect();
    const released = stage.host.release('a', 'd2');
    const second = stage.call('a', 'x', 'd2');
    assert.match(JSON.stringify(await first), /its start was cancelled/);
    assert.equal(await released, true);
    const fresh = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await fresh.nextCall()).answer({ kind: 'result', result: textResult('2') });
    assert.equal((await second).kind, 'result');
    kept.answer({ kind: 'cancelled' });
    await keep;
  });

  it('releases a lease, and cancels one that is starting', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x', 'd1');
    (await warm.nextCall()).answer({ kind: 'result', result: textResult('1') });
    await running;
    assert.equal(await stage.host.release('a', 'd1'), true);
    assert.equal(warm.closed, true);
    assert.equal(await stage.host.release('a', 'd1'), false);
    const starting = stage.call('a', 'x', 'd2');
    await stage.connector.nextConnect();
    assert.equal(await stage.host.release('a', 'd2'), true);
    assert.match(JSON.stringify(await starting), /its start was cancelled/);
  });

  it('fails a call whose instance does not start, with the reason, and says it on the server', async () => {
    await serve('a', 'command: a, timeouts: { idle: 1s }', 'x');
    stage.clock.advance(1000);
    const call = stage.call('a', 'x');
    (await stage.connector.nextConnect()).fail(failure);
    assert.match(JSON.stringify(await call), /did not start, and \\"x\\" was not called. It exited. Mend it./);
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

describe('what a dialog is told of its lease (L3, X4)', () => {
  it('once, with its first result, and not where all share', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x');
    await answer(warm, '1');
    assert.deepEqual(await first, answered('1', { kind: 'new' }));
    const second = stage.call('a', 'x');
    await answer(warm, '2');
    assert.deepEqual(await second, answered('2'));
    const shared = await serve('b', 'command: b, truely-stateless: true', 'x');
    const third = stage.call('b', 'x');
    await answer(shared, '3');
    assert.deepEqual(await third, answered('3'));
  });

  it('with the first result there is, when the first call brought none', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x');
    (await warm.nextCall()).answer({ kind: 'error', code: -32000, message: 'no' });
    await first;
    const second = stage.call('a', 'x');
    await answer(warm, '2');
    assert.deepEqual(await second, answered('2', { kind: 'new' }));
  });
});

describe('the limit of instances (L2)', () => {
  it('ends the longest idle to make room, and nothing that has a call in flight', async () => {
    const connections = [await serve('a', 'command: a', 'x')];
    const calls = [stage.call('a', 'x', 'd1')];
    for (const dialog of ['d2', 'd3']) {
      stage.clock.advance(1000);
      calls.push(stage.call('a', 'x', dialog));
      connections.push((await stage.connector.nextConnect()).succeed(listing('x')));
    }
    // d1 is busy; of the others d2 is idle the longest.
    await answer(connections[1] as FakeConnection, '2');
    stage.clock.advance(1000);
    await answer(connections[2] as FakeConnection, '3');
    await Promise.all(calls.slice(1));
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

  it('fails a call when none is idle, saying so', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const busy = [warm];
    const calls = [stage.call('a', 'x', 'd1')];
    for (const dialog of ['d2', 'd3']) {
      calls.push(stage.call('a', 'x', dialog));
      busy.push((await stage.connector.nextConnect()).succeed(listing('x')));
    }
    await Promise.all(busy.map((each) => each.nextCall().then((call) => each.calls.push(call))));
    assert.match(JSON.stringify(await stage.call('a', 'x', 'd4')), /3 instances live already.*none of them is idle/);
    await Promise.all(busy.map((each) => answer(each, 'ok')));
    await Promise.all(calls);
  });

  it('lets more servers be published than may live at once', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    stage.connector.automatic = ({ server }) => listing(`${server}_x`);
    await stage.edit(file(Object.fromEntries(ids.map((id) => [id, `command: ${id}`]))));
    assert.equal(stage.published().length, 5);
    assert.equal(stage.connector.live.size, 3);
  });
});

function attemptOf(id: string): number | undefined {
  const { state } = stage.server(id);
  return state.kind === 'reconnecting' ? state.attempt : undefined;
}

describe('reconnecting (X4)', () => {
  const shared = 'command: a, truely-stateless: true';

  it('starts a shared instance again after 1 s, and says meanwhile that it does', async () => {
    const first = await serve('a', shared, 'x');
    first.die('it was killed');
    const state = (await stage.until(() => stage.server('a').state.kind === 'reconnecting')).servers[0]?.state;
    assert.deepEqual(state, { kind: 'reconnecting', attempt: 1, at: stage.clock.now() + 1000, cause: 'it was killed' });
    assert.deepEqual(stage.published(), ['a/x'], 'its tools stay');
    stage.clock.advance(1000);
    (await stage.connector.nextConnect()).succeed(listing('x', 'y'));
    await stage.until(() => stage.published().length === 2);
    assert.deepEqual(stage.published(), ['a/x', 'a/y'], 'what it lists now');
    assert.equal(stage.server('a').state.kind, 'running');
    assert.deepEqual(codes(), []);
  });

  it('gives up after three attempts, and is failed until somebody asks', async () => {
    (await serve('a', shared, 'x')).die('it was killed');
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

  it('counts deaths within a minute of each other, and forgets them after a minute of health', async () => {
    let live = await serve('a', shared, 'x');
    for (const [index, ms] of [1000, 2000, 4000].entries()) {
      live.die('crash');
      await stage.until(() => attemptOf('a') === index + 1);
      stage.clock.advance(ms);
      live = (await stage.connector.nextConnect()).succeed(listing('x'));
      await stage.until(() => stage.server('a').state.kind === 'running');
    }
    stage.clock.advance(60_000);
    live.die('crash');
    await stage.until(() => attemptOf('a') === 1);
    stage.clock.advance(1000);
    live = (await stage.connector.nextConnect()).succeed(listing('x'));
    await stage.until(() => stage.server('a').state.kind === 'running');
  });

  it('fails after the fourth death in a row', async () => {
    let live = await serve('a', shared, 'x');
    for (const [index, ms] of [1000, 2000, 4000].entries()) {
      live.die('crash');
      await stage.until(() => attemptOf('a') === index + 1);
      stage.clock.advance(ms);
      live = (await stage.connector.nextConnect()).succeed(listing('x'));
      await stage.until(() => stage.server('a').state.kind === 'running');
    }
    live.die('crash');
    await stage.until(() => stage.server('a').state.kind === 'failed');
    const asked = stage.call('a', 'x');
    live = (await stage.connector.nextConnect()).succeed(listing('x'));
    await answer(live, 'the next call asks again');
    await asked;
    await stage.until(() => stage.server('a').state.kind === 'running');
  });

  it('does not wait when a call asks, and then has nothing left to wait for', async () => {
    (await serve('a', shared, 'x')).die('it was killed');
    const call = stage.call('a', 'x');
    await answer((await stage.connector.nextConnect()).succeed(listing('x')), 'at once');
    await call;
    stage.clock.advance(60_000);
    assert.equal(stage.connector.connects, 2);
  });

  it('leaves a lease that died to the next call of its dialog', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x');
    await answer(warm, '1');
    await first;
    warm.die('crash');
    await stage.until(() => stage.server('a').state.kind === 'idle');
    stage.clock.advance(60_000);
    assert.equal(stage.connector.connects, 1);
  });

  it('ends with the server’s entry', async () => {
    (await serve('a', shared, 'x')).die('it was killed');
    await stage.edit(undefined);
    stage.clock.advance(60_000);
    assert.equal(stage.connector.connects, 1);
  });
});

describe('an instance that dies', () => {
  it('fails its calls as result unknown, replays none, and the next call starts a new one', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    await warm.nextCall();
    warm.die('it was killed by SIGKILL');
    const outcome = JSON.stringify(await running);
    assert.match(outcome, /result unknown.*it was killed by SIGKILL/);
    await stage.until(({ problems }) => problems.length === 1);
    assert.deepEqual(codes(), ['connection-lost']);
    const next = stage.call('a', 'x');
    const fresh = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await fresh.nextCall()).answer({ kind: 'result', result: textResult('new') });
    assert.deepEqual(await next, answered('new', { kind: 'replaced', cause: 'it was killed by SIGKILL' }));
    assert.equal(fresh.calls.length, 0);
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('has died for who hears of the loss of a call, though the connection tells that later', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    (await warm.nextCall()).answer({ kind: 'lost', cause: 'it crashed' });
    setImmediate(() => warm.die('it crashed'));
    assert.match(JSON.stringify(await running), /result unknown.*it crashed/);
    const next = stage.call('a', 'x');
    const fresh = (await stage.connector.nextConnect()).succeed(listing('x'));
    (await fresh.nextCall()).answer({ kind: 'result', result: textResult('new') });
    assert.equal((await next).kind, 'result');
  });

  it('goes on when only a call was lost', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    (await warm.nextCall()).answer({ kind: 'lost', cause: 'the answer broke off' });
    await new Promise((resolve) => setImmediate(resolve));
    stage.clock.advance(20);
    assert.match(JSON.stringify(await running), /the answer broke off/);
    const next = stage.call('a', 'x');
    (await warm.nextCall()).answer({ kind: 'result', result: textResult('still') });
    assert.match(JSON.stringify(await next), /still/);
  });
});

describe('tools that change (R6)', () => {
  it('go through the same filter and naming', async () => {
    const warm = await serve('a', 'command: a, tools: { blacklist: [no] }, transform: [{ prefix: p_ }]', 'x');
    warm.changeTools(listing('x', 'no', 'y'));
    await stage.until(() => stage.published().length === 2);
    assert.deepEqual(stage.published(), ['a/p_x', 'a/p_y']);
  });

  it('are listed once for several notifications at once, and once more for those during the listing', async () => {
    const warm = await serve('a', 'command: a', 'x');
    for (let i = 0; i < 100; i++) warm.changeTools(listing('x', `y${i}`));
    await stage.until(() => stage.published().includes('a/y99'));
    assert.ok(warm.lists <= 2, `${warm.lists} lists`);
  });

  it('keep the old list when the new one fails, with a problem until one succeeds', async () => {
    const warm = await serve('a', 'command: a', 'x');
    warm.changeTools(new Error('broken'));
    await stage.until(({ problems }) => problems.length === 1);
    assert.deepEqual(codes(), ['refresh-failed']);
    assert.deepEqual(stage.published(), ['a/x']);
    warm.changeTools(listing('z'));
    await stage.until(({ problems }) => problems.length === 0);
    assert.deepEqual(stage.published(), ['a/z']);
  });
});

describe('a person’s actions (E3)', () => {
  it('stop withdraws the tools and ends everything at once; an unrelated edit does not start it; start does', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    await warm.nextCall();
    await stage.host.stop('a');
    assert.match(JSON.stringify(await running), /result unknown.*a person stopped it/);
    assert.equal(warm.closed, true);
    assert.deepEqual(stage.published(), []);
    await stage.until(() => stage.server('a').state.kind === 'stopped');
    await stage.edit(`# unrelated\n${file({ a: 'command: a' })}`);
    assert.equal(stage.connector.connects, 1);
    const started = stage.host.start('a');
    (await stage.connector.nextConnect()).succeed(listing('x'));
    await started;
    assert.deepEqual(stage.published(), ['a/x']);
  });

  it('stop of what does not run starts nothing, whatever its entry says', async () => {
    await stage.edit(file({ a: 'command: a, args: 3' }));
    await stage.host.stop('a');
    await stage.host.reload();
    assert.equal(stage.connector.connects, 0);
  });

  for (const again of ['start', 'restart'] as const) {
    it(`${again} of a stopped server counts although its entry is wrong: it runs when the entry is right again`, async () => {
      await serve('a', 'command: a', 'x');
      await stage.edit(file({ a: 'command: a, args: 3' }));
      await stage.host.stop('a');
      await stage.host[again]('a');
      const edited = stage.edit(file({ a: 'command: a' }));
      (await stage.connector.nextConnect()).succeed(listing('x'));
      await edited;
      assert.deepEqual(stage.published(), ['a/x']);
    });
  }

  it('restart ends every instance, lists anew and keeps the tools published meanwhile', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const restarted = stage.host.restart('a');
    const starting = await stage.connector.nextConnect();
    assert.equal(warm.closed, true);
    assert.deepEqual(stage.published(), ['a/x']);
    starting.succeed(listing('x', 'new'));
    await restarted;
    assert.deepEqual(stage.published(), ['a/x', 'a/new']);
  });

  it('an instance that starts later may be of another version, and what that says of itself counts (X8, P8)', async () => {
    const kept: string[] = [];
    const { host } = testCore({
      clock: stage.clock,
      connector: stage.connector,
      kept: {
        recall: () => undefined,
        remember: (_, { protocolVersion }) => kept.push(protocolVersion),
        forget: () => undefined,
      },
    });
    const features = (): unknown => host.catalogue.toolsets.find(({ id }) => id === 'a')?.features;
    const text = file({ a: 'command: a' });
    const edited = host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);
    (await stage.connector.nextConnect()).succeed(listing('x'));
    await edited;
    const restarted = host.restart('a');
    const later = (await stage.connector.nextConnect()).succeed(listing('x'));
    later.protocolVersion = '2026-07-28';
    later.capabilities = { tools: {}, extensions: { 'example.com/extension': {} } };
    await restarted;
    assert.deepEqual(kept, ['2025-11-25', '2026-07-28']);
    assert.deepEqual(features(), { ...toolsAlone, extensions: { 'example.com/extension': {} } });
    await host.dispose();
  });

  for (const again of ['start', 'restart'] as const) {
    it(`${again} of a last-known-good whose entry is wrong starts that again (R3)`, async () => {
      const warm = await serve('a', 'command: a', 'x');
      await stage.edit(file({ a: 'command: a, args: 3' }));
      if (again === 'start') {
        warm.die('crash');
        await stage.until(() => stage.server('a').instances.length === 0);
      }
      const started = stage.host[again]('a');
      (await stage.connector.nextConnect()).succeed(listing('x', 'new'));
      await started;
      assert.equal(warm.closed, true);
      assert.deepEqual(stage.published(), ['a/x', 'a/new']);
      assert.deepEqual(codes(), ['wrong-type']);
    });
  }

  it('rejects for a server that nobody knows', async () => {
    for (const action of ['start', 'stop', 'restart', 'release'] as const) {
      await assert.rejects(stage.host[action]('nobody', 'd1'), /no server "nobody"/);
    }
  });

  it('restart while an instance starts begins anew', async () => {
    await serve('a', 'command: a, timeouts: { idle: 1s }', 'x');
    stage.clock.advance(1000);
    await stage.until(() => stage.server('a').state.kind === 'idle');
    const started = stage.host.start('a');
    const first = await stage.connector.nextConnect();
    const restarted = stage.host.restart('a');
    assert.equal(first.request.signal.aborted, true);
    (await stage.connector.nextConnect()).succeed(listing('x', 'new'));
    await Promise.all([started, restarted]);
    assert.deepEqual(stage.published(), ['a/x', 'a/new']);
    assert.equal(stage.server('a').state.kind, 'running');
  });

  it('one instance alone waits for the next conversation: who starts another one ends it', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const client: ServerClient = {
      session: {},
      capabilities: { sampling: {} },
      logLevel: undefined,
      ask: () => Promise.reject(new Error('nobody')),
      tell: () => {},
    };
    const { signal } = new AbortController();
    const called = stage.host.call({ toolset: 'a', tool: 'x', arguments: {}, dialog: 'd1', client, signal });
    (await stage.connector.nextConnect()).fail(failure);
    await called;
    // A failure to start lasts until a start succeeds, which an edit asks for.
    const edited = stage.edit(file({ a: 'command: a, tools: { blacklist: [y] }' }));
    (await stage.connector.nextConnect()).succeed(listing('x'));
    await edited;
    assert.equal(warm.closed, true);
    assert.equal(stage.server('a').state.kind, 'running');
    assert.deepEqual(
      stage.server('a').instances.map(({ use }) => use.kind),
      ['warm'],
    );
  });

  it('restart of an entry that was wrong reads it again', async () => {
    await stage.edit(file({ a: 'command: a, env: { T: { env: NOT_SET } }' }));
    await stage.until(() => stage.server('a').state.kind === 'invalid');
    assert.deepEqual(codes(), ['env-unset']);
    await stage.host.restart('a');
    assert.equal(stage.connector.connects, 0);
  });

  it('start of a server that is switched off asks for no other, though its entry is wrong (C1)', async () => {
    const edited = stage.edit(file({ a: 'command: a, enabled: false, args: 3', b: 'command: b' }));
    (await stage.connector.nextConnect()).fail(failure);
    await edited;
    await stage.host.start('a');
    assert.equal(stage.connector.connects, 1);
  });
});

describe('what a file says of a toolset (C1)', () => {
  it('stands behind the instructions of the server, and a change restarts nothing', async () => {
    await serve('a', "command: a, manual: { content: 'For pages.' }", 'x');
    const told = (): string | undefined => stage.host.catalogue.toolsets[0]?.instructions;
    assert.equal(told(), 'For pages.');
    await stage.edit(file({ a: "command: a, manual: { content: 'For all.', sections: { Never: 'Alone.' } }" }));
    assert.equal(told(), 'For all.\n\n## Never\n\nAlone.');
    assert.equal(stage.connector.connects, 1);
  });
});

describe('data: URLs (V1)', () => {
  it('are put right in what any client gets', async () => {
    const connection = await serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    const url = 'data:image/png;base64,AAAA';
    (await connection.nextCall()).answer({
      kind: 'result',
      result: { content: [{ type: 'image', data: url, mimeType: 'image/png' }] },
    });
    const outcome = await call;
    assert.deepEqual(outcome.kind === 'result' && outcome.result.content, [
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ]);
  });
});

describe('mcp_admin (L5)', () => {
  const ask = async (tool: string, input: object = {}, dialog = 'd1'): Promise<string> => {
    const signal = new AbortController().signal;
    const outcome = await stage.host.call({ toolset: adminId, tool, arguments: { ...input }, dialog, signal });
    assert.equal(outcome.kind, 'result');
    const [part] = outcome.kind === 'result' ? outcome.result.content : [];
    return part?.type === 'text' ? part.text : '';
  };

  it('is there when servers are configured, whatever their state, and not without', async () => {
    const ids = (): string[] => stage.host.catalogue.toolsets.map(({ id }) => id);
    assert.deepEqual(ids(), []);
    await stage.edit(file({ a: "command: ''" }));
    assert.deepEqual(ids(), [adminId]);
    await stage.edit(undefined);
    assert.deepEqual(ids(), []);
  });

  it('tells the state of servers, what is wrong, and what the conversation holds', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    await answer(warm, '1');
    await call;
    assert.equal(await ask('mcp_status'), 'a: running, 1 of 1 tools published, this conversation has an instance');
    assert.equal(await ask('mcp_status', {}, 'd2'), 'a: running, 1 of 1 tools published');
    await stage.edit(file({ a: "command: ''" }));
    assert.match(
      await ask('mcp_status'),
      /serves its previous definition since \d{4}-\d\d-\d\dT[\d:.]+Z \(Its new definition has an error\).*\n {2}error: /,
    );
  });

  it('releases the instance of the conversation that asks, and no other', async () => {
    const warm = await serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    await answer(warm, '1');
    await call;
    assert.match(await ask('mcp_release', { serverId: 'a' }, 'd2'), /has no instance/);
    assert.equal(warm.closed, false);
    assert.match(await ask('mcp_release', { serverId: 'a' }), /has ended/);
    assert.equal(warm.closed, true);
  });

  it('restarts a shared server, and of a leased one the instance of the conversation', async () => {
    const shared = await serve('a', 'command: a, truely-stateless: true', 'x');
    const restarted = ask('mcp_restart', { serverId: 'a' });
    (await stage.connector.nextConnect()).succeed(listing('x'));
    assert.equal(await restarted, 'a: running, 1 of 1 tools published');
    assert.equal(shared.closed, true);
  });

  it('says what is missing or unknown as an error the agent can read', async () => {
    await serve('a', 'command: a', 'x');
    assert.match(await ask('mcp_release'), /^Error: The argument "serverId" is missing/);
    assert.match(await ask('mcp_restart', { serverId: 'zzz' }), /^Error: There is no server "zzz"/);
  });
});

describe('secrets (E4)', () => {
  it('do not appear in problems though the server quotes them', async () => {
    const edited = stage.edit(file({ a: 'command: a, env: { T: { env: SECRET } }' }));
    (await stage.connector.nextConnect()).fail({ ...failure, message: 'It said: token hunter2222 is wrong.' });
    await edited;
    await stage.until(({ problems }) => problems.length === 1);
    assert.equal(stage.host.snapshot.problems[0]?.message, 'It said: token ••• is wrong.');
  });
});
