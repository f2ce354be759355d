import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { Listening } from '../../../../src/core/connections/eras/listening.js';
import { TransportFailure } from '../../../../src/core/failures/transportFailure.js';
import { Peer, type ServerTransport } from '../../../../src/core/peer/peer.js';
import { metaKeys } from '../../../../src/core/protocol/versions.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { silentLog } from '../../../support/fakes/silentLog.js';

const kind = 'resourceSubscriptions';

interface Asked {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

describe('a subscription to a server of the modern era (X8d)', () => {
  let clock: FakeClock;
  let transport: ServerTransport;
  let sent: Asked[];
  let reported: unknown[];
  let listening: Listening;

  beforeEach(() => {
    clock = new FakeClock();
    sent = [];
    reported = [];
    transport = {
      causeOfEnd: '',
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: (message) => Promise.resolve(void sent.push(message)),
    };
  });

  afterEach(() => listening.dispose());

  function listen(hasStreams: boolean): void {
    const nothing = { answer: () => Promise.resolve(undefined), hear: () => {}, ended: () => {} };
    listening = new Listening({
      clock,
      log: silentLog,
      peer: new Peer({ transport, clock, log: silentLog }, nothing),
      meta: {},
      hasStreams,
      capabilities: { tools: { listChanged: true }, prompts: {} },
      report: (notification) => reported.push(notification),
      onRefused: () => {},
    });
  }

  const hears = (method: string, id: unknown, params: object = {}): boolean =>
    listening.hears({
      jsonrpc: '2.0',
      method,
      params: { _meta: { [metaKeys.subscriptionId]: id }, ...params },
    });
  const isPassedOn = (id: unknown): boolean => !hears('notifications/resources/updated', id);

  /** Acknowledges the last request, for these resources or all it names. Returns its id. */
  async function agree(...resources: string[]): Promise<unknown> {
    await rest();
    const asked = sent.at(-1);
    assert.equal(asked?.method, 'subscriptions/listen');
    const wanted = asked.params?.['notifications'] as object;
    const notifications = resources.length > 0 ? { [kind]: resources } : wanted;
    hears('notifications/subscriptions/acknowledged', asked.id, { notifications });
    return asked.id;
  }

  /** Watches another resource, which the server agrees to. Returns the id of the request for it. */
  async function begun(item: string): Promise<unknown> {
    const added = listening.add(kind, item);
    const id = await agree();
    assert.deepEqual(await added, {});
    return id;
  }

  const says = (message: object): void =>
    transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  const lastId = (): unknown => sent.at(-1)?.id;
  const wanted = (): unknown =>
    sent.findLast(({ method }) => method === 'subscriptions/listen')?.params?.['notifications'];
  const cancelled = (): unknown[] =>
    sent.flatMap(({ method, params }) =>
      method === 'notifications/cancelled' ? [params?.['requestId']] : [],
    );

  it('one subscription names the lists that change and every watched resource and task', async () => {
    listen(false);
    const started = listening.start();
    await agree();
    await started;
    assert.deepEqual(wanted(), { toolsListChanged: true });
    await begun('a:1');
    const added = listening.add('taskIds', 't');
    await agree();
    await added;
    assert.deepEqual(wanted(), {
      toolsListChanged: true,
      resourceSubscriptions: ['a:1'],
      taskIds: ['t'],
    });
    listening.remove(kind, 'a:1');
    await agree();
    assert.deepEqual(wanted(), { toolsListChanged: true, taskIds: ['t'] });
  });

  it('watched items are requested once, and every caller gets the answer', async () => {
    listen(false);
    const both = Promise.all([listening.add(kind, 'a:1'), listening.add(kind, 'a:1')]);
    await agree('a:1');
    assert.deepEqual(await both, [{}, {}]);
    assert.equal(sent.length, 1);
  });

  it('items are not watched if the server does not report them, and may be requested again', async () => {
    listen(false);
    const both = Promise.allSettled([listening.add(kind, 'a:1'), listening.add(kind, 'a:1')]);
    await agree('a:2');
    assert.deepEqual(
      (await both).map(
        (one) => one.status === 'rejected' && (one.reason as { code: unknown }).code,
      ),
      [-32602, -32602],
    );
    await agree();
    assert.deepEqual(wanted(), { toolsListChanged: true });
    const again = listening.add(kind, 'a:1');
    await agree('a:1');
    assert.deepEqual(await again, {});
  });

  it('a refused item leaves the earlier subscription as it was', async () => {
    listen(true);
    const first = await begun('a:1');
    const added = assert.rejects(listening.add(kind, 'a:2'), /no/);
    await rest();
    says({ id: lastId(), error: { code: -32000, message: 'no' } });
    await added;
    assert.deepEqual([isPassedOn(first), cancelled(), clock.pending], [true, [], 0]);
  });

  it('a refused item does not cost the item that waits behind it', async () => {
    listen(true);
    const refused = assert.rejects(listening.add(kind, 'a:1'), /no/);
    await rest();
    const added = listening.add(kind, 'a:2');
    says({ id: lastId(), error: { code: -32602, message: 'no' } });
    await refused;
    await agree();
    assert.deepEqual([await added, wanted()], [{}, { toolsListChanged: true, [kind]: ['a:2'] }]);
  });

  it('a server that refuses one kind of items after its restart still reports the others', async () => {
    listen(true);
    await begun('a:1');
    const added = listening.add('taskIds', 't');
    const id = await agree();
    await added;
    says({ id, result: {} });
    await clock.flow(1_000);
    says({ id: lastId(), error: { code: -32602, message: 'no such task' } });
    await clock.flow(2_000);
    await agree();
    await rest();
    assert.deepEqual(wanted(), { toolsListChanged: true, [kind]: ['a:1'] });
    assert.deepEqual(
      reported.map((one) => (one as Asked).params),
      [{}, { uri: 'a:1' }],
    );
  });

  it('lists that the server refuses are not named beside an item', async () => {
    listen(true);
    const started = listening.start();
    await rest();
    says({ id: lastId(), error: { code: -32602, message: 'no' } });
    await started;
    await begun('a:1');
    assert.deepEqual(wanted(), { [kind]: ['a:1'] });
  });

  it('a subscription ends as soon as its successor has begun if both share one stream', async () => {
    listen(false);
    const [first, second] = [await begun('a:1'), await begun('a:2')];
    assert.deepEqual(cancelled(), [first]);
    assert.deepEqual([isPassedOn(first), isPassedOn(second)], [false, true]);
    assert.equal(clock.pending, 0);
  });

  it('a subscription and its successor are both read for a while if each has a stream', async () => {
    listen(true);
    const [first, second] = [await begun('a:1'), await begun('a:2')];
    assert.deepEqual(cancelled(), []);
    assert.deepEqual([isPassedOn(first), isPassedOn(second)], [true, true]);
    await clock.flow(1_000);
    assert.deepEqual(cancelled(), [first]);
    assert.deepEqual([isPassedOn(first), isPassedOn(second)], [false, true]);
  });

  it('a subscription leaves at most one earlier one open', async () => {
    listen(true);
    const [first, second, third] = [await begun('a:1'), await begun('a:2'), await begun('a:3')];
    assert.deepEqual(cancelled(), [first]);
    assert.deepEqual([first, second, third].map(isPassedOn), [false, true, true]);
    await clock.flow(1_000);
    assert.deepEqual(cancelled(), [first, second]);
  });

  for (const [what, data] of [
    [
      'failed too',
      new TransportFailure({ kind: 'broken', detail: 'gone', url: 'http://server.test/mcp' }),
    ],
    ['was refused', undefined],
  ] as const) {
    it(`a subscription begins again if it ended during the request for its successor, which ${what}`, async () => {
      listen(true);
      const first = await begun('a:1');
      const added = assert.rejects(listening.add(kind, 'a:2'), /no/);
      await rest();
      says({ id: first, result: {} });
      says({ id: lastId(), error: { code: -32000, message: 'no', data } });
      await added;
      const before = sent.length;
      await clock.flow(1_000);
      assert.equal(sent.length, before + 1);
      await agree();
      await rest();
      assert.deepEqual(
        reported.map((one) => (one as Asked).params),
        [{}, { uri: 'a:1' }],
      );
      assert.deepEqual([isPassedOn(first), isPassedOn(lastId())], [false, true]);
    });
  }

  it('a subscription sets no timer after the end of the connection', async () => {
    listen(true);
    await begun('a:1');
    await begun('a:2');
    listening.dispose();
    await rest();
    assert.equal(clock.pending, 0);
  });
});
