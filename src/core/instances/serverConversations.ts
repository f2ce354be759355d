import { BoundedMap } from '../base/boundedMap.js';
import type { Fields, ServerClient } from '../protocol/client.js';
import type { LeaseNews } from '../protocol/request.js';

const mostConversations = 1_000;

/**
 * Why each conversation lost its instance of one server. The cause is empty while it has an
 * instance.
 */
interface Losses {
  get(conversation: string): string | undefined;
  set(conversation: string, cause: string): void;
  delete(conversation: string): void;
}

export interface KnownConversations {
  expectsMore(server: string): boolean;
  of(server: string): Losses;
}

export class ServerConversations {
  readonly shared = new Subscriptions();
  readonly subscriptions = new BoundedMap<string, Subscriptions>(mostConversations);

  constructor(readonly losses: Losses = new BoundedMap<string, string>(mostConversations)) {}

  subscriptionsOf(conversation: string): Subscriptions {
    const known = this.subscriptions.get(conversation) ?? new Subscriptions();
    this.subscriptions.set(conversation, known);
    return known;
  }

  /** Returns the news for the first result of a new lease, and remembers that it has one. */
  newsOfLease(conversation: string, client: ServerClient | undefined): LeaseNews {
    const known = this.losses.get(conversation);
    const { past } = client ?? {};
    this.losses.set(conversation, '');
    if (known === undefined && past?.kind === 'lost') return { kind: 'replaced', cause: past.why };
    if (known === undefined && past?.kind === 'unknown') return { kind: 'newHere' };
    return known ? { kind: 'replaced', cause: known } : { kind: 'new' };
  }

  /**
   * Returns the news for the next result if the conversation lost its own instance, and all now
   * share one.
   */
  newsOfSharing(conversation: string): LeaseNews | undefined {
    const cause = this.losses.get(conversation) ?? '';
    if (cause === '') return undefined;
    this.losses.delete(conversation);
    return { kind: 'shared', cause };
  }
}

const mostUris = 10_000;

/**
 * The subscriptions of sessions to resources or tasks. A new instance takes them over, because
 * clients know none.
 */
export class Subscriptions {
  private readonly byUri = new Map<string, Map<object, ServerClient>>();

  add(uri: string, client: ServerClient): void {
    const clients = this.byUri.get(uri) ?? new Map<object, ServerClient>();
    clients.set(client.session, client);
    if (this.byUri.size < mostUris) this.byUri.set(uri, clients);
  }

  remove(uri: string, session: object): boolean {
    const clients = this.byUri.get(uri);
    clients?.delete(session);
    if (clients && clients.size > 0) return false;
    this.byUri.delete(uri);
    return true;
  }

  forget(session: object): string[] {
    return [...this.byUri].flatMap(([uri, known]) =>
      known.has(session) && this.remove(uri, session) ? [uri] : [],
    );
  }

  /** Leaves out sessions that ended while no instance was there to notify. */
  uris(): string[] {
    for (const [uri, clients] of this.byUri) {
      for (const { session, state } of clients.values())
        if (state.kind === 'gone') this.remove(uri, session);
    }
    return [...this.byUri.keys()];
  }

  of(key: string): readonly ServerClient[] {
    return [...(this.byUri.get(key)?.values() ?? [])];
  }

  take(key: string): readonly ServerClient[] {
    const clients = this.of(key);
    this.byUri.delete(key);
    return clients;
  }

  updated(params: Fields): void {
    const { uri } = params;
    if (typeof uri !== 'string') return;
    // MCP lets a server report an update for a part of the subscribed resource.
    const around = this.byUri.has(uri)
      ? [uri]
      : [...this.byUri.keys()].filter((whole) => uri.startsWith(whole));
    const clients = new Map(around.flatMap((one) => [...(this.byUri.get(one) ?? [])]));
    for (const client of clients.values()) client.tell('notifications/resources/updated', params);
  }
}
