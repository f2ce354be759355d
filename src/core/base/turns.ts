/**
 * Divides long work (P10), and limits a server's share of the loop (S2). A generator yields within
 * a millisecond.
 */
import { type Clock, delay } from './clock.js';
import { type Disposable, toDisposable } from './disposables.js';
import { Emitter, nextEvent } from './events.js';
import { TokenBucket } from './tokenBucket.js';

export type Sliced<Result> = Generator<void, Result, void>;

type Meter = Pick<Clock, 'now'>;

/** Processor time with garbage collection. Waiting for other programs does not count. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const processorTime: Meter = process.platform === 'win32' ? performance : { now: processorMs };

/** A slice of work ends after this, in milliseconds. */
const sliceMs = 2;
/** The greatest part of the loop's time for one server. */
const share = 0.25;
/** The most time at once after a quiet period, in milliseconds of the loop. */
const burstMs = 400;
/** Shorter pauses, in milliseconds, cost more than they keep back. */
const leastPause = 20;
/** The most long messages of one server in memory before their delivery. */
const mostLong = 2;
/** The short messages of one server take about this much of one turn, in milliseconds. */
const mostOfTurn = 4;

const owners = new WeakMap<object, LoopShare>();

/**
 * Charges one server for its time. Its readers pause until its share is free, and the pipe or the
 * socket waits.
 */
export class LoopShare {
  private readonly bucket: TokenBucket;
  private inTurn = 0;
  private turns = Promise.resolve();
  private long = 0;
  private readonly freed = new Emitter<void>();

  static of(value: object): LoopShare | undefined {
    return owners.get(value);
  }

  owns<Value extends object>(value: Value): Value {
    owners.set(value, this);
    return value;
  }

  /** @param meter measures work @param wall ends slices, and is read often */
  constructor(
    readonly clock: Clock,
    private readonly meter: Meter = processorTime,
    readonly wall: Meter = performance,
  ) {
    this.bucket = new TokenBucket(clock, burstMs, share * 1000);
  }

  now(): number {
    return this.meter.now();
  }

  /** @param ofTurn if the work has no consequences in its turn, its own time */
  spend(ms: number, ofTurn = ms): void {
    this.bucket.take(ms);
    this.note(ofTurn);
  }

  /** Counts work of this turn. It may also be to come in it, or belong to somebody else. */
  note(ms: number): void {
    this.inTurn += ms;
  }

  get isTurnFull(): boolean {
    return this.inTurn >= mostOfTurn;
  }

  /**
   * Resolves when a reader may handle a message: in a later turn if this one is full, one reader in
   * each turn.
   */
  turn(): Promise<void> | undefined {
    if (!this.isTurnFull) return undefined;
    this.turns = this.turns.then(nextTurn).then(() => {
      this.inTurn = 0;
    });
    return this.turns;
  }

  charge<Result>(work: () => Result): Result {
    const since = this.meter.now();
    try {
      return work();
    } finally {
      this.bucket.take(this.meter.now() - since);
    }
  }

  get waitMs(): number {
    const waitMs = this.bucket.take(0);
    return waitMs > 0 ? Math.max(leastPause, waitMs) : 0;
  }

  /** Resolves at the next permitted read, or when the signal aborts. Never rejects. */
  async rest(signal?: AbortSignal): Promise<void> {
    const { waitMs } = this;
    if (waitMs > 0) await delay(this.clock, waitMs, signal);
  }

  /**
   * Resolves when there is room for a long message, or at the signal. The reader disposes of the
   * result.
   */
  async placeForLong(signal: AbortSignal): Promise<Disposable> {
    while (this.long >= mostLong && !signal.aborted) {
      await nextEvent(this.freed.event, () => true, signal).catch(() => undefined);
    }
    this.long += 1;
    return toDisposable(() => {
      this.long -= 1;
      this.freed.fire();
    });
  }

  run<Result>(work: Sliced<Result>): Promise<Result> {
    return inTurns(work, this);
  }

  async chargeTurns<Item>(items: readonly Item[], handle: (item: Item) => void): Promise<void> {
    for (const item of items) await this.chargeTurn(() => handle(item));
  }

  /**
   * Runs something and charges it and its consequences before the next turn, for example resumed
   * promises.
   */
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

export async function inTurns<Result>(work: Sliced<Result>, share?: LoopShare): Promise<Result> {
  for (;;) {
    const step = share ? share.charge(() => sliceOf(work, share.wall)) : sliceOf(work, performance);
    if (step.done) return step.value;
    await nextTurn();
    await share?.rest();
  }
}

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

/** In characters. A pattern that matches each of them takes less than a slice. */
export const pieceLength = 1 << 14;

/** Handles a text in pieces (P10). No character is cut. */
export function* inPieces<Result>(
  text: string,
  handle: (piece: string) => Result,
  length = pieceLength,
): Sliced<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < text.length;) {
    let end = start + length;
    if ((text.charCodeAt(end) & 0xfc00) === 0xdc00) end += 1;
    results.push(handle(text.slice(start, end)));
    start = end;
    yield;
  }
  return results;
}

function nextTurn(): Promise<void> {
  return new Promise(inNextTurn);
}

/** A single `setImmediate` from a stream's callback still runs at the end of the same turn. */
export function inNextTurn(run: () => void): void {
  setImmediate(() => setImmediate(run));
}
