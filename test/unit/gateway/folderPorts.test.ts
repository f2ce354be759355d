/** The port of a folder (G2): which one it is, and what is done where it is taken. */
import assert from 'node:assert/strict';
import { FolderPorts } from '../../../src/core/gateway/folderPorts.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('the port of a folder (G2)', () => {
  const clock = new FakeClock();
  let kept: number[];
  /** The ports of windows of the same folder. */
  let windows: Set<number>;

  const portsOf = (folder: string, before?: number): FolderPorts =>
    new FolderPorts({
      folder,
      kept: before,
      keep: (port) => kept.push(port),
      clock,
      knowsToken: (port) => Promise.resolve(windows.has(port)),
    });

  const after = async (ports: FolderPorts, port: number): ReturnType<FolderPorts['after']> => {
    const next = ports.after(port, 'token');
    await clock.flow(100);
    return next;
  };

  beforeEach(() => {
    kept = [];
    windows = new Set();
  });

  it('is the same each time, another for another folder, and none that the system gives to whoever asks', () => {
    const { first } = portsOf('/a');
    assert.equal(portsOf('/a').first, first);
    assert.notEqual(portsOf('/b').first, first);
    for (const folder of ['/a', '/b', '/c', '/d']) {
      const port = portsOf(folder).first;
      assert.ok(port >= 20_000 && port < 30_000, String(port));
    }
  });

  it('is tried again before it counts as taken: its last window may just be ending', async () => {
    const ports = portsOf('/a');
    assert.deepEqual(await after(ports, ports.first), { port: ports.first });
  });

  it('gives way to another program, and the port that takes its place is kept', async () => {
    const ports = portsOf('/a');
    const { first } = ports;
    await after(ports, first);
    const { port, instead } = await after(ports, first);
    assert.notEqual(port, first);
    assert.deepEqual(instead, { port: first, by: 'program' });
    ports.keep(port);
    assert.deepEqual(kept, [port]);
    assert.equal(portsOf('/a', port).first, port);
  });

  it('is waited for while a window of the folder has it, for two seconds', async () => {
    const ports = portsOf('/a');
    windows.add(ports.first);
    let last = await after(ports, ports.first);
    let rounds = 0;
    for (; last.port === ports.first && rounds < 100; rounds++) last = await after(ports, ports.first);
    assert.deepEqual(last, { port: 0, instead: { port: ports.first, by: 'window' } });
    assert.ok(rounds >= 19 && rounds <= 21, String(rounds));
  });

  it('is not given up for good because two windows are open at once', async () => {
    const ports = portsOf('/a');
    windows.add(ports.first);
    for (let rounds = 0; rounds < 30; rounds++) await after(ports, ports.first);
    ports.keep(54_321);
    assert.deepEqual(kept, []);
  });

  it('is any free one when many are taken', async () => {
    const ports = portsOf('/a');
    let port = ports.first;
    for (let attempts = 0; attempts < 40 && port !== 0; attempts++) ({ port } = await after(ports, port));
    assert.equal(port, 0);
  });
});
