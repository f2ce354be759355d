/** The notes of the gateways' addresses beside the token file (G6, G6h). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { confinementHere } from '../../../src/core/base/confinement.js';
import { noteAddress, notedAddresses, type Program } from '../../../src/core/files/addressFile.js';
import { addressNotes } from '../../support/core/addressNotes.js';

const serve: Program = { kind: 'serve', version: '1.2.3' };
const engine: Program = { kind: 'engine', version: '1.2.3' };

describe('the addresses of gateways', () => {
  let folder: string;
  let tokenFile: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'address-'));
    tokenFile = path.join(folder, 'ws-1.2.token');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const ports = async (file = tokenFile): Promise<number[]> =>
    (await notedAddresses(file)).map(({ port }) => port);

  /** Writes a note as another process would. Returns its path. */
  function note(noted: unknown, id = '0123456789abcdef'): string {
    const file = path.join(folder, `ws-1.2.${id}.address`);
    writeFileSync(file, typeof noted === 'string' ? noted : JSON.stringify(noted));
    return file;
  }

  it('an address is noted beside the token file, readable only by its owner, and found by readers of the token file', async () => {
    assert.deepEqual(await ports(), []);
    const forget = await noteAddress(tokenFile, { port: 7427, program: serve, since: 1 });
    const [file = ''] = addressNotes(tokenFile);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /token/);
    assert.deepEqual(await ports(), [7427]);
    assert.deepEqual(await ports(path.join(folder, 'ws-1.token')), []);
    await forget();
    assert.deepEqual(addressNotes(tokenFile), []);
  });

  it('each gateway has a note of its own, which only it takes back, and the newest is found first', async () => {
    const forget = await noteAddress(tokenFile, { port: 7427, program: engine, since: 1 });
    await noteAddress(tokenFile, { port: 7428, program: serve, since: 3 });
    await noteAddress(tokenFile, { port: 7429, program: engine, since: 2 });
    assert.deepEqual(await ports(), [7428, 7429, 7427]);
    await forget();
    assert.deepEqual(await ports(), [7428, 7429]);
  });

  const ofOther = { port: 7430, program: serve, since: 0, host: hostname() };
  const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

  it('the note of a dead process is removed by its finder, and the note of a living one stays', async () => {
    const confinement = confinementHere();
    const dead = note({ ...ofOther, pid: deadPid(), confinement });
    const living = note({ ...ofOther, pid: process.ppid, confinement }, 'fedcba9876543210');
    assert.deepEqual(await ports(), [7430]);
    assert.deepEqual([existsSync(dead), existsSync(living)], [false, true]);
  });

  it('the note of a process that cannot be seen from here stays, because nobody here can tell whether it is dead', async () => {
    const elsewhere = { ...confinementHere(), 'process namespace': 'pid:[1]' };
    const unseen = note({ ...ofOther, pid: deadPid(), confinement: elsewhere });
    assert.deepEqual(await ports(), [7430]);
    assert.ok(existsSync(unseen));
  });

  it('a note from before the last start of the machine is removed, and one of another machine stays', async () => {
    const confinement = { ...confinementHere(), boot: 'another' };
    const before = note({ ...ofOther, pid: process.pid, confinement });
    const other = note(
      { ...ofOther, pid: process.pid, confinement, host: 'another' },
      'fedcba9876543210',
    );
    assert.deepEqual(await ports(), [7430]);
    assert.deepEqual([existsSync(before), existsSync(other)], [false, true]);
  });

  for (const damaged of [
    '',
    'null',
    '[]',
    '{',
    '{"port":7427}',
    '{"port":"7427","pid":1,"since":0,"program":{"kind":"serve","version":"1"},"confinement":{},"host":"h"}',
    '{"port":7427.5,"pid":1,"since":0,"program":{"kind":"serve","version":"1"},"confinement":{},"host":"h"}',
    '{"port":7427,"pid":1,"since":0,"program":{"kind":"other","version":"1"},"confinement":{},"host":"h"}',
    '{"port":7427,"pid":1,"since":0,"program":{"kind":"serve","version":"1"},"confinement":{"a":1},"host":"h"}',
    '{"port":7427,"pid":1,"since":0,"program":{"kind":"serve","version":"1"}}',
  ]) {
    it(`a damaged address file gives no address, and stays: ${damaged || 'empty'}`, async () => {
      const file = note(damaged);
      assert.deepEqual(await ports(), []);
      assert.ok(existsSync(file));
    });
  }
});
