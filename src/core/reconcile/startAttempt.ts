/**
 * One start of one definition, which a later edit may overtake. Invariant: what an overtaken start connects is
 * ended, and its outcome is told to nobody.
 */
import { untilAborted } from '../base/events.js';
import type { ServerDefinition } from '../config/model.js';
import type { ConnectOutcome } from '../connections/connection.js';
import type { StartTurn } from '../instances/startTurns.js';

export class StartAttempt {
  private readonly controller = new AbortController();
  private overtaken = false;
  /** Resolves when the outcome was told, or when what was started is gone. It never rejects for what a server does. */
  readonly done: Promise<void>;

  /**
   * @param definition may be replaced by one of the same launch while the start is under way
   * @param since when the start began, in epoch milliseconds
   * @param turn is waited for, and ends with the start
   */
  constructor(
    public definition: ServerDefinition,
    readonly since: number,
    private readonly turn: StartTurn,
    connect: (signal: AbortSignal) => Promise<ConnectOutcome>,
    tell: (attempt: StartAttempt, outcome: ConnectOutcome) => void,
  ) {
    const { signal } = this.controller;
    this.done = (async () => {
      if (turn.coming) await Promise.race([turn.coming, untilAborted(signal)]);
      if (signal.aborted) return;
      const outcome = await connect(signal);
      turn.end();
      if (!this.overtaken) tell(this, outcome);
      else if (outcome.kind === 'connected') await outcome.connection.close();
    })().finally(() => turn.end());
  }

  /** Somebody waits for it now. */
  hurry(): void {
    this.turn.hurry();
  }

  overtake(): void {
    this.overtaken = true;
    this.controller.abort();
  }
}
