/** Keeps running ends without a waiting caller, so the owner's own end can wait for all of them. */
import { asText } from './text.js';

export class PendingEnds {
  private readonly pending = new Set<Promise<void>>();

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

  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all([...this.pending]);
  }
}
