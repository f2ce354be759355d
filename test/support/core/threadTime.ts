import { readFileSync } from 'node:fs';

const schedule = '/proc/thread-self/schedstat';

/**
 * How long this thread has had a processor, in milliseconds. What the collector and the compiler do beside it is not counted,
 * nor is what other programs do. It is brought up to date with each tick of the scheduler, some 4 ms. Where the system does
 * not tell, it is the time of all threads of the process.
 */
export const threadTime: () => number = tells()
  ? () => Number(readFileSync(schedule, 'latin1').split(' ')[0]) / 1e6
  : () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };

function tells(): boolean {
  try {
    return Number(readFileSync(schedule, 'latin1').split(' ')[0]) > 0;
  } catch {
    return false;
  }
}
