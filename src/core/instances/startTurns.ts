/**
 * Gives turns to process starts, so that those without a waiting caller leave the processor to
 * those with one (P8). A long start waits for something else than a processor, and no longer
 * counts.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';

/**
 * The milliseconds after which a start no longer keeps others waiting. Chosen, not measured: a start
 * that takes longer mostly waits for a download or for the network.
 */
const longestTurnMs = 5_000;

export interface StartTurn {
  /** Undefined if it has come already. Resolves when it comes, or ends. */
  coming: Promise<void> | undefined;
  /** Has to be called when a caller waits for the start. */
  hurry(): void;
  end(): void;
}

export class StartTurns {
  private readonly waiting = new Set<() => void>();
  private readonly running = new Set<StartTurn>();

  constructor(
    private readonly clock: Clock,
    /** The turns at once. `host/assemble` gives as many as there are processors. */
    private readonly most: number,
  ) {}

  take(isAwaited: boolean): StartTurn {
    const { waiting, running } = this;
    let announce = (): void => {};
    let limit: Disposable | undefined;
    const come = (): void => {
      turn.coming = undefined;
      announce();
    };
    const begin = (): void => {
      running.add(turn);
      limit = this.clock.after(longestTurnMs, turn.end);
      come();
    };
    const turn: StartTurn = {
      coming: new Promise((resolve) => (announce = resolve)),
      hurry: () => void (waiting.delete(begin) && begin()),
      end: () => {
        limit?.dispose();
        if (waiting.delete(begin)) come();
        running.delete(turn);
        this.next();
      },
    };
    if (isAwaited) begin();
    else waiting.add(begin);
    // In one edit, awaited starts come first, in any order of the file.
    queueMicrotask(() => this.next());
    return turn;
  }

  private next(): void {
    for (const begin of this.waiting) {
      if (this.running.size >= this.most) return;
      this.waiting.delete(begin);
      begin();
    }
  }
}
