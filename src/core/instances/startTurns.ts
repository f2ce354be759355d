/**
 * Gives turns to process starts, so that those without a waiting caller leave the processor to those with one (P8). A
 * long start waits for something else than a processor, and no longer counts.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';

/** The milliseconds after which a start no longer keeps others waiting. */
const longestTurnMs = 5_000;

export class StartTurn {
  private announce: () => void = () => {};
  /** Undefined if it has come already. Resolves when it comes, or ends. */
  coming: Promise<void> | undefined = new Promise((resolve) => (this.announce = resolve));
  limit: Disposable | undefined;

  /** @param hurry has to be called when a caller waits for the start */
  constructor(
    readonly hurry: () => void,
    readonly end: () => void,
  ) {}

  come(): void {
    this.coming = undefined;
    this.announce();
  }
}

export class StartTurns {
  private readonly waiting = new Set<StartTurn>();
  private readonly running = new Set<StartTurn>();

  constructor(
    private readonly clock: Clock,
    private readonly most: number,
  ) {}

  take(isAwaited: boolean): StartTurn {
    const turn: StartTurn = new StartTurn(
      () => {
        if (this.waiting.delete(turn)) this.begin(turn);
      },
      () => this.end(turn),
    );
    if (isAwaited) this.begin(turn);
    else this.waiting.add(turn);
    // In one edit, awaited starts come first, in any order of the file.
    queueMicrotask(() => this.next());
    return turn;
  }

  private begin(turn: StartTurn): void {
    this.running.add(turn);
    turn.limit = this.clock.after(longestTurnMs, () => this.end(turn));
    turn.come();
  }

  private end(turn: StartTurn): void {
    turn.limit?.dispose();
    if (this.waiting.delete(turn)) turn.come();
    this.running.delete(turn);
    this.next();
  }

  private next(): void {
    for (const turn of this.waiting) {
      if (this.running.size >= this.most) return;
      this.waiting.delete(turn);
      this.begin(turn);
    }
  }
}
