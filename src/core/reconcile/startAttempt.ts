/**
 * One start of one definition, which may be overtaken by a later edit. Invariant: what an overtaken start connects is
 * ended, and its outcome is told to nobody.
 */
import type { ServerDefinition } from '../config/model.js';
import type { ConnectOutcome } from '../connections/connection.js';

export class StartAttempt {
  private readonly controller = new AbortController();
  private overtaken = false;
  /** Resolves when the outcome was told, or what was started is gone. Never rejects for what a server does. */
  readonly done: Promise<void>;

  /**
   * @param definition may be replaced while the start is under way by one of the same launch.
   * @param since epoch milliseconds.
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
