/**
 * A connection over the SDK's client, on either transport. Results and tools pass through as the server gave them: the
 * client's own `listTools` and `callTool` are not used, as they compile every output schema and keep it for ever.
 *
 * It does not start or restart anything. Invariants: a call has one outcome, and is never sent twice; the outcomes of
 * all calls in flight are settled before `onDidDie` fires; what the server says about progress reaches the call before
 * the call's result does.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type {
  CallToolResult,
  JSONRPCMessage,
  JSONRPCNotification,
  ServerCapabilities,
} from '@modelcontextprotocol/sdk/types.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.js';
import { Emitter, type Event } from '../base/events.js';
import { asText, messageOf } from '../base/text.js';
import type { LoopShare } from '../base/turns.js';
import { TransientMap } from '../base/transientMap.js';
import type { Log } from '../base/log.js';
import { CallLimits, type CallEnd } from './callLimits.js';
import {
  type Connection,
  type ListOptions,
  type OfferKind,
  type PromptListing,
  type ResourceListing,
  type TimedCall,
  type TimedRequest,
  type TimedTerms,
  type ToolListing,
} from './connection.js';
import { type ServerFacts, requestParams } from './handshake.js';
import { OfferLister } from './listing.js';
import { outcomeOfFailure, readCallResult, readOtherResult, readProgress } from './outcomes.js';
import type { Fields, ServerClient } from '../protocol/client.js';
import type { ServerOutcome } from '../protocol/request.js';
import { taskChanged } from '../protocol/tasks.js';
import { logMessage } from './logging.js';
import { OwnRequests } from './ownRequests.js';
import { ServerRequests } from './serverRequests.js';
import { TransportFailure, type ServerTransport } from './transport.js';

interface SdkConnectionDeps {
  readonly client: Client;
  readonly transport: ServerTransport;
  readonly facts: ServerFacts;
  readonly pid: number | undefined;
  readonly clock: Clock;
  readonly share: LoopShare;
  readonly log: Log;
  /** Says in words why the transport has ended. */
  readonly causeOfEnd: () => string;
}

type Failure = Exclude<ServerOutcome<unknown>, { kind: 'result' }>;
type State =
  | { readonly kind: 'live' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'dead'; readonly cause: string };

export class SdkConnection implements Connection {
  readonly serverInfo: Connection['serverInfo'];
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
  readonly pid: number | undefined;
  readonly share: LoopShare;
  private readonly offerChanged = new Emitter<OfferKind>();
  private readonly resourceUpdated = new Emitter<Fields>();
  private readonly died = new Emitter<string>();
  private readonly sessionRenewed = new Emitter<void>();
  private readonly taskUpdated = new Emitter<Fields>();
  readonly onDidUpdateResource = this.resourceUpdated.event;
  readonly onDidUpdateTask = this.taskUpdated.event;
  readonly onDidChangeOffer: Event<OfferKind> = (listener) => {
    const subscription = this.offerChanged.event(listener);
    if (this.changedUnheard) queueMicrotask(() => this.offerChanged.fire('tools'));
    this.changedUnheard = false;
    return subscription;
  };
  readonly onDidRenewSession = this.sessionRenewed.event;
  /** A listener that comes too late hears of the death too. */
  readonly onDidDie: Event<string> = (listener) => {
    const { told } = this;
    if (told === undefined) return this.died.event(listener);
    let wanted = true;
    queueMicrotask(() => wanted && listener(told));
    return { dispose: () => (wanted = false) };
  };

  private announceGone: () => void = () => {};
  readonly gone = new Promise<void>((resolve) => (this.announceGone = resolve));

  private state: State = { kind: 'live' };
  private changedUnheard = false;
  private told: string | undefined;
  private nextToken = 1;
  private readonly progress = new TransientMap<number, (params: Readonly<Record<string, unknown>>) => void>();
  private readonly inFlight = new TransientMap<number, Promise<unknown>>();
  private readonly serverRequests: ServerRequests;
  private readonly requests: OwnRequests;
  private readonly lister: OfferLister;
  /** Counts up with each `list_changed`. */
  private changes = 0;

  constructor(private readonly deps: SdkConnectionDeps) {
    ({
      serverInfo: this.serverInfo,
      instructions: this.instructions,
      capabilities: this.capabilities,
      protocolVersion: this.protocolVersion,
    } = deps.facts);
    this.pid = deps.pid;
    this.share = deps.share;
    const { transport, client } = deps;
    this.requests = new OwnRequests({
      transport,
      onFailure: (error) => deps.log.write('debug', `[protocol] A cancellation was not sent: ${asText(error)}`),
    });
    this.serverRequests = new ServerRequests({
      originOf: transport.originOf && ((message) => transport.originOf?.(message)),
      keyOf: (request) => transport.keyOf?.(request),
      notify: (method, params) => this.notify(method, params),
      protocolVersion: this.protocolVersion,
    });
    this.lister = new OfferLister({
      capabilities: this.capabilities,
      clock: deps.clock,
      share: deps.share,
      send: (method, params, signal) => this.send(method, params, signal),
      whatIsWrongWithTool: (tool) => transport.whatIsWrongWithTool?.(tool),
      causeOfEnd: () => (this.state.kind === 'dead' ? this.state.cause : undefined),
    });
    client.fallbackRequestHandler = (request, { signal }) => this.serverRequests.answer(request, signal);
  }

  get isOver(): boolean {
    return this.state.kind !== 'live' || this.deps.transport.isOver === true;
  }

  get toolChanges(): number {
    return this.changes;
  }

  /** The first listener hears that the tools changed while they were listed, as the list is handed out all the same. */
  leaveChangeUnheard(): void {
    this.changedUnheard = true;
  }

  /** Returns whether the message is an answer that this connection waits for. */
  takeAnswer(message: JSONRPCMessage): boolean {
    return this.requests.take(message);
  }

  /**
   * Hears every message before the SDK's client does, which brings notifications one turn later than answers. Never throws:
   * what one server says ends nothing of others.
   */
  receive(message: JSONRPCMessage): void {
    if (!('method' in message) || 'id' in message) return;
    try {
      this.hear(message);
    } catch (error) {
      this.deps.log.write('error', `[protocol] ${message.method} could not be handled: ${asText(error)}`);
    }
  }

  private hear(message: JSONRPCNotification): void {
    const params = message.params ?? {};
    switch (message.method) {
      case 'notifications/progress':
        this.progress.get(Number(asText(params['progressToken'])))?.(params);
        break;
      case 'notifications/tools/list_changed':
        this.changes += 1;
        this.offerChanged.fire('tools');
        break;
      case 'notifications/prompts/list_changed':
        this.offerChanged.fire('prompts');
        break;
      case 'notifications/resources/list_changed':
        this.offerChanged.fire('resources');
        break;
      case 'notifications/resources/updated':
        this.resourceUpdated.fire(params);
        break;
      case taskChanged:
        this.taskUpdated.fire(params);
        break;
      case 'notifications/message':
        logMessage(this.deps.log, params);
        this.serverRequests.tell(message);
        break;
      case 'notifications/elicitation/complete':
        this.serverRequests.tell(message);
        break;
      default:
    }
  }

  /** Hears every message that goes to the server. */
  sent(message: JSONRPCMessage): void {
    this.serverRequests.sent(message);
  }

  belongsTo(client: ServerClient): void {
    this.serverRequests.belongsTo(client);
  }

  /** Called when the transport has a new session. */
  renewed(): void {
    this.sessionRenewed.fire();
    this.changes += 1;
    this.offerChanged.fire('tools');
    for (const kind of ['prompts', 'resources'] as const) if (this.capabilities[kind]) this.offerChanged.fire(kind);
  }

  /** Called when the transport has ended. */
  ended(): void {
    if (this.state.kind === 'live') {
      const cause = this.deps.causeOfEnd();
      this.state = { kind: 'dead', cause };
      void this.tell(cause);
    }
    this.requests.end();
  }

  /** The requests are rejected in this turn; the calls, and those that wait for them, follow before the next. */
  private async tell(cause: string): Promise<void> {
    await Promise.allSettled(this.inFlight.values());
    await nextTurn();
    this.told = cause;
    this.died.fire(cause);
    this.disposeEvents();
  }

  listTools(options: ListOptions): Promise<ToolListing> {
    return this.lister.listTools(options);
  }

  listPrompts(options: ListOptions): Promise<PromptListing | undefined> {
    return this.lister.listPrompts(options);
  }

  listResources(options: ListOptions): Promise<ResourceListing | undefined> {
    return this.lister.listResources(options);
  }

  takeStale(): readonly OfferKind[] {
    return this.lister.takeStale();
  }

  callTool(request: TimedCall): Promise<ServerOutcome<CallToolResult>> {
    const { tool: name, arguments: args } = request;
    if (request.asTask === true && this.capabilities.tasks?.requests?.tools?.call) return this.callAsTask(request);
    const params = (_meta: Fields): Fields => (args ? { name, arguments: args, _meta } : { name, _meta });
    return this.exchange('tools/call', params, request, (result) => readCallResult(result, this.protocolVersion));
  }

  /** The task of 2025-11-25 is begun, waited for and, where nobody waits any more, cancelled, all of it here (X8). */
  private async callAsTask(request: TimedCall): Promise<ServerOutcome<CallToolResult>> {
    const { tool: name, arguments: args, timeouts } = request;
    const { clock } = this.deps;
    // What the server tells of the progress goes by the first request, until the end of the task.
    const token = this.nextToken++;
    const since = clock.now();
    const params = (_meta: Fields): Fields => ({ name, ...(args && { arguments: args }), task: {}, _meta });
    // Who cancels it must wait for its id.
    const { signal } = new AbortController();
    const begun = await this.exchange('tools/call', params, { ...request, signal }, readOtherResult, token);
    if (begun.kind !== 'result') return begun;
    const { taskId } = (begun.result['task'] ?? {}) as { taskId?: unknown };
    if (typeof taskId !== 'string') return readCallResult(begun.result, this.protocolVersion);
    // A server that is asked for the result is silent until the task has ended.
    const callMax = Math.max(0, timeouts.callMax - (clock.now() - since));
    const terms = { ...request, timeouts: { call: callMax, callMax } };
    const read = (result: unknown): ServerOutcome<CallToolResult> => readCallResult(result, this.protocolVersion);
    const outcome = await this.exchange('tasks/result', (_meta) => ({ taskId, _meta }), terms, read, token);
    if (outcome.kind === 'cancelled' || outcome.kind === 'timedOut')
      this.requests.send('tasks/cancel', { taskId }).answer.catch(() => undefined);
    return outcome;
  }

  request(request: TimedRequest): Promise<ServerOutcome<Fields>> {
    const { method, params } = request;
    const own = requestParams(this.protocolVersion, method, params);
    return this.exchange(method, (_meta) => ({ ...own, _meta }), request, readOtherResult);
  }

  notify(method: string, params?: Fields): void {
    if (this.state.kind !== 'live') return;
    const message = { method, ...(params && { params }) } as Parameters<Client['notification']>[0];
    // What was not declared or cannot be delivered would mean nothing to anybody.
    this.deps.client.notification(message).catch((error: unknown) => {
      this.deps.log.write('debug', `[protocol] ${method} was not sent: ${asText(error)}`);
    });
  }

  async close(): Promise<void> {
    if (this.state.kind === 'live') this.state = { kind: 'closed' };
    try {
      await this.deps.transport.close();
      await Promise.allSettled(this.inFlight.values());
    } finally {
      this.announceGone();
      this.disposeEvents();
    }
  }

  private disposeEvents(): void {
    const { died, offerChanged, resourceUpdated, taskUpdated, sessionRenewed } = this;
    for (const emitter of [died, offerChanged, resourceUpdated, taskUpdated, sessionRenewed]) emitter.dispose();
  }

  private exchange<Result>(
    method: string,
    params: (meta: Fields) => Fields,
    terms: TimedTerms,
    read: (result: unknown) => ServerOutcome<Result>,
    token = this.nextToken++,
  ): Promise<ServerOutcome<Result>> {
    if (this.state.kind !== 'live') return Promise.resolve(this.lost());
    if (terms.signal.aborted) return Promise.resolve({ kind: 'cancelled' });
    const exchange = this.exchangeNow(token, method, params, terms, read);
    this.inFlight.set(token, exchange);
    return exchange;
  }

  private async exchangeNow<Result>(
    token: number,
    method: string,
    params: (meta: Fields) => Fields,
    { meta, timeouts, signal, onProgress, client }: TimedTerms,
    read: (result: unknown) => ServerOutcome<Result>,
  ): Promise<ServerOutcome<Result>> {
    const limits = new CallLimits(this.deps.clock, timeouts, signal);
    this.progress.set(token, (progress) => {
      limits.signOfLife();
      onProgress?.(readProgress(progress));
    });
    this.serverRequests.begin(token, { client, limits });
    try {
      const { answer, cancel } = this.requests.send(method, params(this.metaOf(meta, client, token)));
      limits.onEnd = cancel;
      return read(await answer);
    } catch (error) {
      const outcome = this.outcomeOf(error, limits.end);
      if (outcome.kind === 'error') this.serverRequests.noteRequired(outcome.data, client);
      return outcome;
    } finally {
      this.inFlight.delete(token);
      this.progress.delete(token);
      this.serverRequests.end(token);
      limits.dispose();
    }
  }

  private metaOf(meta: Fields | undefined, client: ServerClient | undefined, token: number): Fields {
    const own = this.deps.transport.metaFor?.(client);
    return meta || own ? { ...meta, ...own, progressToken: token } : { progressToken: token };
  }

  /** Aborting sends `notifications/cancelled`. */
  private async send(method: string, params: Fields | undefined, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const { answer, cancel } = this.requests.send(method, params);
    const stop = (): void => cancel(String(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
    return await answer.finally(() => signal.removeEventListener('abort', stop));
  }

  private outcomeOf(error: unknown, end: CallEnd | undefined): Failure {
    if (end) return end;
    const { code, data } = error as { code?: unknown; data?: unknown };
    if (data instanceof TransportFailure) return outcomeOfFailure(data);
    if (this.state.kind !== 'live' || typeof code !== 'number') return this.lost(error);
    return { kind: 'error', code, message: (error as Error).message, ...(data !== undefined && { data }) };
  }

  private lost(error?: unknown): Failure {
    const { state } = this;
    if (state.kind === 'dead') return { kind: 'lost', cause: state.cause };
    if (state.kind === 'closed') return { kind: 'lost', cause: 'The connection was closed.' };
    return {
      kind: 'lost',
      cause: `The call could not be sent: ${messageOf(error)}`,
    };
  }
}
