/**
 * Keeps data about the conversations of one server beyond its instances: their subscriptions (G4), and why each
 * conversation lost its last instance (L3, X4).
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { ServerClient } from '../protocol/client.js';
import type { LeaseNews } from '../protocol/request.js';
import { Subscriptions } from './subscriptions.js';

const mostConversations = 1_000;

/** Why each conversation lost its instance of one server. The cause is empty while it has an instance. */
interface Losses {
  get(conversation: string): string | undefined;
  set(conversation: string, cause: string): void;
}

/** The conversations with an instance of a server, in earlier windows too (P9, X4). */
export interface KnownConversations {
  expectsMore(server: string): boolean;
  of(server: string): Losses;
}

export class ServerConversations {
  readonly shared = new Subscriptions();
  private readonly subscriptions = new BoundedMap<string, Subscriptions>(mostConversations);

  constructor(private readonly losses: Losses = new BoundedMap<string, string>(mostConversations)) {}

  subscriptionsOf(conversation: string): Subscriptions {
    const known = this.subscriptions.get(conversation) ?? new Subscriptions();
    this.subscriptions.set(conversation, known);
    return known;
  }

  forgetSubscriptions(conversation: string): void {
    this.subscriptions.delete(conversation);
  }

  /** Notes that a conversation has taken an instance. Returns the news for its next result. */
  takes(conversation: string, client: ServerClient | undefined): LeaseNews {
    const known = this.losses.get(conversation);
    const cause = known ?? client?.lostBefore ?? '';
    this.losses.set(conversation, '');
    if (cause !== '') return { kind: 'replaced', cause };
    return { kind: known === undefined && client?.mayHaveLost ? 'newHere' : 'new' };
  }

  loses(conversation: string, cause: string): void {
    this.losses.set(conversation, cause);
  }
}
