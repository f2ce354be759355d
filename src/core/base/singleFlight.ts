/** Carries out one run at a time. A request during a run queues exactly one more. */
export class SingleFlight {
  private running: Promise<void> | undefined;
  private again = false;

  constructor(private readonly run: () => Promise<void>) {}

  /** Resolves after a run with a later beginning than this call, and rejects if that run throws. */
  request(): Promise<void> {
    if (this.running) {
      this.again = true;
      return this.running;
    }
    this.running = this.loop();
    return this.running;
  }

  async settled(): Promise<void> {
    while (this.running) await this.running.catch(() => undefined);
  }

  private async loop(): Promise<void> {
    try {
      do {
        this.again = false;
        await this.run();
      } while (this.again);
    } finally {
      this.running = undefined;
    }
  }
}
