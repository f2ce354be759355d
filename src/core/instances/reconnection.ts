/**
 * Brings a dead instance back (X4a), and gives up after the last delay until the next request for a
 * start. One wait or start at a time; after `dispose` nothing starts.
 */
import type { Disposable } from '../base/disposables.js';
import type { Services } from './services.js';

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

  /** @param start resolves to true if it started. `well` is called before that. */
  constructor(
    private readonly services: Services,
    private readonly start: () => Promise<boolean>,
    private readonly onChange: () => void,
    private readonly onGiveUp: () => void,
  ) {
    this.wellSince = services.clock.now();
  }

  died(): void {
    // A new instance may die before its start is known to have succeeded.
    if (this.starting) this.diedMeanwhile = true;
    else if (!this.ended && !this.pending) this.schedule(true);
  }

  /** Has to be called when another start makes the wait needless. */
  reset(): void {
    this.attempts = 0;
    this.well();
  }

  well(): void {
    this.wellSince = this.services.clock.now();
    if (this.starting) return;
    this.timer?.dispose();
    this.pending = undefined;
  }

  dispose(): void {
    this.ended = true;
    this.timer?.dispose();
    this.pending = undefined;
  }

  private schedule(isAfterDeath: boolean): void {
    const { clock, random } = this.services;
    if (isAfterDeath && clock.now() - this.wellSince >= healthyAfter) this.attempts = 0;
    const delay = delays[this.attempts];
    if (delay === undefined) return this.onGiveUp();
    this.attempts++;
    const ms = Math.round(delay * (1 - jitter + 2 * jitter * random()));
    this.pending = { attempt: this.attempts, at: clock.now() + ms };
    this.timer = clock.after(ms, () => void this.attempt());
    this.onChange();
  }

  private async attempt(): Promise<void> {
    this.starting = true;
    this.diedMeanwhile = false;
    const started = await this.start().catch(() => false);
    this.starting = false;
    if (this.ended) return;
    this.pending = undefined;
    if (this.diedMeanwhile || !started) this.schedule(this.diedMeanwhile);
    this.onChange();
  }
}
