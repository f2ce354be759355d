/** Which era each launch was seen to speak (X8), while this process lives. What it spoke before comes from outside. */
import { BoundedMap } from '../../base/boundedMap.js';
import type { Era } from '../../protocol/versions.js';

/** What is known of one launch from one start of it to the next. */
export interface EraMemory {
  readonly expected: Era;
  readonly onSeen: (era: Era) => void;
}

const mostLaunches = 1_000;

export class EraMemories {
  private readonly seen = new BoundedMap<string, Era>(mostLaunches);

  /**
   * @param launch its hash
   * @param before what it spoke in an earlier process; what was seen in this one counts more
   */
  of(launch: string, before: Era = 'legacy'): EraMemory {
    return { expected: this.seen.get(launch) ?? before, onSeen: (era) => this.seen.set(launch, era) };
  }
}
