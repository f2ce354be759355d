import { BoundedMap } from '../../base/boundedMap.js';
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { known, type Past } from '../../protocol/client.js';
import { sessionConversation } from '../../protocol/conversationLabel.js';
import { isServedAt, type ConnectedProgram, type Route } from '../routes.js';
import { loseCalls } from './client.js';
import { newSessionId } from './clientTraits.js';
import { Conversation, type KindOfClient } from './conversation.js';
import type { Listing } from './listings.js';
import { Session, type SessionTraits } from './session.js';

/** A session ended by its client is not revived. */
const mostDeleted = 1_000;

/**
 * The leases of a deleted agent-host session wait this long for the next one, in milliseconds
 * (G3k).
 */
const graceMs = 5_000;

/** Completes the note to the conversation of a revived or continued session (L2a). */
const restarted: Past = {
  kind: 'lost',
  why: 'its session had ended, or MCP Toolsets was started again',
};

export interface SessionStart {
  readonly toolset: string;
  readonly listing: (conversation: string) => Listing;
  readonly traits: SessionTraits;
  /**
   * `continued`: its conversation had a session before, at another gateway or in an earlier run.
   * `revived`: the session itself had begun in an earlier run, with this id.
   */
  readonly origin: 'new' | 'continued' | { readonly revived: string };
}

interface Closing {
  readonly cancelCalls: boolean;
  /** True if the next session may continue the conversation. */
  readonly mayContinue: boolean;
}

const justEnded: Closing = { cancelCalls: false, mayContinue: false };

/**
 * An agent host deletes all sessions if servers change (G3k). A session continues one only if no
 * other one waits.
 */
export class Sessions implements Disposable {
  private readonly byId = new Map<string, Session>();
  private readonly deleted = new BoundedMap<string, true>(mostDeleted);
  /** Deleted sessions of agent hosts whose conversation may continue. */
  private readonly waiting = new Map<Session, Disposable>();

  /** @param over called when no session will continue its conversation */
  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    private readonly closed: (session: Session) => void,
    private readonly over: (session: Session) => void,
  ) {}

  /** Returns undefined without room: every session has calls in flight. */
  open({ toolset, listing, traits, origin }: SessionStart): Session | undefined {
    if (this.byId.size >= this.max) {
      const idlest = this.idlest();
      if (!idlest) return undefined;
      this.close(idlest, justEnded);
    }
    const isRevived = typeof origin === 'object';
    const id = isRevived ? origin.revived : newSessionId(traits);
    const inherited = isRevived ? undefined : this.inherited(toolset, traits);
    const conversation = inherited ?? sessionConversation(id);
    const past = origin === 'new' ? pastOf(traits) : restarted;
    const now = this.clock.awake();
    const own = new Conversation(conversation, listing(conversation), past, now);
    const session = new Session(id, traits, own, isRevived);
    this.byId.set(id, session);
    return session;
  }

  find(id: string, route: Route): Session | undefined {
    const session = this.byId.get(id);
    if (!session) return undefined;
    const { toolset, policy } = session.listing;
    if (toolset !== route.toolset || !isServedAt(route, policy)) return undefined;
    session.conversation.lastUsed = this.clock.awake();
    return session;
  }

  /**
   * True if a session with this id may begin: the id is unused, and its client has not ended it.
   */
  isFree(id: string): boolean {
    return !this.byId.has(id) && !this.deleted.has(id);
  }

  delete(session: Session, cancelCalls: boolean): void {
    this.deleted.set(session.id, true);
    this.close(session, { cancelCalls, mayContinue: session.traits.agentHost !== undefined });
  }

  dispose(): void {
    for (const session of [...this.byId.values()]) {
      loseCalls(session);
      this.close(session, justEnded);
    }
    for (const session of [...this.waiting.keys()]) this.endConversation(session);
  }

  private close(session: Session, { cancelCalls, mayContinue }: Closing): void {
    if (!this.byId.delete(session.id)) return;
    session.close({ cancelCalls });
    const end = (): void => this.endConversation(session);
    if (mayContinue) this.waiting.set(session, this.clock.after(graceMs, end));
    else this.over(session);
    this.closed(session);
  }

  /**
   * Returns the conversation of the only waiting session of the same program, if it may have a
   * lease.
   */
  private inherited(toolset: string, { agentHost }: SessionTraits): string | undefined {
    const waiting = [...this.waiting.keys()].filter(
      ({ listing, traits }) => listing.toolset === toolset && traits.agentHost === agentHost,
    );
    const [only] = waiting;
    if (!only?.conversation.hasCalled || waiting.length > 1) return undefined;
    this.endWait(only);
    return only.conversation.id;
  }

  private endConversation(session: Session): void {
    this.endWait(session);
    this.over(session);
  }

  private endWait(session: Session): void {
    this.waiting.get(session)?.dispose();
    this.waiting.delete(session);
  }

  /** @param toolset by default all */
  of(toolset?: string): Session[] {
    const all = [...this.byId.values()];
    return toolset === undefined ? all : all.filter(({ listing }) => listing.toolset === toolset);
  }

  programs(): readonly ConnectedProgram[] {
    const present = [...this.byId.values()].filter(({ hasLeft }) => !hasLeft);
    return present.map(({ listing, traits }) => ({
      toolset: listing.toolset,
      program: traits.program,
    }));
  }

  /**
   * Follows the end of a stream. The editor's conversations outlive its sessions, so its silence
   * means nothing. The calls of a `connect` that has ended are cancelled, as by its `DELETE`.
   */
  streamClosed(session: Session, kind: KindOfClient): void {
    const { conversation, listing, state, listening, calls } = session;
    if (listing.policy.conversations === 'named' || state.kind === 'gone' || listening) return;
    conversation.lastUsed = this.clock.awake();
    const cancelCalls = kind === 'connect';
    conversation.endWhenQuiet(
      this.clock,
      kind,
      () => !cancelCalls && calls.size > 0,
      () => this.close(session, { cancelCalls, mayContinue: false }),
    );
  }

  private idlest(): Session | undefined {
    const idle = [...this.byId.values()].filter(({ calls }) => calls.size === 0);
    // The client of a session without an open stream has probably gone.
    const left = idle.filter(({ listening }) => !listening);
    return leastRecent(left) ?? leastRecent(idle);
  }
}

function leastRecent(sessions: readonly Session[]): Session | undefined {
  const byUse = [...sessions].sort((a, b) => a.conversation.lastUsed - b.conversation.lastUsed);
  return byUse[0];
}

/** Agent hosts and programs with named conversations also begin sessions for older conversations (G3b). */
function pastOf({ agentHost, namer }: SessionTraits): Past {
  return agentHost === undefined && namer === undefined ? known : { kind: 'unknown' };
}
