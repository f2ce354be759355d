/**
 * Gives turns to the starts of processes that nobody waits for, so that they do not take the processor from what somebody
 * waits for (P8). Such a start is in its turn at once, and the others wait until it has ended. Invariants: no more of the
 * others are in their turn than may be; one that takes long waits for something else than a processor, and no longer counts.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';

/** The milliseconds after which a start no longer keeps others waiting. */
const longestTurnMs = 5_000;

/** One start. Whoever took it ends it. */
export interface StartTurn {
  /** Is undefined if it has come already. Resolves when it comes, or ends. */
  readonly coming: Promise<void> | undefined;
  /** Somebody waits for the start now. */
  hurry(): void;
  /** May be called again. */
  end(): void;
}

class Turn implements StartTurn {
  private announce: () => void = () => {};
  coming: Promise<void> | undefined = new Promise((resolve) => (this.announce = resolve));
  limit: Disposable | undefined;

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
  private readonly waiting = new Set<Turn>();
  private readonly running = new Set<Turn>();

  /** @param most how many starts may go on at once where nobody waits for one more */
  constructor(
    private readonly clock: Clock,
    private readonly most: number,
  ) {}

  /** @param isAwaited whether somebody waits for the start */
  take(isAwaited: boolean): StartTurn {
    const turn: Turn = new Turn(
      () => {
        if (this.waiting.delete(turn)) this.begin(turn);
      },
      () => this.end(turn),
    );
    if (isAwaited) this.begin(turn);
    else this.waiting.add(turn);
    // What the same edit starts and somebody waits for comes first, wherever it stands in the file.
    queueMicrotask(() => this.next());
    return turn;
  }

  private begin(turn: Turn): void {
    this.running.add(turn);
    turn.limit = this.clock.after(longestTurnMs, () => this.end(turn));
    turn.come();
  }

  private end(turn: Turn): void {
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
