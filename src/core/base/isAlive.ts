import { readFileSync } from 'node:fs';
import { unlessThrown } from './unlessThrown.js';

/**
 * True if the process exists, ours or not. For a negative number, true if its process group has
 * members. A process has ended, although the system still lists it, if its parent does not ask for
 * it. The first process of a container may never do so.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const stat = unlessThrown(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
  return !/\) [ZX] [^)]*$/.test(stat);
}
