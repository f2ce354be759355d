/**
 * A connection in either era. It does not start or restart anything. Invariants: a call has one
 * outcome, and is never sent twice; all calls in flight are settled before `onDidDie` fires;
 * progress reaches the call before its result does.
 */
import type {
  CallToolResult,
  JSONRPCNotification,
  JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limited, type Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { asFields } from '../base/isObject.js';
import { Emitter, orAborted, type Event } from '../base/events.js';
import type { Log } from '../base/log.js';
import { messageOf } from '../base/text.js';
import { LoopShare } from '../base/turns.js';
import { TransportFailure } from '../failures/transportFailure.js';
import type { Exchange, Peer, PeerListener, ServerTransport } from '../peer/peer.js';
import type { Fields, ServerClient } from '../protocol/client.js';
import type { RpcError } from '../protocol/errors.js';
import type { ServerOutcome } from '../protocol/request.js';
import { modernVersion, taskChanged } from '../protocol/versions.js';
import type { Connection, OfferKind, TimedCall, TimedRequest, TimedTerms } from './connection.js';
import { OfferLister } from './listing.js';
import { logMessage } from './logging.js';
import { failureOutcome, readCallResult, readOtherResult, readProgress } from './outcomes.js';
import type { ServerFacts } from './handshake.js';
import type { ServerRequests } from './serverRequests.js';

/** One era of the protocol. It is chosen once, when the connection opens (X8). */
export interface Protocol extends Partial<Disposable> {
  readonly facts: ServerFacts;
  metaFor?(client: ServerClient | undefined): Fields;
  /** Resolves to the result of a request for a client; rejects with an `RpcFailure`. */
  call(exchange: Exchange, method: string, params: Fields): Promise<Fields>;
  list(method: string, params: Fields | undefined, signal: AbortSignal): Promise<Fields>;
  /**
   * Lets the server report to us, and passes on its reports from now on. Rejects if the server
   * cannot receive it.
   */
  begin(report: (notification: JSONRPCNotification) => void): Promise<void>;
  /** Returns a notification as the connection handles it; undefined if that has no use for it. */
  read?(notification: JSONRPCNotification): JSONRPCNotification | undefined;
  answer(request: JSONRPCRequest, signal: AbortSignal): Promise<Fields | undefined>;
  /** Absent: the server takes no notifications of clients. */
  takes?(notification: string): boolean;
  /** Completes "The tool …" for a tool that cannot be called. */
  whatIsWrongWithTool?(tool: Fields): string | undefined;
}

export interface LiveConnectionDeps {
  readonly peer: Peer;
  readonly protocol: Protocol;
  readonly serverRequests: ServerRequests;
  readonly transport: ServerTransport;
  readonly clock: Clock;
  readonly share: LoopShare;
  readonly log: Log;
}

/**
 * A server that answers no ping gets the first call of its next client after this time, in
 * milliseconds.
 */
const rootsLimitMs = 2_000;

const offerKinds = ['tools', 'prompts', 'resources'] as const;
const toldToClients = ['notifications/message', 'notifications/elicitation/complete'];

type Failure = Exclude<ServerOutcome<unknown>, { kind: 'result' }>;
type State =
  | { readonly kind: 'live' | 'closed' }
  | { readonly kind: 'dead'; readonly cause: string };

export class LiveConnection implements Connection, PeerListener {
  readonly serverInfo: Connection['serverInfo'];
  readonly instructions: string | undefined;
  readonly capabilities: Connection['capabilities'];
  readonly protocolVersion: string;
  readonly pid: number | undefined;
  runs: Connection['runs'];
  readonly share: LoopShare;
  private readonly offerChanged = new Emitter<OfferKind>();
  private readonly resourceUpdated = new Emitter<Fields>();
  private readonly died = new Emitter<string>();
  private readonly sessionRenewed = new Emitter<void>();
  private readonly taskUpdated = new Emitter<Fields>();
  readonly onDidUpdateResource = this.resourceUpdated.event;
  readonly onDidUpdateTask = this.taskUpdated.event;
  readonly onDidChangeOffer: Event<OfferKind> = (listener) => {
    if (this.changedUnheard) queueMicrotask(() => this.offerChanged.fire('tools'));
    this.changedUnheard = false;
    return this.offerChanged.event(listener);
  };
  readonly onDidRenewSession = this.sessionRenewed.event;
  /** A listener that subscribes after the death is called too. */
  readonly onDidDie: Event<string> = (listener) => {
    const { reported } = this;
    if (reported === undefined) return this.died.event(listener);
    let wanted = true;
    queueMicrotask(() => wanted && listener(reported));
    return { dispose: () => (wanted = false) };
  };

  private announceGone: () => void = () => {};
  readonly gone = new Promise<void>((resolve) => (this.announceGone = resolve));

  private state: State = { kind: 'live' };
  /** True if the tools have changed without a listener. The first one learns of it. */
  changedUnheard = false;
  /** The cause of the death, once `onDidDie` has fired. */
  private reported: string | undefined;
  learning: Promise<unknown> | undefined;
  private readonly lister: OfferLister;
  readonly listTools: Connection['listTools'] = (options) => this.lister.listTools(options);
  readonly listPrompts: Connection['listPrompts'] = (options) => this.lister.listPrompts(options);
  readonly listResources: Connection['listResources'] = (options) =>
    this.lister.listResources(options);
  readonly takeStale: Connection['takeStale'] = () => this.lister.takeStale();

  constructor(private readonly deps: LiveConnectionDeps) {
    const { protocol, transport, clock, share } = deps;
    const { facts } = protocol;
    this.serverInfo = facts.serverInfo;
    this.instructions = facts.instructions;
    this.capabilities = facts.capabilities;
    this.protocolVersion = facts.protocolVersion;
    this.pid = transport.pid;
    this.share = share;
    transport.onrenewed = () => {
      this.sessionRenewed.fire();
      for (const kind of offerKinds)
        if (kind === 'tools' || this.capabilities[kind]) this.changed(kind);
    };
    this.lister = new OfferLister({
      capabilities: this.capabilities,
      clock,
      share,
      send: (method, params, signal) => protocol.list(method, params, signal),
      isCursor: (next) => next !== '' || this.protocolVersion === modernVersion,
      whatIsWrongWithTool: (tool) => protocol.whatIsWrongWithTool?.(tool),
      causeOfEnd: () => (this.state.kind === 'dead' ? this.state.cause : undefined),
    });
  }

  get isOver(): boolean {
    return this.state.kind !== 'live' || this.deps.transport.isOver === true;
  }

  answer(request: JSONRPCRequest, signal: AbortSignal): Promise<Fields | undefined> {
    return this.deps.protocol.answer(request, signal);
  }

  hear(received: JSONRPCNotification): void {
    const { protocol } = this.deps;
    const notification = protocol.read ? protocol.read(received) : received;
    if (notification) this.handle(notification);
  }

  handle(notification: JSONRPCNotification): void {
    const { method, params = {} } = notification;
    if (this.state.kind !== 'live') return;
    if (method === 'notifications/message') logMessage(this.deps.log, params);
    if (method === 'notifications/resources/updated') this.resourceUpdated.fire(params);
    else if (method === taskChanged) this.taskUpdated.fire(params);
    else if (toldToClients.includes(method)) this.deps.serverRequests.tell(notification);
    else
      for (const kind of offerKinds)
        if (method === `notifications/${kind}/list_changed`) this.changed(kind);
  }

  failed(error: RpcError): void {
    this.deps.peer.answerOnly(error);
  }

  belongsTo(client: ServerClient): void {
    const { serverRequests, protocol } = this.deps;
    if (serverRequests.belongsTo(client) && protocol.takes?.('notifications/roots/list_changed'))
      this.learn();
  }

  /**
   * Has to be called after a start. A server that asked for roots may take the answer in after its
   * first call.
   */
  learnRoots(): void {
    if (this.deps.serverRequests.rootsOf) this.learn();
  }

  /**
   * The server learns about the change before the first ping, and reads the roots before the
   * second.
   */
  private learn(): void {
    const { peer, clock, serverRequests } = this.deps;
    const known = limited(clock, rootsLimitMs, undefined, async (over) => {
      const ping = (): Promise<unknown> =>
        peer.request('ping', undefined, over).catch(() => undefined);
      await ping();
      await orAborted(serverRequests.rootsAnswered, over);
      await ping();
    });
    const learning = known.finally(() => {
      if (this.learning === learning) this.learning = undefined;
    });
    this.learning = learning;
  }

  private changed(kind: OfferKind): void {
    if (kind === 'tools') this.changedUnheard ||= !this.offerChanged.isHeard;
    this.offerChanged.fire(kind);
  }

  ended(): void {
    this.deps.protocol.dispose?.();
    if (this.state.kind !== 'live') return;
    const cause = this.deps.transport.causeOfEnd;
    this.state = { kind: 'dead', cause };
    // The open requests fail in this turn, so calls and their callers settle before the next.
    void nextTurn().then(() => {
      this.reported = cause;
      this.died.fire(cause);
    });
  }

  callTool(request: TimedCall): Promise<ServerOutcome<CallToolResult>> {
    const { tool: name, arguments: args } = request;
    const params = args ? { name, arguments: args } : { name };
    const isTask = request.asTask === true && this.capabilities.tasks?.requests?.tools?.call;
    if (isTask) return this.callAsTask({ ...params, task: {} }, request);
    return this.exchange('tools/call', params, request, this.readCall);
  }

  /** Begins a task of 2025-11-25 and waits for it; cancels it if nobody waits any longer (X8h). */
  private async callAsTask(
    params: Fields,
    request: TimedCall,
  ): Promise<ServerOutcome<CallToolResult>> {
    const { timeouts } = request;
    const { clock, peer } = this.deps;
    const since = clock.awake();
    // A caller who cancels must wait for the id of the task.
    const { signal } = new AbortController();
    // Progress goes by the token of the first request until the end of the task.
    const token = peer.nextId();
    const begun = await this.exchange(
      'tools/call',
      params,
      { ...request, signal },
      this.readOther,
      token,
    );
    if (begun.kind !== 'result') return begun;
    const { taskId } = asFields(begun.result['task']);
    if (typeof taskId !== 'string') return this.readCall(begun.result);
    // A server that is asked for the result is silent until the task has ended.
    const callMax = Math.max(0, timeouts.callMax - (clock.awake() - since));
    const terms = { ...request, timeouts: { call: callMax, callMax } };
    const outcome = await this.exchange('tasks/result', { taskId }, terms, this.readCall, token);
    if (outcome.kind === 'cancelled' || outcome.kind === 'timedOut')
      peer.request('tasks/cancel', { taskId }).catch(() => undefined);
    return outcome;
  }

  private readonly notePart = (sentence: string): void => this.deps.log.write('warn', sentence);

  private readonly readCall = (result: unknown): ServerOutcome<CallToolResult> =>
    readCallResult(result, this.protocolVersion, this.notePart);

  private readonly readOther = (result: unknown): ServerOutcome<Fields> =>
    readOtherResult(result, this.notePart);

  request(request: TimedRequest): Promise<ServerOutcome<Fields>> {
    const { method, params } = request;
    return this.exchange(method, { ...params }, request, this.readOther);
  }

  notify(method: string, params?: Fields): void {
    if (this.state.kind === 'live' && this.deps.protocol.takes?.(method))
      void this.deps.peer.notify(method, params);
  }

  async close(): Promise<void> {
    if (this.state.kind === 'live') this.state = { kind: 'closed' };
    this.deps.protocol.dispose?.();
    try {
      await this.deps.transport.close();
      await nextTurn();
    } finally {
      this.announceGone();
    }
  }

  private async exchange<Outcome>(
    method: string,
    params: Record<string, unknown>,
    terms: TimedTerms,
    read: (result: unknown) => ServerOutcome<Outcome>,
    token?: number,
  ): Promise<ServerOutcome<Outcome>> {
    if (this.state.kind !== 'live') return this.lost();
    const { timeouts, signal, client, meta, onProgress } = terms;
    if (signal.aborted) return { kind: 'cancelled' };
    const { peer, protocol, serverRequests } = this.deps;
    const exchange = peer.begin({
      timeouts,
      signal,
      client,
      token,
      onProgress: onProgress && ((progress) => onProgress(readProgress(progress))),
    });
    const own = protocol.metaFor?.(client);
    const { token: progressToken } = exchange;
    // Without a copy by `...`, because that costs all who read it (P3).
    params['_meta'] =
      meta || own
        ? {
            ...meta,
            ...own,
            progressToken,
          }
        : { progressToken };
    try {
      const given = await protocol.call(exchange, method, params);
      const outcome = read(given);
      if (outcome.kind === 'result') LoopShare.of(given)?.owns(outcome.result as object);
      return outcome;
    } catch (error) {
      const outcome = this.outcomeOf(error, exchange);
      if (outcome.kind === 'error') serverRequests.noteRequired(outcome.data, client);
      return outcome;
    } finally {
      exchange.dispose();
    }
  }

  private outcomeOf(error: unknown, { end }: Exchange): Failure {
    const { misread } = this.deps.transport;
    if (end) return end.kind === 'timedOut' && misread !== undefined ? { ...end, misread } : end;
    const { code, data } = asFields(error);
    if (data instanceof TransportFailure) return failureOutcome(data);
    if (this.state.kind !== 'live' || typeof code !== 'number') return this.lost(error);
    return {
      kind: 'error',
      code,
      message: messageOf(error),
      ...(data !== undefined && { data }),
    };
  }

  private lost(error?: unknown): Failure {
    const { state } = this;
    if (state.kind === 'dead') return { kind: 'lost', cause: state.cause };
    if (state.kind === 'closed') return { kind: 'lost', cause: 'The connection was closed.' };
    return { kind: 'lost', cause: `The call could not be sent: ${messageOf(error)}` };
  }
}
