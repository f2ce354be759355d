/**
 * Everything able to end a call before its answer (X6): the limit since the last sign of life, the limit in all, and
 * the caller. The first of them counts as the call's outcome, and is reported once.
 */
import type { CancelSignal } from '../base/cancellation.js';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import type { ServerOutcome } from '../protocol/request.js';

/** The time limits of one request in milliseconds (X6). */
export interface Timeouts {
  readonly call: number;
  readonly callMax: number;
}

type CallEnd = Extract<ServerOutcome<unknown>, { kind: 'timedOut' | 'cancelled' }>;

export class CallLimits implements Disposable {
  private readonly whole: Disposable;
  private silence: Disposable;
  private holds = 0;
  private isDisposed = false;
  private first: CallEnd | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly timeouts: Timeouts,
    private readonly caller: CancelSignal,
    /** Called when one of them ends the call, with a reason for the server. */
    private readonly onEnd: (reason: string) => void,
  ) {
    this.whole = this.after('callMax');
    this.silence = this.after('call');
    caller.addEventListener('abort', this.cancelled, { once: true });
  }

  get end(): CallEnd | undefined {
    return this.first;
  }

  signOfLife(): void {
    if (this.isDisposed || this.holds > 0) return;
    this.silence.dispose();
    this.silence = this.after('call');
  }

  /** Stops the limit for silence until it is disposed, because the server waits for us. The limit in all goes on. */
  hold(): Disposable {
    this.holds++;
    this.silence.dispose();
    let held = true;
    return {
      dispose: () => {
        if (!held) return;
        held = false;
        this.holds--;
        this.signOfLife();
      },
    };
  }

  dispose(): void {
    this.isDisposed = true;
    this.whole.dispose();
    this.silence.dispose();
    this.caller.removeEventListener('abort', this.cancelled);
  }

  private after(limit: 'call' | 'callMax'): Disposable {
    return this.clock.after(this.timeouts[limit], () => this.timedOut(limit));
  }

  private timedOut(limit: 'call' | 'callMax'): void {
    const ms = this.timeouts[limit];
    const what = limit === 'call' ? 'no sign of life' : 'no result';
    this.stop({ kind: 'timedOut', limit, ms }, `${what} within ${ms / 1000} s`);
  }

  private readonly cancelled = (): void => this.stop({ kind: 'cancelled' }, 'cancelled by the caller');

  private stop(end: CallEnd, reason: string): void {
    if (this.first) return;
    this.first = end;
    this.dispose();
    this.onEnd(reason);
  }
}
