/**
 * Keeps the conversations of the modern era, in which each request is served by itself and no session joins those of
 * one conversation (G3). What is kept is what its requests share: its id, its listing and the links that it was
 * given. Their number is bounded: the one that was idle the longest is forgotten, and is made anew when it calls again.
 *
 * A conversation that has an address of its own can be ended there, and ends by itself when the program that attended
 * to it has gone (L2a). Others end as their leases do (L2).
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import type { ServerClient } from '../protocol/client.js';
import { Links } from './links.js';
import type { Listing } from './listings.js';
import { quietLimitMs } from './sessions.js';

export interface ConversationTraits {
  readonly toolset: string;
  readonly conversationId: string;
  /** Why what its id held before is gone, if it may have held something (L2a). */
  readonly lostBefore?: string | undefined;
}

export class Conversation {
  readonly toolset: string;
  readonly conversationId: string;
  readonly lostBefore: string | undefined;
  /** The links that it was given. */
  readonly links = new Links();
  /** The number of requests that are being served. */
  inUse = 0;

  constructor(
    traits: ConversationTraits,
    readonly listing: Listing,
    /** The time of the last use in milliseconds since the epoch. */
    public lastUsed: number,
  ) {
    ({ toolset: this.toolset, conversationId: this.conversationId, lostBefore: this.lostBefore } = traits);
  }
}

interface ConversationsDeps {
  readonly clock: Clock;
  readonly max: number;
  /** Called with a conversation that is kept no longer. */
  readonly forgotten: (conversation: Conversation) => void;
  /** Called when what a conversation holds is to end. */
  readonly ended: (client: ServerClient) => void;
}

export class Conversations implements Disposable {
  private readonly kept = new Map<string, Conversation>();
  /** How many streams hold a conversation open. */
  private readonly attending = new Map<string, number>();
  private readonly quiet = new Map<string, Disposable>();

  constructor(private readonly deps: ConversationsDeps) {}

  /**
   * Returns the conversation, noting the use, or undefined where there is no room because all are in use.
   * @param listing makes the listing of one that is not kept
   */
  of(traits: ConversationTraits, listing: () => Listing): Conversation | undefined {
    const key = keyOf(traits);
    const known = this.kept.get(key);
    if (known) {
      known.lastUsed = this.deps.clock.now();
      return known;
    }
    if (this.kept.size >= this.deps.max && !this.makeRoom()) return undefined;
    const made = new Conversation(traits, listing(), this.deps.clock.now());
    this.kept.set(key, made);
    return made;
  }

  /** Keeps a conversation in use while a request of it is served. */
  use(conversation: Conversation): Disposable {
    conversation.inUse += 1;
    return {
      dispose: () => {
        conversation.inUse -= 1;
        conversation.lastUsed = this.deps.clock.now();
      },
    };
  }

  /** Holds a conversation open as long as a stream is; a while after the last one has closed, it ends. */
  attend(traits: ConversationTraits): Disposable {
    const key = keyOf(traits);
    this.quiet.get(key)?.dispose();
    this.attending.set(key, (this.attending.get(key) ?? 0) + 1);
    return {
      dispose: () => {
        const left = (this.attending.get(key) ?? 1) - 1;
        if (left > 0) {
          this.attending.set(key, left);
          return;
        }
        this.attending.delete(key);
        this.awaitQuiet(key, quietLimitMs);
      },
    };
  }

  /** Ends a conversation because its client wants that. */
  end(traits: ConversationTraits): void {
    const conversation = this.kept.get(keyOf(traits));
    if (!conversation) return;
    this.forget(conversation);
    this.deps.ended(clientOf(conversation));
  }

  dispose(): void {
    for (const timer of this.quiet.values()) timer.dispose();
    this.quiet.clear();
    this.kept.clear();
  }

  private awaitQuiet(key: string, limitMs: number): void {
    this.quiet.get(key)?.dispose();
    const { clock } = this.deps;
    const timer = clock.after(limitMs, () => {
      this.quiet.delete(key);
      const conversation = this.kept.get(key);
      if (!conversation || this.attending.has(key)) return;
      const left = conversation.inUse > 0 ? quietLimitMs : conversation.lastUsed + quietLimitMs - clock.now();
      if (left > 0) this.awaitQuiet(key, left);
      else this.end(conversation);
    });
    this.quiet.set(key, timer);
  }

  private makeRoom(): boolean {
    let idlest: Conversation | undefined;
    for (const [key, one] of this.kept) {
      if (one.inUse > 0 || this.attending.has(key)) continue;
      if (!idlest || one.lastUsed < idlest.lastUsed) idlest = one;
    }
    if (idlest) this.forget(idlest);
    return idlest !== undefined;
  }

  private forget(conversation: Conversation): void {
    this.kept.delete(keyOf(conversation));
    this.deps.forgotten(conversation);
  }
}

function keyOf({ toolset, conversationId }: ConversationTraits): string {
  return `${toolset} ${conversationId}`;
}

/** The client of a conversation as it is told of its end. */
function clientOf(conversation: Conversation): ServerClient {
  return {
    session: conversation,
    conversation: conversation.conversationId,
    capabilities: {},
    logLevel: undefined,
    ask: () => Promise.reject(new Error('The conversation has ended.')),
    tell: () => {},
  };
}
