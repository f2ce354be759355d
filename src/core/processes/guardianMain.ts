/**
 * The bundled program of the guardian, which runs when the host is gone (see guardian.ts).
 * `node guardian.js MARK GROUP…` ends these trees and all that carries the mark.
 */
import { LivingTree } from './livingTree.js';

/** The limit in milliseconds; rule X5 allows 5 s from the death of the host, Node's start included. */
const graces = { endOfInput: 500, term: 1000, kill: 2500 } as const;

async function main(): Promise<void> {
  const [mark, ...groups] = process.argv.slice(2);
  if (mark === undefined) throw new Error('Started without a mark');
  const living = new LivingTree({ groups: groups.map(Number), mark });
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

main().then(
  () => process.exit(0),
  () => process.exit(1),
);
