/**
 * Knows which sessions want to hear of which resources (G4), either of one instance or of whichever instance all
 * dialogs share at the time: a client that subscribed there knows nothing of instances.
 */
import type { Fields, ServerClient } from '../protocol/client.js';

/** The limit over all sessions. */
const mostUris = 10_000;

export class Subscriptions {
  private readonly byUri = new Map<string, Map<object, ServerClient>>();

  add(uri: string, client: ServerClient): void {
    const clients = this.byUri.get(uri) ?? new Map<object, ServerClient>();
    clients.set(client.session, client);
    if (this.byUri.size < mostUris) this.byUri.set(uri, clients);
  }

  /** Returns whether nobody wants to hear of it any more. */
  remove(uri: string, session: object): boolean {
    const clients = this.byUri.get(uri);
    clients?.delete(session);
    if (clients && clients.size > 0) return false;
    this.byUri.delete(uri);
    return true;
  }

  /** Returns the URIs that nobody wants to hear of any more. */
  forget(session: object): string[] {
    return [...this.byUri].flatMap(([uri, clients]) =>
      clients.has(session) && this.remove(uri, session) ? [uri] : [],
    );
  }

  /** Leaves out those whose sessions ended while there was no instance to tell. */
  uris(): string[] {
    for (const [uri, clients] of this.byUri) {
      for (const { session, isGone } of clients.values()) if (isGone === true) this.remove(uri, session);
    }
    return [...this.byUri.keys()];
  }

  updated(params: Fields): void {
    const { uri } = params as { uri?: unknown };
    if (typeof uri !== 'string') return;
    for (const client of this.clientsOf(uri)) client.tell('notifications/resources/updated', params);
  }

  /** A server may tell of an update to a part of what was subscribed to. */
  private clientsOf(uri: string): Iterable<ServerClient> {
    const found = new Map(this.byUri.get(uri));
    if (found.size > 0) return found.values();
    for (const [subscribed, clients] of this.byUri) {
      if (uri.startsWith(subscribed)) for (const [session, client] of clients) found.set(session, client);
    }
    return found.values();
  }
}
