/**
 * The subscriptions of sessions to resources or tasks (G4). The clients know nothing of instances, so a new instance
 * takes these subscriptions over.
 */
import type { Fields, ServerClient } from '../protocol/client.js';

const mostUris = 10_000;

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
    return [...this.byUri].flatMap(([uri, clients]) =>
      clients.has(session) && this.remove(uri, session) ? [uri] : [],
    );
  }

  /** Leaves out sessions that ended while no instance was there to notify. */
  uris(): string[] {
    for (const [uri, clients] of this.byUri) {
      for (const { session, isGone } of clients.values()) if (isGone === true) this.remove(uri, session);
    }
    return [...this.byUri.keys()];
  }

  tell(key: string, method: string, params: Fields): void {
    for (const client of [...(this.byUri.get(key)?.values() ?? [])]) client.tell(method, params);
  }

  take(key: string): readonly ServerClient[] {
    const clients = [...(this.byUri.get(key)?.values() ?? [])];
    this.byUri.delete(key);
    return clients;
  }

  updated(params: Fields): void {
    const { uri } = params as { uri?: unknown };
    if (typeof uri !== 'string') return;
    for (const client of this.clientsOf(uri)) client.tell('notifications/resources/updated', params);
  }

  /** MCP lets a server report an update for a part of the subscribed resource. */
  private clientsOf(uri: string): Iterable<ServerClient> {
    const found = new Map(this.byUri.get(uri));
    if (found.size > 0) return found.values();
    for (const [subscribed, clients] of this.byUri) {
      if (uri.startsWith(subscribed)) for (const [session, client] of clients) found.set(session, client);
    }
    return found.values();
  }
}
