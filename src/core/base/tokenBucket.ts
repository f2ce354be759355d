import type { Clock } from './clock.js';

/**
 * A token bucket: `burst` tokens at once, and `perSecond` more each second, up to `burst` again.
 */
export class TokenBucket {
  private left: number;
  private since: number;

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly burst: number,
    private readonly perSecond: number,
  ) {
    this.left = burst;
    this.since = clock.now();
  }

  tryTake(): boolean {
    this.refill();
    if (this.left < 1) return false;
    this.left--;
    return true;
  }

  /** Takes tokens, perhaps on credit. Returns the milliseconds until the credit is paid, or 0. */
  take(count = 1): number {
    this.refill();
    this.left -= count;
    return this.left >= 0 ? 0 : (-this.left / this.perSecond) * 1000;
  }

  private refill(): void {
    const now = this.clock.now();
    // The wall clock may be set back.
    this.left = Math.min(
      this.burst,
      this.left + (Math.max(0, now - this.since) / 1000) * this.perSecond,
    );
    this.since = now;
  }
}
