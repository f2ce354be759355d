/**
 * Remembers which dialogs have had an instance of one server and by what they lost it, so that each is told with its next
 * one (L3, X4). It outlives the instances.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { ServerClient } from '../protocol/client.js';
import type { LeaseNews } from '../protocol/request.js';

/** Dialogs end without a word; those that never come back must not be remembered for ever. */
const mostDialogs = 1_000;

export class DialogHistory {
  /** The causes by which instances of dialogs died. */
  private readonly deaths = new BoundedMap<string, string>(mostDialogs);
  private readonly met = new BoundedMap<string, true>(mostDialogs);

  /** Returns what a dialog has to be told of the instance that it is given now. */
  newsFor(dialog: string, client: ServerClient | undefined): LeaseNews {
    const isMet = this.met.has(dialog);
    const cause = this.deaths.get(dialog) ?? (isMet ? undefined : client?.lostBefore);
    if (cause !== undefined) return { kind: 'replaced', cause };
    return { kind: !isMet && client?.mayHaveLost ? 'newHere' : 'new' };
  }

  /** Notes that a dialog has taken an instance. Returns whether it had none before. */
  meets(dialog: string): boolean {
    const isFirst = !this.met.has(dialog);
    this.met.set(dialog, true);
    this.deaths.delete(dialog);
    return isFirst;
  }

  /** Notes that the instance of a dialog has died. */
  loses(dialog: string, cause: string): void {
    this.deaths.set(dialog, cause);
  }

  /** Notes that a dialog has ended. */
  ends(dialog: string): void {
    this.met.delete(dialog);
  }
}
