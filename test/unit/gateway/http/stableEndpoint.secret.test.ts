/** The files of the secret and of the port, for agents outside the editor (G6). */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { notedAddress } from '../../../../src/core/files/addressFile.js';
import { secretInFile } from '../../../../src/core/gateway/http/stableEndpoint.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';

const program = { kind: 'serve', version: '1' } as const;

describe('the secret of the endpoint in a file (G6)', () => {
  let folder: string;
  let tokenFile: string;
  let address: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'secret-'));
    [tokenFile, address] = [path.join(folder, 'ws.token'), path.join(folder, 'ws.address')];
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('the address is noted again after another process with its own note has ended', async () => {
    const clock = new FakeClock();
    const secret = secretInFile(tokenFile, program, clock);
    await secret.noteAddress?.(7427);
    // Another `serve` of the folder begins and ends.
    writeFileSync(address, JSON.stringify({ port: 7428, pid: process.ppid, program, since: 0 }));
    const turns = async (until: () => boolean): Promise<void> => {
      for (let turn = 0; !until(); turn++) {
        assert.ok(turn < 100_000, 'it does not come');
        clock.advance(500);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    let waited = 0;
    await turns(() => ++waited > 100);
    assert.equal(
      (await notedAddress(tokenFile, program))?.port,
      7428,
      'what another has noted stays while it is there',
    );
    unlinkSync(address);
    await turns(() => existsSync(address));
    assert.equal((await notedAddress(tokenFile, program))?.port, 7427);
    await secret.forgetAddress?.();
    assert.deepEqual([existsSync(address), clock.pending], [false, 0]);
  });
});
