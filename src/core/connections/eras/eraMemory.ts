/** The era of each launch (X8), remembered while this process lives. Earlier knowledge comes from outside. */
import { BoundedMap } from '../../base/boundedMap.js';
import type { Era } from '../../protocol/versions.js';

export interface EraMemory {
  readonly expected: Era;
  readonly onSeen: (era: Era) => void;
}

const mostLaunches = 1_000;

export class EraMemories {
  private readonly seen = new BoundedMap<string, Era>(mostLaunches);

  /** @param before its era in an earlier process; the one seen in this process counts more */
  of(launch: string, before: Era = 'legacy'): EraMemory {
    return { expected: this.seen.get(launch) ?? before, onSeen: (era) => this.seen.set(launch, era) };
  }
}
