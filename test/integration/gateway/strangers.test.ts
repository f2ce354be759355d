/** Clients without the token cost little, however many they are (G2). */
import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mostStrangers } from '../../../src/core/gateway/http/gateway.js';
import { collect } from '../../support/heap.js';
import { startRig, type Rig } from './rig.js';

describe('gateway: clients without the token (G2)', () => {
  let rig: Rig;
  let sockets: Socket[];

  /** The sockets of the listener. */
  let taken: Socket[];
  const note = (message: unknown): void => void taken.push((message as { socket: Socket }).socket);

  beforeEach(async () => {
    taken = [];
    channel('net.server.socket').subscribe(note);
    rig = await startRig();
    assert.ok(mostStrangers > 48);
    rig.backend.set('play', ['click']);
    sockets = [];
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await rig.dispose();
    channel('net.server.socket').unsubscribe(note);
  });

  async function open(): Promise<Socket> {
    const socket = connect(rig.gateway.port ?? 0, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  const written = (socket: Socket, data: string | Buffer): Promise<void> =>
    new Promise((resolve) => socket.write(data, () => resolve()));

  /** The bytes in buffers of this process. */
  const held = async (): Promise<number> => {
    for (let times = 0; times < 3; times++) {
      collect();
      await nextTurn();
    }
    return process.memoryUsage().arrayBuffers;
  };

  it('the body of a client without the token is not kept', async () => {
    const count = 48;
    const part = Buffer.alloc(900_000, 'x');
    for (const path of ['/editor/play', '/mcp/play', '/api/v1/users/mcp/upstreams']) {
      const before = await held();
      for (let index = 0; index < count; index++) {
        const socket = await open();
        await written(
          socket,
          `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${rig.gateway.port}\r\ncontent-length: 1000000\r\n\r\n`,
        );
        await written(socket, part);
      }
      while (taken.reduce((sum, { bytesRead }) => sum + bytesRead, 0) < count * part.length)
        await nextTurn();
      const kept = (await held()) - before;
      assert.ok(kept < (count * part.length) / 4, `${path}: ${kept} bytes are kept`);
      for (const socket of sockets.splice(0)) socket.destroy();
      taken = [];
    }
  });

  it('a new client without the token ends the oldest; clients with the token stay', async () => {
    const client = rig.client('play', 'agent');
    await client.initialize();
    const listening = client.open('GET');
    listening.end();
    const [stream] = (await once(listening, 'response')) as [
      { destroyed: boolean; destroy(): void },
    ];
    const before = taken.length;
    const first = await open();
    const ended = once(first, 'close');
    first.resume();
    for (let index = 1; index < 3 * mostStrangers; index++) await open();
    while (taken.length < before + 3 * mostStrangers) await nextTurn();
    const living = taken.slice(before).filter(({ destroyed }) => !destroyed);
    assert.equal(living.length, mostStrangers);
    await ended;
    assert.ok((await client.ask('ping'))['result']);
    assert.equal(stream.destroyed, false);
    stream.destroy();
  });
});
