import { randomUUID } from 'node:crypto';
import { BoundedMap } from '../../base/boundedMap.js';
import { reasonOf } from '../../base/cancellation.js';
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { isObject } from '../../base/isObject.js';
import { jsonOf } from '../../base/jsonInSlices.js';
import { TransientMap } from '../../base/transientMap.js';
import { inNextTurn, LoopShare } from '../../base/turns.js';
import type { AskOptions, ClientKind, Fields } from '../../protocol/client.js';
import { errorCodes, RpcFailure, type RpcError } from '../../protocol/errors.js';
import { notificationMessage, type Message, type RequestId } from '../../protocol/jsonRpc.js';
import { metaKeys, type ProtocolVersion } from '../../protocol/versions.js';
import type { MessageStream, OpenStream } from '../eventStreams.js';
import { isServedAt, type ConnectedProgram, type Route } from '../routes.js';
import type { CallInFlight, Client, SessionTraits } from './conversation.js';
import {
  CallClient,
  cancelCall,
  notAsked,
  OpenQuestions,
  Conversation,
  newSessionId,
  sessionConversation,
} from './conversation.js';
import { topics, type Listing, type Topic } from './listings.js';

const maxStreams = 8;

/** The oldest conversation is forgotten. Its leases then end when idle, not with the session. */
const mostConversations = 1_000;

/** What the client of a revived session has read is unknown. No list has this version. */
const unknownVersion = 0;

interface Knowledge {
  /** The client has the lists of this version, or is about to read them. */
  known: number;
  /** The newest version with a notification, on any stream. */
  told: number;
}

interface SessionOrigin {
  readonly conversation?: string;
  readonly isRevived?: boolean;
  readonly lostBefore?: string | undefined;
  readonly program?: string;
}

/**
 * Owes `list_changed` while the client's list is old: at once, and on a new listening stream,
 * because the last one may have lost it. It precedes the result of a call that changed the list, so
 * the model reads it with the new tools.
 */
export class Session extends Conversation implements Client {
  readonly clientKind: ClientKind;
  readonly calls = new TransientMap<RequestId, CallInFlight>();
  readonly clientRequests = new ClientRequests();
  readonly ask = this.clientRequests.ask;
  readonly program: string;
  readonly client: CallClient;
  /** The first named conversation, and the clients of the others by their names. */
  private first: string | undefined;
  private readonly others = new BoundedMap<string, CallClient>(mostConversations);
  logLevel: string | undefined;
  isClosed = false;
  private hasListened = false;
  private readonly streams: OpenStream[] = [];
  private readonly knowledge: Record<Topic, Knowledge>;
  hasListed = false;

  constructor(
    readonly sessionId: string,
    listing: Listing,
    readonly protocolVersion: ProtocolVersion,
    lastUsed: number,
    readonly traits: SessionTraits = { declared: {}, readsStructureAlone: false },
    origin: SessionOrigin = {},
  ) {
    const {
      conversation = sessionConversation(sessionId),
      isRevived = false,
      lostBefore,
      program = '',
    } = origin;
    // Agent hosts and programs with named conversations also begin sessions for older conversations
    // (G3b).
    super(
      conversation,
      listing,
      lastUsed,
      lostBefore,
      traits.agentHost !== undefined || traits.namer !== undefined,
    );
    this.program = program;
    this.client = this.clientOf(conversation);
    this.clientKind = listing.clientKind;
    const of = (topic: Topic): Knowledge => {
      const version = isRevived ? unknownVersion : listing.versionOf(topic);
      return { known: version, told: version };
    };
    this.knowledge = { tools: of('tools'), prompts: of('prompts'), resources: of('resources') };
  }

  override idOf(name: string | undefined): string | undefined {
    if (name === undefined) return this.others.size === 0 ? this.id : undefined;
    this.first ??= name;
    if (name === this.first) return this.id;
    const conversation = `${this.id}/${name}`;
    if (!this.others.has(name)) this.others.set(name, this.clientOf(conversation));
    return conversation;
  }

  override get isInUse(): boolean {
    return this.calls.size > 0;
  }

  clients(): readonly CallClient[] {
    return [this.client, ...this.others.values()];
  }

  private clientOf(conversation: string): CallClient {
    return new CallClient(
      { client: this, conversation: this, listing: this.listing },
      conversation,
    );
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
    this.quiet?.dispose();
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

  override tellBeforeResult(stream: MessageStream, listVersion: number): void {
    this.listing.refreshIfStale();
    const { version } = this.listing.tools;
    const { known, told } = this.knowledge.tools;
    if (known === version) return;
    if (listVersion !== version || told !== version) this.tell(stream, 'tools');
  }

  override noteListed(topic: Topic = 'tools'): void {
    const version = this.listing.versionOf(topic);
    this.knowledge[topic] = { known: version, told: version };
    if (topic !== 'tools') return;
    this.hasListed = true;
    this.promised = this.listing.served?.promised;
  }

  /** Calls run on unless they are cancelled, and are answered if their stream is still open. */
  close({ cancelCalls }: { cancelCalls: boolean }): void {
    if (cancelCalls) for (const id of this.calls.keys()) cancelCall(this, id);
    this.isClosed = true;
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

/** A session ended by its client is not revived. */
const mostDeleted = 1_000;

/**
 * The leases of a deleted agent-host session wait this long for the next one, in milliseconds
 * (G3k).
 */
const graceMs = 5_000;

/** Completes the note to the conversation of a revived or continued session (L2a). */
const restarted = 'its session had ended, or MCP Toolsets was started again';

export interface SessionStart {
  readonly toolset: string;
  readonly listing: (conversation: string) => Listing;
  readonly protocolVersion: ProtocolVersion;
  readonly traits: SessionTraits;
  readonly program?: string;
  readonly revived?: string;
  /** True if its conversation had a session before, at another gateway or in an earlier run. */
  readonly isContinued?: boolean;
}

/**
 * An agent host deletes all sessions if servers change (G3k). A session continues one only if no
 * other one waits.
 */
export class Sessions implements Disposable {
  private readonly byId = new Map<string, Session>();
  private readonly deleted = new BoundedMap<string, true>(mostDeleted);
  /** Deleted sessions of agent hosts whose conversation may continue. */
  private readonly waiting = new Map<Session, Disposable>();

  /** @param over called when no session will continue its conversation */
  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    private readonly closed: (session: Session) => void,
    private readonly over: (session: Session) => void,
  ) {}

  /** Returns undefined without room: every session has calls in flight. */
  open(start: SessionStart): Session | undefined {
    if (this.byId.size >= this.max) {
      const idlest = this.idlest();
      if (!idlest) return undefined;
      this.close(idlest);
    }
    const {
      toolset,
      listing,
      protocolVersion,
      traits,
      program = '',
      revived,
      isContinued = false,
    } = start;
    const isRevived = revived !== undefined;
    const id = revived ?? newSessionId(traits, protocolVersion);
    const conversation =
      (isRevived ? undefined : this.inherited(toolset, traits)) ?? sessionConversation(id);
    const lostBefore = isRevived || isContinued ? restarted : undefined;
    const origin = { conversation, isRevived, lostBefore, program };
    const session = new Session(
      id,
      listing(conversation),
      protocolVersion,
      this.clock.now(),
      traits,
      origin,
    );
    this.byId.set(id, session);
    return session;
  }

  find(id: string, route: Route): Session | undefined {
    const session = this.byId.get(id);
    if (session?.toolset !== route.toolset || !isServedAt(route, session.clientKind))
      return undefined;
    session.lastUsed = this.clock.now();
    return session;
  }

  /**
   * True if a session with this id may begin: the id is unused, and its client has not ended it.
   */
  isFree(id: string): boolean {
    return !this.byId.has(id) && !this.deleted.has(id);
  }

  delete(session: Session, { cancelCalls }: { cancelCalls: boolean }): void {
    this.deleted.set(session.sessionId, true);
    this.close(session, cancelCalls, session.traits.agentHost !== undefined);
  }

  dispose(): void {
    for (const session of [...this.byId.values()]) this.close(session, true);
    for (const session of [...this.waiting.keys()]) this.endWait(session, true);
  }

  private close(session: Session, cancelCalls = false, mayContinue = false): void {
    if (!this.byId.delete(session.sessionId)) return;
    session.quiet?.dispose();
    session.close({ cancelCalls });
    const end = (): void => this.endWait(session, true);
    if (mayContinue) this.waiting.set(session, this.clock.after(graceMs, end));
    else this.over(session);
    this.closed(session);
  }

  /**
   * Returns the conversation of the only waiting session of the same program, if it may have a
   * lease.
   */
  private inherited(toolset: string, { agentHost }: SessionTraits): string | undefined {
    const waiting = [...this.waiting.keys()].filter(
      (session) => session.toolset === toolset && session.traits.agentHost === agentHost,
    );
    const [only] = waiting;
    if (!only?.hasCalled || waiting.length > 1) return undefined;
    this.endWait(only, false);
    return only.id;
  }

  private endWait(session: Session, isOver: boolean): void {
    this.waiting.get(session)?.dispose();
    this.waiting.delete(session);
    if (isOver) this.over(session);
  }

  of(toolset: string): Session[] {
    return [...this.byId.values()].filter((session) => session.toolset === toolset);
  }

  programs(): readonly ConnectedProgram[] {
    const present = [...this.byId.values()].filter(({ hasLeft }) => !hasLeft);
    return present.map(({ toolset, program }) => ({ toolset, program }));
  }

  /**
   * Notes the end of a stream. The editor's conversations outlive its sessions, so its silence
   * means nothing.
   */
  streamClosed(session: Session): void {
    if (session.clientKind === 'editor' || session.isClosed || session.listening) return;
    session.lastUsed = this.clock.now();
    session.endWhenQuiet(this.clock, () => this.close(session));
  }

  private idlest(): Session | undefined {
    const idle = [...this.byId.values()].filter(({ isInUse }) => !isInUse);
    // The client of a session without an open stream has probably gone.
    return idle.sort(
      (a, b) => Number(!!a.listening) - Number(!!b.listening) || a.lastUsed - b.lastUsed,
    )[0];
  }
}

/** More than a person or a model can answer. */
const mostOpen = 256;

const notAnObject: RpcError = {
  code: errorCodes.internal,
  message: 'The client answered with a result that is not an object.',
};

/**
 * Requests of several servers to one client (G4), under new ids. Each is settled once; none
 * outlives the session.
 */
export class ClientRequests {
  private readonly open = new OpenQuestions<AskOptions['onProgress']>();
  private isClosed = false;

  readonly ask: Client['ask'] = (stream, method, params, signal, { onProgress }) => {
    if (!stream || this.isClosed) return notAsked('The client is not connected.');
    if (this.open.size >= mostOpen) return notAsked('The client has too many open questions.');
    // A person may still see a question of an earlier session. Its answer must not count for this
    // one.
    const id = `ask-${randomUUID()}`;
    let isSent = false;
    const answer = this.open.ask(id, onProgress, signal, () => {
      const params = { requestId: id, reason: reasonOf(signal) };
      if (isSent) stream.send(notificationMessage('notifications/cancelled', params));
    });
    // This turn read the request, and writing a large one takes as long again (S2).
    const send = async (): Promise<void> => {
      if (!this.open.has(id)) return;
      const asked = { jsonrpc: '2.0', id, method, params: params && withToken(params, id) };
      const message = await jsonOf(asked, params && LoopShare.of(params));
      if (!this.open.has(id)) return;
      isSent = true;
      stream.send(message);
    };
    inNextTurn(() => void send());
    return answer;
  };

  take({ id, result, error = notAnObject }: Extract<Message, { kind: 'response' }>): void {
    if (id === null) return;
    const { code, message, data } = error;
    this.open.get(id)?.settle(result ?? new RpcFailure(code, message, data));
  }

  progress(params: Fields): void {
    const { progressToken } = params as { progressToken?: RequestId };
    if (progressToken !== undefined) this.open.get(progressToken)?.about?.(params);
  }

  close(): void {
    this.isClosed = true;
    this.open.refuseAll('The session of the client that was asked has ended.');
  }
}

function withToken(params: Fields, token: string): Fields {
  const meta = params['_meta'];
  if (!isObject(meta) || meta['progressToken'] === undefined) return params;
  return { ...params, _meta: { ...meta, progressToken: token } };
}
