/** Actions of a person, of an agent through `mcp_admin`, and of a server (E3, L5). */
import assert from 'node:assert/strict';
import { adminId } from '../../../src/core/catalogue/admin.js';
import { toolsAlone } from '../../../src/core/tools/features.js';
import { rest } from '../../support/fakes/fakeClock.js';
import { failure, listing, textResult } from '../../support/fakes/fakeConnector.js';
import { testCore } from '../../support/core/testCore.js';
import { answer, answered, file, hostStage } from './stage.js';
import { fakeClient } from '../../support/fakes/fakeClient.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('actions of a person (E3)', () => {
  const stage = hostStage();

  it('stop withdraws the tools and ends everything, and only start brings them back', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
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

  it('stop of a server that does not run starts nothing, whatever its entry says', async () => {
    await stage.edit(file({ a: 'command: a, args: 3' }));
    await stage.host.stop('a');
    await stage.host.reload();
    assert.equal(stage.connector.connects, 0);
  });

  for (const again of ['start', 'restart'] as const) {
    it(`${again} of a stopped server with a wrong entry counts when the entry is right again`, async () => {
      await stage.serve('a', 'command: a', 'x');
      await stage.edit(file({ a: 'command: a, args: 3' }));
      await stage.host.stop('a');
      await stage.host[again]('a');
      const edited = stage.edit(file({ a: 'command: a' }));
      (await stage.connector.nextConnect()).succeed(listing('x'));
      await edited;
      assert.deepEqual(stage.published(), ['a/x']);
    });
  }

  it('restart ends every instance, lists again, and keeps the tools published', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const restarted = stage.host.restart('a');
    const starting = await stage.connector.nextConnect();
    assert.equal(warm.closed, true);
    assert.deepEqual(stage.published(), ['a/x']);
    starting.succeed(listing('x', 'new'));
    await restarted;
    assert.deepEqual(stage.published(), ['a/x', 'a/new']);
  });

  for (const [how, overtake] of [
    ['stopped', () => stage.host.stop('a')],
    ['disabled', () => stage.edit(file({ a: 'command: a, enabled: false' }))],
    ['removed', () => stage.edit(undefined)],
  ] as const) {
    it(`restart starts nothing of a server that is ${how} before the old process has ended`, async () => {
      const warm = await stage.serve('a', 'command: a', 'x');
      let end = (): void => {};
      warm.ends = new Promise((resolve) => (end = resolve));
      const restarted = stage.host.restart('a');
      const overtaken = overtake();
      end();
      await rest();
      assert.equal(stage.connector.connects, 1);
      await Promise.all([restarted, overtaken]);
      assert.deepEqual(stage.published(), []);
    });
  }

  it('the description of a later version of the server counts (X8)', async () => {
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
    later.capabilities = {
      tools: {},
      extensions: { 'io.modelcontextprotocol/tasks': {}, 'example.com/unknown': {} },
    };
    await restarted;
    assert.deepEqual(kept, ['2025-11-25', '2026-07-28']);
    assert.deepEqual(features(), {
      ...toolsAlone,
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    });
    await host.dispose();
  });

  for (const again of ['start', 'restart'] as const) {
    it(`${again} with a wrong entry starts the last-known-good definition again (R3)`, async () => {
      const warm = await stage.serve('a', 'command: a', 'x');
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
      assert.deepEqual(stage.codes(), ['wrong-type']);
    });
  }

  it('an action on an unknown server rejects', async () => {
    for (const action of ['start', 'stop', 'restart', 'release'] as const) {
      await assert.rejects(stage.host[action]('nobody', 'd1'), /no server "nobody"/);
    }
  });

  it('restart during a start begins again', async () => {
    await stage.serve('a', 'command: a, timeouts: { idle: 1s }', 'x');
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

  it('restart starts a shared server once, even if a call starts it before the old process has ended', async () => {
    const warm = await stage.serve('a', 'command: a, truely-stateless: true', 'x');
    let processEnds = (): void => {};
    warm.ends = new Promise((resolve) => (processEnds = resolve));
    const restarted = stage.host.restart('a');
    const called = stage.call('a', 'x');
    const second = (await stage.connector.nextConnect()).succeed(listing('x'));
    const running = await second.nextCall();
    processEnds();
    await restarted;
    assert.deepEqual([stage.connector.connects, second.closed], [2, false]);
    running.answer({ kind: 'result', result: textResult('1') });
    assert.deepEqual(await called, answered('1'));
  });

  it('an edit ends no lease because another instance did not start (L2)', async () => {
    const connections = [await stage.serve('a', 'command: a', 'x')];
    const calls = ['d1', 'd2', 'd3'].map((conversation) => stage.call('a', 'x', conversation));
    for (let count = 0; count < 2; count++)
      connections.push((await stage.connector.nextConnect()).succeed(listing('x')));
    await rest();
    assert.match(JSON.stringify(await stage.call('a', 'x', 'd4')), /used in the last five minutes/);
    for (const connection of connections) await answer(connection, '1');
    await Promise.all(calls);
    await stage.edit(`# unrelated\n${file({ a: 'command: a' })}`);
    await rest();
    assert.deepEqual(
      connections.map(({ closed }) => closed),
      [false, false, false],
    );
  });

  it('an edit starts nothing beside a live instance, although another one did not start (R2)', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const client = fakeClient({ capabilities: { sampling: {} } });
    const { signal } = new AbortController();
    const called = stage.host.call({
      policy: policies.agent,
      toolset: 'a',
      tool: 'x',
      arguments: {},
      conversation: 'd1',
      client,
      signal,
    });
    (await stage.connector.nextConnect()).fail(failure);
    await called;
    await stage.edit(file({ a: 'command: a, tools: { blacklist: [y] }' }));
    assert.deepEqual([warm.closed, stage.connector.connects], [false, 2]);
    assert.equal(stage.server('a').state.kind, 'running');
    assert.deepEqual(
      stage.server('a').instances.map(({ use }) => use.kind),
      ['warm'],
    );
  });

  it('restart reads a wrong entry again', async () => {
    await stage.edit(file({ a: 'command: a, env: { T: { env: NOT_SET } }' }));
    await stage.until(() => stage.server('a').state.kind === 'invalid');
    assert.deepEqual(stage.codes(), ['env-unset']);
    await stage.host.restart('a');
    assert.equal(stage.connector.connects, 0);
  });

  it('start of a disabled server starts no other one, although its entry is wrong (C1)', async () => {
    const edited = stage.edit(file({ a: 'command: a, enabled: false, args: 3', b: 'command: b' }));
    (await stage.connector.nextConnect()).fail(failure);
    await edited;
    await stage.host.start('a');
    assert.equal(stage.connector.connects, 1);
  });
});

describe('mcp_admin (L5)', () => {
  const stage = hostStage();

  const ask = async (tool: string, input: object = {}, conversation = 'd1'): Promise<string> => {
    const signal = new AbortController().signal;
    const outcome = await stage.host.call({
      policy: policies.agent,
      toolset: adminId,
      tool,
      arguments: { ...input },
      conversation,
      signal,
    });
    assert.equal(outcome.kind, 'result');
    const [part] = outcome.kind === 'result' ? outcome.result.content : [];
    return part?.type === 'text' ? part.text : '';
  };

  it('mcp_admin is published if any server is configured, whatever its state', async () => {
    const ids = (): string[] => stage.host.catalogue.toolsets.map(({ id }) => id);
    assert.deepEqual(ids(), []);
    await stage.edit(file({ a: "command: ''" }));
    assert.deepEqual(ids(), [adminId]);
    await stage.edit(undefined);
    assert.deepEqual(ids(), []);
  });

  it('the status shows states, problems and the leases of the conversation', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    await answer(warm, '1');
    await call;
    assert.equal(
      await ask('mcp_status'),
      'a: running, 1 of 1 tools published, this conversation has an instance in /ws',
    );
    assert.equal(await ask('mcp_status', {}, 'd2'), 'a: running, 1 of 1 tools published');
    await stage.edit(file({ a: "command: ''" }));
    assert.match(
      await ask('mcp_status'),
      /has served its previous definition since \d{4}-\d\d-\d\dT[\d:.]+Z \(Its new definition has an error\).*\n {2}error: /,
    );
  });

  it('the status shows an error of a whole file (C4)', async () => {
    await stage.serve('a', 'command: a', 'x');
    await stage.edit('version: 1\nservers: [');
    const told =
      /^a: running, 1 of 1 tools published\nerror in .+: Not valid YAML: .+ Close the bracket/;
    assert.match(await ask('mcp_reload'), told);
    assert.match(await ask('mcp_status'), told);
  });

  it('a release ends the lease of the calling conversation only', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    await answer(warm, '1');
    await call;
    assert.match(await ask('mcp_release', { serverId: 'a' }, 'd2'), /has no instance/);
    assert.equal(warm.closed, false);
    assert.match(await ask('mcp_release', { serverId: 'a' }), /has ended/);
    assert.equal(warm.closed, true);
  });

  it('a restart of a shared server names the agent to the calls that it ends', async () => {
    const shared = await stage.serve('a', 'command: a, truely-stateless: true', 'x');
    const running = stage.call('a', 'x');
    await shared.nextCall();
    const restarted = ask('mcp_restart', { serverId: 'a' });
    (await stage.connector.nextConnect()).succeed(listing('x'));
    assert.equal(await restarted, 'a: running, 1 of 1 tools published');
    assert.equal(shared.closed, true);
    assert.match(JSON.stringify(await running), /an agent restarted it/);
  });

  it('a restart of a leased server ends only the lease of the calling conversation', async () => {
    const own = await stage.serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    await answer(own, '1');
    await call;
    assert.match(
      await ask('mcp_restart', { serverId: 'a' }),
      /has ended. The next call starts a new one/,
    );
    assert.equal(own.closed, true);
  });

  it('a restart ends no lease and no start of another conversation', async () => {
    const held = await stage.serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x', 'd1');
    const call = await held.nextCall();
    const waiting = stage.call('a', 'x', 'd2');
    const starting = await stage.connector.nextConnect();
    assert.equal(
      await ask('mcp_restart', { serverId: 'a' }, 'd3'),
      'a: running, 1 of 1 tools published',
    );
    assert.equal(stage.connector.connects, 2);
    call.answer({ kind: 'cancelled' });
    await answer(starting.succeed(listing('x')), '2');
    assert.equal((await waiting).kind, 'result');
    assert.equal((await running).kind, 'cancelled');
    assert.equal(held.closed, false);
  });

  it('a restart ends the free instance if no other is live', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const restarted = ask('mcp_restart', { serverId: 'a' });
    (await stage.connector.nextConnect()).succeed(listing('x', 'new'));
    assert.equal(await restarted, 'a: running, 2 of 2 tools published');
    assert.equal(warm.closed, true);
  });

  it('a restart replaces a long start without a conversation', async () => {
    await stage.serve('a', 'command: a, timeouts: { idle: 1s }', 'x');
    stage.clock.advance(1000);
    await stage.until(() => stage.server('a').state.kind === 'idle');
    const started = stage.host.start('a');
    const first = await stage.connector.nextConnect();
    const restarted = ask('mcp_restart', { serverId: 'a' });
    (await stage.connector.nextConnect()).succeed(listing('x'));
    assert.equal(first.request.signal.aborted, true);
    assert.equal(await restarted, 'a: running, 1 of 1 tools published');
    await started;
  });

  it('a restart starts a failed server', async () => {
    const edited = stage.edit(file({ a: 'command: a' }));
    (await stage.connector.nextConnect()).fail(failure);
    await edited;
    const restarted = ask('mcp_restart', { serverId: 'a' });
    (await stage.connector.nextConnect()).succeed(listing('x'));
    assert.equal(await restarted, 'a: running, 1 of 1 tools published');
  });

  it('a restart does not start a server that a person stopped, and says so', async () => {
    await stage.serve('a', 'command: a', 'x');
    await stage.host.stop('a');
    assert.match(
      await ask('mcp_restart', { serverId: 'a' }),
      /^Error: A person stopped "a".*Start Server/,
    );
    await ask('mcp_reload');
    assert.equal(stage.connector.connects, 1);
    assert.equal(stage.server('a').state.kind, 'stopped');
  });

  it('a missing or unknown argument is an error for the agent', async () => {
    await stage.serve('a', 'command: a', 'x');
    assert.match(await ask('mcp_release'), /^Error: The argument "serverId" must be a string/);
    assert.match(await ask('mcp_restart', { serverId: 'zzz' }), /^Error: There is no server "zzz"/);
  });
});

describe('secrets (E4)', () => {
  const stage = hostStage();

  it('problems do not show a secret that the server quotes', async () => {
    const edited = stage.edit(file({ a: 'command: a, env: { T: { env: SECRET } }' }));
    (await stage.connector.nextConnect()).fail({
      ...failure,
      message: 'It said: token hunter2222 is wrong.',
    });
    await edited;
    await stage.until(({ problems }) => problems.length === 1);
    assert.equal(stage.host.snapshot.problems[0]?.message, '"a" It said: token ••• is wrong.');
  });

  it('problems do not show a secret after a reference replaced its literal', async () => {
    await stage.serve('a', "command: a, args: ['--with=hunter2222']", 'x');
    await stage.edit(file({ a: "command: a, args: [{ prefix: '--with=', env: SECRET }]" }));
    const restarted = stage.host.restart('a');
    (await stage.connector.nextConnect()).fail({
      ...failure,
      message: 'It said: hunter2222 is wrong.',
    });
    await restarted;
    await stage.until(({ problems }) => problems.length === 1);
    assert.equal(stage.host.snapshot.problems[0]?.message, '"a" It said: ••• is wrong.');
  });
});
