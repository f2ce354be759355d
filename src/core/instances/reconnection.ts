/**
 * Brings a dead instance back (X4), and gives up after the last delay until the next request for a start. One wait or
 * start at a time; after `dispose` nothing starts.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';

interface ReconnectionDeps {
  readonly clock: Clock;
  readonly random: () => number;
  /** Resolves to true if it started. `well` is called before that. */
  readonly start: () => Promise<boolean>;
  readonly onChange: () => void;
  readonly onGiveUp: () => void;
}

/** The milliseconds before each attempt. The last one is the last attempt. */
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
  /** The next attempt or the one under way; `at` is in epoch milliseconds. */
  pending: { readonly attempt: number; readonly at: number } | undefined;

  constructor(private readonly deps: ReconnectionDeps) {
    this.wellSince = deps.clock.now();
  }

  died(): void {
    // A new instance may die before its start is known to have succeeded.
    if (this.starting) this.diedMeanwhile = true;
    else if (!this.ended && !this.pending) this.scheduleAfterDeath();
  }

  /** Has to be called when another start makes the wait needless. */
  reset(): void {
    this.attempts = 0;
    this.well();
  }

  well(): void {
    this.wellSince = this.deps.clock.now();
    if (this.starting) return;
    this.timer?.dispose();
    this.pending = undefined;
  }

  dispose(): void {
    this.ended = true;
    this.timer?.dispose();
    this.pending = undefined;
  }

  private scheduleAfterDeath(): void {
    if (this.deps.clock.now() - this.wellSince >= healthyAfter) this.attempts = 0;
    this.schedule();
  }

  private schedule(): void {
    const { clock, random, onGiveUp, onChange } = this.deps;
    const delay = delays[this.attempts];
    if (delay === undefined) {
      this.pending = undefined;
      onGiveUp();
      return;
    }
    this.attempts++;
    const ms = Math.round(delay * (1 - jitter + 2 * jitter * random()));
    this.pending = { attempt: this.attempts, at: clock.now() + ms };
    this.timer = clock.after(ms, () => void this.attempt());
    onChange();
  }

  private async attempt(): Promise<void> {
    this.starting = true;
    this.diedMeanwhile = false;
    const started = await this.deps.start().catch(() => false);
    this.starting = false;
    if (this.ended) return;
    this.pending = undefined;
    if (this.diedMeanwhile) this.scheduleAfterDeath();
    else if (!started) this.schedule();
    this.deps.onChange();
  }
}
