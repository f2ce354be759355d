/**
 * `node guardian.js MARK GROUP…` ends these trees and all that carries the mark (see guardian.ts).
 */
import { LivingTree } from './livingTree.js';
import { endMembers } from './treeMembers.js';

/**
 * The limit in milliseconds; rule X5 allows 5 s from the death of the host, Node's start included.
 */
const graces = {
  endOfInput: 500,
  term: 1000,
  kill: 2500,
} as const;

async function main(): Promise<void> {
  const [mark, ...groups] = process.argv.slice(2);
  if (mark === undefined) throw new Error('Started without a mark');
  const living = new LivingTree({ groups: groups.map(Number), mark });
  await living.look(true);
  const deadline = performance.now() + graces.endOfInput;
  if (!(await living.goneBefore(() => deadline))) await endMembers(living, graces);
}

main().then(
  () => process.exit(0),
  () => process.exit(1),
);
