/** `envFile` with real files and servers (C2b): its receivers, its watcher and its bounds. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fixture } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { posixIt } from '../../support/notHere.js';

const canary = 'canary-file-5ca1ab1e';

describe('core: envFile', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage({ trace: true, env: { OF_HOST: 'host', OF_ALL: 'host' } });
  });

  afterEach(endStages);

  const at = (name: string): string => path.join(stage.folder, name);
  const serves = async (text: string): Promise<void> => {
    await stage.until(({ servers: [server] }) => server?.state.kind === 'running', 'the server');
    assert.equal(await stage.text('a', 'env', { name: 'NAME' }), text);
  };

  const refused = async (envFile: string, why: RegExp): Promise<void> => {
    await stage.edit({ a: fixture('raw', [], { envFile }) });
    assert.match(stage.problem('env-file-unusable').message, why);
    assert.equal(stage.server('a').state.kind, 'invalid');
  };

  it('`envFile` overrides the environment of the host, and `env` overrides `envFile`', async () => {
    writeFileSync(at('.env'), 'OF_FILE=file\nOF_ALL=file\nOF_BOTH=file\n');
    await stage.edit({
      a: fixture('raw', [], { envFile: '.env', env: { OF_ALL: 'env', OF_BOTH: 'env' } }),
    });
    const seen = ['OF_HOST', 'OF_FILE', 'OF_BOTH', 'OF_ALL'].map((name) =>
      stage.text('a', 'env', { name }),
    );
    assert.deepEqual(await Promise.all(seen), ['host', 'file', 'env', 'env']);
  });

  it('A changed `envFile` restarts the server, and no value gets into logs and status (E4)', async () => {
    writeFileSync(at('.env'), `NAME=${canary}-one\n`);
    await stage.edit({ a: fixture('raw', [], { envFile: '.env' }) });
    await serves(`${canary}-one`);
    await stage.outcome('a', 'stderr', { text: `the name is ${canary}-one` });
    await stage.logs.until(({ message }) => message.includes('[stderr] the name is'), 'stderr');
    const [before] = stage.instances('a').map(({ pid }) => pid);
    writeFileSync(at('.env'), `NAME=${canary}-two\n`);
    await stage.until(
      ({ servers: [server] }) => server?.instances.every(({ pid }) => pid !== before) === true,
      'another process',
    );
    await serves(`${canary}-two`);
    assert.doesNotMatch(
      stage.logs.text() + JSON.stringify(stage.host.snapshot),
      new RegExp(canary),
    );
  });

  it('A missing `envFile` is a problem at its place, and the server starts once the file exists', async () => {
    await stage.edit({ a: fixture('raw', [], { envFile: '.env' }) });
    assert.match(stage.problem('env-file-unusable').message, /does not exist/);
    assert.equal(stage.server('a').state.kind, 'invalid');
    writeFileSync(at('.env'), 'NAME=there\n');
    await serves('there');
    rmSync(at('.env'));
    await stage.until(
      ({ problems }) => problems.some(({ code }) => code === 'env-file-unusable'),
      'the problem',
    );
    assert.equal(
      await stage.text('a', 'env', { name: 'NAME' }),
      'there',
      'what served goes on (R3)',
    );
  });

  it('`envFile` cannot lead out of the folder or to a special file (C2b)', async () => {
    const outside = path.join(stage.folder, '..', 'id_rsa');
    writeFileSync(outside, `KEY=${canary}\n`);
    await refused('../id_rsa', /outside/);
    await refused(outside, /outside/);
    symlinkSync(outside, at('linked.env'));
    await refused('linked.env', /outside/);
    await refused('.minds', /it is a folder/);
    writeFileSync(at('large.env'), `A=${'x'.repeat(64 * 1024)}\n`);
    await refused('large.env', /larger than 64 KiB/);
    writeFileSync(at('blank.env'), '\n'.repeat(60_000));
    await refused('blank.env', /1000 blanks/);
    assert.doesNotMatch(
      stage.logs.text() + JSON.stringify(stage.host.snapshot),
      new RegExp(canary),
    );
  });

  posixIt('Windows has no such files in folders')(
    '`envFile` does not wait for a pipe and does not read a device (C2b)',
    async () => {
      await refused('/dev/zero', /outside/);
      execFileSync('mkfifo', [at('pipe.env')]);
      await refused('pipe.env', /not a regular file/);
    },
  );
});
