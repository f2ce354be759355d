/**
 * One conversation of an agent with a toolset (G3): the common part of its requests. A session of an older protocol
 * version is a conversation with streams (`session`). A modern request finds its conversation in `conversations`.
 */
import { BoundedMap } from '../../base/boundedMap.js';
import type { Destination } from '../../protocol/request.js';
import { longestUri } from '../../tools/uris.js';
import type { MessageStream } from '../eventStreams.js';
import type { Listing, ListName, Topic } from './listings.js';

/** A client whose last stream has closed may be silent this long, in milliseconds (L2a). */
export const quietLimitMs = 45_000;

interface ConversationStart {
  readonly id: string;
  /** Why its earlier state is gone, if there may have been any (L2a). */
  readonly lostBefore?: string | undefined;
  /** True if it may be older than the knowledge of this process. */
  readonly mayHaveLost: boolean;
}

export class Conversation {
  readonly id: string;
  readonly toolset: string;
  readonly lostBefore: string | undefined;
  readonly mayHaveLost: boolean;
  readonly links = new Links();
  /** True if it has sent anything to an instance, so it may hold one. */
  hasCalled = false;
  /** The tools with a question to a person here, by the client's newest list (S4). */
  promised: ReadonlySet<string> | undefined;

  constructor(
    start: ConversationStart,
    readonly listing: Listing,
    /** The time of the last use in milliseconds since the epoch. */
    public lastUsed: number,
  ) {
    ({ id: this.id, lostBefore: this.lostBefore, mayHaveLost: this.mayHaveLost } = start);
    this.toolset = listing.toolset;
  }

  /**
   * Returns the id of the conversation with this name, for programs with several conversations in one session.
   * Returns undefined if a request without a name may belong to any of several.
   */
  idOf(_name: string | undefined): string | undefined {
    return this.id;
  }

  /** Notes the client's reading of the list. Modern clients learn about changes from `listenStreams`. */
  noteListed(_topic: Topic, _list: ListName): void {}

  /**
   * Has to be called before a call is answered on its stream. There, a modern client gets only messages of the call.
   * @param listVersion the version of the list of tools when the call began
   */
  tellBeforeResult(_stream: MessageStream, _listVersion: number): void {}
}

/** The oldest link is forgotten beyond this number. */
const mostLinks = 1_000;

/** The oldest holder of one link is forgotten beyond this number. They still count as several. */
const mostHolders = 16;

/**
 * The links in results, because each is read from its own instance. Two conversations may have different resources
 * under one URI (G3), so a URI may have several holders.
 */
export class Links {
  private readonly made = new BoundedMap<string, BoundedMap<string, Destination>>(mostLinks);

  set(uri: string, destination: Destination): void {
    const holders = this.made.get(uri) ?? new BoundedMap<string, Destination>(mostHolders);
    holders.set(destination.conversation, destination);
    this.made.set(uri, holders);
  }

  /** Remembers the links in a result. */
  note({ content }: { readonly content: readonly { readonly type: string }[] }, origin: Destination): void {
    for (const part of content) {
      const { uri } = part as { uri?: unknown };
      if (part.type !== 'resource_link' || typeof uri !== 'string' || uri.length > longestUri) continue;
      this.set(uri, origin);
    }
  }

  /** Returns the origins of the link, one for each conversation; the newest is the last. */
  holders(uri: string): readonly Destination[] {
    return [...(this.made.get(uri)?.values() ?? [])];
  }
}
