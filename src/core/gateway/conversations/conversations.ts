/**
 * Modern conversations (G3). One with an address ends after its program (L2a), others end as their
 * leases do (L2).
 */
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { expectedClient, noClient, type ServerClient } from '../../protocol/client.js';
import type { ConnectedProgram } from '../routes.js';
import { Conversation } from './conversation.js';
import type { Listing } from './listings.js';

export type ConversationKey = Pick<Conversation, 'toolset' | 'id'>;

export class Conversations implements Disposable {
  private readonly kept = new Map<string, Conversation>();
  private readonly attending = new Map<
    string,
    { streams: number; readonly toolset: string; program: string }
  >();

  /** @param ended called when the leases of a conversation are to end */
  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    private readonly forgotten: (conversation: Conversation) => void,
    private readonly ended: (client: ServerClient) => void,
  ) {}

  /**
   * Returns undefined if all places are in use. `listing` and `lostBefore` are for a new
   * conversation.
   */
  of(
    given: ConversationKey,
    listing: () => Listing,
    lostBefore?: string,
  ): Conversation | undefined {
    const key = keyOf(given);
    const now = this.clock.now();
    const known = this.kept.get(key);
    if (!known && this.kept.size >= this.max && !this.makeRoom()) return undefined;
    const conversation = known ?? new Conversation(given.id, listing(), now, lostBefore, true);
    conversation.lastUsed = now;
    this.kept.set(key, conversation);
    return conversation;
  }

  /** Holds a conversation open. It ends a while after its last such stream has closed. */
  attend(given: ConversationKey): Disposable {
    const key = keyOf(given);
    this.kept.get(key)?.quiet?.dispose();
    const held = this.attending.get(key) ?? { streams: 0, toolset: given.toolset, program: '' };
    held.streams += 1;
    this.attending.set(key, held);
    return {
      dispose: () => {
        held.streams -= 1;
        if (held.streams > 0) return;
        this.attending.delete(key);
        this.kept.get(key)?.endWhenQuiet(this.clock, () => this.end(given));
      },
    };
  }

  noteProgram(given: ConversationKey, program: string): void {
    const held = this.attending.get(keyOf(given));
    if (held) held.program = program;
  }

  programs(): readonly ConnectedProgram[] {
    return [...this.attending.values()].map(({ toolset, program }) => ({ toolset, program }));
  }

  dispose(): void {
    for (const { quiet } of this.kept.values()) quiet?.dispose();
    this.kept.clear();
  }

  end(given: ConversationKey): void {
    const conversation = this.kept.get(keyOf(given));
    if (!conversation) return;
    this.forget(conversation);
    this.ended({
      ...expectedClient(noClient),
      session: conversation,
      conversation: conversation.id,
    });
  }

  private makeRoom(): boolean {
    const idle = [...this.kept.values()].filter(
      (each) => !each.isInUse && !this.attending.has(keyOf(each)),
    );
    const [idlest] = idle.sort((a, b) => a.lastUsed - b.lastUsed);
    if (idlest) this.forget(idlest);
    return idlest !== undefined;
  }

  private forget(conversation: Conversation): void {
    conversation.quiet?.dispose();
    this.kept.delete(keyOf(conversation));
    this.forgotten(conversation);
  }
}

function keyOf({ toolset, id }: ConversationKey): string {
  return `${toolset} ${id}`;
}
