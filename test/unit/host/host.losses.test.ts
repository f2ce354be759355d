/** A conversation learns with its next call why it lost its instance (X4). */
import assert from 'node:assert/strict';
import { leaseNote } from '../../../src/core/catalogue/leaseNotes.js';
import { RememberedConversations } from '../../../src/core/remembered/conversations.js';
import { testCore } from '../../support/core/testCore.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { fakeClient } from '../../support/fakes/fakeClient.js';
import { FakeConnector, listing, textResult } from '../../support/fakes/fakeConnector.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

const fiveMinutes = 5 * 60_000 + 1;

describe('the loss of an instance (X4)', () => {
  let core: ReturnType<typeof testCore>;
  let connector: FakeConnector;
  let clock: FakeClock;
  let stored: unknown;

  function begin(most = 2): void {
    connector = new FakeConnector();
    clock = new FakeClock();
    const conversations = new RememberedConversations({
      stored,
      store: (losses) => (stored = losses),
      isConversation: () => true,
    });
    core = testCore({ clock, connector, conversations, maxInstances: () => most });
  }
  beforeEach(() => {
    stored = undefined;
    begin();
  });
  afterEach(async () => {
    await core.host.dispose();
    assert.equal(connector.live.size, 0, 'a connection was left open');
  });

  const edit = (servers: string): Promise<void> =>
    core.host.setSources([
      { file: '/ws/.minds/mcp.yaml', folder: '/ws', text: `version: 1\nservers: { ${servers} }` },
    ]);
  const entry = (command = 'a', rest = ''): string =>
    `a: { transport: stdio, command: ${command}${rest} }`;
  async function serve(servers = entry()): Promise<void> {
    const edited = edit(servers);
    (await connector.nextConnect()).succeed(listing('x'));
    await edited;
  }
  /** Returns the news of a call. It starts an instance if none is live. */
  async function call(toolset = 'a', tool = 'x'): Promise<unknown> {
    const living = [...connector.live].find(
      (one) => !one.closed && one.connectRequest.server === toolset,
    );
    const { signal } = new AbortController();
    const outcome = core.host.call({
      policy: policies.agent,
      toolset,
      tool,
      arguments: {},
      conversation: 'd1',
      signal,
    });
    const connection = living ?? (await connector.nextConnect()).succeed(listing(tool));
    (await connection.nextCall()).answer({ kind: 'result', result: textResult('') });
    const result = await outcome;
    return result.kind === 'result' ? result.news : result;
  }
  const admin = (tool: string): Promise<unknown> =>
    core.host.call({
      policy: policies.agent,
      toolset: 'mcp_admin',
      tool,
      arguments: { serverId: 'a' },
      conversation: 'd1',
      signal: new AbortController().signal,
    });

  const losses: readonly (readonly [how: string, cause: string, lose: () => unknown])[] = [
    ['a person releases it', 'a person ended it', () => core.host.release('a', 'd1')],
    ['its agent releases it', 'this conversation ended it', () => admin('mcp_release')],
    ['its agent restarts it', 'this conversation ended it', () => admin('mcp_restart')],
    [
      'the idle limit passes',
      'nobody used it for longer than its idle limit',
      () => clock.advance(15 * 60_000),
    ],
    ['its definition changes', 'its definition was changed', () => serve(entry('b'))],
    [
      'its entry is removed and written again',
      'it was removed or disabled',
      () => edit('').then(() => serve()),
    ],
    [
      'a person restarts the server',
      'a person restarted it',
      async () => {
        const restarted = core.host.restart('a');
        (await connector.nextConnect()).succeed(listing('x'));
        await restarted;
      },
    ],
    [
      'a person stops the server and starts it again',
      'a person stopped it',
      async () => {
        await core.host.stop('a');
        const started = core.host.start('a');
        (await connector.nextConnect()).succeed(listing('x'));
        await started;
      },
    ],
    [
      'the window reloads',
      'MCP Toolsets was shut down',
      async () => {
        await core.host.dispose();
        begin();
        await serve();
      },
    ],
    [
      'the window is killed',
      'MCP Toolsets was started again',
      async () => {
        const atThatMoment = stored;
        await core.host.dispose();
        stored = atThatMoment;
        begin();
        await serve();
      },
    ],
    [
      'its session ends',
      'the session of its conversation has ended',
      () => core.host.noteClient(fakeClient({ conversation: 'd1' }), 'gone'),
    ],
  ];
  for (const [how, cause, lose] of losses) {
    it(`the next call says why the instance is gone when ${how}`, async () => {
      await serve();
      assert.deepEqual(await call(), { kind: 'new' });
      assert.equal(await call(), undefined);
      await lose();
      assert.deepEqual(await call(), { kind: 'replaced', cause });
      assert.equal(await call(), undefined);
    });
  }

  it('the next call says why the instance is gone when all conversations share one from now on', async () => {
    await serve();
    await call();
    await serve(entry('a', ', truely-stateless: true'));
    const news = { kind: 'shared', cause: 'its definition was changed' } as const;
    assert.deepEqual(await call(), news);
    assert.match(
      leaseNote('a', news, 'Release it.'),
      /is gone \(its .*\) .* is from one that all conversations share\.$/,
    );
    assert.equal(await call(), undefined);
    await core.host.dispose();
    begin();
    await serve(entry('a', ', truely-stateless: true'));
    assert.equal(await call(), undefined, 'it had no instance when the window closed');
  });

  it('the next call says that another instance needed the room', async () => {
    await core.host.dispose();
    begin(1);
    const edited = edit(`${entry()}, ${entry('b').replace('a:', 'b:')}`);
    (await connector.nextConnect()).succeed(listing('x'));
    (await connector.nextConnect()).succeed(listing('y'));
    await edited;
    await call('a', 'x');
    clock.advance(fiveMinutes);
    await call('b', 'y');
    clock.advance(fiveMinutes);
    assert.match(
      JSON.stringify(await call('a', 'x')),
      /"replaced".*another instance needed the room/,
    );
    const [problem] = core.host.snapshot.problems;
    assert.equal(problem?.code, 'instances-evicted');
    assert.match(problem.fix, /`maxInstances: 2` at the head/);
    assert.deepEqual(problem.place.range.start, { line: 0, character: 0 });
  });

  it('a call on a server that a person stops is not promised a new instance', async () => {
    await serve();
    const { signal } = new AbortController();
    const outcome = core.host.call({
      policy: policies.agent,
      toolset: 'a',
      tool: 'x',
      arguments: {},
      conversation: 'd1',
      signal,
    });
    const [connection] = connector.live;
    await connection?.nextCall();
    await core.host.stop('a');
    const text = JSON.stringify(await outcome);
    assert.match(text, /result unknown.*a person stopped it/);
    assert.doesNotMatch(text, /starts a new instance/);
  });
});
