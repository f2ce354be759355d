/** The note of the gateway's address beside the token file (G6). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { forgetAddress, noteAddress, notedPort } from '../../../src/core/files/addressFile.js';

describe('the address of a gateway', () => {
  let folder: string;
  let tokenFile: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'address-'));
    [tokenFile, file] = [path.join(folder, 'ws-1.2.token'), path.join(folder, 'ws-1.2.address')];
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const note = (noted: unknown): void => writeFileSync(file, typeof noted === 'string' ? noted : JSON.stringify(noted));

  it('an address is noted beside the token file, readable only by its owner, and found by readers of the token file', async () => {
    assert.equal(await notedPort(tokenFile), undefined);
    await noteAddress(tokenFile, 7427);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /token/);
    assert.equal(await notedPort(tokenFile), 7427);
    assert.equal(await notedPort(path.join(folder, 'other.token')), undefined);
  });

  it('the newest address counts, and goes with its process', async () => {
    await noteAddress(tokenFile, 7427);
    await noteAddress(tokenFile, 7428);
    assert.equal(await notedPort(tokenFile), 7428);
    await forgetAddress(tokenFile);
    assert.ok(!existsSync(file));
    await forgetAddress(tokenFile);
  });

  it('an address noted later by another process stays', async () => {
    note({ port: 7429, pid: process.ppid });
    await forgetAddress(tokenFile);
    assert.equal(await notedPort(tokenFile), 7429);
  });

  it('an address of an ended process does not count', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    note({ port: 7430, pid });
    assert.equal(await notedPort(tokenFile), undefined);
  });

  for (const damaged of [
    '',
    'null',
    '[]',
    '{',
    '{"port":7427}',
    '{"port":"7427","pid":1}',
    '{"port":7427.5,"pid":1}',
  ]) {
    it(`a damaged address file gives no address: ${damaged || 'empty'}`, async () => {
      note(damaged);
      assert.equal(await notedPort(tokenFile), undefined);
      await forgetAddress(tokenFile);
      assert.ok(existsSync(file), 'it is no note of this process');
    });
  }
});
