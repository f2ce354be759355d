/** The host with approvals, over fake servers (S1). */
import assert from 'node:assert/strict';
import { adminId } from '../../../src/core/catalogue/admin.js';
import { whyNothing } from '../../../src/core/catalogue/admin.js';
import { ApprovalLedger } from '../../../src/core/approval/ledger.js';
import { MemoryApprovals } from '../../support/core/memoryApprovals.js';
import { OfferLedger } from '../../../src/core/approval/offerLedger.js';
import { nextEvent } from '../../../src/core/base/events.js';
import { testCore } from '../../support/core/testCore.js';
import type { Core } from '../../../src/core/assembly/assemble.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import { everyToolset } from '../../../src/core/gateway/routes.js';
import type { ToolOutcome } from '../../../src/core/protocol/request.js';
import type { ServerStatus, StatusSnapshot } from '../../../src/core/reconcile/status.js';
import { FakeClock, rest } from '../../support/fakes/fakeClock.js';
import {
  failure,
  FakeConnector,
  listing,
  type FakeConnection,
} from '../../support/fakes/fakeConnector.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

let host: Host;
let backend: Core['backend'];
let connector: FakeConnector;
let ledger: ApprovalLedger;
let offers: OfferLedger;
let asks: boolean;
let mostInstances: number;
const env: Record<string, string> = {};

const edit = (servers: Record<string, string>): Promise<void> => {
  const lines = Object.entries(servers).map(
    ([id, rest]) => `  ${id}: { transport: stdio, ${rest} }\n`,
  );
  const text = `version: 1\nservers:\n${lines.join('')}`;
  return host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);
};

const until = async (accept: (snapshot: StatusSnapshot) => boolean): Promise<unknown> =>
  accept(host.snapshot) || nextEvent(host.onDidChange, accept);

const server = (id: string, from = host.snapshot): ServerStatus => {
  const found = from.servers.find((each) => each.id === id);
  assert.ok(found);
  return found;
};

const untilState = (id: string, kind: ServerStatus['state']['kind']): Promise<unknown> =>
  until((snapshot) => snapshot.servers.some((each) => each.id === id && each.state.kind === kind));

const published = (): string[] =>
  host.catalogue.toolsets
    .filter(({ id }) => id !== adminId)
    .flatMap(({ id, tools }) => tools.map((tool) => `${id}/${tool.published}`));

const call = (toolset: string, tool: string, conversation: string): Promise<ToolOutcome> =>
  host.call({
    policy: policies.agent,
    toolset,
    tool,
    arguments: {},
    conversation,
    signal: new AbortController().signal,
  });

const codes = (): string[] => host.snapshot.problems.map(({ code }) => code);

async function approve(...ids: string[]): Promise<void> {
  await ledger.approve(
    ids.map((id) => {
      const { approval } = server(id);
      assert.ok(approval.kind === 'pending', `${id} is not pending`);
      return approval.launch;
    }),
  );
}

async function serve(id: string, rest: string, ...tools: string[]): Promise<FakeConnection> {
  await edit({ [id]: rest });
  await untilState(id, 'pending');
  await approve(id);
  const connection = (await connector.nextConnect()).succeed(listing(...tools));
  await untilState(id, 'running');
  return connection;
}

describe('approval (S1)', () => {
  beforeEach(() => {
    asks = true;
    mostInstances = 32;
    env['TOKEN'] = 'the-first-token';
    connector = new FakeConnector();
    const storage = { get: () => undefined, update: () => Promise.resolve() };
    const onStoreFailure = (error: unknown): void => assert.fail(String(error));
    offers = new OfferLedger({ storage, holdsBack: () => false, onStoreFailure });
    ledger = new ApprovalLedger({
      store: new MemoryApprovals(),
      asks: () => asks,
      forgetOffers: (of) => offers.forget(of),
    });
    ({ host, backend } = testCore({
      clock: new FakeClock(),
      connector,
      env,
      maxInstances: () => mostInstances,
      approvals: ledger,
      offerReview: offers,
    }));
  });

  afterEach(async () => {
    await host.dispose();
    assert.equal(connector.live.size, 0, 'a connection was left open');
  });

  it('a call of a remembered tool says that the server waits, and how to approve it', async () => {
    await edit({ a: 'command: a' });
    await untilState('a', 'pending');
    const outcome = await call('a', 'x', 'd');
    assert.ok(outcome.kind === 'result' && outcome.result.isError);
    assert.match(
      JSON.stringify(outcome.result),
      /"x\\" was not called\. .*waiting for a person to approve its start .*approve a -C \/ws`/,
    );
  });

  it('a waiting server of the user’s own file names the folder of the workspace in which it runs', () => {
    const source = '/home/me/.minds/mcp.yaml';
    const launch = { server: 'a', source, directory: '/ws/sub', parts: [], fingerprint: '1' };
    const waiting = {
      id: 'a',
      state: { kind: 'pending' },
      approval: { kind: 'pending', launch },
    } as const;
    assert.match(
      whyNothing({ ...waiting, origin: 'user' }),
      /`mcp-toolsets approve a -C \/ws\/sub`/,
    );
    assert.match(
      whyNothing({ ...waiting, origin: 'folder' }),
      /`mcp-toolsets approve a -C \/home\/me`/,
    );
  });

  it('a waiting server whose approval ends with its process names no command that would store it (S1h)', async () => {
    const text = 'version: 1\nservers:\n  a: { transport: stdio, command: a }\n';
    await host.setSources([{ file: '/home/me/.minds/mcp.yaml', folder: '/home/me', text }]);
    await untilState('a', 'pending');
    assert.doesNotMatch(whyNothing(server('a')), /approve a/);
    assert.match(whyNothing(server('a')), /`mcp-toolsets serve` at a terminal/);
  });

  it('a server without approval does not start, and says that it waits', async () => {
    await edit({ a: 'command: a', b: 'command: b' });
    await untilState('a', 'pending');
    assert.equal(connector.connects, 0);
    assert.deepEqual(published(), []);
    assert.deepEqual(codes(), ['approval-pending', 'approval-pending']);
    assert.deepEqual(
      host.snapshot.problems.map(({ severity }) => severity),
      ['information', 'information'],
    );
  });

  it('all toolsets together name each toolset that waits, and how to approve it (S1i)', async () => {
    const instructions = (): string =>
      backend.toolset(everyToolset, policies.agent)?.instructions ?? '';
    await edit({ a: 'command: a', b: 'command: b', off: 'command: off, enabled: false' });
    await untilState('a', 'pending');
    assert.match(
      instructions(),
      /"a" has no tools now.*approve a -C \/ws`[^]*"b" has no tools now.*approve b -C \/ws`/,
    );
    assert.doesNotMatch(instructions(), /off/);
    assert.equal(
      backend.toolset(everyToolset, policies.agent),
      backend.toolset(everyToolset, policies.agent),
    );
    const unknown = await backend.callTool({
      policy: policies.agent,
      ...{ toolset: everyToolset, tool: 'b_x', arguments: {}, conversation: 'd' },
      signal: new AbortController().signal,
    });
    assert.match(JSON.stringify(unknown), /No toolset has a tool \\"b_x\\"\. .*approve b -C \/ws`/);
    await approve('a');
    (await connector.nextConnect()).succeed(listing('y'));
    await untilState('a', 'running');
    assert.doesNotMatch(instructions(), /approve a/);
    assert.match(instructions(), /approve b/);
    assert.match(backend.whyGone('b'), /"b" has no tools now.*approve b -C \/ws`/);
  });

  it('exactly the approved launch starts', async () => {
    await edit({ a: 'command: a', b: 'command: b' });
    await untilState('a', 'pending');
    await approve('b');
    (await connector.nextConnect()).succeed(listing('y'));
    await untilState('b', 'running');
    assert.deepEqual(published(), ['b/y']);
    assert.equal(server('a').state.kind, 'pending');
    assert.equal(server('b').approval.kind, 'approved');
    assert.equal(connector.connects, 1);
  });

  it('a launch that changed after the review does not start', async () => {
    await edit({ a: 'command: a' });
    await untilState('a', 'pending');
    const { approval } = server('a');
    await edit({ a: 'command: evil' });
    await until((now) => JSON.stringify(server('a', now).approval).includes('evil'));
    assert.ok(approval.kind === 'pending');
    await ledger.approve([approval.launch]);
    assert.equal(connector.connects, 0);
    assert.equal(server('a').state.kind, 'pending');
  });

  for (const ask of ['start', 'restart'] as const) {
    it(`“${ask}” and a reload do not get round a missing approval`, async () => {
      await edit({ a: 'command: a' });
      await host[ask]('a');
      await host.reload();
      assert.equal(connector.connects, 0);
      await untilState('a', 'pending');
    });
  }

  it('an agent does not get round a missing approval', async () => {
    await edit({ a: 'command: a' });
    for (const tool of ['mcp_restart', 'mcp_reload']) {
      const { signal } = new AbortController();
      await host.call({
        policy: policies.agent,
        toolset: adminId,
        tool,
        arguments: { serverId: 'a' },
        conversation: 'd',
        signal,
      });
    }
    assert.equal(connector.connects, 0);
  });

  it('the serving definition goes on with its filters while a changed launch waits', async () => {
    const old = await serve('a', 'command: a', 'x', 'y');
    await edit({ a: 'command: evil, tools: { whitelist: [x] }' });
    await until((now) => server('a', now).approval.kind === 'pending');
    assert.deepEqual(published(), ['a/x', 'a/y']);
    assert.equal(old.closed, false);
    assert.equal(connector.connects, 1);
    assert.equal(server('a').state.kind, 'running');
    assert.match(server('a').previous?.reason ?? '', /waits for your approval/);
    const status = JSON.stringify(await call('mcp_admin', 'mcp_status', 'd'));
    assert.match(
      status,
      /a: running, .*waits for your approval\), approved by `mcp-toolsets approve a -C \/ws` at a terminal/,
    );
    assert.deepEqual(codes(), ['approval-pending']);
    await approve('a');
    const next = await connector.nextConnect();
    assert.deepEqual(published(), ['a/x', 'a/y']);
    next.succeed(listing('x', 'z'));
    await until((now) => server('a', now).previous === undefined);
    assert.deepEqual(published(), ['a/x']);
    assert.equal(old.closed, true);
  });

  it('a restart by a person starts the approved launch, not the waiting one', async () => {
    await serve('a', 'command: a', 'x');
    await edit({ a: 'command: evil' });
    const restarted = host.restart('a');
    const next = await connector.nextConnect();
    assert.equal(next.request.launch.transport === 'stdio' && next.request.launch.command, 'a');
    next.succeed(listing('x'));
    await restarted;
    assert.deepEqual(published(), ['a/x']);
  });

  it('a return to an approved launch needs no question', async () => {
    await serve('a', 'command: a', 'x');
    await edit({ a: 'command: evil' });
    await edit({ a: 'command: a, tools: { blacklist: [x] }' });
    await until((now) => server('a', now).approval.kind === 'approved');
    assert.deepEqual(published(), []);
    assert.equal(connector.connects, 1);
  });

  it('another value of a host variable needs no question, because the person set it', async () => {
    await serve('a', 'command: a, env: { T: { env: TOKEN } }', 'x');
    env['TOKEN'] = 'another-token';
    const reloaded = host.reload();
    (await connector.nextConnect()).succeed(listing('x'));
    await reloaded;
    assert.equal(server('a').approval.kind, 'approved');
  });

  it('a literal in place of a variable needs a question, although nothing restarts', async () => {
    const old = await serve('a', 'command: a, env: { T: { env: TOKEN } }', 'x');
    await edit({ a: 'command: a, env: { T: the-first-token }' });
    await until((now) => server('a', now).approval.kind === 'pending');
    assert.equal(old.closed, false);
  });

  it('a revoked launch ends at once, with its calls in flight', async () => {
    const connection = await serve('a', 'command: a', 'x');
    const { signal } = new AbortController();
    const call = host.call({
      policy: policies.agent,
      toolset: 'a',
      tool: 'x',
      arguments: {},
      conversation: 'd',
      signal,
    });
    await connection.nextCall();
    await ledger.revoke({ server: 'a', source: '/ws/.minds/mcp.yaml' });
    await untilState('a', 'pending');
    assert.equal(connection.closed, true);
    assert.deepEqual(published(), []);
    const outcome = await call;
    assert.ok(outcome.kind === 'result' && outcome.result.isError);
  });

  it('a revocation also ends a previous definition behind an error', async () => {
    for (const next of ['command: evil', 'command: 1']) {
      const connection = await serve('a', 'command: a', 'x');
      await edit({ a: next });
      await ledger.revoke({ server: 'a', source: '/ws/.minds/mcp.yaml' });
      await until(
        (now) => server('a', now).state.kind === (next === 'command: 1' ? 'invalid' : 'pending'),
      );
      assert.equal(connection.closed, true, next);
      assert.deepEqual(published(), []);
    }
  });

  it('the first list after a revocation and a new approval is the baseline (S3)', async () => {
    await serve('a', 'command: a', 'x');
    await ledger.revoke({ server: 'a', source: '/ws/.minds/mcp.yaml' });
    await untilState('a', 'pending');
    await serve('a', 'command: a', 'x', 'y');
    assert.deepEqual(server('a').changedOffers, []);
  });

  for (const [declaresNone, changed] of [
    [true, ['x']],
    [false, []],
  ] as const) {
    it(`an empty first list is the baseline only of a server without tools: ${declaresNone} (S3)`, async () => {
      await edit({ a: 'command: a' });
      await untilState('a', 'pending');
      await approve('a');
      const first = { ...listing(), declaresNone };
      const connection = (await connector.nextConnect()).succeed(first);
      await untilState('a', 'running');
      connection.changeTools(listing('x'));
      await until(() => published().length > 0);
      const { changedOffers } = server('a');
      assert.deepEqual(
        changedOffers.map(({ original }) => original),
        changed,
      );
    });
  }

  it('a revocation ends a start under way', async () => {
    await edit({ a: 'command: a' });
    await untilState('a', 'pending');
    await approve('a');
    const starting = await connector.nextConnect();
    await ledger.revoke({ server: 'a', source: '/ws/.minds/mcp.yaml' });
    assert.equal(starting.request.signal.aborted, true);
    await untilState('a', 'pending');
  });

  it('a revocation ends a restart during the end of the old process', async () => {
    const connection = await serve('a', 'command: a', 'x');
    let end = (): void => {};
    connection.ends = new Promise((resolve) => (end = resolve));
    const restarted = host.restart('a');
    await ledger.revoke({ server: 'a', source: '/ws/.minds/mcp.yaml' });
    end();
    await rest();
    assert.equal(connector.connects, 1);
    await restarted;
    await untilState('a', 'pending');
  });

  for (const [how, next] of [
    ['disabled', { a: 'command: a, enabled: false', b: 'command: b' }],
    ['removed', { b: 'command: b' }],
  ] as const) {
    it(`a revocation ends the draining instances of a server that was ${how}, and starts nothing for waiting calls`, async () => {
      mostInstances = 3;
      const a = await serve('a', 'command: a', 'x');
      await edit({ a: 'command: a', b: 'command: b' });
      await untilState('b', 'pending');
      await approve('b');
      const b = (await connector.nextConnect()).succeed(listing('y'));
      await untilState('b', 'running');
      const running = call('a', 'x', 'd1');
      await a.nextCall();
      const others = [call('b', 'y', 'd1'), call('b', 'y', 'd2')];
      const last = await connector.nextConnect();
      const waiting = call('a', 'x', 'd2');
      const edited = edit(next);
      await rest();
      const before = connector.connects;
      await ledger.revoke({ server: 'a', source: '/ws/.minds/mcp.yaml' });
      last.fail(failure);
      await rest();
      assert.equal(connector.connects, before);
      assert.equal(a.closed, true);
      await edited;
      assert.match(JSON.stringify(await running), /its approval was revoked/);
      assert.match(JSON.stringify(await waiting), /was not called: its start was cancelled/);
      (await b.nextCall()).answer({ kind: 'cancelled' });
      await Promise.all(others);
    });
  }

  it('a stopped server stays stopped, and its start by a person needs the approval', async () => {
    await serve('a', 'command: a', 'x');
    await host.stop('a');
    await ledger.revoke({ server: 'a', source: '/ws/.minds/mcp.yaml' });
    await untilState('a', 'stopped');
    assert.equal(server('a').approval.kind, 'notAsked');
    await host.start('a');
    await untilState('a', 'pending');
    assert.equal(connector.connects, 1);
  });

  it('a disabled server needs no question', async () => {
    await edit({ a: 'command: a, enabled: false' });
    await untilState('a', 'disabled');
    assert.equal(server('a').approval.kind, 'notAsked');
  });

  it('an approval or a revocation of one server leaves the others alone', async () => {
    const a = await serve('a', 'command: a', 'x');
    await edit({ a: 'command: a', b: 'command: b' });
    await untilState('b', 'pending');
    await approve('b');
    (await connector.nextConnect()).fail({
      code: 'server-exited',
      message: 'exited.',
      fix: 'Mend it.',
      path: [],
    });
    await untilState('b', 'failed');
    const edited = edit({ a: 'command: a', b: 'command: b', c: 'command: c' });
    (await connector.nextConnect()).fail({
      code: 'server-exited',
      message: 'exited.',
      fix: 'Mend it.',
      path: [],
    });
    await edited;
    await untilState('c', 'pending');
    const before = connector.connects;
    await approve('c');
    (await connector.nextConnect()).succeed(listing('z'));
    await untilState('c', 'running');
    assert.equal(connector.connects, before + 1);
    assert.equal(a.closed, false);
  });

  it('everything starts while no question is wanted, and questions come again after that', async () => {
    asks = false;
    const edited = edit({ a: 'command: a' });
    const connection = (await connector.nextConnect()).succeed(listing('x'));
    await edited;
    assert.equal(server('a').approval.kind, 'notAsked');
    asks = true;
    ledger.recheck();
    await untilState('a', 'pending');
    assert.equal(connection.closed, true);
    asks = false;
    ledger.recheck();
    (await connector.nextConnect()).succeed(listing('x'));
    await untilState('a', 'running');
  });
});
