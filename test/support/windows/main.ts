/**
 * `npm run test:windows`: the tests without an editor, with the Windows builds of Node under Wine.
 *
 *     npm run test:windows -- [--node 20|22|24|all] [--grep text] [folder or file of tests …]
 *
 * Each part is a run of mocha in a new Windows, so a broken part costs only itself. Skipped tests
 * are listed with their reasons.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runId, tempFolder, undoAll, undoOnSignals } from '../editor/cleanup.ts';
import { add, summary, type Counts } from '../editor/report.ts';
import { npm, repoRoot } from '../npm.mjs';
import { entriesIn } from '../testRun/journal.ts';
import { enter, nodeExe } from './place.ts';
import { newPrefix, nodeVersions, provisionWindows, type NodeMajor } from './provision.ts';

const defaultNode = 22;
/** Seconds per part. */
const limit = 3600;
/** The factor for a test's waits under Wine. */
const patience = 5;

type Line =
  | { readonly kind: 'passed'; readonly title: string }
  | { readonly kind: 'skipped'; readonly title: string; readonly reason?: string }
  | { readonly kind: 'failed'; readonly title: string; readonly error: string }
  | { readonly kind: 'end' };

const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const reasons = new Map<string, number>();
const failures: string[] = [];

async function main(): Promise<void> {
  const options = { node: { type: 'string' }, grep: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const wanted =
    values.node === 'all' ? Object.keys(nodeVersions) : [values.node ?? String(defaultNode)];
  await npm(['run', '--silent', 'build'], { quiet: true });
  for (const major of wanted) {
    if (!(major in nodeVersions))
      throw new Error(`--node knows ${Object.keys(nodeVersions).join(', ')} and all`);
    for (const part of parts(positionals))
      await runPart(Number(major) as NodeMajor, part, values.grep);
  }
}

interface Part {
  readonly name: string;
  readonly files: readonly string[];
}

/** The given files as one part, and each given folder as a part. */
function parts(asked: readonly string[]): Part[] {
  const names = asked.map((name) => relative(repoRoot, resolve(name)));
  const files = names.filter((name) => name.endsWith('.ts'));
  const integration = readdirSync(join(repoRoot, 'test/integration')).map((name) =>
    join('test/integration', name),
  );
  const folders =
    names.length === 0
      ? ['test/unit', 'test/integration']
      : names.filter((name) => !files.includes(name));
  return [
    ...(files.length > 0 ? [{ name: files.join(' '), files }] : []),
    ...folders
      .flatMap((name) => (name === 'test/integration' ? integration.sort() : [name]))
      .map(testsIn),
  ];
}

function testsIn(folder: string): Part {
  const files = readdirSync(join(repoRoot, folder), { recursive: true, encoding: 'utf8' });
  const tests = files.filter((name) => name.endsWith('.test.ts')).sort();
  return { name: folder, files: tests.map((name) => join(folder, name)) };
}

async function runPart(
  major: NodeMajor,
  { name, files }: Part,
  grep: string | undefined,
): Promise<void> {
  const { root, node, modules } = await provisionWindows(major);
  console.log(`\n== ${name}, Node ${nodeVersions[major]} for Windows`);
  const begun = Date.now();
  const prefix = await newPrefix(root, node);
  const out = tempFolder();
  const mocha = [
    ...['--import', 'file:///Z:/project/test/support/windows/preload.mjs', '--import', 'tsx'],
    ...['node_modules\\mocha\\bin\\mocha.js', '--timeout', '60000', '--exit'],
    ...['--reporter', 'file:///Z:/project/test/support/windows/reporter.mjs'],
    ...(grep === undefined ? [] : ['--grep', grep]),
  ];
  // The shell stays to reap orphans. Otherwise Node would stay as a zombie after a crash of Wine's
  // own server.
  const script = `cd /project
    timeout "$0" wine64 "$@" >/out/output.txt 2>&1 </dev/null &
    while kill -0 $! 2>/dev/null; do
      case "$(cat /out/output.txt)" in *'wineserver crashed'*) exit 1 ;; esac
      sleep 1
    done
    wait $!`;
  const variables = [
    'env',
    'MCP_TOOLSETS_TEST_LINES=Z:\\out\\lines.jsonl',
    `MCP_TOOLSETS_TEST_RUN=${runId}`,
    `MCP_TOOLSETS_TEST_PATIENCE=${patience}`,
  ];
  const code = await enter(
    { root, node, modules, prefix: prefix.path, out: out.path, project: repoRoot },
    [
      ...[...variables, 'sh', '-c', script, String(limit), nodeExe],
      ...[...mocha, ...files.map((file) => file.replaceAll('/', '\\'))],
    ],
  );
  const lines = join(out.path, 'lines.jsonl');
  const entries = existsSync(lines) ? entriesIn<Line>(readFileSync(lines, 'utf8')) : [];
  const counts = count(entries, major);
  if (!entries.some(({ kind }) => kind === 'end')) {
    counts.failed += 1;
    failures.push(`${name} (Node ${major}) broke off with exit code ${code}`);
    console.log(readFileSync(join(out.path, 'output.txt'), 'utf8').slice(-3000));
  }
  add(total, counts);
  console.log(`== ${name}: ${summary(counts)} in ${((Date.now() - begun) / 1000).toFixed(0)} s`);
  await prefix.remove();
  await out.remove();
}

function count(entries: readonly Line[], major: NodeMajor): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const entry of entries) {
    if (entry.kind === 'end') continue;
    counts[entry.kind] += 1;
    if (entry.kind === 'failed') {
      failures.push(`${entry.title} (Node ${major})`);
      console.log(`✘ ${entry.title}\n    ${entry.error.split('\n').slice(0, 12).join('\n    ')}`);
    }
    if (entry.kind !== 'skipped') continue;
    const reason = entry.reason ?? `no reason given: ${entry.title}`;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return counts;
}

undoOnSignals();
main()
  .catch((error: unknown) => {
    total.failed += 1;
    failures.push(error instanceof Error ? error.message : String(error));
  })
  .then(async () => {
    await undoAll();
    if (reasons.size > 0) console.log('\nSkipped:');
    for (const [reason, times] of reasons) console.log(`  ${times} × ${reason}`);
    if (failures.length > 0)
      console.log(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}`);
    console.log(`\n${summary(total)}`);
    process.exit(total.failed > 0 ? 1 : 0);
  })
  .catch(() => process.exit(1));
