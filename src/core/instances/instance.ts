/**
 * One live MCP connection and the calls on it. Invariants: it ends once, and never idles out during
 * a call; `end` resolves after its process tree is gone; a lost call returns after the pool knows
 * the death.
 */
import { english } from '../base/language.js';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { asText } from '../base/text.js';
import { TransientMap } from '../base/transientMap.js';
import { LoopShare } from '../base/turns.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Connection, OfferKind, TimedCall, TimedRequest } from '../connections/connection.js';
import type { ClientChange, Fields, ServerClient } from '../protocol/client.js';
import {
  logLevelRank,
  isFinal,
  resultOfTask,
  taskChanged,
  taskIn,
  unwatchTask,
  watchTask,
} from '../protocol/versions.js';
import type { LeaseNews, ServerOutcome } from '../protocol/request.js';
import type { SlotHolder } from './limit.js';
import { Subscriptions } from './serverConversations.js';

export type InstanceUse =
  /** It listed the tools and becomes the lease of the first conversation (L4). */
  | { readonly kind: 'warm' }
  /** It becomes the lease of the next conversation (P9). */
  | { readonly kind: 'spare' }
  | { readonly kind: 'shared' }
  | {
      readonly kind: 'leased';
      readonly conversation: string;
      readonly since: number;
    }
  /** It takes no new calls and ends with its last call (R4). */
  | { readonly kind: 'draining' };

/** `died`: its connection ended first. */
export type EndOfInstance = 'ended' | 'died';

interface InstanceDeps {
  readonly clock: Clock;
  /**
   * Returns the limit without a call in milliseconds. Read at the beginning of each wait, and by
   * `reviewIdle`.
   */
  readonly idleLimit: () => number;
  readonly onRest: () => void;
  readonly onOfferChanged: (offer: OfferKind) => void;
  /** Called with the result of a task, and with the server's name of its tool. */
  readonly onTaskResult: (tool: string, result: CallToolResult) => void;
  /** Called when it begins to end. */
  readonly onEnd: (reason: string, how: EndOfInstance) => void;
}

type State =
  | { readonly kind: 'live' }
  | {
      readonly kind: 'ended';
      readonly reason: string;
      readonly closed: Promise<void>;
    };

/** The limit of requests without a caller, in milliseconds. */
const asideLimitMs = 10_000;

export class Instance implements SlotHolder {
  readonly startedAt: number;
  client: ServerClient | undefined;
  /** The conversation that leases it, or leased it before it drains. */
  lessee: string | undefined;
  lastCallAt: number | undefined;
  lastTool: string | undefined;
  use: InstanceUse = { kind: 'warm' };
  news: LeaseNews | undefined;

  private state: State = { kind: 'live' };
  private announceEnded: () => void = () => {};
  /** Resolves when it begins to end, for any cause, and the pool knows. */
  readonly ended = new Promise<void>((resolve) => (this.announceEnded = resolve));
  private readonly listeners: Disposable[];
  private readonly inFlight = new TransientMap<object, ServerClient | undefined>();
  /** The tools of its tasks. */
  private readonly tasks = new Map<string, string>();
  private subscriptions = new Subscriptions();
  private readonly watched = new Subscriptions();
  private logLevel: string | undefined;
  private idleTimer: Disposable | undefined;
  /** The time of `clock.awake` from which the idle limit counts. */
  private idleFrom = 0;

  constructor(
    readonly id: string,
    readonly connection: Connection,
    readonly declared: Fields,
    private readonly deps: InstanceDeps,
  ) {
    this.startedAt = deps.clock.now();
    this.listeners = [
      connection.onDidDie((cause) => void this.finish(cause, 'died')),
      connection.onDidChangeOffer(deps.onOfferChanged),
      connection.onDidUpdateResource((params) => this.subscriptions.updated(params)),
      connection.onDidUpdateTask((params) => void this.updateTask(params)),
      connection.onDidRenewSession(() => {
        if (this.use.kind === 'leased')
          this.news = { kind: 'replaced', cause: 'the server began a new session' };
        this.renewSubscriptions();
        this.sendLogLevel();
      }),
    ];
    this.awaitIdle();
  }

  get phase(): SlotHolder['phase'] {
    return this.state.kind === 'live' ? 'live' : 'ending';
  }

  /** True if it takes new calls. A connection can be over shortly before its death is reported. */
  get isOpen(): boolean {
    return this.state.kind === 'live' && this.use.kind !== 'draining' && !this.connection.isOver;
  }

  get idleSince(): number | undefined {
    return this.isBusy || this.state.kind !== 'live' ? undefined : this.idleFrom;
  }

  get waitsSince(): number | undefined {
    if (this.state.kind !== 'live' || this.tasks.size > 0) return undefined;
    let since = -Infinity;
    for (const client of this.inFlight.values()) {
      const state = client?.state;
      since = Math.max(since, state?.kind === 'waiting' ? state.since : Infinity);
    }
    return Number.isFinite(since) ? since : undefined;
  }

  get isLease(): boolean {
    return this.lessee !== undefined;
  }

  get isSpare(): boolean {
    return this.use.kind === 'spare' && this.idleSince !== undefined;
  }

  get callsInFlight(): number {
    return this.inFlight.size;
  }

  get hasTasks(): boolean {
    return this.tasks.size > 0;
  }

  private get isBusy(): boolean {
    return this.callsInFlight > 0 || this.hasTasks;
  }

  endTask(task: string): void {
    if (this.tasks.delete(task)) this.rest();
  }

  call(request: TimedCall, published = request.tool): Promise<ServerOutcome<CallToolResult>> {
    this.lastTool = published;
    return this.whileInUse(request.client, async () => {
      const outcome = await this.connection.callTool(request);
      // The task counts before the call ends, because a draining instance ends with its last call.
      const task = outcome.kind === 'result' ? taskIn(outcome.result) : undefined;
      if (task !== undefined) this.tasks.set(task, request.tool);
      return outcome;
    });
  }

  async request(request: TimedRequest): Promise<ServerOutcome<Fields>> {
    const { method, params, client } = request;
    const { uri, taskId } = params;
    if (method === 'resources/unsubscribe' && typeof uri === 'string' && client) {
      if (!this.subscriptions.remove(uri, client.session)) return { kind: 'result', result: {} };
    }
    const send = (): Promise<ServerOutcome<Fields>> =>
      this.whileInUse(client, () => this.connection.request(request));
    if (method === 'tasks/get') {
      const outcome = await send();
      if (outcome.kind === 'result') this.noteTask(taskId, outcome.result);
      return outcome;
    }
    const [followed, book] =
      method === watchTask ? [taskId, this.watched] : [uri, this.subscriptions];
    const isFollowed = method === watchTask || method === 'resources/subscribe';
    if (!isFollowed || typeof followed !== 'string' || !client) return send();
    // An update may come with the answer.
    book.add(followed, client);
    const outcome = await send();
    if (outcome.kind !== 'result') book.remove(followed, client.session);
    return outcome;
  }

  follow(subscriptions: Subscriptions): void {
    this.subscriptions = subscriptions;
    this.renewSubscriptions();
  }

  /**
   * Each subscriber reads again, because a change may have come while no connection was subscribed.
   */
  private renewSubscriptions(): void {
    if (this.connection.capabilities.resources?.subscribe !== true) return;
    for (const uri of this.subscriptions.uris()) {
      void this.requestAside('resources/subscribe', { uri });
      this.subscriptions.updated({ uri });
    }
  }

  noteClient(client: ServerClient, change: ClientChange): void {
    if (change === 'gone') {
      for (const uri of this.subscriptions.forget(client.session)) {
        void this.requestAside('resources/unsubscribe', { uri });
      }
      for (const taskId of this.watched.forget(client.session))
        void this.requestAside(unwatchTask, { taskId });
    } else if (this.state.kind === 'live' && this.client?.session === client.session) {
      if (change === 'logLevel') this.setLogLevel(client);
      else this.connection.notify('notifications/roots/list_changed');
    }
  }

  private noteTask(taskId: unknown, said: Fields): void {
    const tool = this.tasks.get(asText(taskId));
    const result = resultOfTask(said);
    if (tool === undefined || !result || LoopShare.of(said)) return;
    this.deps.onTaskResult(tool, result as CallToolResult);
  }

  private async updateTask(params: Fields): Promise<void> {
    const { taskId } = params;
    if (typeof taskId !== 'string') return;
    // Without a status, an earlier notification may be lost.
    const asked =
      params['status'] === undefined &&
      (await this.requestAside('tasks/get', { taskId }, this.client));
    const said = asked ? asked.kind === 'result' && asked.result : params;
    const task = said && said['status'] !== undefined ? said : undefined;
    if (task) for (const client of this.watched.of(taskId)) client.tell(taskChanged, task);
    if (task) this.noteTask(taskId, task);
    if (task && !isFinal(task)) return;
    const watching = this.watched.take(taskId);
    if (!task) for (const client of watching) client.end();
    void this.requestAside(unwatchTask, { taskId });
    this.endTask(taskId);
  }

  /** Counts the request as in flight from this moment, before anything is awaited. */
  private async whileInUse<Result>(
    client: ServerClient | undefined,
    send: () => Promise<ServerOutcome<Result>>,
  ): Promise<ServerOutcome<Result>> {
    const key = {};
    this.inFlight.set(key, client);
    this.lastCallAt = this.deps.clock.now();
    this.idleTimer?.dispose();
    if (client) {
      if (client.logLevel !== this.logLevel) this.setLogLevel(client);
      this.client = client;
      // A request of a shared instance outside of any call is for no session in particular.
      if (this.use.kind === 'leased') this.connection.belongsTo(client);
    }
    try {
      const { learning } = this.connection;
      if (client && learning) await learning;
      const outcome = await send();
      if (outcome.kind !== 'lost') return outcome;
      // A connection settles its calls before it reports its end. The next call of this caller must
      // find another instance.
      if (this.connection.isOver) await this.ended;
      return this.state.kind === 'live' ? outcome : { kind: 'lost', cause: this.state.reason };
    } finally {
      this.inFlight.delete(key);
      this.lastCallAt = this.deps.clock.now();
      this.rest();
    }
  }

  private rest(): void {
    if (this.isBusy) return;
    if (this.use.kind === 'draining') void this.end('it was replaced or removed');
    else this.awaitIdle();
    this.deps.onRest();
  }

  /** The answer is not awaited, because the server receives this before the next request. */
  private setLogLevel({ logLevel: level }: ServerClient): void {
    if (level === undefined || !this.connection.capabilities.logging) return;
    // The lowest level of all sessions counts. The gateway filters for each session.
    if (this.use.kind === 'shared' && logLevelRank(level) >= logLevelRank(this.logLevel)) return;
    this.logLevel = level;
    this.sendLogLevel();
  }

  private sendLogLevel(): void {
    const { logLevel: level } = this;
    if (level !== undefined) void this.requestAside('logging/setLevel', { level });
  }

  private requestAside(
    method: string,
    params: Fields,
    client?: ServerClient,
  ): Promise<ServerOutcome<Fields>> {
    const timeouts = { call: asideLimitMs, callMax: asideLimitMs };
    return this.connection.request({
      method,
      params,
      timeouts,
      signal: new AbortController().signal,
      client,
    });
  }

  /**
   * Ends now if it is idle, and otherwise with the last call or after `limitMs`. Resolves when it
   * is gone.
   */
  async drain(limitMs: number, reason: string): Promise<void> {
    // The subscriptions belong to its successor now.
    this.subscriptions = new Subscriptions();
    this.use = { kind: 'draining' };
    this.idleTimer?.dispose();
    if (!this.isBusy) return this.end(reason);
    const limit = this.deps.clock.after(
      limitMs,
      () => void this.end(english`${reason}, and the drain limit has passed`),
    );
    await this.ended;
    limit.dispose();
    return this.end(reason);
  }

  /**
   * May be called again. @param reason completes "the server … ended because" for the calls in
   * flight
   */
  end(reason: string): Promise<void> {
    return this.finish(reason, 'ended');
  }

  private finish(reason: string, how: EndOfInstance): Promise<void> {
    if (this.state.kind !== 'live') return this.state.closed;
    for (const listener of this.listeners) listener.dispose();
    for (const taskId of this.watched.uris())
      for (const client of this.watched.take(taskId)) client.end();
    this.idleTimer?.dispose();
    const closed = this.connection.close();
    this.state = {
      kind: 'ended',
      reason,
      closed,
    };
    this.deps.onEnd(reason, how);
    this.announceEnded();
    return closed;
  }

  reviewIdle(): void {
    if (!this.isBusy && this.use.kind !== 'draining') this.awaitIdle(this.idleFrom);
  }

  private awaitIdle(from = this.deps.clock.awake()): void {
    this.idleTimer?.dispose();
    if (this.state.kind !== 'live') return;
    this.idleFrom = from;
    const left = Math.max(0, from + this.deps.idleLimit() - this.deps.clock.awake());
    this.idleTimer = this.deps.clock.after(left, () => {
      // A subscribed session uses the shared instance without a call.
      if (this.use.kind === 'shared' && this.subscriptions.uris().length > 0) this.awaitIdle();
      else if (this.idleSince !== undefined)
        void this.end('nobody used it for longer than its idle limit');
    });
  }
}
