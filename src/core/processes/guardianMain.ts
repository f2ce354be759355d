/**
 * The program of the guardian, bundled to a file of its own (see guardian.ts). It runs when the host is gone.
 *
 * node guardian.js MARK GROUP…     ends these trees and all that carries the mark
 */
import { LivingTree } from './livingTree.js';

/** The limit in milliseconds; rule X5 allows 5 s from the death of the host, Node's start included. */
const graces = { endOfInput: 500, term: 1000, kill: 2500 } as const;

async function endTrees(mark: string, groups: readonly number[]): Promise<void> {
  const living = new LivingTree({ groups, mark });
  const within = (ms: number): Promise<boolean> => {
    const deadline = performance.now() + ms;
    return living.goneBefore(() => deadline);
  };
  await living.look(true);
  if (await within(graces.endOfInput)) return;
  living.signal('SIGTERM');
  if (await within(graces.term)) return;
  const deadline = performance.now() + graces.kill;
  do living.signal('SIGKILL');
  while (!(await within(100)) && performance.now() < deadline);
}

async function main(): Promise<void> {
  const [mark, ...groups] = process.argv.slice(2);
  if (mark === undefined) throw new Error('Started without a mark');
  await endTrees(mark, groups.map(Number));
}

main().then(
  () => process.exit(0),
  () => process.exit(1),
);
