/**
 * Gives turns to process starts, so that they do not take all processors at once (P8b). Those with
 * a waiting caller come first, in the order of their requests. A long start waits for something
 * else than a processor, and no longer counts.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import type { Launch } from '../config/model.js';

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

type Waiting = Set<() => void>;

export class StartTurns {
  private readonly awaited: Waiting = new Set();
  private readonly others: Waiting = new Set();
  private readonly running = new Set<StartTurn>();
  private holds = 0;

  constructor(
    private readonly clock: Clock,
    /** The turns at once without a caller. With callers there are twice as many. */
    private readonly cores: number,
  ) {}

  /** Lets no turn come before the promise resolves. */
  hold(until: Promise<unknown>): void {
    this.holds++;
    void until.then(() => {
      this.holds--;
      this.next();
    });
  }

  /** A start over HTTP needs no turn, because it takes no processor. */
  takeFor({ transport }: Pick<Launch, 'transport'>, isAwaited: boolean): StartTurn | undefined {
    return transport === 'stdio' ? this.take(isAwaited) : undefined;
  }

  private take(isAwaited: boolean): StartTurn {
    const { awaited, others, running } = this;
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
      hurry: () => {
        if (!others.delete(begin)) return;
        awaited.add(begin);
        this.next();
      },
      end: () => {
        limit?.dispose();
        if (awaited.delete(begin) || others.delete(begin)) come();
        running.delete(turn);
        this.next();
      },
    };
    if (isAwaited) {
      awaited.add(begin);
      this.beginUpTo(2 * this.cores, awaited);
    } else {
      others.add(begin);
      // In one edit, awaited starts come first, in any order of the file.
      queueMicrotask(() => this.next());
    }
    return turn;
  }

  private next(): void {
    this.beginUpTo(2 * this.cores, this.awaited);
    this.beginUpTo(this.cores, this.others);
  }

  private beginUpTo(most: number, waiting: Waiting): void {
    for (const begin of waiting) {
      if (this.holds > 0 || this.running.size >= most) return;
      waiting.delete(begin);
      begin();
    }
  }
}
