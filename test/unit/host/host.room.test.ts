/**
 * A new instance serves its waiting callers before it makes room, and an ending one serves no
 * caller (L2, R4).
 */
import assert from 'node:assert/strict';
import type { ToolListing } from '../../../src/core/connections/connection.js';
import { FakeConnector, type FakeConnection, listing } from '../../support/fakes/fakeConnector.js';
import { FakeClock, rest } from '../../support/fakes/fakeClock.js';
import { testCore } from '../../support/core/testCore.js';
import { answer, answered, file, hostStage } from './stage.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

/** The process goes on after the request to end, until the returned function is called. */
function endingSlowly(connection: FakeConnection): () => void {
  let processEnds = (): void => {};
  const ended = new Promise<void>((resolve) => (processEnds = resolve));
  const close = connection.close.bind(connection);
  connection.close = () => ended.then(close);
  return processEnds;
}

describe('a new instance (L2)', () => {
  const stage = hostStage();

  it('a new instance takes the waiting call of a remembered tool before it makes room (P8)', async () => {
    const connector = new FakeConnector();
    const said = {
      serverInfo: { name: 'f', version: '1' },
      capabilities: {},
      protocolVersion: '2025-11-25',
    };
    const kept = {
      recall: () => ({
        at: 1,
        declared: '{}',
        listing: listing('x'),
        instructions: undefined,
        ...said,
      }),
      remember: () => undefined,
      forget: () => undefined,
    };
    const { host } = testCore({ clock: new FakeClock(), connector, kept, maxInstances: () => 1 });
    const entry = (id: string): string =>
      `command: ${id}, truely-stateless: true, start: call, transform: [{ prefix: ${id}_ }]`;
    const text = file({ a: entry('a'), b: entry('b') });
    await host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);
    const { signal } = new AbortController();
    const [first, second] = ['a', 'b'].map((toolset) =>
      host.call({
        policy: policies.agent,
        toolset,
        tool: `${toolset}_x`,
        arguments: {},
        conversation: 'd1',
        signal,
      }),
    );
    for (const [outcome, text] of [
      [first, '1'],
      [second, '2'],
    ] as const) {
      await answer((await connector.nextConnect()).succeed(listing('x')), text);
      assert.deepEqual(await outcome, answered(text));
    }
    assert.equal(connector.connects, 2);
    await host.dispose();
  });

  it('a new instance takes its waiting call, and a call that waits for room fails when no start is left', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x', 'd1');
    const others = ['d2', 'd3', 'd4', 'd5'].map((conversation) =>
      stage.call('a', 'x', conversation),
    );
    const [second, third] = [
      await stage.connector.nextConnect(),
      await stage.connector.nextConnect(),
    ];
    await rest();
    assert.equal(stage.connector.connects, 3, 'two wait for room');
    await answer(warm, '1');
    await first;
    const made = [second.succeed(listing('x')), third.succeed(listing('x'))];
    await answer(made[0]!, '2');
    await answer(made[1]!, '3');
    const texts = (await Promise.all(others)).map((outcome) => JSON.stringify(outcome));
    for (const text of ['2', '3'])
      assert.ok(texts.includes(JSON.stringify(answered(text, { kind: 'new' }))), texts.join('\n'));
    assert.equal(texts.filter((text) => text.includes('limit of 3 instances')).length, 2);
    assert.deepEqual(
      [warm, ...made].map(({ closed }) => closed),
      [false, false, false],
    );
  });

  it('a new instance takes its waiting call even if its definition is replaced at that moment (R4)', async () => {
    for (const isReplacedFirst of [true, false]) {
      const warm = await stage.serve('a', `command: a${isReplacedFirst}`, 'x');
      const kept = stage.call('a', 'x', 'd1');
      const waiting = stage.call('a', 'x', 'd2');
      const starting = await stage.connector.nextConnect();
      const edited = stage.edit(file({ a: `command: b${isReplacedFirst}` }));
      const next = await stage.connector.nextConnect();
      if (isReplacedFirst) next.succeed(listing('x'));
      const made = starting.succeed(listing('x'));
      if (!isReplacedFirst) next.succeed(listing('x'));
      await edited;
      void answer(made, '2');
      // The second time, the conversation had the replaced instance.
      const cause = 'its definition was changed';
      assert.deepEqual(
        await waiting,
        answered('2', isReplacedFirst ? { kind: 'new' } : { kind: 'replaced', cause }),
      );
      await answer(warm, '1');
      await kept;
      await rest();
      assert.deepEqual([warm.closed, made.closed], [true, true]);
    }
  });

  it('a new instance makes room when its callers have given up', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const busy = stage.call('a', 'x', 'd1');
    const gaveUp = new AbortController();
    const cancelled = stage.call('a', 'x', 'd2', gaveUp.signal);
    const lasting = stage.call('a', 'x', 'd3');
    const [second, third] = [
      await stage.connector.nextConnect(),
      await stage.connector.nextConnect(),
    ];
    gaveUp.abort();
    assert.equal((await cancelled).kind, 'cancelled');
    const left = second.succeed(listing('x'));
    await rest();
    stage.clock.advance(5 * 60_000 + 1);
    const waiting = stage.call('a', 'x', 'd4');
    await answer((await stage.connector.nextConnect()).succeed(listing('x')), '4');
    assert.equal(left.closed, true);
    await waiting;
    await answer(third.succeed(listing('x')), '3');
    await answer(warm, '1');
    await Promise.all([busy, lasting]);
  });
});

describe('an instance that is ending', () => {
  const stage = hostStage();

  it('an ending instance leaves its room to the next, so that no conversation loses a lease (L2, X4)', async () => {
    const connections = [await stage.serve('a', 'command: a', 'x')];
    const calls = ['d1', 'd2', 'd3'].map((conversation) => stage.call('a', 'x', conversation));
    for (let count = 0; count < 2; count++)
      connections.push((await stage.connector.nextConnect()).succeed(listing('x')));
    for (const connection of connections) await answer(connection, '1');
    await Promise.all(calls);
    const [first, second, third] = connections;
    const processEnds = endingSlowly(third!);
    third!.die('it crashed');
    const again = stage.call('a', 'x', 'd3');
    await rest();
    assert.deepEqual([first!.closed, second!.closed, stage.connector.connects], [false, false, 3]);
    processEnds();
    await answer((await stage.connector.nextConnect()).succeed(listing('x')), '2');
    assert.match(JSON.stringify(await again), /"replaced","cause":"it crashed"/);
    assert.deepEqual([first!.closed, second!.closed], [false, false]);
  });

  it('an ending instance is asked for no page of an app, and no other is started for it (G8)', async () => {
    const withApp = (name: string): ToolListing['tools'][number] => ({
      name,
      inputSchema: { type: 'object' },
      _meta: { ui: { resourceUri: `ui://${name}` } },
    });
    const edited = stage.edit(file({ a: 'command: a' }));
    const warm = (await stage.connector.nextConnect()).succeed({
      tools: [withApp('x'), withApp('y')],
      malformed: [],
    });
    let answerPage = (): void => {};
    warm.request = (request) => {
      warm.requests.push(request);
      return new Promise(
        (resolve) => (answerPage = () => resolve({ kind: 'result', result: { contents: [] } })),
      );
    };
    await edited;
    const call = stage.call('a', 'x');
    await answer(warm, '1');
    await call;
    const processEnds = endingSlowly(warm);
    const released = stage.host.release('a', 'd1');
    answerPage();
    await rest();
    assert.deepEqual(
      warm.requests.map(({ params }) => params['uri']),
      ['ui://x'],
    );
    assert.equal(stage.connector.connects, 1);
    processEnds();
    await released;
  });
});
