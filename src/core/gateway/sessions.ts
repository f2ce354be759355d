/** The sessions of a gateway, bounded: the one that was idle longest makes room (G2). */
import type { Clock } from '../base/clock.js';
import type { Fields } from '../protocol/client.js';
import type { Listing } from './listings.js';
import type { ProtocolVersion } from '../protocol/versions.js';
import { Session } from './session.js';

export class Sessions {
  private readonly byId = new Map<string, Session>();

  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    private readonly closed: (session: Session) => void,
  ) {}

  /** Undefined: there is no room, as every session has calls in flight. */
  open(listing: Listing, protocolVersion: ProtocolVersion, clientCapabilities: Fields = {}): Session | undefined {
    if (this.byId.size >= this.max) {
      const idlest = this.idlest();
      if (!idlest) return undefined;
      this.close(idlest, { cancelCalls: false });
    }
    const session = new Session(listing, protocolVersion, this.clock.now(), clientCapabilities);
    this.byId.set(session.id, session);
    return session;
  }

  /** A session is no one's but its toolset's and its kind of client's. Notes the use. */
  find(id: string, listing: { readonly toolset: string; readonly clientKind: string }): Session | undefined {
    const session = this.byId.get(id);
    if (session?.toolset !== listing.toolset || session.clientKind !== listing.clientKind) return undefined;
    session.lastUsed = this.clock.now();
    return session;
  }

  close(session: Session, options: { cancelCalls: boolean }): void {
    if (!this.byId.delete(session.id)) return;
    session.close(options);
    this.closed(session);
  }

  closeAll(): void {
    for (const session of [...this.byId.values()]) this.close(session, { cancelCalls: true });
  }

  of(toolset: string): Session[] {
    return [...this.byId.values()].filter((session) => session.toolset === toolset);
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
