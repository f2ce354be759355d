/**
 * An `AbortSignal` for calls that costs less: the built-in one takes a tenth of the gateway's time
 * for a call (P3).
 */
import { clipped } from './text.js';

export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(
    type: 'abort',
    listener: () => void,
    options?: { readonly once?: boolean },
  ): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export class Cancellation implements CancelSignal {
  private readonly listeners: (() => void)[] = [];
  private given: unknown;
  aborted = false;

  get reason(): unknown {
    return this.aborted
      ? (this.given ?? new DOMException('This operation was aborted', 'AbortError'))
      : undefined;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.listeners.indexOf(listener);
    if (index >= 0) this.listeners.splice(index, 1);
  }

  abort(reason?: unknown): void {
    if (!this.aborted) this.given = reason;
    this.aborted = true;
    for (const listener of this.listeners.splice(0)) listener();
  }
}

/** In characters. */
const longestReason = 1_000;

/** Returns the text with which one side cancelled, for the other side; undefined without one. */
export function reasonOf({ reason }: Pick<CancelSignal, 'reason'>): string | undefined {
  return typeof reason === 'string' && reason !== '' ? clipped(reason, longestReason) : undefined;
}

/** Returns an `AbortSignal` for APIs that need one. It listens for the life of the other signal. */
export function abortSignalOf(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return controller.signal;
}
