/** Keeps the sessions of a gateway. Their number is bounded: the session idle for longest makes room (G2). */
import { BoundedMap } from '../../base/boundedMap.js';
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { isServedAt, type ConnectedProgram, type Route } from '../routes.js';
import { quietLimitMs } from './conversation.js';
import { sessionConversation } from './conversationIds.js';
import type { Listing } from './listings.js';
import type { ProtocolVersion } from '../../protocol/versions.js';
import { Session } from './session.js';
import { newSessionId, type SessionTraits } from './sessionId.js';

/** A session ended by its client is not revived. The oldest id is forgotten beyond this number. */
const mostDeleted = 1_000;

/** Completes the note to the conversation of a revived or continued session (L2a). */
const restarted = 'its session had ended, or MCP Toolsets was started again';

interface SessionStart {
  readonly listing: (conversation: string) => Listing;
  readonly protocolVersion: ProtocolVersion;
  readonly traits: SessionTraits;
  /** The id of the revived session; absent for a new one. */
  readonly revived?: string;
  /** True if its conversation had a session before, at another gateway or in an earlier run. */
  readonly isContinued?: boolean;
  /** The conversation to continue; by default, the session's own. */
  readonly conversation?: string | undefined;
}

export class Sessions {
  private readonly byId = new Map<string, Session>();
  private readonly deleted = new BoundedMap<string, true>(mostDeleted);
  private readonly quiet = new Map<Session, Disposable>();

  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    /** Called after the end of a session; `byClient` is true if its client deleted it. */
    private readonly closed: (session: Session, byClient: boolean) => void,
  ) {}

  /** Returns undefined if every session has calls in flight, so there is no room. */
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

  /** Finds a session of this toolset and kind of client, and notes the use. */
  find(id: string, route: Route): Session | undefined {
    const session = this.byId.get(id);
    if (session?.toolset !== route.toolset || !isServedAt(route, session.clientKind)) return undefined;
    session.lastUsed = this.clock.now();
    return session;
  }

  /** True if a session with this id may begin: the id is unused, and its client has not ended it. */
  isFree(id: string): boolean {
    return !this.byId.has(id) && !this.deleted.has(id);
  }

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

  /** The programs of all sessions with a present client. */
  programs(): readonly ConnectedProgram[] {
    const present = [...this.byId.values()].filter(({ hasLeft }) => !hasLeft);
    return present.map(({ toolset, program }) => ({ toolset, program }));
  }

  /**
   * Notes the end of a stream. A client with closed streams and no requests has gone: its program ended. The editor
   * is an exception, because its conversations outlive its sessions.
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

  /** Prefers sessions without an open stream: their clients have probably gone. */
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
