/**
 * Messages to `outer.mjs`, the parent process of a run of tests. Without a parent they go nowhere.
 */
import type { Counts } from '../editor/report.ts';

export interface Message {
  readonly counts?: Counts;
  /** The first process of a lane, which the parent ends if this process is killed. */
  readonly lane?: number;
  /** Everything has been printed but the closing line. */
  readonly isDone?: true;
}

export const hasParent = process.send !== undefined;

/** Resolves when the message has left, or if the parent is gone. */
export function tell(message: Message): Promise<void> {
  return new Promise((done) => {
    if (process.send && process.connected)
      process.send(message, undefined, undefined, () => done());
    else done();
  });
}
