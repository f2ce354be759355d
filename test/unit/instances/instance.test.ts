/** Who is told of a resource, whichever instance and session there is (G4). */
import assert from 'node:assert/strict';
import { Instance } from '../../../src/core/instances/instance.js';
import type { ServerClient } from '../../../src/core/protocol/client.js';
import { Subscriptions } from '../../../src/core/instances/subscriptions.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeConnection, listing } from '../../support/fakes/fakeConnector.js';

class Client implements ServerClient {
  waitsSince: number | undefined;
  readonly session = {};
  readonly capabilities = {};
  logLevel: ServerClient['logLevel'];
  readonly told: unknown[] = [];
  isGone = false;
  ask(): Promise<never> {
    return Promise.reject(new Error('is asked nothing'));
  }
  tell(method: string, params: object): void {
    this.told.push([method, params]);
  }
  /** What it was told, once. */
  take(): unknown[] {
    return this.told.splice(0);
  }
}

const updated = (uri: string): unknown => ['notifications/resources/updated', { uri }];

describe('subscriptions of an instance', () => {
  const clock = new FakeClock();
  let idle = 0;

  function instance(capable = true): { instance: Instance; connection: FakeConnection; sent: () => unknown[] } {
    const connection = new FakeConnection({} as never, listing(), () => {});
    if (capable) connection.capabilities = { resources: { subscribe: true } };
    const made = new Instance({
      id: 's#1',
      connection,
      clock,
      idleLimit: () => 1000,
      onIdle: () => (idle += 1),
      onDeath: () => {},
      onOfferChanged: () => {},
      onRest: () => {},
      declared: {},
    });
    const sent = (): unknown[] => connection.requests.splice(0).map(({ method, params }) => [method, params]);
    return { instance: made, connection, sent };
  }

  const subscribe = (to: Instance, client: ServerClient, uri: string): Promise<unknown> =>
    to.request({
      method: 'resources/subscribe',
      params: { uri },
      meta: undefined,
      timeouts: { call: 1, callMax: 1 },
      signal: new AbortController().signal,
      onProgress: () => {},
      client,
    });

  it('are made anew in a new session of its server, and who subscribed reads again', async () => {
    const { instance: leased, connection, sent } = instance();
    const [one, gone] = [new Client(), new Client()];
    leased.use = { kind: 'leased', conversation: 'd', since: 0 };
    await subscribe(leased, one, 'a:1');
    await subscribe(leased, gone, 'a:2');
    sent();
    gone.isGone = true;
    connection.renewSession();
    assert.deepEqual(sent(), [['resources/subscribe', { uri: 'a:1' }]]);
    assert.deepEqual([one.take(), gone.take()], [[updated('a:1')], []]);
    assert.equal(leased.news?.kind, 'replaced');
    connection.updateResource('a:1');
    assert.deepEqual(one.take(), [updated('a:1')]);
    await leased.end('the test is over');
  });

  it('and the level of its logs are made anew in a new session of its server', async () => {
    const { instance: leased, connection, sent } = instance();
    connection.capabilities = { logging: {} };
    const one = new Client();
    one.logLevel = 'debug';
    leased.use = { kind: 'leased', conversation: 'd', since: 0 };
    await subscribe(leased, one, 'a:1');
    sent();
    connection.renewSession();
    assert.deepEqual(sent(), [['logging/setLevel', { level: 'debug' }]]);
    await leased.end('the test is over');
  });

  it('keep a shared instance, as long as somebody waits for updates', async () => {
    idle = 0;
    const { instance: shared } = instance();
    shared.share(new Subscriptions());
    const client = new Client();
    await subscribe(shared, client, 'a:1');
    clock.advance(3000);
    assert.equal(idle, 0);
    client.isGone = true;
    clock.advance(1000);
    assert.equal(idle, 1);
    await shared.end('the test is over');
  });

  it('go from one shared instance to the next; the one that drains tells nobody', async () => {
    const shared = new Subscriptions();
    const [first, second, poor] = [instance(), instance(), instance(false)];
    first.instance.share(shared);
    assert.deepEqual(first.sent(), []);
    const client = new Client();
    await subscribe(first.instance, client, 'a:1');
    second.instance.share(shared);
    const drained = first.instance.drain(1000, 'it was replaced');
    assert.deepEqual(second.sent(), [['resources/subscribe', { uri: 'a:1' }]]);
    assert.deepEqual(client.take(), [updated('a:1')]);
    first.connection.updateResource('a:1');
    assert.deepEqual(client.take(), []);
    second.connection.updateResource('a:1');
    assert.deepEqual(client.take(), [updated('a:1')]);
    // One that has no subscriptions is asked for none, and the next one is.
    poor.instance.share(shared);
    assert.deepEqual([poor.sent(), client.take()], [[], []]);
    await drained;
    await Promise.all([second.instance.end('over'), poor.instance.end('over')]);
  });
});

describe('what waits for clients on an instance (L2, G4)', () => {
  const clock = new FakeClock();

  function leased(): { instance: Instance; connection: FakeConnection; call: (by?: Client) => Promise<unknown> } {
    const connection = new FakeConnection({} as never, listing(), () => {});
    const ignore = (): void => {};
    const deps = { id: 's#1', connection, clock, declared: {}, idleLimit: () => 1000 };
    const made = new Instance({ ...deps, onIdle: ignore, onDeath: ignore, onOfferChanged: ignore, onRest: ignore });
    const { signal } = new AbortController();
    const timeouts = { call: 1, callMax: 1 };
    const call = (client?: Client): Promise<unknown> =>
      made.call({ tool: 'x', arguments: {}, timeouts, signal, client });
    return { instance: made, connection, call };
  }

  it('makes room only when all that is in flight waits, since the last of it does', async () => {
    const { instance, connection, call } = leased();
    const [one, two] = [new Client(), new Client()];
    assert.equal(instance.waitsSince, undefined, 'it is idle');
    const calls = [call(one), call(two)];
    one.waitsSince = 10;
    assert.equal(instance.waitsSince, undefined, 'one works');
    two.waitsSince = 20;
    assert.deepEqual([instance.waitsSince, instance.callsInFlight, instance.idleSince], [20, 2, undefined]);
    const begun = call(one);
    const result = { resultType: 'task', taskId: 'a task', content: [] };
    connection.calls.pop()?.answer({ kind: 'result', result });
    await begun;
    assert.equal(instance.callsInFlight, 2);
    assert.equal(instance.waitsSince, undefined, 'a task runs');
    instance.letGo('a task');
    calls.push(call());
    assert.equal(instance.waitsSince, undefined, 'nobody can be asked by this one');
    for (let open = 0; open < 3; open++)
      (await connection.nextCall()).answer({ kind: 'result', result: { content: [] } });
    await Promise.all(calls);
    assert.equal(instance.waitsSince, undefined);
    const last = call(one);
    assert.equal(instance.waitsSince, 10);
    await instance.end('the test is over');
    assert.equal(instance.waitsSince, undefined);
    await last;
  });
});
