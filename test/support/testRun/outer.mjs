/**
 * The outermost process of `npm test`. It prints the closing line, `N passed, N failed`, whatever
 * happens to the process that runs the tests: an error before its start, a signal, a sudden death,
 * a loop without an end. Plain JavaScript without imports from packages, because it also closes a
 * run whose packages could not be installed.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const tickMs = 1000;
/**
 * In ticks, which do not pass while the machine sleeps. The process of the tests reports every ten
 * seconds. After a signal, its lanes and its own cleanup have shorter limits than `ending`.
 */
const usual = { silence: 300, ending: 180 };

const runVariable = 'MCP_TOOLSETS_TEST_RUN';

/**
 * @param {() => Promise<void>} prepare
 * @param {string} file a TypeScript file that calls `runToItsEnd`
 * @param {string[]} args
 * @param {{ silence: number, ending: number }} limits
 * @returns {Promise<number>} the exit code
 */
export async function closeWithLine(prepare, file, args, limits = usual) {
  let counts = { passed: 0, failed: 0, skipped: 0 };
  let failure;
  try {
    await prepare();
    const run = await supervised(file, args, limits);
    counts = run.counts;
    failure = run.failure;
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  if (failure !== undefined) {
    counts.failed += 1;
    console.log(`\nThe run broke off: ${failure}`);
  }
  const { passed, failed, skipped } = counts;
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed > 0 ? 1 : 0;
}

/** Resolves after the process has ended. `failure` says why it did not close. */
async function supervised(file, args, limits) {
  const id = (process.env[runVariable] = randomBytes(4).toString('hex'));
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const run = { counts: { passed: 0, failed: 0, skipped: 0 }, failure: undefined };
  const lanes = [];
  let [isDone, isEnding, quiet] = [false, false, 0];
  child.on('message', (message) => {
    if (!isEnding) quiet = 0;
    run.counts = message.counts ?? run.counts;
    isDone ||= message.isDone === true;
    if (message.lane !== undefined) lanes.push(message.lane);
  });
  const signalled = (signal) => {
    // A second signal ends it at once.
    quiet = isEnding ? limits.ending : 0;
    isEnding = true;
    // A terminal sends Ctrl-C to both processes. A kill reaches only this one.
    if (signal !== 'SIGINT') child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, signalled);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const watch = setInterval(() => {
    quiet += 1;
    const limit = isEnding ? limits.ending : limits.silence;
    if (quiet < limit) return;
    run.failure ??= isEnding ? 'it did not end after a signal' : `it did not report for ${limit} s`;
    child.kill('SIGKILL');
  }, tickMs);
  const how = await new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, signal) =>
      done(signal ? `ended by ${signal}` : `ended with exit code ${code}`),
    );
  });
  clearInterval(watch);
  if (isDone) return run;
  run.failure ??= how;
  try {
    endAll(id, lanes);
  } catch (error) {
    console.log(`While ending the lanes: ${error}`);
  }
  return run;
}

/** Ends the lanes of a run that could not do it, and removes its temporary folders. */
function endAll(id, lanes) {
  for (const pid of lanes) kill(process.platform === 'win32' ? pid : -pid);
  for (let tries = 0; tries < 50; tries++) {
    const left = marked(id);
    if (left.length === 0) break;
    for (const pid of left) kill(pid);
  }
  const ours = readdirSync(tmpdir()).filter((name) => name.startsWith(`mcpt-${id}-`));
  for (const name of ours) rmSync(join(tmpdir(), name), { recursive: true, force: true });
}

/** The processes with the mark of the run in their environment, on Linux. */
function marked(id) {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      if (!Number.isInteger(pid) || pid === process.pid) return false;
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1')
          .split('\0')
          .includes(`${runVariable}=${id}`);
      } catch {
        return false;
      }
    });
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
