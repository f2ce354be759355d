/**
 * Everything `npm test` runs, one part after the other; a part that fails does not keep the next from running. Each
 * check that is not itself a set of tests counts as one test. The last line of output is the sum.
 */
import { stop as stopEsbuild } from 'esbuild';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { npm, repoRoot } from '../npm.mjs';
import { runId, tempFolder, tempPrefix, undoAll, undoOnSignals } from '../editor/cleanup.ts';
import { processesMarked, waitUntilGone } from '../editor/processes.ts';
import { provisionServerForm } from '../editor/provision.ts';
import { add, summary, type Counts } from '../editor/report.ts';
import { runEditorSuites } from '../editor/run.ts';

const parts = ['unit', 'integration', 'editor'] as const;
type Part = (typeof parts)[number];

/** How long what the tests started may take to end, in milliseconds. */
const endLimitMs = 5_000;

const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' }, grep: { type: 'string' } } });
  const { only, grep } = values;
  if (only !== undefined && !parts.includes(only as Part)) throw new Error(`--only knows ${parts.join(', ')}`);
  const wanted = (part: Part): boolean => only === undefined || only === part;

  if (wanted('unit')) {
    if (grep === undefined) for (const script of ['check:types', 'check:lint', 'check:format']) await check(script);
    await mocha('test:unit', grep);
  }
  const built = (only !== 'unit' && (await check('build'))) || only === 'unit';
  if (wanted('integration')) await mocha('test:integration', grep);
  if (wanted('editor') && built) {
    await timed('editor suites', async () => {
      await provisionServerForm();
      const counts = await runEditorSuites({ grep });
      add(total, counts);
      failures.push(...counts.failures.map(({ fullTitle }) => `editor: ${fullTitle}`));
    });
  } else if (wanted('editor')) {
    count('editor suites: the build failed', false);
  }
  await nothingLeft();
}

/** One npm script as one test. */
async function check(script: string): Promise<boolean> {
  return timed(script, async () => {
    const passed = (await npm(['run', '--silent', script])) === 0;
    count(script, passed);
    return passed;
  });
}

/** An npm script that runs mocha; its tests are counted. A run that breaks off is one more failure. */
async function mocha(script: string, grep: string | undefined): Promise<void> {
  await timed(script, async () => {
    const folder = tempFolder();
    const file = join(folder.path, 'counts.json');
    const args = ['--reporter', join(repoRoot, 'test/support/testRun/reporter.mjs'), ...(grep ? ['--grep', grep] : [])];
    const env = { ...process.env, MCP_TOOLSETS_TEST_COUNTS: file };
    const code = await npm(['run', '--silent', script, '--', ...args], { env });
    const counts = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Counts) : undefined;
    if (counts) add(total, counts);
    if (counts && counts.failed > 0) failures.push(`${script}: ${counts.failed} tests`);
    else if (!counts || code !== 0) count(`${script} broke off (exit code ${code})`, false);
    await folder.remove();
  });
}

/** No process and no folder of this run is there any more. */
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
    console.log(`== ${what}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
  }
}

function count(what: string, passed: boolean): void {
  add(total, { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 });
  if (!passed) failures.push(what);
}

undoOnSignals();
main()
  .catch((error: unknown) => {
    console.error(error);
    count(error instanceof Error ? error.message : String(error), false);
  })
  .then(async () => {
    await undoAll();
    if (failures.length > 0) console.log(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}`);
    console.log(`\n${summary(total)}`);
    process.exit(total.failed > 0 ? 1 : 0);
  })
  .catch(() => process.exit(1));
