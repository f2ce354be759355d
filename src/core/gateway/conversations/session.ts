import { BoundedMap } from '../../base/boundedMap.js';
import { TransientMap } from '../../base/transientMap.js';
import { gone, present, type ClientState } from '../../protocol/client.js';
import { notificationMessage, type RequestId } from '../../protocol/jsonRpc.js';
import { metaKeys, type ProtocolVersion } from '../../protocol/versions.js';
import { emptyToolset } from '../backend.js';
import type { MessageStream, OpenStream } from '../eventStreams.js';
import { CallClient, cancelCall, type CallInFlight, type Client } from './client.js';
import { ClientRequests } from './clientRequests.js';
import type { ClientTraits } from './clientTraits.js';
import type { Conversation } from './conversation.js';
import { topics, type Listing, type Topic } from './listings.js';

const maxStreams = 8;

/** The oldest conversation is forgotten. Its leases then end when idle, not with the session. */
const mostConversations = 1_000;

/** What the client of a revived session has read is unknown. No list has this version. */
const unknownVersion = 0;

export interface SessionTraits extends ClientTraits {
  readonly version: ProtocolVersion;
}

/**
 * The versions of one list. The session owes `list_changed` while `known` is older than the list.
 *
 * | event                          | `list_changed` goes out           | then           |
 * | ------------------------------ | --------------------------------- | -------------- |
 * | the client lists               | never                             | both are new   |
 * | the list changes               | on the listening stream, if owed  | `told` is new  |
 * | the client opens a stream      | on it, if owed: the stream before | `told` is new  |
 * |                                | may have lost the notification    |                |
 * | a call is answered             | before the result, if owed and    | `told` is new  |
 * |                                | not told, or if the list changed  |                |
 * |                                | during the call                   |                |
 *
 * A notification precedes the result of the call that changed the list, so the model reads the
 * result with the new tools.
 */
interface Knowledge {
  /** The client has the list of this version, or is about to read it. */
  known: number;
  /** The newest version with a notification, on any stream. */
  told: number;
}

/** One MCP session of an agent, with its conversation and its streams. */
export class Session implements Client {
  readonly calls = new TransientMap<RequestId, CallInFlight>();
  readonly clientRequests = new ClientRequests();
  readonly ask = this.clientRequests.ask;
  readonly client: CallClient;
  readonly serverMeta = undefined;
  state: ClientState = present;
  logLevel: string | undefined;
  hasListed = false;
  /** The first named conversation, and the clients of the others by their names. */
  private first: string | undefined;
  private readonly others = new BoundedMap<string, CallClient>(mostConversations);
  private hasListened = false;
  private readonly streams: OpenStream[] = [];
  private readonly knowledge: Record<Topic, Knowledge>;

  /** @param isRevived true if its client may have older lists from an earlier run of this process */
  constructor(
    readonly id: string,
    readonly traits: SessionTraits,
    readonly conversation: Conversation,
    readonly isRevived: boolean,
  ) {
    this.client = new CallClient(this, conversation.id);
    const of = (topic: Topic): Knowledge => {
      const version = isRevived ? unknownVersion : this.listing.versionOf(topic);
      return { known: version, told: version };
    };
    this.knowledge = {
      tools: of('tools'),
      prompts: of('prompts'),
      resources: of('resources'),
    };
  }

  get listing(): Listing {
    return this.conversation.listing;
  }

  idOf(name: string | undefined): string | undefined {
    const { id } = this.conversation;
    if (name === undefined) return this.others.size === 0 ? id : undefined;
    this.first ??= name;
    if (name === this.first) return id;
    const conversation = `${id}/${name}`;
    if (!this.others.has(name)) this.others.set(name, new CallClient(this, conversation));
    return conversation;
  }

  clients(): readonly CallClient[] {
    return [this.client, ...this.others.values()];
  }

  get listening(): MessageStream | undefined {
    return this.streams.at(-1);
  }

  /**
   * The client listened once and does not now. VS Code 1.103 ends its sessions in this way, without
   * a `DELETE`.
   */
  get hasLeft(): boolean {
    return this.hasListened && !this.listening;
  }

  listen(stream: OpenStream): void {
    this.hasListened = true;
    this.conversation.keepOpen();
    this.streams.push(stream);
    if (this.streams.length > maxStreams) this.streams.shift()?.end();
    this.listing.refreshIfStale();
    this.announce();
  }

  stopListening(stream: OpenStream): void {
    const index = this.streams.indexOf(stream);
    if (index >= 0) this.streams.splice(index, 1);
  }

  announce(): void {
    const { listening, listing } = this;
    if (!listening) return;
    for (const topic of topics) {
      if (this.knowledge[topic].known !== listing.versionOf(topic)) this.tell(listening, topic);
    }
  }

  tellBeforeResult(stream: MessageStream, listVersion: number): void {
    this.listing.refreshIfStale();
    const { version } = this.listing.tools;
    const { known, told } = this.knowledge.tools;
    if (known === version) return;
    if (listVersion !== version || told !== version) this.tell(stream, 'tools');
  }

  hasRead(topic: Topic): void {
    const version = this.listing.versionOf(topic);
    this.knowledge[topic] = { known: version, told: version };
    if (topic !== 'tools') return;
    this.hasListed = true;
    this.conversation.promised = (this.listing.served ?? emptyToolset).promised;
  }

  /** Calls run on unless they are cancelled, and are answered if their stream is still open. */
  close({ cancelCalls }: { cancelCalls: boolean }): void {
    if (cancelCalls) for (const id of this.calls.keys()) cancelCall(this, id);
    this.state = gone;
    this.conversation.keepOpen();
    this.clientRequests.close();
    for (const stream of this.streams.splice(0)) stream.end();
  }

  private tell(stream: MessageStream, topic: Topic): void {
    const isUnknown = this.knowledge[topic].known === unknownVersion;
    const params = isUnknown ? { _meta: { [metaKeys.mayBeSame]: true } } : undefined;
    this.knowledge[topic].told = this.listing.versionOf(topic);
    stream.send(notificationMessage(`notifications/${topic}/list_changed`, params));
  }
}
