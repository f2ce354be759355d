/**
 * Runs lanes side by side, and counts them. A lane that fails in any way does not stop the others.
 * The sum is told to the parent process (`outer.mjs`), which prints it as the last line.
 */
import { stop as stopEsbuild } from 'esbuild';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runId, tempPrefix, undoAll } from '../editor/cleanup.ts';
import { processesMarked, waitUntilGone } from '../editor/processes.ts';
import { add, summary, type Counts } from '../editor/report.ts';
import { runLane, type Lane, type Patience } from './lane.ts';
import { hasParent, tell } from './parent.ts';

/**
 * The longest known step without a line of output takes a minute on two processors: one test of the
 * adversarial tests, or the check of the types. On a machine with a load of 25 it takes some 13
 * minutes.
 */
const usual: Patience = {
  silence: seconds('MCP_TOOLSETS_TEST_SILENCE', 20 * 60),
  ending: 60,
  leaving: 30,
};

/** For the cleanup at the end, in milliseconds. */
const cleanupMs = 60_000;

function seconds(variable: string, otherwise: number): number {
  const given = Number(process.env[variable]);
  return given > 0 ? given : otherwise;
}

const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];
/**
 * Editor suites that failed once and ran again. The summary lists them, so that a developer looks
 * for the cause.
 */
const failedAtFirst: string[] = [];
const stopping = new AbortController();

export function count(what: string, passed: boolean): void {
  add(total, { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 });
  if (!passed) failures.push(what);
  void tell({ counts: total });
}

/** Resolves with true if nothing of the lane failed. Never rejects. */
export async function lane(lane: Lane, patience = usual): Promise<boolean> {
  if (stopping.signal.aborted) return false;
  try {
    const result = await runLane(lane, patience, stopping.signal);
    add(total, result.counts);
    failures.push(...result.failures);
    failedAtFirst.push(...result.atFirst);
    void tell({ counts: total });
    return result.counts.failed === 0;
  } catch (error) {
    // For example a full disk.
    count(`${lane.title} could not run: ${said(error)}`, false);
    return false;
  }
}

/**
 * Runs `main` and ends this process, with what is left of it ended and counted, after success,
 * failure or a signal.
 */
export function runToItsEnd(main: () => Promise<void>): void {
  // The parent knows by these that this process is alive.
  setInterval(() => void tell({}), 10_000).unref();
  // A terminal that is gone.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => stop(signal));
  process.once('disconnect', () => stop('the end of its parent'));
  void main()
    .catch((error: unknown) => {
      console.error(error);
      count(said(error), false);
    })
    .then(cleanUp)
    .catch((error: unknown) => count(`the cleanup: ${said(error)}`, false))
    .then(close);
}

/** A second signal leaves the rest to the parent. */
function stop(by: string): void {
  if (stopping.signal.aborted) process.exit(1);
  count(`the run was ended by ${by}`, false);
  stopping.abort(`was ended by ${by}`);
}

async function cleanUp(): Promise<void> {
  await Promise.race([undoAll(), pause(cleanupMs)]);
  await stopEsbuild();
  await nothingLeft();
}

/** No process and no folder of this run may be left. */
async function nothingLeft(): Promise<void> {
  const started = (): ReturnType<typeof processesMarked> =>
    processesMarked('MCP_TOOLSETS_TEST_RUN', runId);
  const processes = await waitUntilGone(started, usual.leaving * 1000);
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(tempPrefix));
  for (const { pid, command } of processes) console.log(`Left: process ${pid} ${command}`);
  for (const folder of folders) console.log(`Left: folder ${join(tmpdir(), folder)}`);
  count('nothing is left of the run', processes.length + folders.length === 0);
}

async function close(): Promise<void> {
  if (failedAtFirst.length > 0)
    console.log(`\nFailed at first, run again:\n${indented(failedAtFirst)}`);
  if (failures.length > 0) console.log(`\nFailed:\n${indented(failures)}`);
  if (!hasParent) console.log(`\n${summary(total)}`);
  await tell({ counts: total, isDone: true });
  process.exit(total.failed > 0 ? 1 : 0);
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
