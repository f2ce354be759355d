/**
 * One MCP session: a conversation with streams. It holds the calls in flight, the listening streams of the client,
 * and the list versions known to the client.
 *
 * The session owes `list_changed` while a list differs from the client's newest one (at first, the list at
 * `initialize`). The notification goes out on the newest listening stream when the change is announced. It goes out
 * again when a listening stream opens, because an earlier stream may have lost it. It precedes the result of a call
 * if the list changed during the call, so the editor has the new tools before the model reads the result. A client
 * gets none after asking again.
 */
import { TransientMap } from '../../base/transientMap.js';
import { BoundedMap } from '../../base/boundedMap.js';
import type { AskOptions, ClientKind, Fields } from '../../protocol/client.js';
import type { ProtocolVersion } from '../../protocol/versions.js';
import { CallClient, cancelCall, type CallInFlight, type Client } from './client.js';
import { ClientRequests } from './clientRequests.js';
import { Conversation } from './conversation.js';
import { sessionConversation } from './conversationIds.js';
import type { MessageStream, OpenStream } from '../eventStreams.js';
import type { RequestId } from '../../protocol/jsonRpc.js';
import {
  changedMessages,
  type Knowledge,
  type Listing,
  type ListName,
  listsOf,
  type Topic,
  topics,
} from './listings.js';
import type { SessionTraits } from './sessionId.js';

/** A client needs fewer listening streams; the oldest makes room. */
const maxStreams = 8;

/**
 * Beyond this number, the oldest conversation of a session is forgotten. Its leases then end when idle, not with the
 * session.
 */
const mostConversations = 1_000;

interface SessionStart {
  /** By default, the session's own. */
  readonly conversation?: string;
  readonly isRevived?: boolean;
  readonly lostBefore?: string | undefined;
}

export class Session extends Conversation implements Client {
  readonly clientKind: ClientKind;
  readonly calls = new TransientMap<RequestId, CallInFlight>();
  readonly clientRequests = new ClientRequests();
  readonly client: CallClient;
  /** The first named conversation, and the clients of the others by their names. */
  private first: string | undefined;
  private readonly others = new BoundedMap<string, CallClient>(mostConversations);
  logLevel: string | undefined;
  /** Its client's name in `clientInfo`; empty if it gave none, or began the session at another gateway. */
  program = '';
  isClosed = false;
  private hasListened = false;
  private readonly streams: OpenStream[] = [];
  private readonly knowledge: Readonly<Record<ListName, Knowledge>>;

  constructor(
    readonly sessionId: string,
    listing: Listing,
    readonly protocolVersion: ProtocolVersion,
    lastUsed: number,
    readonly traits: SessionTraits = { declared: {}, readsStructureAlone: false },
    { conversation = sessionConversation(sessionId), isRevived = false, lostBefore }: SessionStart = {},
  ) {
    // Agent hosts and programs with named conversations also begin sessions for older conversations (G3b).
    const mayHaveLost = traits.agentHost !== undefined || traits.namer !== undefined;
    super({ id: conversation, lostBefore, mayHaveLost }, listing, lastUsed);
    this.client = this.clientOf(conversation);
    this.clientKind = listing.clientKind;
    // The last notification to the client of a revived session is unknown.
    const version = (list: ListName): number => (isRevived ? 0 : listing[list].version);
    const now = (list: ListName): Knowledge => ({ known: version(list), told: version(list), isAsked: false });
    this.knowledge = {
      tools: now('tools'),
      prompts: now('prompts'),
      resources: now('resources'),
      templates: now('templates'),
    };
  }

  override idOf(name: string | undefined): string | undefined {
    if (name === undefined) return this.others.size === 0 ? this.id : undefined;
    this.first ??= name;
    if (name === this.first) return this.id;
    const conversation = `${this.id}/${name}`;
    if (!this.others.has(name)) this.others.set(name, this.clientOf(conversation));
    return conversation;
  }

  /** Returns the clients of all conversations of the session. */
  clients(): readonly CallClient[] {
    return [this.client, ...this.others.values()];
  }

  private clientOf(conversation: string): CallClient {
    return new CallClient({ client: this, conversation: this, listing: this.listing }, conversation);
  }

  get hasListed(): boolean {
    return this.knowledge.tools.isAsked;
  }

  get listening(): MessageStream | undefined {
    return this.streams.at(-1);
  }

  get isListening(): boolean {
    return this.streams.length > 0;
  }

  /** The client listened once and does not now. VS Code 1.103 ends its sessions in this way, without a `DELETE`. */
  get hasLeft(): boolean {
    return this.hasListened && !this.isListening;
  }

  listen(stream: OpenStream): void {
    this.hasListened = true;
    this.streams.push(stream);
    if (this.streams.length > maxStreams) this.streams.shift()?.end();
    this.listing.refreshIfStale();
    this.tellChanges(stream);
  }

  stopListening(stream: OpenStream): void {
    const index = this.streams.indexOf(stream);
    if (index >= 0) this.streams.splice(index, 1);
  }

  announce(): void {
    const newest = this.streams.at(-1);
    if (newest) this.tellChanges(newest);
  }

  override tellBeforeResult(stream: MessageStream, listVersion: number): void {
    this.listing.refreshIfStale();
    const { version } = this.listing.tools;
    const { known, told } = this.knowledge.tools;
    if (known === version) return;
    if (listVersion !== version || told !== version) this.tell(stream, 'tools');
  }

  override noteListed(topic: Topic = 'tools', list: ListName = 'tools'): void {
    this.knowledge[list].isAsked = true;
    if (list === 'tools') this.promised = this.listing.promised;
    for (const one of listsOf[topic]) {
      const knowledge = this.knowledge[one];
      // A client without interest in one list of resources needs no notification of its changes.
      if (one === list || !knowledge.isAsked) knowledge.known = knowledge.told = this.listing[one].version;
    }
  }

  cancel(id: RequestId): boolean {
    return cancelCall(this, id);
  }

  ask(
    stream: MessageStream | undefined,
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    { onProgress }: AskOptions,
  ): Promise<Fields> {
    return this.clientRequests.ask(stream, method, params, signal, onProgress);
  }

  /** Closes the session. Calls run on unless they are cancelled, and are answered if their stream is still open. */
  close(options: { cancelCalls: boolean }): void {
    if (options.cancelCalls) for (const id of this.calls.keys()) this.cancel(id);
    this.isClosed = true;
    this.clientRequests.close();
    for (const stream of this.streams.splice(0)) stream.end();
  }

  private tellChanges(stream: MessageStream): void {
    for (const topic of topics) {
      const isKnown = (list: ListName): boolean => this.knowledge[list].known === this.listing[list].version;
      if (!listsOf[topic].every(isKnown)) this.tell(stream, topic);
    }
  }

  private tell(stream: MessageStream, topic: Topic): void {
    for (const list of listsOf[topic]) this.knowledge[list].told = this.listing[list].version;
    stream.send(changedMessages[topic]);
  }
}
