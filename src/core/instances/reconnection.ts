/**
 * Brings an instance back that died (X4): after 1, 2 and 4 s with jitter, three times; then it gives up until
 * somebody asks again. A minute of health resets the count. It knows nothing of processes: what starts is given to it.
 * Invariants: one wait or start at a time; after `dispose` nothing is started.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';

interface ReconnectionDeps {
  readonly clock: Clock;
  /** Returns a number in [0, 1) for the jitter. */
  readonly random: () => number;
  /** Resolves to whether it started; `well` was called by then if it did. */
  readonly start: () => Promise<boolean>;
  readonly onChange: () => void;
  readonly onGiveUp: () => void;
}

/** The milliseconds before each attempt; there are no more attempts than delays. */
const delays = [1_000, 2_000, 4_000];
const jitter = 0.25;
/** The milliseconds of health after which earlier deaths no longer count. */
const healthyAfter = 60_000;

export class Reconnection implements Disposable {
  private attempts = 0;
  private wellSince: number;
  private timer: Disposable | undefined;
  private starting = false;
  private diedMeanwhile = false;
  private ended = false;
  private next: { readonly attempt: number; readonly at: number } | undefined;

  constructor(private readonly deps: ReconnectionDeps) {
    this.wellSince = deps.clock.now();
  }

  /** The attempt that is waited for or under way; `at` is in epoch milliseconds. */
  get pending(): { readonly attempt: number; readonly at: number } | undefined {
    return this.next;
  }

  /** Notes that what it brings back has died. */
  died(): void {
    // What a start under way brings may die before the start is known to have succeeded.
    if (this.starting) this.diedMeanwhile = true;
    else if (!this.ended && !this.next) this.scheduleAfterDeath();
  }

  /** Ends the wait, because somebody else started what it would have started, or asks for another round of attempts. */
  reset(): void {
    this.attempts = 0;
    this.well();
  }

  /** Notes that it lives, whoever started it: a wait is over, and a minute without a death resets the count. */
  well(): void {
    this.wellSince = this.deps.clock.now();
    if (this.starting) return;
    this.timer?.dispose();
    this.next = undefined;
  }

  dispose(): void {
    this.ended = true;
    this.timer?.dispose();
    this.next = undefined;
  }

  private scheduleAfterDeath(): void {
    if (this.deps.clock.now() - this.wellSince >= healthyAfter) this.attempts = 0;
    this.schedule();
  }

  private schedule(): void {
    const { clock, random, onGiveUp, onChange } = this.deps;
    const delay = delays[this.attempts];
    if (delay === undefined) {
      this.next = undefined;
      onGiveUp();
      return;
    }
    this.attempts++;
    const ms = Math.round(delay * (1 - jitter + 2 * jitter * random()));
    this.next = { attempt: this.attempts, at: clock.now() + ms };
    this.timer = clock.after(ms, () => void this.attempt());
    onChange();
  }

  private async attempt(): Promise<void> {
    this.starting = true;
    this.diedMeanwhile = false;
    const started = await this.deps.start().catch(() => false);
    this.starting = false;
    if (this.ended) return;
    this.next = undefined;
    if (this.diedMeanwhile) this.scheduleAfterDeath();
    else if (!started) this.schedule();
    this.deps.onChange();
  }
}
