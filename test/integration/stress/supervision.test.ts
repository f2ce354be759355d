/**
 * Instances that end repeatedly, and HTTP servers that go away and return (X4a, X2). The test
 * controls the clock of the back-off.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { nextEvent } from '../../../src/core/base/events.js';
import type { Connector } from '../../../src/core/connections/connection.js';
import { createConnector } from '../../../src/core/connector/createConnector.js';
import { testCore } from '../../support/core/testCore.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { ServerStatus, StatusSnapshot } from '../../../src/core/reconcile/status.js';
import { guardianScript } from '../../support/core/bundles.js';
import { CapturedLogs } from '../../support/core/capturedLogs.js';
import { configText, http, rawWith, type Servers } from '../../support/core/configText.js';
import { startHttpFixture, type HttpServer } from '../../support/core/httpServers.js';
import { freePort } from '../../support/freePort.js';
import { everyProcessOf, runVariable, textOf } from '../../support/core/stage.js';
import { patientClock, within } from '../../support/core/within.js';
import { wasKilled } from '../../support/processes.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('supervision', function () {
  this.timeout(60_000);
  let mark: string;
  let env: Record<string, string | undefined>;
  let clock: FakeClock;
  let connector: Connector;
  let host: Host;
  let logs: CapturedLogs;
  let far: HttpServer | undefined;

  beforeEach(async () => {
    mark = randomBytes(8).toString('hex');
    env = { ...process.env, [runVariable]: mark };
    delete env['NODE_OPTIONS'];
    clock = new FakeClock();
    logs = new CapturedLogs();
    connector = createConnector({
      env,
      clock: patientClock,
      trace: () => false,
      clientVersion: '0.0.0-test',
      guardianScript: await guardianScript(),
    });
    ({ host } = testCore({
      clock,
      connector,
      log: logs.sink(),
      serverLog: (server) => logs.sink(server),
      env,
      filteredTools: () => 'off',
    }));
  });

  afterEach(async () => {
    await host.dispose();
    await connector.dispose();
    await far?.stop();
    far = undefined;
    assert.equal(clock.pending, 0, 'a timer is left');
    assert.deepEqual(everyProcessOf(mark), [], 'processes are left');
  });

  const edit = (servers: Servers): Promise<void> =>
    host.setSources([{ file: '/ws/mcp.yaml', folder: process.cwd(), text: configText(servers) }]);
  const status = (): ServerStatus => {
    const [server] = host.snapshot.servers;
    assert.ok(server);
    return server;
  };
  const until = async (
    accept: (server: ServerStatus) => boolean,
    what: string,
  ): Promise<ServerStatus> => {
    const holds = ({ servers: [server] }: StatusSnapshot): boolean =>
      server !== undefined && accept(server);
    const describe = (): string => `${JSON.stringify(host.snapshot)}\n${logs.text()}`;
    if (!holds(host.snapshot)) await within(nextEvent(host.onDidChange, holds), what, describe);
    return status();
  };
  const pidOf = ({ instances }: ServerStatus): number => instances[0]?.pid ?? 0;
  const call = async (tool: string, input: Record<string, unknown> = {}): Promise<string> => {
    const signal = new AbortController().signal;
    const outcome = await host.call({
      policy: policies.agent,
      toolset: 'a',
      tool,
      arguments: input,
      conversation: 'd1',
      signal,
    });
    return outcome.kind === 'result' ? textOf(outcome.result) : JSON.stringify(outcome);
  };
  const killed = async (): Promise<void> =>
    process.kill(pidOf(await until(hasInstance, 'an instance')), 'SIGKILL') && undefined;
  const hasInstance = ({ state, instances }: ServerStatus): boolean =>
    state.kind === 'running' && instances.length === 1;

  it('A crash loop waits 1, 2 and 4 seconds and then gives up until the next call', async () => {
    await edit({ a: rawWith(['echo', 'pid'], { 'truely-stateless': true }) });
    const pids = new Set<number>();
    for (const [index, ms] of [1_000, 2_000, 4_000].entries()) {
      pids.add(pidOf(await until(hasInstance, 'an instance')));
      await killed();
      const { state } = await until(
        ({ state: now }) => now.kind === 'reconnecting',
        `the wait for attempt ${index + 1}`,
      );
      assert.ok(state.kind === 'reconnecting');
      assert.deepEqual([state.attempt, state.at], [index + 1, clock.now() + ms]);
      assert.ok(state.cause.endsWith(wasKilled), state.cause);
      clock.advance(ms - 1);
      assert.equal(status().state.kind, 'reconnecting');
      clock.advance(1);
      await until(hasInstance, `attempt ${index + 1}`);
    }
    pids.add(pidOf(status()));
    assert.equal(pids.size, 4);
    await killed();
    const { state } = await until(({ state: now }) => now.kind === 'failed', 'giving up');
    assert.ok(state.kind === 'failed');
    assert.match(state.reason, /no longer restarted/);
    assert.ok(state.reason.endsWith(wasKilled), state.reason);
    clock.advance(3_600_000);
    assert.deepEqual(status().instances, []);
    assert.equal(await call('echo', { text: 'the next call asks' }), 'the next call asks');
    assert.equal((await until(hasInstance, 'the instance of the call')).state.kind, 'running');
    assert.deepEqual(host.snapshot.problems, []);
  });

  it('A minute of health resets the crash count', async () => {
    await edit({ a: rawWith(['echo'], { 'truely-stateless': true }) });
    for (let times = 0; times < 3; times++) {
      await killed();
      const { state } = await until(({ state: now }) => now.kind === 'reconnecting', 'the wait');
      assert.equal(state.kind === 'reconnecting' && state.attempt, 1);
      clock.advance(1_000);
      await until(hasInstance, 'the new instance');
      clock.advance(60_000);
    }
  });

  it('A restarted HTTP server on the same port serves again, and nothing is sent twice', async () => {
    const port = await freePort();
    far = await startHttpFixture('http', ['--port', String(port), '--name', 'first'], env);
    await edit({ a: http(far.url, { 'truely-stateless': true }) });
    assert.equal(await call('count'), '1');
    await far.stop();
    assert.match(await call('count'), /cannot be reached|result unknown|did not start/);
    far = await startHttpFixture('http', ['--port', String(port), '--name', 'second'], env);
    let text = await call('count');
    for (let tries = 0; tries < 5 && text !== '1'; tries++) {
      clock.advance(4_000);
      text = await call('count');
    }
    assert.equal(
      text,
      '1',
      'the new process counts from the beginning, and no call of before was sent again',
    );
    await until(({ state }) => state.kind === 'running', 'health');
  });

  it('A session that expires repeatedly costs no call', async () => {
    // Beyond the requests that begin a session: initialized, stream, list.
    far = await startHttpFixture('http', ['--expire-session-after', '6'], env);
    await edit({ a: http(far.url, { 'truely-stateless': true }) });
    for (let number = 0; number < 12; number++)
      assert.equal(await call('echo', { text: String(number) }), String(number));
    assert.deepEqual(host.snapshot.problems, []);
  });
});
