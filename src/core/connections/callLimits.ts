/**
 * What can end a call before its answer (X6): the limit since the last sign of life, the limit in all, and the caller.
 * The first of them wins, is kept as the call's outcome, and is told once.
 */
import type { CancelSignal } from '../base/cancellation.js';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import type { ServerOutcome } from '../protocol/request.js';
import type { TimedTerms } from './connection.js';

export type CallEnd = Extract<ServerOutcome<unknown>, { kind: 'timedOut' | 'cancelled' }>;

/** Node fires a timer at once that is set for longer than this. */
export const longestMs = 2 ** 31 - 1;

export class CallLimits implements Disposable {
  /** Called when something of it ends the call, with a reason that the server may read. */
  onEnd: ((reason: string) => void) | undefined;
  private readonly whole: Disposable;
  private silence: Disposable;
  private holds = 0;
  private first: CallEnd | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly timeouts: TimedTerms['timeouts'],
    private readonly caller: CancelSignal,
  ) {
    this.whole = this.after('callMax');
    this.silence = this.after('call');
    caller.addEventListener('abort', this.cancelled, { once: true });
  }

  get end(): CallEnd | undefined {
    return this.first;
  }

  signOfLife(): void {
    if (this.first || this.holds > 0) return;
    this.silence.dispose();
    this.silence = this.after('call');
  }

  /** Silence is not counted until this is disposed, because the server waits for us. The limit in all goes on. */
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
    this.whole.dispose();
    this.silence.dispose();
    this.caller.removeEventListener('abort', this.cancelled);
  }

  private after(limit: 'call' | 'callMax'): Disposable {
    return this.clock.after(Math.min(this.timeouts[limit], longestMs), () => this.timedOut(limit));
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
    this.onEnd?.(reason);
  }
}
