/**
 * Paces the announcements of definitions. The editor takes over a change only when 500 ms have passed without another
 * one, so servers that answer one after the other could keep each other's tools back for as long as the last of them
 * takes. Here the first ones are announced at once, and after a while of that the next are held until the editor has
 * taken over what it knows. Pure.
 */
import type { Clock } from '../core/base/clock.js';
import { toDisposable, type Disposable } from '../core/base/disposables.js';

/** By which a change has been taken over: the editor's 500 ms, and the way there. Milliseconds. */
const settledAfter = 600;

/** How long announcements may follow each other unsettled, in milliseconds. */
const patience = 600;

/** Changes closer to each other than this are one announcement, in milliseconds. */
const together = 10;

export class PublishGate implements Disposable {
  private first = -Infinity;
  private last = -Infinity;
  private pending: Disposable | undefined;
  private readonly end = toDisposable(() => {
    this.pending?.dispose();
    this.pending = undefined;
  });

  constructor(
    private readonly clock: Clock,
    private readonly announce: () => void,
  ) {}

  request(): void {
    if (this.pending) return;
    const now = this.clock.now();
    const unsettled = now - this.last < settledAfter;
    const hold = unsettled && now - this.first >= patience;
    this.pending = this.clock.after(hold ? this.last + settledAfter - now : together, () => {
      this.pending = undefined;
      this.last = this.clock.now();
      if (hold || !unsettled) this.first = this.last;
      this.announce();
    });
  }

  dispose(): void {
    this.end.dispose();
  }
}
