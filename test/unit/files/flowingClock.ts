/** The fake clock for what also waits for promises: time goes on timer by timer, and what each of them started comes to rest. */
import { FakeClock } from '../../support/fakes/fakeClock.js';

export class FlowingClock extends FakeClock {
  private readonly due = new Set<number>();

  override after(ms: number, run: () => void): { dispose(): void } {
    this.due.add(this.now() + ms);
    return super.after(ms, run);
  }

  async flow(ms: number): Promise<void> {
    const end = this.now() + ms;
    await rest();
    for (;;) {
      const next = Math.min(...this.due);
      if (next > end) break;
      this.due.delete(next);
      this.advance(next - this.now());
      await rest();
    }
    this.advance(end - this.now());
  }
}

/** Resolves when promises that wait for nothing from outside have settled. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
