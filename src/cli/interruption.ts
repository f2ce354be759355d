/** Ctrl-C and its like as an abort, so that what was started is ended first. A second one ends the process at once. */
import type { Disposable } from '../core/base/disposables.js';

/** Shells count 128 and the number of the signal. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export class Interruption implements Disposable {
  private readonly controller = new AbortController();
  private readonly listeners: (readonly [NodeJS.Signals, () => void])[] = [];
  /** Resolves with the exit code when the process is told to end, and never otherwise. */
  readonly exitCode: Promise<number>;

  constructor() {
    this.exitCode = new Promise((resolve) => {
      for (const [name, code] of Object.entries(exitCodes) as [keyof typeof exitCodes, number][]) {
        const listener = (): void => {
          this.dispose();
          this.controller.abort();
          resolve(code);
        };
        this.listeners.push([name, listener]);
        process.on(name, listener);
      }
    });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  dispose(): void {
    for (const [name, listener] of this.listeners) process.off(name, listener);
  }
}
