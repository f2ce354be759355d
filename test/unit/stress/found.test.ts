/** The finds of the random edits, each in its few steps. */
import assert from 'node:assert/strict';
import { adminId } from '../../../src/core/catalogue/admin.js';
import { testCore } from '../../support/core/testCore.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { ToolOutcome } from '../../../src/core/protocol/request.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { failure, FakeConnector, listing, textResult } from '../../support/fakes/fakeConnector.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('found by random edits', () => {
  let host: Host;
  let connector: FakeConnector;
  let clock: FakeClock;

  beforeEach(() => {
    connector = new FakeConnector();
    clock = new FakeClock();
    ({ host } = testCore({ clock, connector, filteredTools: () => 'off' }));
  });

  afterEach(async () => {
    await host.dispose();
    assert.equal(connector.live.size, 0);
    assert.equal(clock.pending, 0);
  });

  const edit = (servers: object): Promise<void> =>
    host.setSources([
      { file: '/ws/mcp.yaml', folder: '/ws', text: JSON.stringify({ version: 1, servers }) },
    ]);
  const server = (command: string, rest: object = {}): object => ({
    transport: 'stdio',
    command,
    ...rest,
  });
  const call = (toolset: string, tool: string, conversation = 'd1'): Promise<ToolOutcome> =>
    host.call({
      policy: policies.agent,
      toolset,
      tool,
      arguments: {},
      conversation,
      signal: new AbortController().signal,
    });
  const codes = (): string[] => host.snapshot.problems.map(({ code }) => code);
  const published = (): string[] =>
    host.catalogue.toolsets
      .filter(({ id }) => id !== adminId)
      .flatMap(({ id, tools }) => tools.map((tool) => `${id}/${tool.published}`));
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('the failure of a new definition is shown until it works, whatever happens to the previous one', async () => {
    const first = edit({ a: server('one') });
    const old = (await connector.nextConnect()).succeed(listing('x'));
    await first;
    const second = edit({ a: server('two') });
    (await connector.nextConnect()).fail(failure);
    await second;
    old.die('it was killed');
    await turn();
    assert.deepEqual(codes().sort(), ['connection-lost', 'server-exited']);
    assert.equal(host.snapshot.servers[0]?.previous?.reason, 'Its new definition exited.');
    const running = call('a', 'x');
    const again = (await connector.nextConnect()).succeed(listing('x'));
    (await again.nextCall()).answer({ kind: 'result', result: textResult('1') });
    await running;
    await turn();
    assert.deepEqual(codes(), ['server-exited']);
  });

  it('an idle instance of a replaced definition ends although a call still waits for another', async () => {
    const first = edit({ a: server('one') });
    const warm = (await connector.nextConnect()).succeed(listing('x'));
    await first;
    const held = call('a', 'x', 'd1');
    (await warm.nextCall()).answer({ kind: 'result', result: textResult('1') });
    await held;
    const waiting = call('a', 'x', 'd2');
    const starting = await connector.nextConnect();
    await edit({});
    await turn();
    assert.equal(warm.closed, true);
    const late = starting.succeed(listing('x'));
    (await late.nextCall()).answer({ kind: 'result', result: textResult('2') });
    assert.equal((await waiting).kind, 'result');
  });

  it('a person’s restart of a wrong entry does not wait for the start of others', async () => {
    void edit({ a: server('slow'), b: server('') });
    const slow = await connector.nextConnect();
    let restarted = false;
    const restart = host.restart('b').then(() => (restarted = true));
    await turn();
    assert.equal(restarted, true);
    slow.succeed(listing('x'));
    await restart;
  });

  it('a call between the end of a connection and its report is not lost', async () => {
    const first = edit({ a: server('one') });
    const warm = (await connector.nextConnect()).succeed(listing('x'));
    await first;
    Object.defineProperty(warm, 'isOver', { value: true });
    const running = call('a', 'x');
    await turn();
    warm.die('it was killed');
    const again = (await connector.nextConnect()).succeed(listing('x'));
    (await again.nextCall()).answer({ kind: 'result', result: textResult('1') });
    assert.deepEqual([(await running).kind, warm.calls.length], ['result', 0]);
  });

  it('a refused list is taken with the edit that makes its names unique', async () => {
    const shortened = { transform: [{ prefix: { remove: 'x_', add: '' } }] };
    const first = edit({ a: server('one', shortened) });
    const warm = (await connector.nextConnect()).succeed(listing('t'));
    await first;
    warm.changeTools(listing('t', 'x_t'));
    await turn();
    assert.deepEqual([codes(), published()], [['refresh-failed'], ['a/t']]);
    await edit({ a: server('one') });
    await turn();
    assert.deepEqual([codes(), published()], [[], ['a/t', 'a/x_t']]);
  });
});
