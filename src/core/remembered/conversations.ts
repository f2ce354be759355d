/** Counts the conversations that had an instance of each server, in this window and in earlier ones (P9). */
import { isObject } from '../base/isObject.js';

/** More conversations than this tell nothing new, so they are not stored. */
const enough = 2;
/** Those of servers that were not used for the longest time are forgotten. */
const mostServers = 200;

interface ConversationCountsDeps {
  /** What `store` was given last, or anything else. */
  readonly stored: unknown;
  readonly store: (counts: Readonly<Record<string, number>>) => void;
  /** Says whether a dialog is a conversation, and nothing that a person does once. */
  readonly isConversation: (dialog: string) => boolean;
}

export class ConversationCounts {
  private readonly counts: Map<string, number>;

  constructor(private readonly deps: ConversationCountsDeps) {
    const { stored } = deps;
    const entries = Object.entries(isObject(stored) ? stored : {});
    this.counts = new Map(entries.flatMap(([id, count]) => (typeof count === 'number' ? [[id, count]] : [])));
  }

  /** Says whether a server that had so many conversations will have another. */
  expectsMore(server: string): boolean {
    return (this.counts.get(server) ?? 0) >= enough;
  }

  /** A conversation has its first instance. */
  note(server: string, dialog: string): void {
    if (!this.deps.isConversation(dialog)) return;
    const count = this.counts.get(server) ?? 0;
    if (count >= enough) return;
    this.counts.delete(server);
    this.counts.set(server, count + 1);
    this.deps.store(Object.fromEntries([...this.counts].slice(-mostServers)));
  }
}
