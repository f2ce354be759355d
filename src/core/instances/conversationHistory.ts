/**
 * Tells each conversation, with its next instance of a server, by what it lost the one before (L3, X4). It outlives the
 * instances.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { ServerClient } from '../protocol/client.js';
import type { LeaseNews } from '../protocol/request.js';

/** Conversations end without a word. Those that never come back must not be remembered for ever. */
const mostConversations = 1_000;

/** The cause by which each conversation lost its instance of one server; empty while it has one. */
export interface Losses {
  get(conversation: string): string | undefined;
  set(conversation: string, cause: string): void;
}

export class ConversationHistory {
  constructor(private readonly losses: Losses = new BoundedMap<string, string>(mostConversations)) {}

  /** Notes that a conversation has taken an instance. Returns what it has to be told of that. */
  meets(conversation: string, client: ServerClient | undefined): LeaseNews {
    const known = this.losses.get(conversation);
    const cause = known ?? client?.lostBefore ?? '';
    this.losses.set(conversation, '');
    if (cause !== '') return { kind: 'replaced', cause };
    return { kind: known === undefined && client?.mayHaveLost ? 'newHere' : 'new' };
  }

  /** Notes that the instance of a conversation has ended. */
  loses(conversation: string, cause: string): void {
    this.losses.set(conversation, cause);
  }
}
