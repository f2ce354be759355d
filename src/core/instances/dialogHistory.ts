/**
 * Tells each dialog, with its next instance of a server, by what it lost the one before (L3, X4). It outlives the
 * instances.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { ServerClient } from '../protocol/client.js';
import type { LeaseNews } from '../protocol/request.js';

/** Dialogs end without a word. Those that never come back must not be remembered for ever. */
const mostDialogs = 1_000;

/** The cause by which each dialog lost its instance of one server; empty while it has one. */
export interface Losses {
  get(dialog: string): string | undefined;
  set(dialog: string, cause: string): void;
}

export class DialogHistory {
  constructor(private readonly losses: Losses = new BoundedMap<string, string>(mostDialogs)) {}

  /** Notes that a dialog has taken an instance. Returns what it has to be told of that. */
  meets(dialog: string, client: ServerClient | undefined): LeaseNews {
    const known = this.losses.get(dialog);
    const cause = known ?? client?.lostBefore ?? '';
    this.losses.set(dialog, '');
    if (cause !== '') return { kind: 'replaced', cause };
    return { kind: known === undefined && client?.mayHaveLost ? 'newHere' : 'new' };
  }

  /** Notes that the instance of a dialog has ended. */
  loses(dialog: string, cause: string): void {
    this.losses.set(dialog, cause);
  }
}
