/** The subscriptions of sessions over several instances and sessions of a server (G4). */
import assert from 'node:assert/strict';
import { Instance } from '../../../src/core/instances/instance.js';
import {
  gone as over,
  known,
  present,
  type ClientState,
  type ServerClient,
} from '../../../src/core/protocol/client.js';
import { Subscriptions } from '../../../src/core/instances/serverConversations.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeConnection, listing } from '../../support/fakes/fakeConnector.js';

class Client implements ServerClient {
  readonly session = {};
  readonly program = '';
  readonly capabilities = {};
  logLevel: ServerClient['logLevel'];
  readonly conversation = undefined;
  readonly listedFor = undefined;
  readonly past = known;
  state: ClientState = present;
  readonly told: unknown[] = [];
  ask(): Promise<never> {
    return Promise.reject(new Error('is asked nothing'));
  }
  tell(method: string, params: object): void {
    this.told.push([method, params]);
  }
  end(): void {}
  /** Returns the new notifications. */
  take(): unknown[] {
    return this.told.splice(0);
  }
}

const updated = (uri: string): unknown => ['notifications/resources/updated', { uri }];

function share(instance: Instance, subscriptions: Subscriptions): void {
  instance.use = { kind: 'shared' };
  instance.follow(subscriptions);
}

describe('subscriptions of an instance', () => {
  const clock = new FakeClock();
  const ended: string[] = [];

  function instance(capable = true): {
    instance: Instance;
    connection: FakeConnection;
    sent: () => unknown[];
  } {
    const connection = new FakeConnection({} as never, listing(), () => {});
    if (capable) connection.capabilities = { resources: { subscribe: true } };
    const made = new Instance(
      's#1',
      connection,
      {},
      {
        clock,
        idleLimit: () => 1000,
        onEnd: (reason) => ended.push(reason),
        onOfferChanged: () => {},
        onTaskResult: () => {},
        onRest: () => {},
      },
    );
    const sent = (): unknown[] =>
      connection.requests.splice(0).map(({ method, params }) => [method, params]);
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

  it('subscriptions are renewed in a new session of the server, and the subscribers read again', async () => {
    const { instance: leased, connection, sent } = instance();
    const [one, gone] = [new Client(), new Client()];
    leased.use = { kind: 'leased', conversation: 'd', since: 0 };
    await subscribe(leased, one, 'a:1');
    await subscribe(leased, gone, 'a:2');
    sent();
    gone.state = over;
    connection.renewSession();
    assert.deepEqual(sent(), [['resources/subscribe', { uri: 'a:1' }]]);
    assert.deepEqual([one.take(), gone.take()], [[updated('a:1')], []]);
    assert.equal(leased.news?.kind, 'replaced');
    connection.updateResource('a:1');
    assert.deepEqual(one.take(), [updated('a:1')]);
    await leased.end('the test is over');
  });

  it('the log level is renewed in a new session of the server', async () => {
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

  it('a shared instance does not end by the idle limit while a session is subscribed', async () => {
    ended.length = 0;
    const { instance: shared } = instance();
    share(shared, new Subscriptions());
    const client = new Client();
    await subscribe(shared, client, 'a:1');
    clock.advance(3000);
    assert.deepEqual(ended, []);
    client.state = over;
    clock.advance(1000);
    assert.deepEqual(ended, ['nobody used it for longer than its idle limit']);
    await shared.end('the test is over');
  });

  it('subscriptions go from one shared instance to the next, and a draining one notifies no client', async () => {
    const shared = new Subscriptions();
    const [first, second, poor] = [instance(), instance(), instance(false)];
    share(first.instance, shared);
    assert.deepEqual(first.sent(), []);
    const client = new Client();
    await subscribe(first.instance, client, 'a:1');
    share(second.instance, shared);
    const drained = first.instance.drain(1000, 'it was replaced');
    assert.deepEqual(second.sent(), [['resources/subscribe', { uri: 'a:1' }]]);
    assert.deepEqual(client.take(), [updated('a:1')]);
    first.connection.updateResource('a:1');
    assert.deepEqual(client.take(), []);
    second.connection.updateResource('a:1');
    assert.deepEqual(client.take(), [updated('a:1')]);
    // A server without subscriptions gets no request.
    share(poor.instance, shared);
    assert.deepEqual([poor.sent(), client.take()], [[], []]);
    await drained;
    await Promise.all([second.instance.end('over'), poor.instance.end('over')]);
  });
});

describe('calls of an instance that wait for clients (L2, G4)', () => {
  const clock = new FakeClock();

  function leased(): {
    instance: Instance;
    connection: FakeConnection;
    call: (by?: Client) => Promise<unknown>;
  } {
    const connection = new FakeConnection({} as never, listing(), () => {});
    const ignore = (): void => {};
    const deps = { clock, idleLimit: () => 1000, onTaskResult: ignore };
    const made = new Instance(
      's#1',
      connection,
      {},
      { ...deps, onEnd: ignore, onOfferChanged: ignore, onRest: ignore },
    );
    const { signal } = new AbortController();
    const timeouts = { call: 1, callMax: 1 };
    const call = (client?: Client): Promise<unknown> =>
      made.call({ tool: 'x', arguments: {}, timeouts, signal, client });
    return { instance: made, connection, call };
  }

  it('an instance makes room only when all calls in flight wait, counted from the last of them', async () => {
    const { instance, connection, call } = leased();
    const [one, two] = [new Client(), new Client()];
    assert.equal(instance.waitsSince, undefined, 'it is idle');
    const calls = [call(one), call(two)];
    one.state = { kind: 'waiting', since: 10 };
    assert.equal(instance.waitsSince, undefined, 'one works');
    two.state = { kind: 'waiting', since: 20 };
    assert.deepEqual(
      [instance.waitsSince, instance.callsInFlight, instance.idleSince],
      [20, 2, undefined],
    );
    const begun = call(one);
    const result = { resultType: 'task', taskId: 'a task', content: [] };
    connection.calls.pop()?.answer({ kind: 'result', result });
    await begun;
    assert.equal(instance.callsInFlight, 2);
    assert.equal(instance.waitsSince, undefined, 'a task runs');
    instance.endTask('a task');
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
