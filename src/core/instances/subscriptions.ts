/**
 * Knows which sessions want to hear of which resources (G4), of whichever instance serves a conversation, or all of them, at the
 * time: a client that subscribed knows nothing of instances.
 */
import { BoundedMap } from '../base/boundedMap.js';
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

  /** Tells those who want to hear of this, and of nothing near it. */
  tell(key: string, method: string, params: Fields): void {
    for (const client of [...(this.byUri.get(key)?.values() ?? [])]) client.tell(method, params);
  }

  /** Returns who wanted to hear of it; nobody does any more. */
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

/** Conversations end without a word; those that never come back must not be remembered for ever. */
const mostConversations = 1_000;

/** What is subscribed to at one server. It outlives the instances. */
export class ServerSubscriptions {
  /** Those of the instance that all conversations share. */
  readonly shared = new Subscriptions();
  private readonly byConversation = new BoundedMap<string, Subscriptions>(mostConversations);

  of(conversation: string): Subscriptions {
    const known = this.byConversation.get(conversation) ?? new Subscriptions();
    this.byConversation.set(conversation, known);
    return known;
  }

  /** The conversation has ended. */
  forget(conversation: string): void {
    this.byConversation.delete(conversation);
  }
}
