/**
 * How often a server that says that its tools changed is asked for them (spec R6): several times at once, as changes
 * come in bursts, and then twice a second, however often it says so.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';

const burst = 8;
const intervalMs = 500;

export class RefreshPace implements Disposable {
  private left = burst;
  private since: number;
  private timer: Disposable | undefined;
  private release: (() => void) | undefined;
  private ended = false;

  constructor(private readonly clock: Clock) {
    this.since = clock.now();
  }

  /** Resolves when it may be asked, and when nobody will ask any more. One at a time waits. */
  async turn(): Promise<void> {
    if (this.ended) return;
    const now = this.clock.now();
    this.left = Math.min(burst, this.left + (now - this.since) / intervalMs);
    this.since = now;
    this.left--;
    if (this.left >= 0) return;
    await new Promise<void>((resolve) => {
      this.release = resolve;
      this.timer = this.clock.after(Math.ceil(-this.left * intervalMs), resolve);
    });
  }

  dispose(): void {
    this.ended = true;
    this.timer?.dispose();
    this.release?.();
  }
}
