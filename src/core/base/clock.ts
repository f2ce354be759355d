/** Time is a dependency: waiting and dating use a clock, so tests own the time. */
import type { CancelSignal } from './cancellation.js';
import { type Disposable, toDisposable } from './disposables.js';
import { orAborted } from './events.js';

export interface Clock {
  /** Returns milliseconds since the epoch. */
  now(): number;
  /** Returns milliseconds since any moment, without the sleep of the computer. Limits use it. */
  awake(): number;
  /**
   * Calls `run` once after `ms` milliseconds awake, at most 24 days. A timer never keeps the process
   * alive.
   */
  after(ms: number, run: () => void): Disposable;
}

/** Longer timers of Node run at once. */
const longestTimerMs = 2 ** 31 - 1;

const lookMs = 500;
/** If this process has not run for longer, the computer slept, or the process was stopped. */
const longestGapMs = 2000;
/** After a sleep, the answers in the pipes are read before a limit ends (X6). */
const readingMs = 1000;

/** @param time milliseconds that never go back, with or without the sleep of the computer */
export function clockOver(time: () => number): Clock {
  let seen = time();
  let asleep = 0;
  let looks: NodeJS.Timeout | undefined;
  const awake = (): number => {
    looks ??= setInterval(awake, lookMs).unref();
    const now = time();
    if (now - seen > longestGapMs) asleep += now - seen;
    seen = now;
    return now - asleep;
  };
  const after = (ms: number, run: () => void): Disposable => {
    const due = awake() + ms;
    let sleptBefore = asleep;
    const ring = (): void => {
      const left = due - awake();
      if (asleep === sleptBefore) return run();
      sleptBefore = asleep;
      timer = timerOf(Math.max(left, readingMs));
    };
    const timerOf = (wait: number): NodeJS.Timeout =>
      setTimeout(ring, Math.min(wait, longestTimerMs)).unref();
    let timer = timerOf(ms);
    return toDisposable(() => clearTimeout(timer));
  };
  return { now: () => Date.now(), awake, after };
}

export const systemClock = clockOver(() => performance.now());

/** Resolves after `ms` milliseconds, or when the signal aborts. */
export function delay(clock: Clock, ms: number, signal?: CancelSignal): Promise<void> {
  let timer: Disposable | undefined;
  const passed = new Promise<void>((resolve) => (timer = clock.after(ms, resolve)));
  return signal ? orAborted(passed, signal).finally(() => timer?.dispose()) : passed;
}

/**
 * The signal aborts with `outer`, or after `ms` milliseconds with `late`; a rejection has its
 * reason.
 */
export async function limited<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
  late = new Error(`No answer came within ${ms / 1000} s.`),
): Promise<T> {
  // Node 20 may collect an `AbortSignal.timeout` before it aborts, if only `AbortSignal.any` refers
  // to it.
  const limit = new AbortController();
  const timer = clock.after(ms, () => limit.abort(late));
  try {
    return await run(outer ? AbortSignal.any([outer, limit.signal]) : limit.signal);
  } catch (error) {
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    timer.dispose();
  }
}

/** Runs something `ms` milliseconds after the first request. Requests until then share the run. */
export class Throttle implements Disposable {
  private timer: Disposable | undefined;
  private ended = false;

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
    private readonly run: () => void,
  ) {}

  ask(): void {
    if (this.timer || this.ended) return;
    this.timer = this.clock.after(this.ms, () => {
      this.timer = undefined;
      this.run();
    });
  }

  dispose(): void {
    this.ended = true;
    this.timer?.dispose();
  }
}
