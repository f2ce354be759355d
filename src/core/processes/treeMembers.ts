import { setTimeout as pause } from 'node:timers/promises';

export interface TreeMembers {
  /** Finds the present members, so a member stays known after it loses its parent. */
  look?(): Promise<unknown>;
  readonly pids: readonly number[];
  firstEnded(): void;
  /** Windows has no request to end: there, either signal ends all members. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /**
   * Resolves to true if all are gone before `deadline()` (in the time of `performance.now`), which
   * may move.
   */
  goneBefore(deadline: () => number): Promise<boolean>;
  /** The reason why some members may not be found; undefined if all are. */
  readonly caution?: string | undefined;
}

export interface TreeKeeper {
  /** Called before the process comes into being, to load slow parts. */
  prepare?(): void;
  /** Called in the turn of the process's creation. All of its tree carry `mark`. */
  admit(pid: number, mark: string): TreeMembers;
  release(pid: number): void;
  dispose(): Promise<void>;
}

/** The first waits are short, to notice a fast end at once. */
const pollsMs = [2, 3, 5, 5, 10, 10, 20];
const slowestPollMs = 40;

/** Repeats until `gone` returns true. In `quick` turns, an expensive look does not pay. */
export async function pollUntilGone(
  gone: (turn: number, quick: boolean) => Promise<boolean> | boolean,
  deadline: () => number,
): Promise<boolean> {
  for (let turn = 0; ; turn++) {
    if (await gone(turn, turn <= pollsMs.length)) return true;
    const left = deadline() - performance.now();
    if (left <= 0) return false;
    await pause(Math.min(left, pollsMs[turn] ?? slowestPollMs));
  }
}

/**
 * Ends members that did not end at the end of their input. @param graces the steps in milliseconds
 */
export async function endMembers(
  members: TreeMembers,
  graces: Readonly<Record<'term' | 'kill', number>>,
): Promise<void> {
  const goneWithin = (ms: number): Promise<boolean> => {
    const deadline = performance.now() + ms;
    return members.goneBefore(() => deadline);
  };
  members.signal('SIGTERM');
  if (await goneWithin(graces.term)) return;
  const deadline = performance.now() + graces.kill;
  // This is repeated, because a process forking while it is killed leaves children unseen by the
  // last look.
  do members.signal('SIGKILL');
  while (!(await goneWithin(100)) && performance.now() < deadline);
}
