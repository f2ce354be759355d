/**
 * Holds one live MCP connection and what it is used for. Invariants: it ends once; it is never stopped for idleness
 * while a call runs on it; when it ends, `gone` resolves only after its process tree is gone.
 */
import { assertNever } from '../base/assertNever.js';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { TransientMap } from '../base/transientMap.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Connection, OfferKind, TimedCall, TimedRequest } from '../connections/connection.js';
import type { ClientChange, Fields, ServerClient } from '../protocol/client.js';
import { logLevelRank } from '../protocol/logLevels.js';
import type { LeaseNews, ServerOutcome } from '../protocol/request.js';
import { isFinal, taskChanged, taskIn, unwatchTask, watchTask } from '../protocol/tasks.js';
import { Subscriptions } from './subscriptions.js';

export type InstanceUse =
  /** It listed the tools and waits to become the first conversation's lease (L4). */
  | { readonly kind: 'warm' }
  /** It waits beside those that conversations hold for the next one (P9). */
  | { readonly kind: 'spare' }
  | { readonly kind: 'shared' }
  | { readonly kind: 'leased'; readonly conversation: string; readonly since: number }
  /** It takes no new calls and ends when its last call ends (R4). */
  | { readonly kind: 'draining' };

interface InstanceDeps {
  readonly id: string;
  readonly connection: Connection;
  readonly clock: Clock;
  /** The limit without a call in milliseconds, read each time that a wait begins, and by `reviewIdle`. */
  readonly idleLimit: () => number;
  /** Called when nothing runs on it any more. */
  readonly onRest: () => void;
  /** Called when the idle limit has passed. */
  readonly onIdle: (instance: Instance) => void;
  readonly onDeath: (instance: Instance, cause: string) => void;
  readonly onOfferChanged: (instance: Instance, kind: OfferKind) => void;
  /** The capabilities of its clients that the server was told of. */
  readonly declared: Fields;
}

/** The death of a connection may be told this long after the loss of its calls, in milliseconds. */
const deathLimitMs = 20;
/** The limit of requests that nobody waits for, in milliseconds. */
const forgetLimitMs = 10_000;

export class Instance {
  readonly id: string;
  readonly connection: Connection;
  readonly startedAt: number;
  readonly declared: Fields;
  /** The client whose lease it is, as of its last request. */
  client: ServerClient | undefined;
  lastCallAt: number | undefined;
  /** The published name of the tool that was called last. */
  lastTool: string | undefined;
  use: InstanceUse = { kind: 'warm' };
  /** What the conversation is told with the next result. */
  news: LeaseNews | undefined;

  private readonly listeners: Disposable[];
  /** The clients of what is in flight, each under a key of its own. */
  private readonly inFlight = new TransientMap<object, ServerClient | undefined>();
  private readonly tasks = new Set<string>();
  private subscriptions = new Subscriptions();
  /** Who wants to be told of which task. */
  private readonly watched = new Subscriptions();
  private logLevel: string | undefined;
  private idleTimer: Disposable | undefined;
  /** The time in epoch milliseconds from which the idle limit counts. */
  private idleFrom = 0;
  private ending: Promise<void> | undefined;
  private endReason: string | undefined;

  constructor(private readonly deps: InstanceDeps) {
    this.id = deps.id;
    this.connection = deps.connection;
    this.startedAt = deps.clock.now();
    this.declared = deps.declared;
    this.listeners = [
      deps.connection.onDidDie((cause) => {
        this.unsubscribe();
        this.announceOver();
        deps.onDeath(this, cause);
        this.announceDeath();
      }),
      deps.connection.onDidChangeOffer((kind) => deps.onOfferChanged(this, kind)),
      deps.connection.onDidUpdateResource((params) => this.subscriptions.updated(params)),
      deps.connection.onDidUpdateTask((params) => void this.updateTask(params)),
      deps.connection.onDidRenewSession(() => {
        if (this.use.kind === 'leased') this.news = { kind: 'replaced', cause: 'the server began a new session' };
        this.renewSubscriptions();
        this.sendLogLevel();
      }),
    ];
    this.awaitIdle();
  }

  /** The time in epoch milliseconds since when nothing runs on it; undefined while something does, or it ends. */
  get idleSince(): number | undefined {
    return this.isBusy || this.ending ? undefined : (this.lastCallAt ?? this.startedAt);
  }

  /** The same since when all that is in flight waits for clients that may never answer (G4); undefined if anything does not. */
  get waitsSince(): number | undefined {
    if (this.ending || this.tasks.size > 0) return undefined;
    let since = -Infinity;
    for (const client of this.inFlight.values()) since = Math.max(since, client?.waitsSince ?? Infinity);
    return Number.isFinite(since) ? since : undefined;
  }

  get isSpare(): boolean {
    return this.use.kind === 'spare';
  }

  get callsInFlight(): number {
    return this.inFlight.size;
  }

  /** Whether a call runs on it, or a task. */
  private get isBusy(): boolean {
    return this.callsInFlight > 0 || this.tasks.size > 0;
  }

  /** The task as which a call was answered is over, or is waited for no longer. */
  letGo(task: string): void {
    if (this.tasks.delete(task)) this.rest();
  }

  get hasTasks(): boolean {
    return this.tasks.size > 0;
  }

  get isEnding(): boolean {
    return this.ending !== undefined;
  }

  call(request: TimedCall, published = request.tool): Promise<ServerOutcome<CallToolResult>> {
    this.lastTool = published;
    return this.whileInUse(request.client, async () => {
      const outcome = await this.connection.callTool(request);
      // An instance that drains would end with the call.
      const task = outcome.kind === 'result' ? taskIn(outcome.result) : undefined;
      if (task !== undefined) this.tasks.add(task);
      return outcome;
    });
  }

  async request(request: TimedRequest): Promise<ServerOutcome<Fields>> {
    const { method, params, client } = request;
    const { uri, taskId } = params as { uri?: unknown; taskId?: unknown };
    const watches = method === watchTask && typeof taskId === 'string' && client !== undefined;
    if (watches) this.watched.add(taskId, client);
    const subscribes = method === 'resources/subscribe' && typeof uri === 'string' && client !== undefined;
    // This comes before the answer, because an update may come with that.
    if (subscribes) this.subscriptions.add(uri, client);
    if (method === 'resources/unsubscribe' && typeof uri === 'string' && client) {
      // Other sessions still want it.
      if (!this.subscriptions.remove(uri, client.session)) return { kind: 'result', result: {} };
    }
    const outcome = await this.whileInUse(client, () => this.connection.request(request));
    if (subscribes && outcome.kind !== 'result') this.subscriptions.remove(uri, client.session);
    if (watches && outcome.kind !== 'result') this.watched.remove(taskId, client.session);
    return outcome;
  }

  /** Serves all conversations from now on. */
  share(subscriptions: Subscriptions): void {
    this.use = { kind: 'shared' };
    this.follow(subscriptions);
  }

  /** What its conversations were subscribed to at the instance before, they are subscribed to here. */
  follow(subscriptions: Subscriptions): void {
    this.subscriptions = subscriptions;
    this.renewSubscriptions();
  }

  /** Subscribes again; each subscriber reads anew, as nobody knows what changed while nothing listened. */
  private renewSubscriptions(): void {
    if (this.connection.capabilities.resources?.subscribe !== true) return;
    for (const uri of this.subscriptions.uris()) {
      void this.requestAside('resources/subscribe', { uri });
      this.subscriptions.updated({ uri });
    }
  }

  noteClient(client: ServerClient, change: ClientChange): void {
    switch (change) {
      case 'gone':
        for (const uri of this.subscriptions.forget(client.session)) {
          void this.requestAside('resources/unsubscribe', { uri });
        }
        for (const taskId of this.watched.forget(client.session)) void this.requestAside(unwatchTask, { taskId });
        return;
      case 'logLevel':
        if (this.isOf(client)) this.setLogLevel(client);
        return;
      case 'roots':
        if (this.isOf(client)) this.connection.notify('notifications/roots/list_changed');
        return;
      default:
        assertNever(change);
    }
  }

  /** The server has told of a task, or may have said something that was not heard: then it is asked. */
  private async updateTask(params: Fields): Promise<void> {
    const { taskId } = params;
    if (typeof taskId !== 'string') return;
    const said = params['status'] === undefined ? await this.askForTask(taskId) : params;
    if (said) this.watched.tell(taskId, taskChanged, said);
    if (said && !isFinal(said)) return;
    const watching = this.watched.take(taskId);
    if (!said) for (const client of watching) client.end?.();
    void this.requestAside(unwatchTask, { taskId });
    this.letGo(taskId);
  }

  /** Resolves with undefined where the server has no word of it any more. */
  private async askForTask(taskId: string): Promise<Fields | undefined> {
    const outcome = await this.requestAside('tasks/get', { taskId }, this.client);
    return outcome.kind === 'result' && outcome.result['status'] !== undefined ? outcome.result : undefined;
  }

  private isOf(client: ServerClient): boolean {
    return !this.ending && this.client?.session === client.session;
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
    if (client) this.serve(client);
    try {
      const outcome = await send();
      if (outcome.kind !== 'lost') return outcome;
      // A connection tells of its calls first and of its death later; a caller whose call was lost must find the next
      // instance.
      if (this.endReason === undefined) await this.untilDeath();
      return this.endReason === undefined ? outcome : { kind: 'lost', cause: this.endReason };
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

  private serve(client: ServerClient): void {
    if (client.logLevel !== this.logLevel) this.setLogLevel(client);
    this.client = client;
    // What a shared instance asks outside of any request is meant for no session in particular.
    if (this.use.kind === 'leased') this.connection.belongsTo(client);
  }

  /** Nothing waits for the answer, because what is sent next reaches the server after it. */
  private setLogLevel({ logLevel: level }: ServerClient): void {
    if (level === undefined || !this.connection.capabilities.logging) return;
    // The session that wants to hear most decides; the gateway sends each session only what it wants.
    if (this.use.kind === 'shared' && logLevelRank(level) >= logLevelRank(this.logLevel)) return;
    this.logLevel = level;
    this.sendLogLevel();
  }

  private sendLogLevel(): void {
    const { logLevel: level } = this;
    if (level !== undefined) void this.requestAside('logging/setLevel', { level });
  }

  private requestAside(method: string, params: Fields, client?: ServerClient): Promise<ServerOutcome<Fields>> {
    const { signal } = new AbortController();
    const timeouts = { call: forgetLimitMs, callMax: forgetLimitMs };
    return this.connection.request({ method, params, timeouts, signal, client });
  }

  /**
   * Ends now if nothing is in flight, and otherwise with the last call or after `limitMs`. Resolves when it is gone.
   */
  async drain(limitMs: number, reason: string): Promise<void> {
    // The subscriptions belong to its successor now.
    this.subscriptions = new Subscriptions();
    this.use = { kind: 'draining' };
    this.idleTimer?.dispose();
    if (!this.isBusy) return this.end(reason);
    const limit = this.deps.clock.after(limitMs, () => void this.end(`${reason}, and the drain limit has passed`));
    try {
      await this.gone;
    } finally {
      limit.dispose();
    }
  }

  /** @param reason completes "the server … ended because" for the calls that are still in flight. */
  end(reason: string): Promise<void> {
    this.ending ??= this.finish(reason);
    return this.ending;
  }

  private announceDeath: () => void = () => {};
  private readonly death = new Promise<void>((resolve) => (this.announceDeath = resolve));

  /** Waits for a short time only, because a call can be lost though the connection lives. */
  private async untilDeath(): Promise<void> {
    let limit: Disposable | undefined;
    const passed = new Promise<void>((resolve) => (limit = this.deps.clock.after(deathLimitMs, resolve)));
    await Promise.race([this.death, passed]);
    limit?.dispose();
  }

  private announceOver: () => void = () => {};
  /** Resolves when it takes no more calls because its connection has ended, and its holder has been told. */
  readonly over = new Promise<void>((resolve) => (this.announceOver = resolve));
  private announceGone: () => void = () => {};
  /** Resolves when the instance has ended, by whatever cause. */
  readonly gone = new Promise<void>((resolve) => (this.announceGone = resolve));

  private async finish(reason: string): Promise<void> {
    this.endReason = reason;
    this.announceOver();
    this.unsubscribe();
    this.idleTimer?.dispose();
    try {
      await this.connection.close();
    } finally {
      this.announceGone();
    }
  }

  private unsubscribe(): void {
    for (const listener of this.listeners) listener.dispose();
    for (const taskId of this.watched.uris()) for (const client of this.watched.take(taskId)) client.end?.();
  }

  /** What is idle now ends by the limit that counts now. */
  reviewIdle(): void {
    if (!this.isBusy && this.use.kind !== 'draining') this.awaitIdle(this.idleFrom);
  }

  private awaitIdle(from = this.deps.clock.now()): void {
    this.idleTimer?.dispose();
    if (this.ending) return;
    this.idleFrom = from;
    const left = Math.max(0, from + this.deps.idleLimit() - this.deps.clock.now());
    this.idleTimer = this.deps.clock.after(left, () => {
      // A session that waits for updates uses the shared instance without a call.
      if (this.use.kind === 'shared' && this.subscriptions.uris().length > 0) this.awaitIdle();
      else if (!this.isBusy && !this.ending) this.deps.onIdle(this);
    });
  }
}
