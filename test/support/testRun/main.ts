/**
 * The lanes of `npm test`. A failing lane does not stop the others. They are the editor suites
 * inside an editor and outside, the folders of the integration tests, the adversarial tests, the
 * benches and the unit tests. Each bench runs once and briefly, to see that it works. Three lanes
 * run at a time, because each waits now and then. Two would leave a sixth of two processors idle.
 * The checks take the remaining time, and each counts as one test.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepCertificatesForInstalls } from '../installs.ts';
import { npmCommand, repoRoot } from '../npm.mjs';
import type { Place } from '../editor/run.ts';
import { editorChoiceVariable } from '../editor/versions.ts';
import type { Lane } from './lane.ts';
import { count, lane, runToItsEnd } from './run.ts';

const parts = ['unit', 'integration', 'adversarial', 'editor', 'bench'] as const;
type Part = (typeof parts)[number];

const checks = ['check:types', 'check:lint', 'check:format'] as const;

/**
 * The rough duration of a lane beside two others, in seconds on two processors. It only decides the
 * order. The longest lane comes first, so that all end at about the same time. A lane without an
 * entry takes a few seconds and comes last.
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
  'integration suite': 75,
  'integration conformance': 60,
  unit: 40,
  'integration servers': 40,
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, grep: { type: 'string' }, editor: { type: 'string' } },
  });
  if (values.editor !== undefined) process.env[editorChoiceVariable] = values.editor;
  const { only, grep } = values;
  if (only !== undefined && !parts.includes(only as Part))
    throw new Error(`--only knows ${parts.join(', ')}`);
  const wanted = (part: Part): boolean => only === undefined || only === part;

  const built = only === 'unit' || (await lane(check('build', 'terminal')));
  const all = grep === undefined;
  const beside: Output = wanted('editor') ? 'after' : 'terminal';
  const work: Lane[] = [];
  if (wanted('editor') && built)
    work.push(editorSuites('inside', grep), editorSuites('outside', grep));
  if (wanted('editor') && !built) count('editor suites: the build failed', false);
  if (only === 'integration') work.push(mocha('test:integration', grep, beside));
  if (only === undefined)
    for (const folder of integrationFolders())
      work.push(mocha('test:integration', grep, beside, folder));
  if (wanted('adversarial')) work.push(mocha('test:adversarial', grep, beside));
  if (wanted('bench') && all) work.push(check('test:bench', beside));
  if (wanted('unit')) work.push(mocha('test:unit', grep, beside));
  work.sort((a, b) => (duration[b.title] ?? 0) - (duration[a.title] ?? 0));
  const oneAfterAnother = async (): Promise<void> => {
    for (let next = work.shift(); next; next = work.shift()) await lane(next);
  };
  const allChecks = async (): Promise<void> => {
    if (wanted('unit') && all)
      for (const script of checks) await lane({ ...check(script, 'after'), givesWay: true });
  };
  await Promise.all([oneAfterAnother(), oneAfterAnother(), oneAfterAnother(), allChecks()]);
}

type Output = Lane['output'];

/** The editor suites of one place. */
function editorSuites(place: Place, grep: string | undefined): Lane {
  const script = join(repoRoot, 'test/support/editor/run.ts');
  const args = [
    '--import',
    'tsx',
    script,
    '--where',
    place,
    '--twice',
    ...(grep ? ['--grep', grep] : []),
  ];
  const output = place === 'inside' ? 'terminal' : 'after';
  return {
    title: `editor ${place}`,
    part: 'editor',
    command: process.execPath,
    args,
    hasTests: true,
    output,
  };
}

/** One npm script as one test. */
function check(script: string, output: Output): Lane {
  const title = script.replace(/^test:/, '');
  return {
    title,
    part: script,
    ...npmCommand(['run', '--silent', script]),
    hasTests: false,
    output,
  };
}

function integrationFolders(): string[] {
  return readdirSync(join(repoRoot, 'test/integration'));
}

/**
 * An npm script that runs mocha.
 * @param folder runs only this folder of the integration tests
 */
function mocha(script: string, grep: string | undefined, output: Output, folder?: string): Lane {
  const args = [
    '--reporter',
    join(repoRoot, 'test/support/testRun/reporter.mjs'),
    ...(grep ? ['--grep', grep] : []),
  ];
  const others = folder === undefined ? [] : integrationFolders().filter((name) => name !== folder);
  args.push(...others.flatMap((name) => ['--ignore', `test/integration/${name}/**`]));
  if (output === 'terminal' && process.stdout.isTTY) args.push('--color');
  const name = script.replace(/^test:/, '');
  return {
    title: folder === undefined ? name : `${name} ${folder}`,
    part: script,
    ...npmCommand(['run', '--silent', script, '--', ...args]),
    hasTests: true,
    output,
  };
}

keepCertificatesForInstalls();
runToItsEnd(main);
