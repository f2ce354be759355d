/** What goes into the pipe of a server, and when (X1, P3). */
import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { StdioTransport } from '../../../../src/core/connections/stdio/transport.js';
import { silentLog } from '../../../support/fakes/silentLog.js';

describe('stdio transport', () => {
  let writes: string[];
  let written: Promise<void>;
  let transport: StdioTransport;

  beforeEach(() => {
    writes = [];
    let tell: () => void;
    written = new Promise((resolve) => (tell = resolve));
    const take = (text: string, done: () => void): void => {
      writes.push(text);
      tell();
      done();
    };
    const stdin = new Writable({
      decodeStrings: false,
      write: (chunk: string, _, done) => take(chunk, done),
      writev: (chunks, done) => take(chunks.map(({ chunk }) => chunk as string).join(''), done),
    });
    const tree = {
      pid: 1,
      stdin,
      stdout: new PassThrough(),
      stderr: new PassThrough(),
      exited: new Promise<never>(() => {}),
      stop: () => Promise.resolve(stdin.end() && []),
    };
    transport = new StdioTransport({ tree, log: silentLog });
  });

  const send = (id: number): Promise<void> => transport.send({ jsonrpc: '2.0', id, method: 'ping' });
  const line = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;

  it('writes what is sent in one turn as one, in its order', async () => {
    await Promise.all([send(1), send(2)]);
    await send(3);
    await written;
    assert.deepEqual(writes, [line(1) + line(2) + line(3)]);
  });

  it('writes what was sent before the end', async () => {
    void send(1);
    await transport.close();
    await written;
    assert.deepEqual(writes, [line(1)]);
    await assert.rejects(send(2), /takes no more input/);
  });
});
