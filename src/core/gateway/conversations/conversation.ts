import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import type { Past } from '../../protocol/client.js';
import { Links } from './links.js';
import type { Listing } from './listings.js';

/**
 * A client whose last stream has closed may be silent this long, in milliseconds (L2a). `connect`
 * opens its stream again within a second, so it has ended if it does not.
 */
const quietLimits = { connect: 2_500, other: 45_000 };

export type KindOfClient = keyof typeof quietLimits;

/** What the gateway keeps of one conversation of an agent (G3). */
export class Conversation {
  readonly links = new Links();
  /** True if it has sent anything to an instance, so it may hold one. */
  hasCalled = false;
  /** The tools with a question to a person here, by the client's newest list (S4). */
  promised: ReadonlySet<string> = new Set();
  /** Of its modern requests. */
  openPosts = 0;
  /** Runs while it has had a stream and has none. */
  private quiet: Disposable | undefined;

  constructor(
    readonly id: string,
    readonly listing: Listing,
    readonly past: Past,
    /** By `clock.awake`. */
    public lastUsed: number,
  ) {}

  /**
   * Calls `end` when it is silent for a while after its last stream has closed: its program has
   * gone (L2a).
   */
  endWhenQuiet(clock: Clock, kind: KindOfClient, isInUse: () => boolean, end: () => void): void {
    this.keepOpen();
    const limit = quietLimits[kind];
    const wait = (ms: number): Disposable =>
      clock.after(ms, () => {
        const left = isInUse() ? limit : this.lastUsed + limit - clock.awake();
        if (left > 0) this.quiet = wait(left);
        else end();
      });
    this.quiet = wait(limit);
  }

  /** It has a stream again, or has ended, so no silence ends it. */
  keepOpen(): void {
    this.quiet?.dispose();
  }
}
