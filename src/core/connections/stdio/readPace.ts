/**
 * Slows the reading of a stream whose writer sends more than anyone has use for (S2): nothing is dropped, the pipe
 * makes the writer wait. Below the rate nothing is delayed.
 */
import type { Readable } from 'node:stream';
import { TokenBucket } from '../../base/tokenBucket.js';
import { leastPause } from '../unasked.js';

export class ReadPace {
  private readonly bucket: TokenBucket;
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  /** @param perSecond how much may be read in a second; as much may come at once after a second of quiet */
  constructor(
    private readonly stream: Readable,
    perSecond: number,
  ) {
    this.bucket = new TokenBucket(performance, perSecond, perSecond);
  }

  spend(amount: number): void {
    if (this.ended) return;
    const waitMs = this.bucket.take(amount);
    if (waitMs === 0 || this.timer) return;
    this.stream.pause();
    this.timer = setTimeout(() => this.resume(), Math.max(leastPause, waitMs));
    this.timer.unref();
  }

  /** Lets everything be read as it comes from now on. */
  dispose(): void {
    this.ended = true;
    if (this.timer) this.resume();
  }

  private resume(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.stream.destroyed) this.stream.resume();
  }
}
