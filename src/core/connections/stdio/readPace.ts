/**
 * Stops the reading of a stream for a while (S2): nothing is dropped, the pipe makes the writer wait.
 */
import type { Readable } from 'node:stream';
import { type Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';

export class ReadPace {
  private timer: Disposable | undefined;
  private isHeld = false;
  private ended = false;

  constructor(
    private readonly stream: Readable,
    private readonly clock: Clock,
  ) {}

  /** @param waitMs the pause before reading goes on; 0 changes nothing */
  rest(waitMs: number): void {
    if (this.ended || waitMs === 0 || this.timer) return;
    this.stream.pause();
    this.timer = this.clock.after(waitMs, () => {
      this.timer = undefined;
      this.resume();
    });
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld && !this.ended;
    if (this.isHeld) this.stream.pause();
    else this.resume();
  }

  dispose(): void {
    this.ended = true;
    this.isHeld = false;
    this.timer?.dispose();
    this.timer = undefined;
    this.resume();
  }

  private resume(): void {
    if (!this.isHeld && !this.timer && !this.stream.destroyed) this.stream.resume();
  }
}
