/**
 * A gateway on a real socket, with a backend and a clock of the test. Its end checks for
 * left-overs.
 */
import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DisposableStore } from '../../../src/core/base/disposables.js';
import {
  createGateway,
  type Gateway,
  type GatewayLimits,
} from '../../../src/core/gateway/http/gateway.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeBackend, MemoryLog } from '../../unit/gateway/fakes.js';
import { RawClient } from './rawClient.js';

export interface Rig {
  readonly backend: FakeBackend;
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  readonly gateway: Gateway;
  client(toolset?: string, clientKind?: 'editor' | 'agent'): RawClient;
  /** Resolves when the gateway has seen one of its open sockets close. */
  socketClosed(): Promise<void>;
  dispose(): Promise<void>;
}

export async function startRig(limits: Partial<GatewayLimits> = {}): Promise<Rig> {
  const backend = new FakeBackend();
  const clock = new FakeClock();
  const log = new MemoryLog();
  const sockets: Socket[] = [];
  const serverSockets = channel('net.server.socket');
  const note = (message: unknown): void =>
    void sockets.push((message as { socket: Socket }).socket);
  serverSockets.subscribe(note);
  const gateway = createGateway({ backend, clock, log }, { version: '1.2.3', limits });
  await gateway.start();
  const port = gateway.port;
  assert.ok(port !== undefined);
  const clients: RawClient[] = [];
  return {
    backend,
    clock,
    log,
    gateway,
    socketClosed: () =>
      // Not `once` of events: a socket that is reset fails first and closes then.
      new Promise((resolve) => {
        for (const socket of sockets.filter(({ destroyed }) => !destroyed))
          socket.once('close', () => resolve());
      }),
    client: (toolset = 'play', clientKind = 'editor') => {
      const client = new RawClient(gateway.endpoint(toolset, clientKind));
      clients.push(client);
      return client;
    },
    dispose: async () => {
      await gateway.dispose();
      for (const client of clients) client.close();
      serverSockets.unsubscribe(note);
      assert.deepEqual(
        sockets.filter((socket) => !socket.destroyed && socket.localPort === port),
        [],
        'no socket is open',
      );
      await assertRefused(port);
      // Calls in flight are settled in the next turn.
      await nextTurn();
      assert.equal(clock.pending, 0, 'no timer is left');
      assert.deepEqual(
        DisposableStore.liveNames().filter((name) => name.startsWith('gateway')),
        [],
      );
    },
  };
}

/** Checks for a listener on the port. */
export async function assertRefused(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  assert.equal(error.code, 'ECONNREFUSED');
}
