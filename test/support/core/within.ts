import { setTimeout as pause } from 'node:timers/promises';
import { systemClock, type Clock } from '../../../src/core/base/clock.js';

/**
 * A limit for each wait of a test, far longer than any wait takes, so that a failure names the missing event. Slow
 * systems set the variable.
 */
export const patience = Number(process.env['MCP_TOOLSETS_TEST_PATIENCE'] ?? 1);
const patienceMs = 30_000 * patience;

/** The clock of the product under test. On slow systems its limits are longer too. */
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

/** Polls a state that has no event, such as the table of processes. */
export async function untilSo(is: () => boolean, what: string): Promise<void> {
  const limit = Date.now() + patienceMs;
  while (!is()) {
    if (Date.now() > limit) throw new Error(`Did not come: ${what}`);
    await pause(5);
  }
}
