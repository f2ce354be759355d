/**
 * Long work in slices, between which others have their turn (P10), and what of the event loop it may take (S2). Whoever
 * writes such work as a generator yields after each millisecond or less; whoever runs it decides whether it is in slices.
 */
import { type Clock, delay } from './clock.js';
import { type Disposable, toDisposable } from './disposables.js';
import { TokenBucket } from './tokenBucket.js';

export type Sliced<Result> = Generator<void, Result, void>;

type Meter = Pick<Clock, 'now'>;

/**
 * Processor time, the collector's included: what the loop waits for other programs is nobody's. Windows tells it in steps of
 * 15 ms.
 */
const processorTime: Meter =
  process.platform === 'win32'
    ? performance
    : {
        now: () => {
          const { user, system } = process.cpuUsage();
          return (user + system) / 1000;
        },
      };

/** A slice of work ends after this, in milliseconds. */
const sliceMs = 2;
/** One who is charged may take this part of the time of the loop. */
const share = 0.25;
/** So much may be taken at once after a while of quiet, in milliseconds of the loop. */
const burstMs = 400;
/** Shorter pauses, in milliseconds, cost more than they keep back. */
const leastPause = 20;
/** So many long messages of one server are in memory at once before they have been heard. */
const mostLong = 2;

const owners = new WeakMap<object, LoopShare>();

/**
 * Charges one server what it takes of the event loop's time, whatever it was for. Whoever reads of that server rests before
 * more is read, for so long that all of it together keeps to its share. Nothing is dropped: the pipe or the socket makes the
 * server wait.
 */
export class LoopShare {
  private readonly bucket: TokenBucket;

  private long = 0;
  private readonly waiting = new Set<() => void>();

  /** Whom to charge for what is made of a value that came from a server, where that is much. */
  static of(value: object): LoopShare | undefined {
    return owners.get(value);
  }

  owns(value: object): void {
    owners.set(value, this);
  }

  /**
   * @param meter measures work
   * @param wall tells when a slice ends, and is asked often
   */
  constructor(
    readonly clock: Clock,
    private readonly meter: Meter = processorTime,
    private readonly wall: Meter = performance,
  ) {
    this.bucket = new TokenBucket(clock, burstMs, share * 1000);
  }

  /** Returns the time by which work is measured. */
  now(): number {
    return this.meter.now();
  }

  /** @param ms of the loop that were taken */
  spend(ms: number): void {
    this.bucket.take(ms);
  }

  /** Runs and charges what it takes until it returns. */
  charge<Result>(work: () => Result): Result {
    const since = this.meter.now();
    try {
      return work();
    } finally {
      this.bucket.take(this.meter.now() - since);
    }
  }

  /** The milliseconds until more may be read; 0 if that is now. */
  get waitMs(): number {
    const waitMs = this.bucket.take(0);
    return waitMs > 0 ? Math.max(leastPause, waitMs) : 0;
  }

  /** Resolves when more may be read. Never rejects: where the signal is aborted, nobody reads any more. */
  async rest(signal?: AbortSignal): Promise<void> {
    const { waitMs } = this;
    if (waitMs > 0) await delay(this.clock, waitMs, signal).catch(() => undefined);
  }

  /** Resolves when a long message may be taken in, or at the signal. Whoever has heard it disposes of what is returned. */
  async placeForLong(signal: AbortSignal): Promise<Disposable> {
    while (this.long >= mostLong && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.waiting.add(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    this.long += 1;
    return toDisposable(() => {
      this.long -= 1;
      const waiting = [...this.waiting];
      this.waiting.clear();
      for (const resolve of waiting) resolve();
    });
  }

  /** Runs work to its end in slices, and rests between them where so much was taken. */
  async run<Result>(work: Sliced<Result>): Promise<Result> {
    for (;;) {
      const step = this.charge(() => sliceOf(work, this.wall));
      if (step.done) return step.value;
      await nextTurn();
      await this.rest();
    }
  }

  /** Runs something and charges also what follows from it before the next turn, for example what waits for its promises. */
  async chargeTurn(work: () => void): Promise<void> {
    let since = 0;
    await nextTurn();
    setImmediate(() => {
      since = this.meter.now();
      work();
    });
    await nextTurn();
    this.spend(this.meter.now() - since);
  }
}

/** Does in slices what one server is charged for, or nobody. */
export async function inTurns<Result>(work: Sliced<Result>, share?: LoopShare): Promise<Result> {
  if (share) return share.run(work);
  for (;;) {
    const step = sliceOf(work, performance);
    if (step.done) return step.value;
    await nextTurn();
  }
}

/** Does all of it now. */
export function atOnce<Result>(work: Sliced<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

function sliceOf<Result>(work: Sliced<Result>, wall: Meter): IteratorResult<void, Result> {
  const since = wall.now();
  for (;;) {
    const step = work.next();
    if (step.done || wall.now() - since >= sliceMs) return step;
  }
}

/** A single `setImmediate` that is set while a stream is read still runs at the end of the same turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
