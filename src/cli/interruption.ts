/**
 * Ctrl-C and similar signals as an abort, so that servers end first. A second signal ends the
 * process at once.
 */
import type { Disposable } from '../core/base/disposables.js';

/** 128 plus the number of the signal, as in shells. */
const exitCodes: Partial<Record<NodeJS.Signals, number>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
};

export class Interruption implements Disposable {
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;
  private interrupt = (_: NodeJS.Signals): void => {};
  /** Resolves to the exit code after a signal, and never otherwise. */
  readonly exitCode = new Promise<number>((resolve) => {
    this.interrupt = (name) => {
      this.dispose();
      this.controller.abort();
      resolve(exitCodes[name] ?? 1);
    };
  });

  constructor() {
    for (const name of Object.keys(exitCodes)) process.on(name, this.interrupt);
  }

  dispose(): void {
    for (const name of Object.keys(exitCodes)) process.off(name, this.interrupt);
  }
}
