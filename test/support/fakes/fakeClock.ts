/** A clock that only a test moves. */
import type { Clock } from '../../../src/core/base/clock.js';
import { toDisposable } from '../../../src/core/base/disposables.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';

interface Timer {
  readonly at: number;
  readonly ms: number;
  readonly run: () => void;
}

export class FakeClock implements Clock {
  private time = 1_000_000;
  private slept = 0;
  private readonly timers = new Set<Timer>();
  private readonly scheduled = new Emitter<number>();

  now(): number {
    return this.time + this.slept;
  }

  awake(): number {
    return this.time;
  }

  /** The computer sleeps: the time of day goes on, and no timer does. */
  sleep(ms: number): void {
    this.slept += ms;
  }

  after(ms: number, run: () => void): { dispose(): void } {
    const timer = { at: this.time + ms, ms, run };
    this.timers.add(timer);
    this.scheduled.fire(ms);
    return toDisposable(() => this.timers.delete(timer));
  }

  /** The number of timers not yet due. */
  get pending(): number {
    return this.timers.size;
  }

  /** Runs every due timer in order, each at its time. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (let next = this.nextUntil(end); next; next = this.nextUntil(end)) this.run(next);
    this.time = end;
  }

  /** Advances timer by timer. The effects of each one settle before the next. */
  async flow(ms: number): Promise<void> {
    const end = this.time + ms;
    await rest();
    for (let next = this.nextUntil(end); next; next = this.nextUntil(end)) {
      this.run(next);
      await rest();
    }
    this.time = end;
  }

  /** Resolves when a timer of `ms` milliseconds exists, now or later. */
  async untilScheduled(ms: number): Promise<void> {
    if ([...this.timers].some((timer) => timer.ms === ms)) return;
    await nextEvent(this.scheduled.event, (scheduled) => scheduled === ms);
  }

  private nextUntil(end: number): Timer | undefined {
    return [...this.timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  }

  private run(timer: Timer): void {
    this.timers.delete(timer);
    this.time = timer.at;
    timer.run();
  }
}

/** Resolves after all promises without an outside cause have settled. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
