/**
 * Rule X5 on Windows: a job counts as empty only if that is known, and no other process is ended.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { closeJob, type Job } from '../../../src/core/processes/jobObjects.js';
import { Jobs } from '../../../src/core/processes/jobs.js';
import { suiteNotHere } from '../../support/notHere.js';
import { processesWith, untilNone } from '../../support/processes.js';
import { work } from '../../support/core/within.js';
import { repository, runVariable } from './rig.js';

const endless = 'setInterval(() => {}, 1000)';
/** The child is detached, because Node ends other children together with their parent. */
const withChild = `
  const detached = { detached: true, stdio: 'ignore' };
  const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(endless)}], detached);
  child.once('spawn', () => console.log('ready'));
  ${endless}`;

describe('job objects', function () {
  this.timeout(60_000);
  suiteNotHere(this, process.platform !== 'win32', 'only Windows has job objects');
  let run: string;
  let folder: string;
  /** `Jobs` in a package without the native library. */
  let JobsWithoutProgram: typeof Jobs;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'jobs-'));
    const outfile = path.join(folder, 'jobs.js');
    const entry = path.join(repository, 'src/core/processes/jobs.ts');
    await work('the bundle of the jobs', () =>
      build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'cjs' }),
    );
    ({ Jobs: JobsWithoutProgram } = createRequire(__filename)(outfile) as { Jobs: typeof Jobs });
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => (run = randomUUID()));
  afterEach(() => untilNone(processes, 5000));

  const processes = (): ReturnType<typeof processesWith> => processesWith(runVariable, run);
  const childrenHere = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;
  const inAMinute = (): number => performance.now() + 60_000;

  async function started(
    script: string,
  ): Promise<{ child: ChildProcess; pid: number; ended: Promise<unknown> }> {
    const child = spawn(process.execPath, ['-e', script], {
      env: { ...process.env, [runVariable]: run },
    });
    const ended = once(child, 'exit');
    await once(child, 'spawn');
    assert(child.pid !== undefined);
    return { child, pid: child.pid, ended };
  }

  it('a job does not count as empty if its members cannot be listed', async () => {
    const jobs = new Jobs();
    jobs.prepare();
    const { pid, ended } = await started(endless);
    const members = jobs.admit(pid);
    assert.equal(members.caution, undefined);
    assert.deepEqual(members.pids, [pid]);
    // Closing the last handle ends the members. The system refuses to list the members of an
    // invalid handle.
    closeJob((members as unknown as { job: Job }).job);
    await ended;
    members.firstEnded();
    assert.deepEqual(members.pids, [pid]);
    assert.equal(await members.goneBefore(() => performance.now()), false);
  });

  it('a job ends all its processes, even if their parent has ended', async () => {
    const jobs = new Jobs();
    jobs.prepare();
    const { child, pid, ended } = await started(withChild);
    const members = jobs.admit(pid);
    assert(child.stdout);
    await once(child.stdout, 'data');
    child.kill();
    await ended;
    members.firstEnded();
    assert.equal(members.pids.length, 1);
    assert(!members.pids.includes(pid));
    members.signal('SIGTERM');
    assert(await members.goneBefore(inAMinute));
    jobs.release(pid);
  });

  describe('missing job objects', () => {
    it('a caution reports missing job objects, and the tree of the first process is ended', async () => {
      const jobs = new JobsWithoutProgram();
      jobs.prepare();
      const { child, pid, ended } = await started(withChild);
      const members = jobs.admit(pid);
      assert.match(
        members.caution ?? '',
        /^Windows’ job objects cannot be used: .*koffi-win32-.*\.$/,
      );
      assert(child.stdout);
      await once(child.stdout, 'data');
      assert.equal(processes().length, 2);
      members.signal('SIGTERM');
      await ended;
      members.firstEnded();
      assert(await members.goneBefore(inAMinute));
      await untilNone(processes, 5000);
      jobs.release(pid);
    });

    it('a process with the reused id of an ended first process is not ended', async () => {
      const jobs = new JobsWithoutProgram();
      jobs.prepare();
      const stranger = await started(endless);
      const members = jobs.admit(stranger.pid);
      members.firstEnded();
      const before = childrenHere();
      members.signal('SIGTERM');
      members.signal('SIGKILL');
      assert.equal(childrenHere(), before, 'something was started to end it');
      assert(await members.goneBefore(inAMinute));
      await jobs.dispose();
      assert.equal(childrenHere(), before);
      assert.equal(stranger.child.exitCode, null);
      stranger.child.kill();
      await stranger.ended;
    });
  });
});
