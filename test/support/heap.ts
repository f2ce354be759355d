/** What V8 has promoted, for tests that show that something is collected without a collection of the whole heap. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
export const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

/** Returns the bytes in use in the old space. */
export function oldSpace(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? NaN;
}
