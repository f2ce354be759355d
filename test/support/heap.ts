/** What V8 has promoted, for tests that show that something is collected without a collection of the whole heap. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
// Otherwise V8 learns from all the tests before which objects live long, has their like be old from the start, and
// whatever such an object leads to is promoted with it.
setFlagsFromString('--no-allocation-site-pretenuring');
export const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

/** Returns the bytes in use in the old space. */
export function oldSpace(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? NaN;
}
