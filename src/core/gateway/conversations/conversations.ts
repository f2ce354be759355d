/**
 * Modern conversations (G3). One with an address ends after its program (L2a), others end as their
 * leases do (L2).
 */
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { expectedClient, noClient, type Past, type ServerClient } from '../../protocol/client.js';
import type { ConnectedProgram } from '../routes.js';
import { Conversation, type KindOfClient } from './conversation.js';
import type { Listing } from './listings.js';

export interface ConversationKey {
  readonly toolset: string;
  readonly id: string;
}

/** The streams that hold a conversation open, and the program behind them. */
interface Attendance {
  streams: number;
  readonly toolset: string;
  program: string;
}

export class Conversations implements Disposable {
  private readonly kept = new Map<string, Conversation>();
  private readonly attending = new Map<string, Attendance>();

  /** @param ended called when the leases of a conversation are to end */
  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    private readonly forgotten: (conversation: Conversation) => void,
    private readonly ended: (client: ServerClient) => void,
  ) {}

  /** Returns undefined if all places are in use. `listing` and `past` are for a new conversation. */
  of(given: ConversationKey, listing: () => Listing, past: Past): Conversation | undefined {
    const key = keyOf(given);
    const now = this.clock.awake();
    const before = this.kept.get(key);
    if (!before && this.kept.size >= this.max && !this.makeRoom()) return undefined;
    const conversation = before ?? new Conversation(given.id, listing(), past, now);
    conversation.lastUsed = now;
    this.kept.set(key, conversation);
    return conversation;
  }

  /** Holds a conversation open. It ends a while after its last such stream has closed. */
  attend(given: ConversationKey, kind: KindOfClient): Disposable {
    const key = keyOf(given);
    this.kept.get(key)?.keepOpen();
    const held = this.attending.get(key) ?? {
      streams: 0,
      toolset: given.toolset,
      program: '',
    };
    held.streams += 1;
    this.attending.set(key, held);
    return {
      dispose: () => {
        held.streams -= 1;
        if (held.streams > 0) return;
        this.attending.delete(key);
        const left = this.kept.get(key);
        left?.endWhenQuiet(
          this.clock,
          kind,
          () => left.openPosts > 0,
          () => this.end(given),
        );
      },
    };
  }

  /** The name is known with the first request of a conversation that is held open. */
  setProgram(given: ConversationKey, program: string): void {
    const held = this.attending.get(keyOf(given));
    if (held) held.program = program;
  }

  programs(): readonly ConnectedProgram[] {
    return [...this.attending.values()].map(({ toolset, program }) => ({ toolset, program }));
  }

  dispose(): void {
    for (const conversation of this.kept.values()) conversation.keepOpen();
    this.kept.clear();
  }

  end(given: ConversationKey): void {
    const conversation = this.forget(keyOf(given));
    if (!conversation) return;
    this.ended({
      ...expectedClient(noClient),
      session: conversation,
      conversation: conversation.id,
    });
  }

  private makeRoom(): boolean {
    const idle = [...this.kept].filter(
      ([key, { openPosts }]) => openPosts === 0 && !this.attending.has(key),
    );
    const [idlest] = idle.sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (idlest) this.forget(idlest[0]);
    return idlest !== undefined;
  }

  private forget(key: string): Conversation | undefined {
    const conversation = this.kept.get(key);
    if (!conversation) return undefined;
    conversation.keepOpen();
    this.kept.delete(key);
    this.forgotten(conversation);
    return conversation;
  }
}

function keyOf({ toolset, id }: ConversationKey): string {
  return `${toolset} ${id}`;
}
