/**
 * Everything in `npm test`. A failing part does not stop the others.
 * The parts are the editor suites inside an editor and outside, the folders of the integration tests, the adversarial
 * tests, the benches and the unit tests. Each bench runs once and briefly, to see that it works. Three parts run at a
 * time, because each waits now and then. Two would leave a sixth of two processors idle. The checks take the
 * remaining time, and each counts as one test. The last line of output is the sum.
 */
import { stop as stopEsbuild } from 'esbuild';
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepCertificatesForInstalls } from '../installs.ts';
import { npm, repoRoot, runToEnd, type RunOptions } from '../npm.mjs';
import { onEnd, runId, tempFolder, tempPrefix, undoAll, undoOnSignals } from '../editor/cleanup.ts';
import { processesMarked, waitUntilGone } from '../editor/processes.ts';
import { add, summary, type Counts, type Failure } from '../editor/report.ts';
import type { EditorRunResult, Place } from '../editor/run.ts';
import { editorChoiceVariable } from '../editor/versions.ts';

const parts = ['unit', 'integration', 'adversarial', 'editor', 'bench'] as const;
type Part = (typeof parts)[number];

const checks = ['check:types', 'check:lint', 'check:format'] as const;

/**
 * The rough duration of a part beside two others, in seconds on two processors. It only decides the order. The
 * longest part comes first, so that all end at about the same time. A part without an entry takes a few seconds and
 * comes last.
 */
const duration: Readonly<Record<string, number>> = {
  'editor inside': 420,
  'integration core': 250,
  'integration cli': 190,
  'editor outside': 190,
  adversarial: 180,
  'integration connections': 150,
  bench: 105,
  'integration stress': 80,
  'integration conformance': 60,
  unit: 40,
  'integration servers': 40,
};

/** The limit for the end of the tests' processes, in milliseconds. */
const endLimitMs = 5_000;

const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];
/** Editor suites that failed once and ran again. The summary lists them, so that a developer looks for the cause. */
const failedAtFirst: string[] = [];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, grep: { type: 'string' }, editor: { type: 'string' } },
  });
  if (values.editor !== undefined) process.env[editorChoiceVariable] = values.editor;
  const { only, grep } = values;
  if (only !== undefined && !parts.includes(only as Part)) throw new Error(`--only knows ${parts.join(', ')}`);
  const wanted = (part: Part): boolean => only === undefined || only === part;

  const built = only === 'unit' || (await check('build', 'terminal'));
  const all = grep === undefined;
  const beside: Output = wanted('editor') ? 'after' : 'terminal';
  const work: [name: string, run: () => Promise<void>][] = [];
  if (wanted('editor') && built)
    for (const place of ['inside', 'outside'] as const) work.push([`editor ${place}`, () => editorSuites(place, grep)]);
  if (wanted('editor') && !built) count('editor suites: the build failed', false);
  if (only === 'integration') work.push(['integration', () => mocha('test:integration', grep, beside)]);
  if (only === undefined)
    for (const folder of integrationFolders())
      work.push([`integration ${folder}`, () => mocha('test:integration', grep, beside, folder)]);
  if (wanted('adversarial')) work.push(['adversarial', () => mocha('test:adversarial', grep, beside)]);
  if (wanted('bench') && all) work.push(['bench', async () => void (await check('test:bench', beside))]);
  if (wanted('unit')) work.push(['unit', () => mocha('test:unit', grep, beside)]);
  work.sort(([a], [b]) => (duration[b] ?? 0) - (duration[a] ?? 0));
  const oneAfterAnother = async (): Promise<void> => {
    for (let next = work.shift(); next; next = work.shift()) await next[1]();
  };
  const allChecks = async (): Promise<void> => {
    if (wanted('unit') && all) for (const script of checks) await check(script, 'after', { givesWay: true });
  };
  await Promise.all([oneAfterAnother(), oneAfterAnother(), oneAfterAnother(), allChecks()]);
  await nothingLeft();
}

/** Runs the editor suites of one place in a separate process. */
function editorSuites(place: Place, grep: string | undefined): Promise<void> {
  return counted('editor', `editor suites ${place}`, place === 'inside' ? 'terminal' : 'after', (file, options) => {
    const args = ['--where', place, '--twice', '--json', file, ...(grep ? ['--grep', grep] : [])];
    const script = join(repoRoot, 'test/support/editor/run.ts');
    return runToEnd(process.execPath, ['--import', 'tsx', script, ...args], options);
  });
}

/** The output of a script goes to the terminal at once, or as a whole after its end. */
type Output = 'terminal' | 'after';

/** One npm script as one test. */
async function check(script: string, output: Output, options: RunOptions = {}): Promise<boolean> {
  const passed = (await run(script, output, (more) => npmScript([script], { ...options, ...more }))) === 0;
  count(script, passed);
  return passed;
}

function integrationFolders(): string[] {
  return readdirSync(join(repoRoot, 'test/integration'));
}

/**
 * An npm script that runs mocha.
 * @param folder runs only this folder of the integration tests
 */
function mocha(script: string, grep: string | undefined, output: Output, folder?: string): Promise<void> {
  const args = ['--reporter', join(repoRoot, 'test/support/testRun/reporter.mjs'), ...(grep ? ['--grep', grep] : [])];
  const others = folder === undefined ? [] : integrationFolders().filter((name) => name !== folder);
  args.push(...others.flatMap((name) => ['--ignore', `test/integration/${name}/**`]));
  return counted(script, folder === undefined ? script : `${script} ${folder}`, output, (file, options) => {
    const env = { ...process.env, MCP_TOOLSETS_TEST_COUNTS: file };
    return npmScript([script, '--', ...args], { ...options, env });
  });
}

/** The file at the end of a run of tests. */
type Counted = Counts & Pick<EditorRunResult, 'failures'> & Partial<Pick<EditorRunResult, 'atFirst'>>;

/**
 * A run of tests in a separate process, with its tests counted. A broken run is one more failure.
 * @param part the prefix of its failures
 * @param start makes it write its `Counted` to the file
 */
async function counted(
  part: string,
  title: string,
  output: Output,
  start: (file: string, options: RunOptions) => Promise<number>,
): Promise<void> {
  const folder = tempFolder();
  const file = join(folder.path, 'counts.json');
  const code = await run(title, output, (options) => start(file, options));
  const counts = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Counted) : undefined;
  if (counts) {
    add(total, counts);
    failures.push(...counts.failures.map((failure) => inBrief(part, failure)));
    failedAtFirst.push(...(counts.atFirst ?? []).map((failure) => inBrief(part, failure)));
  }
  if (!counts || (code !== 0 && counts.failed === 0)) count(`${title} broke off (exit code ${code})`, false);
  await folder.remove();
}

/** In lines. */
const mostSaid = 40;

/** A failure in the summary at the end of the run: the test, and of its message the beginning and what differs. */
function inBrief(part: string, { fullTitle, error }: Failure): string {
  const isTelling = (line: string, index: number): boolean => index < 5 || /^[+-] /.test(line);
  const said = error.trim().split('\n').filter(isTelling).slice(0, mostSaid);
  return [`${part}: ${fullTitle}`, ...said].join('\n      ');
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}

function npmScript([script = '', ...args]: readonly string[], options: RunOptions): Promise<number> {
  return npm(['run', '--silent', script, ...args], options);
}

/**
 * Runs a process to its end. The end of this run ends it too.
 * @returns its exit code
 */
async function run(title: string, output: Output, start: (options: RunOptions) => Promise<number>): Promise<number> {
  let child: ChildProcess | undefined;
  const started = (process: ChildProcess): void => void (child = process);
  const whole = async (options: RunOptions): Promise<number> => {
    const code = start({ started, ...options });
    const forget = onEnd(async () => {
      child?.kill();
      await code.catch(() => undefined);
    });
    try {
      return await code;
    } finally {
      await forget();
    }
  };
  if (output === 'terminal') return timed(title, () => whole({}));
  const folder = tempFolder();
  const file = join(folder.path, 'output.txt');
  const outputFd = openSync(file, 'w');
  const since = Date.now();
  try {
    return await whole({ outputFd });
  } finally {
    closeSync(outputFd);
    console.log(`\n== ${title}\n${readFileSync(file, 'utf8')}== ${title}: ${seconds(since)}`);
    await folder.remove();
  }
}

/** No process and no folder of this run may be left. */
async function nothingLeft(): Promise<void> {
  await undoAll();
  await stopEsbuild();
  const started = (): ReturnType<typeof processesMarked> => processesMarked('MCP_TOOLSETS_TEST_RUN', runId);
  const processes = await waitUntilGone(started, endLimitMs);
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(tempPrefix));
  for (const { pid, command } of processes) console.log(`Left: process ${pid} ${command}`);
  for (const folder of folders) console.log(`Left: folder ${join(tmpdir(), folder)}`);
  count('nothing is left of the run', processes.length + folders.length === 0);
}

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  console.log(`\n== ${what}`);
  const start = Date.now();
  try {
    return await work();
  } finally {
    console.log(`== ${what}: ${seconds(start)}`);
  }
}

function seconds(start: number): string {
  return `${((Date.now() - start) / 1000).toFixed(1)} s`;
}

function count(what: string, passed: boolean): void {
  add(total, { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 });
  if (!passed) failures.push(what);
}

keepCertificatesForInstalls();
undoOnSignals();
main()
  .catch((error: unknown) => {
    console.error(error);
    count(error instanceof Error ? error.message : String(error), false);
  })
  .then(async () => {
    await undoAll();
    if (failedAtFirst.length > 0) console.log(`\nFailed at first, run again:\n${indented(failedAtFirst)}`);
    if (failures.length > 0) console.log(`\nFailed:\n${indented(failures)}`);
    console.log(`\n${summary(total)}`);
    process.exit(total.failed > 0 ? 1 : 0);
  })
  .catch(() => process.exit(1));
