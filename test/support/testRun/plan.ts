/**
 * The lanes of `npm test`, with the names by which `--only` chooses them. They are the editor
 * suites inside an editor and outside, the folders of the integration tests, the adversarial tests,
 * the benches and the unit tests. Each bench runs once and briefly, to see that it works.
 *
 * The suites that mostly wait are divided among several lanes: two windows for the suites inside an
 * editor, and shares of the files of a folder.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand, repoRoot } from '../npm.mjs';
import type { Place } from '../editor/run.ts';
import { laneSeconds } from './seconds.ts';
import type { Lane } from './lane.ts';
import { inShare, wholeShare, writtenShare, type Share } from './shares.ts';

export interface PlannedLane {
  readonly lane: Lane;
  /** The lane runs if `--only` has one of these. */
  readonly names: readonly string[];
  /** It needs `dist/` of this run. */
  readonly needsBuild: boolean;
}

export const editorShares = 2;

/** Test files of one mocha script, divided among lanes. */
export interface TestFolder {
  /** "integration core" */
  readonly title: string;
  readonly path: string;
  readonly script: string;
  /** `--only` knows the last one with a number too, for a share. */
  readonly names: readonly string[];
}

/** The number of lanes for a folder of tests. Others have one. */
const folderShares: Readonly<Record<string, number>> = {
  core: 2,
  cli: 2,
  connections: 2,
  adversarial: 2,
};

const integration = 'test/integration';

export function testFolders(): TestFolder[] {
  const adversarial = {
    title: 'adversarial',
    path: 'test/adversarial',
    script: 'test:adversarial',
    names: ['adversarial'],
  };
  const others = readdirSync(join(repoRoot, integration)).map((name) => ({
    title: `integration ${name}`,
    path: `${integration}/${name}`,
    script: 'test:integration',
    names: ['integration', name],
  }));
  return [adversarial, ...others];
}

/**
 * The lanes, longest first, so that all end at about the same time. Only the first one writes to
 * the terminal at once.
 * @param only names of lanes and parts. Undefined means all.
 */
export function planLanes(
  only: readonly string[] | undefined,
  grep: string | undefined,
): PlannedLane[] {
  const all = [
    ...sharesOf(editorShares).map((share) => editorSuites('inside', share, grep)),
    editorSuites('outside', wholeShare, grep),
    ...testFolders().flatMap((folder) =>
      sharesOf(folderShares[lastName(folder)] ?? 1).map((share) =>
        testsOfShare(folder, share, grep),
      ),
    ),
    ...(grep === undefined ? [bench()] : []),
    mochaLane('unit', 'test:unit', [], grep),
  ];
  const known = new Set(all.flatMap(({ names }) => names));
  const unknown = (only ?? []).filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new Error(`--only knows ${[...known].join(', ')}, and not ${unknown.join(', ')}`);
  return all
    .filter(({ names }) => only === undefined || names.some((name) => only.includes(name)))
    .sort((a, b) => secondsOf(b) - secondsOf(a))
    .map((planned, index) =>
      index === 0 ? { ...planned, lane: { ...planned.lane, output: 'terminal' } } : planned,
    );
}

const secondsOf = ({ lane }: PlannedLane): number => laneSeconds[lane.title] ?? 0;

function sharesOf(count: number): Share[] {
  return Array.from({ length: count }, (_, index) => ({ index: index + 1, of: count }));
}

/** "core", or "core 2/3" for one of several shares. */
const titleOf = (name: string, share: Share): string =>
  share.of === 1 ? name : `${name} ${writtenShare(share)}`;

/** The name of a share for `--only`: "core-2". */
const nameOf = (name: string, { index }: Share): string => `${name}-${index}`;

function editorSuites(place: Place, share: Share, grep: string | undefined): PlannedLane {
  const script = join(repoRoot, 'test/support/editor/run.ts');
  const args = ['--import', 'tsx', script, '--where', place, '--twice'];
  if (share.of > 1) args.push('--share', writtenShare(share));
  if (grep !== undefined) args.push('--grep', grep);
  return {
    lane: {
      title: titleOf(`editor ${place}`, share),
      part: 'editor',
      command: process.execPath,
      args,
      hasTests: true,
      output: 'after',
    },
    names: ['editor', place, nameOf(place, share)],
    needsBuild: true,
  };
}

const lastName = ({ names }: TestFolder): string => names.at(-1) ?? '';

/** The test files of a folder, from the root of the repository. */
export function filesOf({ path }: TestFolder): string[] {
  return readdirSync(join(repoRoot, path))
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => `${path}/${name}`);
}

/**
 * The test files of a share of a folder. A file takes about as long as its text is, because each
 * test waits for a few processes.
 */
export function filesOfShare(folder: TestFolder, share: Share): string[] {
  return inShare(filesOf(folder), (file) => statSync(join(repoRoot, file)).size, share);
}

function testsOfShare(folder: TestFolder, share: Share, grep: string | undefined): PlannedLane {
  const { title, path, script, names } = folder;
  const others = testFolders().filter((other) => other.script === script && other.path !== path);
  const mine = new Set(filesOfShare(folder, share));
  const left = [
    ...others.map((other) => `${other.path}/**`),
    ...filesOf(folder).filter((file) => !mine.has(file)),
  ];
  const planned = mochaLane(titleOf(title, share), script, left, grep);
  return { ...planned, names: [...names, nameOf(lastName(folder), share)] };
}

/**
 * An npm script that runs mocha.
 * @param left files and patterns that the lane leaves to others
 */
function mochaLane(
  title: string,
  script: string,
  left: readonly string[],
  grep: string | undefined,
): PlannedLane {
  const args = ['--reporter', join(repoRoot, 'test/support/testRun/reporter.mjs')];
  if (grep !== undefined) args.push('--grep', grep);
  args.push(...left.flatMap((file) => ['--ignore', file]));
  if (process.stdout.isTTY) args.push('--color');
  return {
    lane: {
      title,
      part: script,
      ...npmCommand(['run', '--silent', script, '--', ...args]),
      hasTests: true,
      output: 'after',
    },
    names: [title],
    needsBuild: title !== 'unit',
  };
}

function bench(): PlannedLane {
  return { lane: scriptLane('test:bench'), names: ['bench'], needsBuild: true };
}

/** One npm script as one test. */
export function scriptLane(script: string, output: Lane['output'] = 'after'): Lane {
  return {
    title: script.replace(/^test:/, ''),
    part: script,
    ...npmCommand(['run', '--silent', script]),
    hasTests: false,
    output,
  };
}
