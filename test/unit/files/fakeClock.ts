/** A clock that stands still until a test moves it. */
import type { Clock } from '../../../src/core/base/clock.js';

export class FakeClock implements Clock {
  private time = 1_000_000;
  private timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): { dispose(): void } {
    const timer = { at: this.time + ms, run };
    this.timers.push(timer);
    return { dispose: () => void (this.timers = this.timers.filter((other) => other !== timer)) };
  }

  get pending(): number {
    return this.timers.length;
  }

  /** Moves on timer by timer, and lets what each of them started come to rest. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    await rest();
    for (;;) {
      const next = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.time = Math.max(this.time, next.at);
      next.run();
      await rest();
    }
    this.time = end;
  }
}

/** Resolves when promises that wait for nothing from outside have settled. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
