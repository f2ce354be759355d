/** A clock that stands still until a test moves it. */
import type { Clock } from '../../../src/core/base/clock.js';
import { toDisposable } from '../../../src/core/base/disposables.js';

export class FakeClock implements Clock {
  private time = 1_000_000;
  private readonly timers = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): { dispose(): void } {
    const timer = { at: this.time + ms, run };
    this.timers.add(timer);
    return toDisposable(() => this.timers.delete(timer));
  }

  /** Timers that are set and not yet due. */
  get pending(): number {
    return this.timers.size;
  }

  /** Runs everything that becomes due, in order, with the time it became due. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const [next] = [...this.timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.timers.delete(next);
      this.time = next.at;
      next.run();
    }
    this.time = end;
  }
}
