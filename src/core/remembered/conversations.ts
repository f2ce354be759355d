/**
 * Remembers over windows the conversations of each server, and why each lost its instance (P9, X4).
 */
import { BoundedMap } from '../base/boundedMap.js';
import { asFields } from '../base/isObject.js';
import type { KnownConversations } from '../instances/serverConversations.js';

const enough = 2;
const mostServers = 200;
const mostConversations = 200;
/** The loss of a conversation that had an instance at the end of the window. */
const restarted = 'MCP Toolsets was started again';

interface ConversationsDeps {
  /** The last value given to `store`, or any other value. */
  readonly stored: unknown;
  readonly store: (losses: Readonly<Record<string, Readonly<Record<string, string>>>>) => void;
  /** Returns false for a single call of a person, such as a trial of a tool. */
  readonly isConversation: (conversation: string) => boolean;
}

export class RememberedConversations implements KnownConversations {
  private readonly servers = new BoundedMap<string, Map<string, string>>(mostServers);

  constructor(private readonly deps: ConversationsDeps) {
    for (const [server, losses] of entriesOf(deps.stored))
      for (const [conversation, cause] of entriesOf(losses))
        if (typeof cause === 'string')
          this.lossesOf(server).set(conversation, cause === '' ? restarted : cause);
  }

  expectsMore(server: string): boolean {
    return this.conversationsOf(server).length >= enough;
  }

  of(server: string): ReturnType<KnownConversations['of']> {
    const losses = this.lossesOf(server);
    const changed = (conversation: string): void => {
      this.servers.set(server, losses);
      if (!this.deps.isConversation(conversation)) return;
      const all = [...this.servers.keys()].map(
        (id) => [id, Object.fromEntries(this.conversationsOf(id))] as const,
      );
      this.deps.store(Object.fromEntries(all));
    };
    return {
      get: (conversation) => losses.get(conversation),
      set: (conversation, cause) => {
        losses.set(conversation, cause);
        changed(conversation);
      },
      delete: (conversation) => {
        losses.delete(conversation);
        changed(conversation);
      },
    };
  }

  private lossesOf(server: string): Map<string, string> {
    const losses = this.servers.get(server) ?? new BoundedMap<string, string>(mostConversations);
    this.servers.set(server, losses);
    return losses;
  }

  private conversationsOf(server: string): readonly (readonly [string, string])[] {
    return [...(this.servers.get(server) ?? [])].filter(([conversation]) =>
      this.deps.isConversation(conversation),
    );
  }
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(asFields(value));
}
