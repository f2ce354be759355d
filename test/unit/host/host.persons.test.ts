/** Actions of a person, of an agent through `mcp_admin`, and of a server (E3, L5, E4). */
import assert from 'node:assert/strict';
import { adminId } from '../../../src/core/host/admin.js';
import { toolsAlone } from '../../../src/core/tools/features.js';
import { rest } from '../../support/fakes/fakeClock.js';
import { failure, listing, textResult } from '../../support/fakes/fakeConnector.js';
import { testCore } from '../../support/core/testCore.js';
import { answer, answered, file, hostStage } from './stage.js';
import { fakeClient } from '../../support/fakes/fakeClient.js';

describe('a person’s actions (E3)', () => {
  const stage = hostStage();

  it('stop withdraws the tools and ends everything at once; an unrelated edit does not start it; start does', async () => {
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

  it('stop of what does not run starts nothing, whatever its entry says', async () => {
    await stage.edit(file({ a: 'command: a, args: 3' }));
    await stage.host.stop('a');
    await stage.host.reload();
    assert.equal(stage.connector.connects, 0);
  });

  for (const again of ['start', 'restart'] as const) {
    it(`${again} of a stopped server counts although its entry is wrong: it runs when the entry is right again`, async () => {
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

  it('restart ends every instance, lists anew and keeps the tools published meanwhile', async () => {
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

  it('rejects for a server that nobody knows', async () => {
    for (const action of ['start', 'stop', 'restart', 'release'] as const) {
      await assert.rejects(stage.host[action]('nobody', 'd1'), /no server "nobody"/);
    }
  });

  it('restart while an instance starts begins anew', async () => {
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

  it('restart starts a shared server once, though a call has started it before the old process has ended', async () => {
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

  it('an edit ends no lease for an instance that did not start (L2)', async () => {
    const connections = [await stage.serve('a', 'command: a', 'x')];
    const calls = ['d1', 'd2', 'd3'].map((conversation) => stage.call('a', 'x', conversation));
    for (let count = 0; count < 2; count++)
      connections.push((await stage.connector.nextConnect()).succeed(listing('x')));
    await rest();
    assert.match(JSON.stringify(await stage.call('a', 'x', 'd4')), /none of them is idle/);
    for (const connection of connections) await answer(connection, '1');
    await Promise.all(calls);
    await stage.edit(`# unrelated\n${file({ a: 'command: a' })}`);
    await rest();
    assert.deepEqual(
      connections.map(({ closed }) => closed),
      [false, false, false],
    );
  });

  it('an edit starts nothing where an instance lives, though another one did not start (R2)', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const client = fakeClient({ capabilities: { sampling: {} } });
    const { signal } = new AbortController();
    const called = stage.host.call({ toolset: 'a', tool: 'x', arguments: {}, conversation: 'd1', client, signal });
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

  it('restart of an entry that was wrong reads it again', async () => {
    await stage.edit(file({ a: 'command: a, env: { T: { env: NOT_SET } }' }));
    await stage.until(() => stage.server('a').state.kind === 'invalid');
    assert.deepEqual(stage.codes(), ['env-unset']);
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

describe('mcp_admin (L5)', () => {
  const stage = hostStage();

  const ask = async (tool: string, input: object = {}, conversation = 'd1'): Promise<string> => {
    const signal = new AbortController().signal;
    const outcome = await stage.host.call({ toolset: adminId, tool, arguments: { ...input }, conversation, signal });
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
    const warm = await stage.serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    await answer(warm, '1');
    await call;
    assert.equal(await ask('mcp_status'), 'a: running, 1 of 1 tools published, this conversation has an instance');
    assert.equal(await ask('mcp_status', {}, 'd2'), 'a: running, 1 of 1 tools published');
    await stage.edit(file({ a: "command: ''" }));
    assert.match(
      await ask('mcp_status'),
      /has served its previous definition since \d{4}-\d\d-\d\dT[\d:.]+Z \(Its new definition has an error\).*\n {2}error: /,
    );
  });

  it('tells what is wrong with a file as a whole (C4)', async () => {
    await stage.serve('a', 'command: a', 'x');
    await stage.edit('version: 1\nservers: [');
    const told = /^a: running, 1 of 1 tools published\nerror in .+: Not valid YAML: .+ Close the bracket/;
    assert.match(await ask('mcp_reload'), told);
    assert.match(await ask('mcp_status'), told);
  });

  it('releases the instance of the conversation that asks, and no other', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    await answer(warm, '1');
    await call;
    assert.match(await ask('mcp_release', { serverId: 'a' }, 'd2'), /has no instance/);
    assert.equal(warm.closed, false);
    assert.match(await ask('mcp_release', { serverId: 'a' }), /has ended/);
    assert.equal(warm.closed, true);
  });

  it('restarts a shared server, and says to the calls that it ends who did it', async () => {
    const shared = await stage.serve('a', 'command: a, truely-stateless: true', 'x');
    const running = stage.call('a', 'x');
    await shared.nextCall();
    const restarted = ask('mcp_restart', { serverId: 'a' });
    (await stage.connector.nextConnect()).succeed(listing('x'));
    assert.equal(await restarted, 'a: running, 1 of 1 tools published');
    assert.equal(shared.closed, true);
    assert.match(JSON.stringify(await running), /an agent restarted it/);
  });

  it('restarts of a leased server the instance of the conversation that asks', async () => {
    const own = await stage.serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    await answer(own, '1');
    await call;
    assert.match(await ask('mcp_restart', { serverId: 'a' }), /has ended. The next call starts a new one/);
    assert.equal(own.closed, true);
  });

  it('restarts nothing that other conversations hold, or that starts for them', async () => {
    const held = await stage.serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x', 'd1');
    const call = await held.nextCall();
    const waiting = stage.call('a', 'x', 'd2');
    const starting = await stage.connector.nextConnect();
    assert.equal(await ask('mcp_restart', { serverId: 'a' }, 'd3'), 'a: running, 1 of 1 tools published');
    assert.equal(stage.connector.connects, 2);
    call.answer({ kind: 'cancelled' });
    await answer(starting.succeed(listing('x')), '2');
    assert.equal((await waiting).kind, 'result');
    assert.equal((await running).kind, 'cancelled');
    assert.equal(held.closed, false);
  });

  it('restarts the instance that waits for the next conversation, where nothing else lives', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const restarted = ask('mcp_restart', { serverId: 'a' });
    (await stage.connector.nextConnect()).succeed(listing('x', 'new'));
    assert.equal(await restarted, 'a: running, 2 of 2 tools published');
    assert.equal(warm.closed, true);
  });

  it('restarts a start that takes long, where nobody has an instance', async () => {
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

  it('starts a server that has failed', async () => {
    const edited = stage.edit(file({ a: 'command: a' }));
    (await stage.connector.nextConnect()).fail(failure);
    await edited;
    const restarted = ask('mcp_restart', { serverId: 'a' });
    (await stage.connector.nextConnect()).succeed(listing('x'));
    assert.equal(await restarted, 'a: running, 1 of 1 tools published');
  });

  it('starts nothing that a person stopped, and says so', async () => {
    await stage.serve('a', 'command: a', 'x');
    await stage.host.stop('a');
    assert.match(await ask('mcp_restart', { serverId: 'a' }), /^Error: A person stopped "a".*Start Server/);
    await ask('mcp_reload');
    assert.equal(stage.connector.connects, 1);
    assert.equal(stage.server('a').state.kind, 'stopped');
  });

  it('says what is missing or unknown as an error the agent can read', async () => {
    await stage.serve('a', 'command: a', 'x');
    assert.match(await ask('mcp_release'), /^Error: The argument "serverId" must be a string/);
    assert.match(await ask('mcp_restart', { serverId: 'zzz' }), /^Error: There is no server "zzz"/);
  });
});

describe('secrets (E4)', () => {
  const stage = hostStage();

  it('do not appear in problems though the server quotes them', async () => {
    const edited = stage.edit(file({ a: 'command: a, env: { T: { env: SECRET } }' }));
    (await stage.connector.nextConnect()).fail({ ...failure, message: 'It said: token hunter2222 is wrong.' });
    await edited;
    await stage.until(({ problems }) => problems.length === 1);
    assert.equal(stage.host.snapshot.problems[0]?.message, '"a" It said: token ••• is wrong.');
  });

  it('do not appear either where a reference takes the place of the same text', async () => {
    await stage.serve('a', "command: a, args: ['--with=hunter2222']", 'x');
    await stage.edit(file({ a: "command: a, args: [{ prefix: '--with=', env: SECRET }]" }));
    const restarted = stage.host.restart('a');
    (await stage.connector.nextConnect()).fail({ ...failure, message: 'It said: hunter2222 is wrong.' });
    await restarted;
    await stage.until(({ problems }) => problems.length === 1);
    assert.equal(stage.host.snapshot.problems[0]?.message, '"a" It said: ••• is wrong.');
  });
});
