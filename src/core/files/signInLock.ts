/** Of all processes of a person, one at a time renews a sign-in (X7e). */
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import { underLock } from './fileLock.js';

/** Longer than a renewal may take, in milliseconds. */
const patienceMs = 40_000;

/** @param folder has a lock for each sign-in while somebody renews it */
export function signInLock(folder: string, clock: Clock) {
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    let hasBegun = false;
    const begin = (): Promise<T> => {
      hasBegun = true;
      return work();
    };
    try {
      return await underLock(path.join(folder, key), clock, begin, patienceMs);
    } catch (error) {
      if (hasBegun) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Error(
        code === 'EEXIST'
          ? 'Another process renews this sign-in and does not finish.'
          : `No other process can be kept from renewing this sign-in: ${message}`,
        { cause: error },
      );
    }
  };
}
