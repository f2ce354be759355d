import { readFileSync } from 'node:fs';

const schedule = '/proc/thread-self/schedstat';

/**
 * The processor time of this thread, in milliseconds. Time of the collector, the compiler and other
 * programs does not count. The system updates it with each tick of the scheduler, some 4 ms. On
 * systems without this figure it is the time of all threads of the process.
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
