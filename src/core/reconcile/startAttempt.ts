/**
 * One start of one definition, which a later edit may overtake. Invariant: what an overtaken start connects is
 * ended, and its outcome is told to nobody.
 */
import type { ServerDefinition } from '../config/model.js';
import type { ConnectOutcome } from '../connections/connection.js';

export class StartAttempt {
  private readonly controller = new AbortController();
  private overtaken = false;
  /** Resolves when the outcome was told, or when what was started is gone. It never rejects for what a server does. */
  readonly done: Promise<void>;

  /**
   * @param definition may be replaced by one of the same launch while the start is under way
   * @param since when the start began, in epoch milliseconds
   */
  constructor(
    public definition: ServerDefinition,
    readonly since: number,
    connect: (signal: AbortSignal) => Promise<ConnectOutcome>,
    tell: (attempt: StartAttempt, outcome: ConnectOutcome) => void,
  ) {
    this.done = (async () => {
      const outcome = await connect(this.controller.signal);
      if (!this.overtaken) tell(this, outcome);
      else if (outcome.kind === 'connected') await outcome.connection.close();
    })();
  }

  overtake(): void {
    this.overtaken = true;
    this.controller.abort();
  }
}
