/**
 * The objects promoted by V8, for tests that prove a collection without a full garbage collection.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
// Otherwise V8 learns from earlier tests which objects live long. It then allocates similar ones as
// old, and promotes everything reachable from such an object.
setFlagsFromString('--no-allocation-site-pretenuring');
export const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

/** Returns the bytes in use in the old space. */
export function oldSpace(): number {
  return (
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
      ?.space_used_size ?? NaN
  );
}
