/** Ends that are under way and awaited by nobody yet: kept, so that an owner's own end can wait for all of them. */
export class PendingEnds {
  private readonly pending = new Set<Promise<void>>();

  constructor(private readonly onError: (error: unknown) => void) {}

  add(end: Promise<unknown>): void {
    const kept = end.then(() => undefined, this.onError).finally(() => this.pending.delete(kept));
    this.pending.add(kept);
  }

  /** Resolves when none is under way, those added meanwhile included. */
  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all([...this.pending]);
  }
}
