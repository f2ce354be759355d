/** Ctrl-C and similar signals as an abort, so that servers end first. A second signal ends the process at once. */
import type { Disposable } from '../core/base/disposables.js';

/** 128 plus the number of the signal, as in shells. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export class Interruption implements Disposable {
  private readonly controller = new AbortController();
  private readonly listeners: (readonly [NodeJS.Signals, () => void])[] = [];
  /** Resolves to the exit code after a signal, and never otherwise. */
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
