/**
 * A server's log that a server cannot flood (spec S2): more lines than a person could read in a second are left out, and
 * a line says how many. What is written at level trace was asked for, and passes.
 */
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';

/** So many at once, and then so many a second. */
const burst = 500;
const perSecond = 50;

export function boundedLog(target: Log, clock: Clock): Log {
  let left = burst;
  let since = clock.now();
  let leftOut = 0;
  return {
    write: (level, message) => {
      if (level === 'trace') return target.write(level, message);
      const now = clock.now();
      left = Math.min(burst, left + (Math.max(0, now - since) / 1000) * perSecond);
      since = now;
      if (left < 1) {
        leftOut++;
        if (leftOut > 1) return;
        clock.after(1_000, () => {
          target.write('warn', `${leftOut} more lines within a second were left out.`);
          leftOut = 0;
        });
        return;
      }
      left--;
      target.write(level, message);
    },
  };
}
