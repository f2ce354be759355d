import { setTimeout as pause } from 'node:timers/promises';
import { systemClock, type Clock } from '../../../src/core/base/clock.js';

/**
 * A limit for what a test waits for, so that a failure says what did not come; far longer than anything takes. The
 * variable is for systems on which all takes several times as long.
 */
export const patience = Number(process.env['MCP_TOOLSETS_TEST_PATIENCE'] ?? 1);
const patienceMs = 30_000 * patience;

/** The clock of what is under test: where all takes longer, its limits are longer, too. */
export const patientClock: Clock = {
  now: () => systemClock.now(),
  after: (ms, run) => systemClock.after(ms * patience, run),
};

export async function within<T>(
  promise: Promise<T>,
  what: string,
  describe: () => string = () => '',
  limitMs = patienceMs,
): Promise<T> {
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

/** Looks again and again, for what tells nobody that it has changed, such as the table of processes. */
export async function untilSo(is: () => boolean, what: string): Promise<void> {
  const limit = Date.now() + patienceMs;
  while (!is()) {
    if (Date.now() > limit) throw new Error(`Did not come: ${what}`);
    await pause(5);
  }
}
