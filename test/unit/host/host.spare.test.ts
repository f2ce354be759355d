/** The spare instance of a leased server, over fake servers (P9). */
import assert from 'node:assert/strict';
import { nextEvent } from '../../../src/core/base/events.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { ServerClient } from '../../../src/core/protocol/client.js';
import type { ToolOutcome } from '../../../src/core/protocol/request.js';
import { RememberedConversations } from '../../../src/core/remembered/conversations.js';
import { storedOf } from '../../support/core/hadConversations.js';
import { testCore } from '../../support/core/testCore.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import {
  failure,
  FakeConnector,
  listing,
  textResult,
  type FakeConnection,
} from '../../support/fakes/fakeConnector.js';
import { fakeClient } from '../../support/fakes/fakeClient.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('the spare instance (P9)', () => {
  let host: Host;
  let connector: FakeConnector;
  let clock: FakeClock;
  let stored: Readonly<Record<string, object>> | undefined;
  const counts = (): Record<string, number> =>
    Object.fromEntries(
      Object.entries(stored ?? {}).map(([id, losses]) => [id, Object.keys(losses).length]),
    );

  const begin = (known: Record<string, number>): void => {
    connector = new FakeConnector();
    clock = new FakeClock();
    const conversations = new RememberedConversations({
      stored: storedOf(known),
      store: (losses) => (stored = losses),
      isConversation: (conversation) => !conversation.startsWith('try:'),
    });
    ({ host } = testCore({ clock, connector, conversations, maxInstances: () => 3 }));
  };

  beforeEach(() => begin({ a: 2 }));
  afterEach(async () => {
    await host.dispose();
    assert.equal(connector.live.size, 0, 'a connection was left open');
    assert.equal(clock.pending, 0, 'a timer was left');
  });

  const edit = (rest: string): Promise<void> => {
    const text = `version: 1\nservers: { a: { transport: stdio, ${rest} } }`;
    return host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);
  };
  async function serve(rest = 'command: a'): Promise<FakeConnection> {
    const edited = edit(rest);
    const connection = (await connector.nextConnect()).succeed(listing('x'));
    await edited;
    return connection;
  }
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const call = (conversation: string, client?: ServerClient): Promise<ToolOutcome> =>
    host.call({
      policy: policies.agent,
      toolset: 'a',
      tool: 'x',
      arguments: {},
      conversation,
      ...(client && { client }),
      signal: new AbortController().signal,
    });
  /** Makes the first call of a conversation, and expects it at this instance. */
  async function lease(
    conversation: string,
    connection: FakeConnection,
    client?: ServerClient,
  ): Promise<void> {
    const outcome = call(conversation, client);
    (await connection.nextCall()).answer({ kind: 'result', result: textResult(conversation) });
    assert.equal((await outcome).kind, 'result');
  }
  const uses = (): string[] =>
    (host.snapshot.servers[0]?.instances ?? []).map(({ use }) => use.kind);
  const untilUses = async (...wanted: string[]): Promise<void> => {
    const isSo = (): boolean => uses().join() === wanted.join();
    if (!isSo()) await nextEvent(host.onDidChange, isSo);
  };
  /** Resolves with the start of the spare, which begins after its delay. */
  async function spareStart(): ReturnType<FakeConnector['nextConnect']> {
    clock.advance(100);
    return await connector.nextConnect();
  }
  async function spare(): Promise<FakeConnection> {
    const connection = (await spareStart()).succeed(listing('x'));
    await settle();
    return connection;
  }
  const client = (capabilities: ServerClient['capabilities']): ServerClient =>
    fakeClient({ capabilities });

  it('a spare starts when the warm instance is taken, goes to the next conversation only, and another follows', async () => {
    const warm = await serve();
    clock.advance(1_000);
    assert.equal(connector.connects, 1, 'nobody has taken one');
    await lease('d1', warm);
    assert.equal(connector.connects, 1, 'the first call goes before');
    const second = await spare();
    await untilUses('leased', 'spare');
    await Promise.all([lease('d2', second), lease('d1', warm)]);
    assert.deepEqual(uses(), ['leased', 'leased']);
    const third = await spare();
    await untilUses('leased', 'leased', 'spare');
    await lease('d3', third);
    clock.advance(1_000);
    await settle();
    assert.equal(connector.connects, 3, 'there is no room for another');
  });

  it('a spare follows in a workspace with two conversations, without trials and returning ones', async () => {
    await host.dispose();
    begin({});
    const warm = await serve();
    await lease('try:1', warm);
    await host.release('a', 'try:1');
    for (const conversation of ['d1', 'd1', 'd2']) {
      const outcome = call(conversation);
      const connection = (await connector.nextConnect()).succeed(listing('x'));
      (await connection.nextCall()).answer({ kind: 'result', result: textResult('') });
      await outcome;
      clock.advance(1_000);
      await settle();
      await host.release('a', conversation);
    }
    assert.equal(connector.connects, 4, 'no spare yet');
    assert.deepEqual(counts(), { a: 2 });
    const outcome = call('d3');
    const connection = (await connector.nextConnect()).succeed(listing('x'));
    (await connection.nextCall()).answer({ kind: 'result', result: textResult('') });
    await outcome;
    await spare();
    await untilUses('leased', 'spare');
  });

  it('no spare follows one conversation that goes on after a reload', async () => {
    await host.dispose();
    begin({});
    for (const command of ['a', 'b', 'c']) await lease('d1', await serve(`command: ${command}`));
    clock.advance(1_000);
    await settle();
    assert.deepEqual([connector.connects, counts()], [3, { a: 1 }]);
  });

  it('a spare goes to the conversation that comes during its start, and to no second one', async () => {
    await lease('d1', await serve());
    const starting = await spareStart();
    const [second, third] = [call('d2'), call('d3')];
    const other = await connector.nextConnect();
    await settle();
    assert.equal(connector.connects, 3, 'one start for each conversation');
    const connections = [starting.succeed(listing('x')), other.succeed(listing('x'))];
    for (const connection of connections) {
      (await connection.nextCall()).answer({ kind: 'result', result: textResult('') });
    }
    await Promise.all([second, third]);
    assert.deepEqual(uses(), ['leased', 'leased', 'leased']);
  });

  it('the list of a spare takes no gained tool away until a conversation has the spare', async () => {
    const offered = (): string[] =>
      host.catalogue.toolsets
        .find(({ id }) => id === 'a')
        ?.tools.map(({ published }) => published) ?? [];
    const warm = await serve();
    await lease('d1', warm);
    warm.changeTools(listing('x', 'gained'));
    if (offered().length < 2) await nextEvent(host.onDidPublish, () => offered().length === 2);
    const second = await spare();
    await untilUses('leased', 'spare');
    assert.deepEqual(offered(), ['x', 'gained']);
    await lease('d2', second);
    assert.deepEqual(offered(), ['x'], 'the newest conversation is offered what its instance has');
  });

  it('a failed start of a spare is a problem only if a conversation waits for it', async () => {
    const warm = await serve();
    await lease('d1', warm);
    (await spareStart()).fail(failure);
    await settle();
    assert.deepEqual(host.snapshot.problems, []);
    clock.advance(60_000);
    assert.equal(
      connector.connects,
      2,
      'it is not tried again before another conversation has taken one',
    );
    await host.release('a', 'd1');
    const again = call('d2');
    const cold = (await connector.nextConnect()).succeed(listing('x'));
    (await cold.nextCall()).answer({ kind: 'result', result: textResult('') });
    await again;
    const starting = await spareStart();
    const waiting = call('d3');
    starting.fail(failure);
    assert.match(JSON.stringify(await waiting), /was not called: the server/);
    assert.deepEqual(
      host.snapshot.problems.map(({ code }) => code),
      ['server-exited'],
    );
  });

  it('the death of a spare is reported to no conversation, and it is not brought back', async () => {
    await lease('d1', await serve());
    (await spare()).die('it crashed');
    await untilUses('leased');
    assert.deepEqual(host.snapshot.problems, []);
    clock.advance(60_000);
    assert.equal(connector.connects, 2);
  });

  const others = 'b c d'.split(' ').map((id) => `${id}: { transport: stdio, command: ${id} }`);
  const editBeside = (rest: string, count: number): Promise<void> => {
    const text = `version: 1\nservers: { a: { transport: stdio, ${rest} }, ${others.slice(0, count).join(', ')} }`;
    return host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);
  };

  it('a spare ends by the idle limit, and makes room before the first instance of another server', async () => {
    await lease('d1', await serve('command: a, timeouts: { idle: 10m }'));
    const first = await spare();
    await call2(first);
    const second = await spare();
    await untilUses('leased', 'leased', 'spare');
    const editing = editBeside('command: a, timeouts: { idle: 10m }', 3);
    for (const id of ['b', 'c', 'd']) (await connector.nextConnect()).succeed(listing(`${id}_x`));
    await editing;
    assert.equal(
      second.closed,
      true,
      'the spare made room, though it was idle for the shortest time',
    );
    assert.deepEqual(uses(), ['leased', 'leased']);
    await host.release('a', 'd1');
    const third = call('d4');
    (await (await connector.nextConnect()).succeed(listing('x')).nextCall()).answer({
      kind: 'result',
      result: textResult(''),
    });
    await third;
    assert.deepEqual(uses(), ['leased', 'leased']);
    clock.advance(10 * 60_000 + 100);
    await untilUses();
  });
  const call2 = (connection: FakeConnection): Promise<void> => lease('d2', connection);

  it('a starting spare makes room at once, and another follows', async () => {
    const warm = await serve();
    const first = lease('d1', warm);
    const starting = await spareStart();
    await first;
    const editing = editBeside('command: a', 3);
    const made = [];
    for (const id of ['b', 'c', 'd'])
      made.push((await connector.nextConnect()).succeed(listing(`${id}_x`)));
    await editing;
    assert.deepEqual([starting.request.signal.aborted, warm.closed], [true, false]);
    await editBeside('command: a', 1);
    const second = call('d2');
    (await (await connector.nextConnect()).succeed(listing('x')).nextCall()).answer({
      kind: 'result',
      result: textResult(''),
    });
    assert.equal((await second).kind, 'result');
    await spare();
    await untilUses('leased', 'leased', 'spare');
    assert.deepEqual(
      made.map(({ closed }) => closed),
      [false, true, true],
    );
  });

  it('a spare ends when it is switched off, when its launch changes and when its server stops, also during its start', async () => {
    await lease('d1', await serve());
    const first = await spare();
    await edit('command: a, spare: 0');
    await untilUses('leased');
    assert.equal(first.closed, true);
    await host.release('a', 'd1');
    await edit('command: a');
    const outcome = call('d2');
    const cold = (await connector.nextConnect()).succeed(listing('x'));
    (await cold.nextCall()).answer({ kind: 'result', result: textResult('') });
    await outcome;
    const starting = await spareStart();
    const edited = edit('command: b');
    assert.equal(
      starting.request.signal.aborted,
      false,
      'what serves goes on until the new one has listed',
    );
    const next = (await connector.nextConnect()).succeed(listing('x'));
    await edited;
    assert.equal(starting.request.signal.aborted, true);
    await lease('d3', next);
    const last = await spare();
    await host.stop('a');
    assert.equal(last.closed, true);
  });

  it('a spare is only for a client like the last one', async () => {
    const asks = client({ elicitation: {} });
    const warm = await serve();
    const outcome = call('d1', asks);
    const own = (await connector.nextConnect()).succeed(listing('x'));
    (await own.nextCall()).answer({ kind: 'result', result: textResult('') });
    await outcome;
    const starting = await spareStart();
    assert.deepEqual(starting.request.capabilities, asks.capabilities);
    const ready = starting.succeed(listing('x'));
    await settle();
    await lease('d2', warm);
    await lease('d3', ready, client({ elicitation: {} }));
  });
});
