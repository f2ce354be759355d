/**
 * `npm test`: it builds, and then runs the lanes of `plan.ts`. A failing lane does not stop the
 * others. The checks take the remaining time, and each counts as one test.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { keepCertificatesForInstalls } from '../installs.ts';
import { editorChoiceVariable } from '../editor/versions.ts';
import { planLanes, scriptLane, type PlannedLane } from './plan.ts';
import { count, lane, runToItsEnd } from './run.ts';
import { shareBundles } from './sharedBundles.ts';

const checks = ['check:types', 'check:lint', 'check:format'] as const;

/** Lanes at a time. Each waits for processes, windows and timers a part of its time. */
const atATime = availableParallelism() + 2;
/** A window uses more than one processor while it opens, so each leaves one to the other lanes. */
const editorsAtATime = Math.max(1, availableParallelism() - 1);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, grep: { type: 'string' }, editor: { type: 'string' } },
  });
  if (values.editor !== undefined) process.env[editorChoiceVariable] = values.editor;
  const { only, grep } = values;
  const names = only?.split(',');
  const planned = planLanes(names, grep);

  const needsBuild = planned.some((one) => one.needsBuild);
  const isBuilt = needsBuild && (await lane(scriptLane('build', 'terminal')));
  shareBundles(isBuilt);
  const isOfEditor = ({ lane: { part } }: { lane: { part: string } }): boolean => part === 'editor';
  const cannotRun = isBuilt ? [] : planned.filter(isOfEditor);
  if (cannotRun.length > 0) count('editor suites: the build failed', false);

  const work = planned.filter((one) => !cannotRun.includes(one));
  let editors = 0;
  const takeNext = (): PlannedLane | undefined => {
    const mayRun = (one: PlannedLane): boolean => !isOfEditor(one) || editors < editorsAtATime;
    const index = work.findIndex(mayRun);
    return work.splice(Math.max(index, 0), 1)[0];
  };
  const oneAfterAnother = async (): Promise<void> => {
    for (let next = takeNext(); next; next = takeNext()) {
      const opens = isOfEditor(next);
      if (opens) editors++;
      await lane(next.lane);
      if (opens) editors--;
    }
  };
  const allChecks = async (): Promise<void> => {
    if (grep !== undefined || (names !== undefined && !names.includes('unit'))) return;
    for (const script of checks) await lane({ ...scriptLane(script), givesWay: true });
  };
  await Promise.all([...Array.from({ length: atATime }, oneAfterAnother), allChecks()]);
}

keepCertificatesForInstalls();
runToItsEnd(main);
