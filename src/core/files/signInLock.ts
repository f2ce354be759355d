/** Of all processes of a person, one at a time renews or changes a sign-in (X7e). */
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import { lock } from './fileLock.js';

/** Longer than a renewal may take, in milliseconds. */
const patienceMs = 40_000;

/** @param folder has a lock for each sign-in while somebody renews or changes it */
export function signInLock(folder: string, clock: Clock) {
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const file = path.join(folder, `${key}.lock`);
    const unlock = await lock(file, clock, patienceMs).catch((error: NodeJS.ErrnoException) => {
      throw new Error(
        error.code === 'EEXIST'
          ? 'Another process changes this sign-in and does not finish.'
          : `No other process can be kept from changing this sign-in: ${error.message}`,
        { cause: error },
      );
    });
    try {
      return await work();
    } finally {
      await unlock();
    }
  };
}
