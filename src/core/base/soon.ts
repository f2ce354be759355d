/** Something that is done a while after it is first asked for, however often it is asked for meanwhile. */
import type { Clock } from './clock.js';
import type { Disposable } from './disposables.js';

export class Soon implements Disposable {
  private timer: Disposable | undefined;
  private ended = false;

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
    private readonly run: () => void,
  ) {}

  ask(): void {
    if (this.timer || this.ended) return;
    this.timer = this.clock.after(this.ms, () => {
      this.timer = undefined;
      this.run();
    });
  }

  dispose(): void {
    this.ended = true;
    this.timer?.dispose();
  }
}
