/** The note of the gateway's address beside the token file (G6). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  forgetAddress,
  noteAddress,
  notedAddress,
  notedAddresses,
  type Program,
} from '../../../src/core/files/addressFile.js';

const serve: Program = { kind: 'serve', version: '1.2.3' };
const engine: Program = { kind: 'engine', version: '1.2.3' };
const notedPort = async (tokenFile: string, program = serve): Promise<number | undefined> =>
  (await notedAddress(tokenFile, program))?.port;

describe('the address of a gateway', () => {
  let folder: string;
  let tokenFile: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'address-'));
    [tokenFile, file] = [path.join(folder, 'ws-1.2.token'), path.join(folder, 'ws-1.2.address')];
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const note = (noted: unknown): void =>
    writeFileSync(file, typeof noted === 'string' ? noted : JSON.stringify(noted));

  it('an address is noted beside the token file, readable only by its owner, and found by readers of the token file', async () => {
    assert.equal(await notedPort(tokenFile), undefined);
    await noteAddress(tokenFile, { port: 7427, program: serve, since: 1 });
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /token/);
    assert.equal(await notedPort(tokenFile), 7427);
    assert.equal(await notedPort(path.join(folder, 'other.token')), undefined);
  });

  it('the newest address counts, and goes with its process', async () => {
    await noteAddress(tokenFile, { port: 7427, program: serve, since: 1 });
    await noteAddress(tokenFile, { port: 7428, program: serve, since: 2 });
    assert.equal(await notedPort(tokenFile), 7428);
    await forgetAddress(tokenFile, serve);
    assert.ok(!existsSync(file));
    await forgetAddress(tokenFile, serve);
  });

  it('an address noted later by another process stays', async () => {
    note({ port: 7429, pid: process.ppid, program: serve, since: 0 });
    await forgetAddress(tokenFile, serve);
    assert.equal(await notedPort(tokenFile), 7429);
  });

  it('an address of an ended process does not count', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    note({ port: 7430, pid, program: serve, since: 0 });
    assert.equal(await notedPort(tokenFile), undefined);
  });

  it('an engine has an address of its own for its version, and all addresses of the folder are found, the engine last', async () => {
    await noteAddress(tokenFile, { port: 7431, program: engine, since: 1 });
    assert.equal(await notedPort(tokenFile), undefined);
    assert.equal(await notedPort(tokenFile, engine), 7431);
    assert.equal(await notedPort(tokenFile, { kind: 'engine', version: '1.2.4' }), undefined);
    await noteAddress(tokenFile, {
      port: 7432,
      program: { kind: 'editor', version: '9' },
      since: 2,
    });
    await noteAddress(path.join(folder, 'ws-1.token'), { port: 7433, program: engine, since: 3 });
    assert.deepEqual(
      (await notedAddresses(tokenFile)).map(({ port, program }) => [port, program.kind]),
      [
        [7432, 'editor'],
        [7431, 'engine'],
      ],
    );
    await forgetAddress(tokenFile, engine);
    assert.deepEqual(
      [await notedPort(tokenFile, engine), await notedPort(tokenFile)],
      [undefined, 7432],
    );
  });

  for (const damaged of [
    '',
    'null',
    '[]',
    '{',
    '{"port":7427}',
    '{"port":"7427","pid":1,"since":0,"program":{"kind":"serve","version":"1"}}',
    '{"port":7427.5,"pid":1,"since":0,"program":{"kind":"serve","version":"1"}}',
    '{"port":7427,"pid":1,"since":0,"program":{"kind":"other","version":"1"}}',
  ]) {
    it(`a damaged address file gives no address: ${damaged || 'empty'}`, async () => {
      note(damaged);
      assert.equal(await notedPort(tokenFile), undefined);
      await forgetAddress(tokenFile, serve);
      assert.ok(existsSync(file), 'it is no note of this process');
    });
  }
});
