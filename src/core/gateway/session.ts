/**
 * Holds one MCP session: the calls it has in flight, the streams it listens on, and what its client knows of the tools.
 *
 * `list_changed` is owed while the list differs from the one the client last asked for (at first: the one it was
 * initialised with). It is told on the newest listening stream when the change is announced, again whenever a listening
 * stream opens (what an earlier one carried may be lost), and before the result of a call during which the list
 * changed, because the editor then has the new tools before the model reads the result. Nothing is told to a client
 * that has asked since.
 */
import type { MessageStream, OpenStream, Reply } from './eventStreams.js';
import { ClientRequests } from './clientRequests.js';
import { sessionConversation } from './conversationIds.js';
import type { SessionTraits } from './sessionId.js';
import type { AskOptions, ClientKind, Fields, ServerClient } from '../protocol/client.js';
import type { Cancellation } from '../base/cancellation.js';
import { BoundedMap } from '../base/boundedMap.js';
import { TransientMap } from '../base/transientMap.js';
import { notificationMessage, type RequestId } from './jsonRpc.js';
import { Links } from './links.js';
import {
  changedMessages,
  type Knowledge,
  type Listing,
  type ListName,
  listsOf,
  type Topic,
  topics,
} from './listings.js';
import { isKeptId } from '../protocol/keptIds.js';
import { modernVersion, type SpokenVersion } from '../protocol/versions.js';
import { clientRequest, isToldTo } from './dialect.js';
import { isLoudEnough } from '../protocol/logLevels.js';

/** This is more listening streams than a client has use for; the oldest makes room. */
const maxStreams = 8;

/** This many conversations that share a session are known; what the oldest held ends when it is idle, not with the session. */
const mostConversations = 1_000;

export interface CallInFlight {
  readonly controller: Cancellation;
  readonly reply: Reply;
  /** The version of the list of tools when the call began. */
  readonly listVersion: number;
}

/** Puts to the client what a server asks. */
export interface Asker {
  /** As that of the client which it asks. */
  readonly waitsSince?: number | undefined;
  ask(method: string, params: Fields | undefined, signal: AbortSignal, key?: string): Promise<Fields>;
}

interface SessionStart {
  readonly conversation?: string;
  readonly isRevived?: boolean;
  readonly lostBefore?: string | undefined;
  /** Whether its conversation may be older than anything that is known here. */
  readonly mayHaveLost?: boolean;
  /** Where its client is asked, in place of the streams. */
  readonly asker?: Asker;
  /** What it shares with the others of its conversation, where it serves one request alone. */
  readonly partOf?: { readonly links: Links };
}

export class Session {
  readonly toolset: string;
  readonly clientKind: ClientKind;
  readonly calls = new TransientMap<RequestId, CallInFlight>();
  /** The requests of servers that the client has not answered yet. */
  readonly clientRequests = new ClientRequests();
  readonly client: SessionClient;
  /** The id of what names no conversation, and of the conversation that the client names first. */
  readonly conversation: string;
  /** The conversation that the client named first, and the clients of the others, by their names. */
  private first: string | undefined;
  private readonly others = new BoundedMap<string, SessionClient>(mostConversations);
  /** Why what its id held before is gone, if it may have held something (L2a). */
  readonly lostBefore: string | undefined;
  /** Agent hosts and programs that name conversations begin sessions anew for those that had one (G3b). */
  readonly mayHaveLost: boolean;
  /** The links that its conversations were given. */
  readonly links: Links;
  /** The same for everything of one client: the session itself, or the conversation that a request of its own is part of. */
  readonly identity: object;
  readonly asker: Asker | undefined;
  /** The lowest level of log messages that the client wants; undefined until it says so. */
  logLevel: string | undefined;
  /** Says whether it has asked an instance for anything, so that its id may hold one. */
  hasCalled = false;
  isClosed = false;
  /** The tools of which the list that the client read last says that a person is asked here (S4). */
  promised: ReadonlySet<string> | undefined;
  private hasListened = false;
  private readonly streams: OpenStream[] = [];
  private readonly knowledge: Readonly<Record<ListName, Knowledge>>;

  /** @param start says how it begins; by default it is a new one, and its id too */
  constructor(
    readonly id: string,
    readonly listing: Listing,
    readonly protocolVersion: SpokenVersion,
    /** The time of the last use in milliseconds since the epoch. */
    public lastUsed: number,
    readonly traits: SessionTraits = { declared: {}, readsStructureAlone: false },
    start: SessionStart = {},
  ) {
    const { isRevived = false } = start;
    this.lostBefore = start.lostBefore;
    this.mayHaveLost = start.mayHaveLost ?? (traits.agentHost !== undefined || traits.namer !== undefined);
    this.conversation = start.conversation ?? sessionConversation(id);
    this.identity = start.partOf ?? this;
    this.asker = start.asker;
    this.links = start.partOf?.links ?? new Links();
    this.client = new SessionClient(this, undefined, this.conversation);
    this.toolset = listing.toolset;
    this.clientKind = listing.clientKind;
    // Nobody knows what the client of a revived session was told last.
    const version = (list: ListName): number => (isRevived ? 0 : listing[list].version);
    const now = (list: ListName): Knowledge => ({ known: version(list), told: version(list), isAsked: false });
    this.knowledge = {
      tools: now('tools'),
      prompts: now('prompts'),
      resources: now('resources'),
      templates: now('templates'),
    };
  }

  /**
   * Returns the id of a conversation that the client names within its session, or of a request that names none.
   * Returns undefined where that may be any of several.
   */
  conversationOf(name: string | undefined): string | undefined {
    if (name === undefined) return this.others.size === 0 ? this.conversation : undefined;
    this.first ??= name;
    if (name === this.first) return this.conversation;
    const conversation = `${this.conversation}/${name}`;
    if (!this.others.has(name)) this.others.set(name, new SessionClient(this, undefined, conversation));
    return conversation;
  }

  /** Returns the clients of all conversations that it has had. */
  clients(): readonly SessionClient[] {
    return [this.client, ...this.others.values()];
  }

  get hasListed(): boolean {
    return this.knowledge.tools.isAsked;
  }

  /** The client hears here what belongs to none of its requests. */
  get listening(): MessageStream | undefined {
    return this.streams.at(-1);
  }

  get isListening(): boolean {
    return this.streams.length > 0;
  }

  /** The client listened once and does not now. VS Code 1.103 ends its sessions so, without a `DELETE`. */
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

  /** Tells the client if a list has changed. */
  announce(): void {
    const newest = this.streams.at(-1);
    if (newest) this.tellChanges(newest);
  }

  /** Has to be called when a call is about to be answered on `reply`. */
  tellBeforeResult(call: CallInFlight): void {
    // On the stream of a call only that call is spoken of, since 2026-07-28.
    if (this.protocolVersion === modernVersion) return;
    this.listing.refreshIfStale();
    const { version } = this.listing;
    const { known, told } = this.knowledge.tools;
    if (known === version) return;
    if (call.listVersion !== version || told !== version) this.tell(call.reply, 'tools');
  }

  /** Notes that the client reads the list as it is now. */
  noteListed(topic: Topic = 'tools', list: ListName = 'tools'): void {
    this.knowledge[list].isAsked = true;
    if (list === 'tools') this.promised = this.listing.promised;
    for (const one of listsOf[topic]) {
      const knowledge = this.knowledge[one];
      // Who never asks for templates, or for nothing else, misses nothing of the other list.
      if (one === list || !knowledge.isAsked) knowledge.known = knowledge.told = this.listing[one].version;
    }
  }

  cancel(id: RequestId): boolean {
    const call = this.calls.get(id);
    if (!call) return false;
    this.calls.delete(id);
    call.controller.abort();
    // What its server has asked meanwhile is taken back on the same stream.
    setImmediate(() => call.reply.settle(undefined));
    return true;
  }

  /** Closes the session. Calls that are not cancelled run on, and are answered if their stream is still there. */
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

/** So many elicitations that are complete before anybody waits for them are remembered; the oldest is forgotten. */
const mostEarly = 1_000;

/**
 * The client of a session as servers reach it (G4): during one of its calls on the stream of that call, otherwise on the
 * stream on which it listens.
 */
export class SessionClient implements ServerClient {
  /** Both are made when they are needed, because every call has a client and hardly one has an elicitation. */
  private awaited: Map<string, () => void> | undefined;
  private early: BoundedMap<string, true> | undefined;

  /** @param ofCall the stream of the call, as long as the call is in flight */
  constructor(
    private readonly owner: Session,
    private readonly ofCall: () => MessageStream | undefined = () => undefined,
    readonly conversation: string | undefined = undefined,
  ) {}

  get session(): object {
    return this.owner.identity;
  }

  get isGone(): boolean {
    return this.owner.isClosed;
  }

  get waitsSince(): number | undefined {
    return this.owner.asker?.waitsSince;
  }

  get capabilities(): Fields {
    return this.owner.traits.declared;
  }

  get logLevel(): string | undefined {
    return this.owner.logLevel;
  }

  get listedFor(): string | undefined {
    return this.owner.listing.conversation;
  }

  get lostBefore(): string | undefined {
    return this.owner.lostBefore;
  }

  get mayHaveLost(): boolean {
    return this.owner.mayHaveLost;
  }

  ask(method: string, params: Fields | undefined, signal: AbortSignal, options: AskOptions = {}): Promise<Fields> {
    let asked: Fields | undefined;
    try {
      asked = clientRequest(this.owner.protocolVersion, method, params);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    if (this.owner.asker) return this.owner.asker.ask(method, asked, signal, options.key);
    return this.owner.clientRequests.ask(this.stream, method, asked, signal, options.onProgress);
  }

  /** Resolves when a server has said of all these elicitations by URL that they are complete. */
  async completed(ids: readonly string[]): Promise<void> {
    const open = [...new Set(ids)].filter((id) => !this.early?.delete(id));
    await Promise.all(
      open.map(
        (id) => new Promise<void>((resolve) => (this.awaited ??= new Map<string, () => void>()).set(id, resolve)),
      ),
    );
  }

  private noteComplete(id: unknown): void {
    if (!isKeptId(id)) return;
    const resolve = this.awaited?.get(id);
    if (resolve) resolve();
    else (this.early ??= new BoundedMap(mostEarly)).set(id, true);
    this.awaited?.delete(id);
  }

  tell(method: string, params: Fields): void {
    if (method === 'notifications/elicitation/complete') this.noteComplete(params['elicitationId']);
    if (!isToldTo(this.owner.protocolVersion, method)) return;
    const { protocolVersion, logLevel } = this.owner;
    if (method === 'notifications/message' && protocolVersion === modernVersion && logLevel === undefined) return;
    if (method === 'notifications/message' && !isLoudEnough(params['level'], this.logLevel)) return;
    const reply = this.ofCall();
    const message = notificationMessage(method, params);
    // A reply cannot be ended before its answer, however much a server says on it.
    if (reply || method === 'notifications/message') (reply ?? this.owner.listening)?.sendIfReading(message);
    else this.owner.listening?.send(message);
  }

  private get stream(): MessageStream | undefined {
    return this.ofCall() ?? this.owner.listening;
  }
}
