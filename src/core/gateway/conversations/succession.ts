/**
 * Keeps for a moment what a conversation of an agent host holds when its session is deleted (G3b). The host deletes all
 * sessions when a server is added or removed, and begins others for the same conversations at once; nothing in them says
 * which conversation is which.
 *
 * Invariant: a session goes on as an earlier one only where no other one waits for it, so that two conversations that lost
 * theirs are never taken for each other. Every other session is told what holds if it had one before (`mayHaveLost`).
 */
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import type { Session } from './session.js';

/** The time for which a deleted session is waited for, in milliseconds. */
const graceMs = 5_000;

interface Waiting {
  readonly session: Session;
  readonly timer: Disposable;
}

export class Succession implements Disposable {
  private readonly waiting = new Map<string, Waiting[]>();

  /** @param over called with a session that has no heir */
  constructor(
    private readonly clock: Clock,
    private readonly over: (session: Session) => void,
  ) {}

  /** Takes a session that its client has deleted. Only agent-host sessions wait; others are over at once. */
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
   * Returns the conversation with which a new session goes on, or undefined where it has one of its own.
   *
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
