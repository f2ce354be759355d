/** Typed events. A listener's error is reported, and other listeners still receive the event. */
import type { CancelSignal } from './cancellation.js';
import { toDisposable, type Disposable } from './disposables.js';

export type Event<T> = (listener: (value: T) => void) => Disposable;

export class Emitter<T> implements Disposable {
  private readonly listeners = new Set<(value: T) => void>();
  private ended = false;

  readonly event: Event<T> = (listener) => {
    if (this.ended) return { dispose: () => {} };
    // A function may subscribe twice, and each subscription ends separately.
    const own = (value: T) => listener(value);
    this.listeners.add(own);
    return toDisposable(() => this.listeners.delete(own));
  };

  get isHeard(): boolean {
    return this.listeners.size > 0;
  }

  fire(value: T): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  dispose(): void {
    this.ended = true;
    this.listeners.clear();
  }
}

export function untilAborted(signal: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Settles like `outcome`, or rejects with the signal's reason if the signal aborts first. */
export function unlessAborted<T>(outcome: Promise<T>, signal: CancelSignal): Promise<T> {
  return beforeAbort(outcome, signal, (_, reject) => reject(signal.reason as Error));
}

/** Settles like `outcome`, or resolves to undefined if the signal aborts first. */
export function orAborted<T>(outcome: Promise<T>, signal: CancelSignal): Promise<T | undefined> {
  return beforeAbort<T | undefined>(outcome, signal, (resolve) => resolve(undefined));
}

/** `Promise.race` would leave a listener at the signal, and with it all that the outcome holds. */
function beforeAbort<T>(
  outcome: Promise<T>,
  signal: CancelSignal,
  settle: (resolve: (value: T) => void, reject: (reason: Error) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => settle(resolve, reject);
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
    void outcome.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** Resolves with the first accepted value, or rejects with the signal's reason. */
export function nextEvent<T>(
  event: Event<T>,
  accept: (value: T) => boolean,
  signal?: CancelSignal,
): Promise<T> {
  let subscription: Disposable | undefined;
  const next = new Promise<T>((resolve) => {
    subscription = event((value) => accept(value) && resolve(value));
  });
  return (signal ? unlessAborted(next, signal) : next).finally(() => subscription?.dispose());
}
