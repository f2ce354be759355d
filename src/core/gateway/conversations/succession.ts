/**
 * Keeps the leases of an agent-host conversation for a moment after its session was deleted (G3b). The host deletes
 * all sessions when a server is added or removed. It then begins new sessions for the same conversations, and nothing
 * identifies them.
 *
 * Invariant: a session continues an earlier one only if no other one waits, so two conversations are never mixed up.
 * Every other session gets a note about a possible loss (`mayHaveLost`).
 */
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import type { Session } from './session.js';

/** A deleted session waits this long, in milliseconds. */
const graceMs = 5_000;

interface Waiting {
  readonly session: Session;
  readonly timer: Disposable;
}

export class Succession implements Disposable {
  private readonly waiting = new Map<string, Waiting[]>();

  /** @param over called with a session without an heir */
  constructor(
    private readonly clock: Clock,
    private readonly over: (session: Session) => void,
  ) {}

  /** Takes a deleted session. Only agent-host sessions wait; others are over at once. */
  leave(session: Session): void {
    const key = keyOf(session.toolset, session.traits.agentHost);
    if (key === undefined) return this.over(session);
    const waiting: Waiting = {
      session,
      timer: this.clock.after(graceMs, () => {
        this.remove(key, waiting);
        this.over(session);
      }),
    };
    this.waiting.set(key, [...(this.waiting.get(key) ?? []), waiting]);
  }

  /**
   * Returns the conversation to continue, or undefined if the new session has its own.
   * @param agentHost the program that begins a session of this toolset
   */
  begin(toolset: string, agentHost: string | undefined): string | undefined {
    const key = keyOf(toolset, agentHost);
    const candidates = (key === undefined ? undefined : this.waiting.get(key)) ?? [];
    const [only] = candidates;
    if (key === undefined || !only?.session.hasCalled || candidates.length > 1) return undefined;
    only.timer.dispose();
    this.remove(key, only);
    return only.session.id;
  }

  dispose(): void {
    for (const { session, timer } of [...this.waiting.values()].flat()) {
      timer.dispose();
      this.over(session);
    }
    this.waiting.clear();
  }

  private remove(key: string, waiting: Waiting): void {
    const left = (this.waiting.get(key) ?? []).filter((one) => one !== waiting);
    if (left.length > 0) this.waiting.set(key, left);
    else this.waiting.delete(key);
  }
}

function keyOf(toolset: string, agentHost: string | undefined): string | undefined {
  return agentHost === undefined ? undefined : `${toolset}/${agentHost}`;
}
