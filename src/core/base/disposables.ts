export interface Disposable {
  dispose(): void;
}

export function toDisposable(end: () => void): Disposable {
  let ended = false;
  return {
    dispose: () => {
      if (ended) return;
      ended = true;
      end();
    },
  };
}

/**
 * Owns resources and ends them once, and at once when it has ended. Tests count the live stores.
 */
export class DisposableStore implements Disposable {
  private static readonly live = new Set<DisposableStore>();

  static liveNames(): string[] {
    return [...DisposableStore.live].map((store) => store.name);
  }

  private readonly items = new Set<Disposable>();
  private ended = false;

  constructor(readonly name: string) {
    DisposableStore.live.add(this);
  }

  add<T extends Disposable>(item: T): T {
    if (this.ended) item.dispose();
    else this.items.add(item);
    return item;
  }

  release(item: Disposable): void {
    this.items.delete(item);
    item.dispose();
  }

  /**
   * Ends the items in the reverse order of their addition. An item that throws does not keep the
   * rest from ending.
   */
  dispose(): void {
    if (this.ended) return;
    this.ended = true;
    DisposableStore.live.delete(this);
    const errors: unknown[] = [];
    for (const item of [...this.items].reverse()) {
      try {
        item.dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    this.items.clear();
    if (errors.length > 0) throw new AggregateError(errors, `Disposing ${this.name} failed`);
  }
}
