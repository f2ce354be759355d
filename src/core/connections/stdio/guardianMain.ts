/**
 * The program of the guardian, bundled to a file of its own (see guardian.ts). Runs when the host is gone.
 *
 *   node guardian.js end MARK GROUP…     ends these trees and all that carries the mark; the shell calls it so
 *   node guardian.js watch MARK          reads `add GROUP`, `del GROUP` and `bye`, does the same at the end of input
 */
import { createInterface } from 'node:readline';
import { LivingTree } from './livingTree.js';

/** In milliseconds; rule X5 allows 5 s from the death of the host, Node's start included. */
const graces = { endOfInput: 500, term: 1000, kill: 2500 } as const;

async function endTrees(mark: string, groups: readonly number[]): Promise<void> {
  const living = new LivingTree({ groups, mark });
  const within = (ms: number): Promise<boolean> => {
    const deadline = performance.now() + ms;
    return living.goneBefore(() => deadline);
  };
  await living.look(true);
  if (process.platform === 'win32') {
    for (let turn = 0; turn < 3 && living.pids.length > 0; turn++) {
      await living.killOnWindows();
      await living.look(false);
    }
    return;
  }
  if (await within(graces.endOfInput)) return;
  living.signal('SIGTERM');
  if (await within(graces.term)) return;
  const deadline = performance.now() + graces.kill;
  do living.signal('SIGKILL');
  while (!(await within(100)) && performance.now() < deadline);
}

async function watch(): Promise<{ readonly groups: readonly number[]; readonly calm: boolean }> {
  const groups = new Set<number>();
  let calm = false;
  for await (const line of createInterface({ input: process.stdin, terminal: false })) {
    const [what, group] = line.split(' ');
    if (what === 'bye') calm = true;
    if (what === 'add') groups.add(Number(group));
    if (what === 'del') groups.delete(Number(group));
  }
  return { groups: [...groups], calm };
}

async function main(): Promise<void> {
  const [mode, mark, ...rest] = process.argv.slice(2);
  if (mark === undefined) throw new Error('Started without a mark');
  const { groups, calm } = mode === 'watch' ? await watch() : { groups: rest.map(Number), calm: false };
  if (groups.length > 0 || !calm) await endTrees(mark, groups);
}

main().then(
  () => process.exit(0),
  () => process.exit(1),
);
