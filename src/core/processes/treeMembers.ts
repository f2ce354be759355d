/** Declares what a stop needs of the members of a server's process tree, however the system tells them (X5). */
import { setTimeout as pause } from 'node:timers/promises';

export interface TreeMembers {
  /** Finds who belongs now, so that who loses its parent later stays known. */
  look(): Promise<unknown>;
  /** The ids of those that lived at the last look. */
  readonly pids: readonly number[];
  /** Notes that the first process has ended. */
  firstEnded(): void;
  /** Windows knows no request to end: there, either signal ends them all. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /** Resolves with whether all are gone before `deadline()` (in the time of `performance.now`), which may move. */
  goneBefore(deadline: () => number): Promise<boolean>;
  /** Says why some members may not be found; undefined when all are. */
  readonly caution?: string | undefined;
}

/** Sees to it that no process tree outlives this process. */
export interface TreeKeeper {
  /** Called before the process comes into being, to load what takes time. */
  prepare(): void;
  /** Called in the turn in which the process comes into being. All of its tree carry `mark`. */
  admit(pid: number, mark: string): TreeMembers;
  /** Called when nothing of the tree is left. */
  release(pid: number): void;
  /** Ends what was not released. */
  dispose(): Promise<void>;
}

/** The first waits are short, so that a server that goes at once is seen to be gone at once. */
const pollsMs = [2, 3, 5, 5, 10, 10, 20];
const slowestPollMs = 40;

/** Asks until `gone` says yes. `quick` is true in the first turns, in which an expensive look does not pay yet. */
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
