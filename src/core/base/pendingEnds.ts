/**
 * Keeps the ends that are under way and that nobody awaits yet, so that the owner's own end can wait for all of them.
 */
import { asText } from './text.js';

export class PendingEnds {
  private readonly pending = new Set<Promise<void>>();

  /** @param onFailure is told of an end that failed */
  constructor(private readonly onFailure: (why: string) => void) {}

  add(end: Promise<unknown>): void {
    const kept = end
      .then(
        () => undefined,
        (error) => this.onFailure(asText(error)),
      )
      .finally(() => this.pending.delete(kept));
    this.pending.add(kept);
  }

  /** Resolves when no end is under way any more, including those that are added meanwhile. */
  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all([...this.pending]);
  }
}
