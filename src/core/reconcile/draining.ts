/** What no longer serves, replaced or withdrawn, while its last calls still run (spec R4). */
import type { PendingEnds } from '../base/pendingEnds.js';
import type { Serving } from './serving.js';

export class Draining {
  private readonly servings = new Set<Serving>();

  constructor(private readonly ends: PendingEnds) {}

  get all(): readonly Serving[] {
    return [...this.servings];
  }

  /** @param limitMs milliseconds that calls in flight have. */
  add(serving: Serving, limitMs: number, reason: string): void {
    this.servings.add(serving);
    this.ends.add(serving.drain(limitMs, reason).finally(() => this.servings.delete(serving)));
  }

  /** Calls in flight fail. */
  endNow(reason: string): void {
    for (const serving of this.servings) this.ends.add(serving.close(reason));
  }
}
