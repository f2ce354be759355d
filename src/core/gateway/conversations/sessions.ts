/** Keeps the sessions of a gateway, whose number is bounded: the one that was idle the longest makes room (G2). */
import { BoundedMap } from '../../base/boundedMap.js';
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { isServedAt, type Route } from '../routes.js';
import { quietLimitMs } from './conversation.js';
import { sessionConversation } from './conversationIds.js';
import type { Listing } from './listings.js';
import type { ProtocolVersion } from '../../protocol/versions.js';
import { Session } from './session.js';
import { newSessionId, type SessionTraits } from './sessionId.js';

/** The ids of sessions that their clients ended are remembered, because none is revived. The oldest is forgotten. */
const mostDeleted = 1_000;

/** Completes the note to the conversation of a session that is revived or goes on from another one (L2a). */
const restarted = 'its session had ended, or MCP Toolsets was started again';

interface SessionStart {
  /** Makes the listing of the session of this conversation. */
  readonly listing: (conversation: string) => Listing;
  readonly protocolVersion: ProtocolVersion;
  readonly traits: SessionTraits;
  /** The id of the session that is revived; absent for a new one. */
  readonly revived?: string;
  /** Whether its conversation had another session before, at another gateway or an earlier run of this one. */
  readonly isContinued?: boolean;
  /** The conversation that goes on in it; absent where it has one of its own. */
  readonly conversation?: string | undefined;
}

export class Sessions {
  private readonly byId = new Map<string, Session>();
  private readonly deleted = new BoundedMap<string, true>(mostDeleted);
  private readonly quiet = new Map<Session, Disposable>();

  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    /** Called when a session has ended; `byClient` says that its client has deleted it. */
    private readonly closed: (session: Session, byClient: boolean) => void,
  ) {}

  /** Returns undefined where there is no room, because every session has calls in flight. */
  open({
    listing,
    protocolVersion,
    traits,
    revived,
    isContinued = false,
    conversation,
  }: SessionStart): Session | undefined {
    if (this.byId.size >= this.max) {
      const idlest = this.idlest();
      if (!idlest) return undefined;
      this.close(idlest, { cancelCalls: false });
    }
    const id = revived ?? newSessionId(traits, protocolVersion);
    const now = this.clock.now();
    const own = conversation ?? sessionConversation(id);
    const session = new Session(id, listing(own), protocolVersion, now, traits, {
      conversation: own,
      isRevived: revived !== undefined,
      lostBefore: revived !== undefined || isContinued ? restarted : undefined,
    });
    this.byId.set(id, session);
    return session;
  }

  /** Finds a session, which belongs to one toolset and one kind of client, and notes the use. */
  find(id: string, route: Route): Session | undefined {
    const session = this.byId.get(id);
    if (session?.toolset !== route.toolset || !isServedAt(route, session.clientKind)) return undefined;
    session.lastUsed = this.clock.now();
    return session;
  }

  /** Says whether a session of this id may begin: none has it, and no client has ended one that had it. */
  isFree(id: string): boolean {
    return !this.byId.has(id) && !this.deleted.has(id);
  }

  /** Ends a session because its client wants that. */
  delete(session: Session, options: { cancelCalls: boolean }): void {
    this.deleted.set(session.sessionId, true);
    this.end(session, options, true);
  }

  close(session: Session, options: { cancelCalls: boolean }): void {
    this.end(session, options, false);
  }

  private end(session: Session, options: { cancelCalls: boolean }, byClient: boolean): void {
    if (!this.byId.delete(session.sessionId)) return;
    this.quiet.get(session)?.dispose();
    this.quiet.delete(session);
    session.close(options);
    this.closed(session, byClient);
  }

  closeAll(): void {
    for (const session of [...this.byId.values()]) this.close(session, { cancelCalls: true });
  }

  of(toolset: string): Session[] {
    return [...this.byId.values()].filter((session) => session.toolset === toolset);
  }

  /**
   * Notes that a stream of the session has closed. A client that has listened and is silent since is gone: its program
   * ended or was killed. That does not hold for the editor, whose conversations outlive its sessions.
   */
  streamClosed(session: Session): void {
    if (session.clientKind === 'editor' || session.isClosed || session.isListening) return;
    session.lastUsed = this.clock.now();
    this.awaitQuiet(session);
  }

  private awaitQuiet(session: Session): void {
    this.quiet.get(session)?.dispose();
    const left = session.lastUsed + quietLimitMs - this.clock.now();
    const timer = this.clock.after(session.calls.size > 0 ? quietLimitMs : left, () => {
      this.quiet.delete(session);
      if (session.isListening) return;
      const isQuiet = session.calls.size === 0 && this.clock.now() - session.lastUsed >= quietLimitMs;
      if (isQuiet) this.close(session, { cancelCalls: false });
      else this.awaitQuiet(session);
    });
    this.quiet.set(session, timer);
  }

  /** A client that listens is more likely to be there than one that does not. */
  private idlest(): Session | undefined {
    let found: Session | undefined;
    for (const session of this.byId.values()) {
      if (session.calls.size > 0) continue;
      if (!found || precedes(session, found)) found = session;
    }
    return found;
  }
}

function precedes(a: Session, b: Session): boolean {
  return a.isListening === b.isListening ? a.lastUsed < b.lastUsed : b.isListening;
}
