/** Which era each launch was seen to speak (X8), while this process lives. */
import { BoundedMap } from '../../base/boundedMap.js';
import type { Era } from '../../protocol/versions.js';

/** What is known of one launch from one start of it to the next. */
export interface EraMemory {
  readonly expected: Era;
  readonly onSeen: (era: Era) => void;
}

const mostLaunches = 1_000;

export class EraMemories {
  private readonly modern = new BoundedMap<string, true>(mostLaunches);

  /** @param launch its hash */
  of(launch: string): EraMemory {
    return {
      expected: this.modern.has(launch) ? 'modern' : 'legacy',
      onSeen: (era) => {
        if (era === 'modern') this.modern.set(launch, true);
        else this.modern.delete(launch);
      },
    };
  }
}
