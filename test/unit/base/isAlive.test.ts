import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isAlive } from '../../../src/core/base/isAlive.js';
import { untilSo, within } from '../../support/core/within.js';
import { itNotHere } from '../../support/notHere.js';

describe('life of a process', () => {
  itNotHere(process.platform !== 'linux', 'only /proc shows it')(
    'A process that its parent does not ask for has ended',
    async () => {
      const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
      const ended = once(parent, 'close');
      try {
        const [line] = (await within(once(parent.stdout, 'data'), 'its child')) as [Buffer];
        const pid = Number(String(line));
        const command = (id = 0): string => readFileSync(`/proc/${id}/cmdline`, 'utf8');
        await untilSo(() => command(parent.pid).startsWith('sleep'), 'the parent');
        assert.ok(isAlive(pid));
        process.kill(pid, 'SIGKILL');
        await untilSo(() => !isAlive(pid), 'its end');
        assert.doesNotThrow(() => process.kill(pid, 0), 'the system lists it');
      } finally {
        parent.kill();
        await ended;
      }
    },
  );
});
