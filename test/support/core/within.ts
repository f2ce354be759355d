/**
 * The two ways of a test to wait.
 * - `within` and `untilSo` wait for an event or a state of the product under test. They have a limit, because a product
 *   that does not do it never will.
 * - `work` is for all that only takes time: a build, an installation, a download, the start of an editor. It has no
 *   limit, because a slow machine is no failure. If it never ends, the watchdog of `npm test` says so.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock, type Clock } from '../../../src/core/base/clock.js';
import { note } from '../testRun/journal.js';
import { outlast, withoutLimit } from './runnable.js';

/**
 * A limit for each wait of a test, far longer than any wait takes, so that a failure names the
 * missing event. Slow systems set the variable.
 */
export const patience = Number(process.env['MCP_TOOLSETS_TEST_PATIENCE'] ?? 1);
const patienceMs = 60_000 * patience;
/** The limit of mocha comes this much later than the limit of an event. */
const laterMs = 10_000;

/** The clock of the product under test. On slow systems its limits are longer too. */
export const patientClock: Clock = {
  now: () => systemClock.now(),
  awake: () => systemClock.awake(),
  after: (ms, run) => systemClock.after(ms * patience, run),
};

export async function within<T>(
  promise: Promise<T>,
  what: string,
  describe: () => string = () => '',
  limitMs = patienceMs,
): Promise<T> {
  outlast(limitMs + laterMs);
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Did not come: ${what}\n${describe()}`)), limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Polls a state that has no event, such as the table of processes. To read that table takes some
 * milliseconds, so a long wait looks less often.
 */
export async function untilSo(is: () => boolean, what: string): Promise<void> {
  outlast(patienceMs + laterMs);
  const limit = Date.now() + patienceMs;
  for (let pauseMs = 5; !is(); pauseMs = Math.min(2 * pauseMs, 20)) {
    if (Date.now() > limit) throw new Error(`Did not come: ${what}`);
    await pause(pauseMs);
  }
}

/** @param what for the watchdog: "the build of the command line" */
export async function work<T>(what: string, run: () => T | Promise<T>): Promise<T> {
  const goOn = withoutLimit();
  note({ kind: 'work', what });
  try {
    return await run();
  } finally {
    note({ kind: 'worked', what });
    goOn();
  }
}

/** `work` that blocks the event loop. */
export function blockingWork<T>(what: string, run: () => T): T {
  const goOn = withoutLimit();
  note({ kind: 'work', what });
  try {
    return run();
  } finally {
    note({ kind: 'worked', what });
    goOn();
  }
}

/**
 * Work that is done once for everyone who asks. A failure is not kept: the next one who asks tries
 * again.
 */
export function sharedWork<T>(what: string, run: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    work(what, () => {
      made ??= run().catch((error: unknown) => {
        made = undefined;
        throw error;
      });
      return made;
    });
}
