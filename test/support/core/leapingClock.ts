/** The clock of the system with leaps by a test. A leap runs everything due. */
import type { Clock } from '../../../src/core/base/clock.js';
import type { Disposable } from '../../../src/core/base/disposables.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { patientClock } from './within.js';

interface Timer {
  readonly at: number;
  readonly run: () => void;
  set: Disposable;
}

export class LeapingClock implements Clock {
  private ahead = 0;
  private readonly timers = new Set<Timer>();
  private readonly scheduled = new Emitter<number>();

  now(): number {
    return patientClock.now() + this.ahead;
  }

  awake(): number {
    return this.now();
  }

  after(ms: number, run: () => void): Disposable {
    const timer: Timer = { at: this.now() + ms, run, set: { dispose: () => {} } };
    this.timers.add(timer);
    this.set(timer, ms);
    this.scheduled.fire(ms);
    return {
      dispose: () => {
        timer.set.dispose();
        this.timers.delete(timer);
      },
    };
  }

  /** Resolves when a wait of `ms` milliseconds begins. */
  async nextWait(ms: number): Promise<void> {
    await nextEvent(this.scheduled.event, (scheduled) => scheduled === ms);
  }

  leap(ms: number): void {
    this.ahead += ms;
    for (const timer of this.timers) {
      timer.set.dispose();
      this.set(timer, Math.max(0, timer.at - this.now()));
    }
  }

  private set(timer: Timer, ms: number): void {
    timer.set = patientClock.after(ms, () => {
      this.timers.delete(timer);
      timer.run();
    });
  }
}
