/**
 * Keeps the instances of one server definition and their holders (L1, L2). Invariants: two
 * first calls of a conversation at once make one instance; a draining or closed pool starts nothing
 * for new calls; `close` resolves when nothing of the pool is left.
 */
import { orAborted } from '../base/events.js';
import { inNextTurn } from '../base/turns.js';
import { PendingEnds } from '../base/pendingEnds.js';
import type { Connection, StartFailure, ToolListing } from '../connections/connection.js';
import { Instance, type EndOfInstance } from './instance.js';
import type { NotStarted } from './limit.js';
import type {
  OtherOutcome,
  OtherRequest,
  RequestTerms,
  ServerOutcome,
  ToolCall,
  ToolOutcome,
} from '../protocol/request.js';
import {
  type ClientChange,
  covers,
  type Fields,
  type ServerClient,
  union,
} from '../protocol/client.js';
import { isAboutTask, taskIn } from '../protocol/versions.js';
import type { PoolDeps } from './services.js';
import { knows, type Purpose, type Start, type StartOutcome, Starts } from './starts.js';
import { longestTaskMs, Tasks } from './tasks.js';

const retiredLimitMs = 30_000;

export type PoolFailure =
  | Extract<ServerOutcome<unknown>, { readonly kind: 'lost' | 'timedOut' }>
  | { readonly kind: 'startFailed'; readonly failure: StartFailure }
  /** No instance started for it; `cause` is a clause. */
  | { readonly kind: 'notSent'; readonly cause: string }
  /** The request is only for the instance of the conversation, and it has none. */
  | { readonly kind: 'notHeld' };

let nextInstance = 1;

export class InstancePool {
  private readonly instances = new Set<Instance>();
  private readonly ends: PendingEnds;
  readonly tasks: Tasks;
  readonly starts: Starts;
  private wanted: Fields;
  private phase: 'open' | 'draining' | 'closed' = 'open';
  private readonly isShared: boolean;

  constructor(private readonly deps: PoolDeps) {
    const { services, server, definition } = deps;
    this.isShared = definition().trulyStateless;
    this.wanted = services.expectedClient().capabilities;
    this.tasks = new Tasks(services.clock, this.isShared);
    const log = services.serverLog(server);
    this.ends = new PendingEnds((why) => log.write('error', `Ending an instance failed: ${why}`));
    this.starts = new Starts(
      deps,
      this.ends,
      () => this.phase,
      (...started) => this.connected(...started),
      () => !this.isShared && this.instances.size > 0,
    );
  }

  get live(): readonly Instance[] {
    return [...this.instances];
  }

  get open(): Instance | undefined {
    return this.live.find(({ isOpen }) => isOpen);
  }

  holderOf(conversation: string): Instance | undefined {
    return this.find(({ use }) => use.kind === 'leased' && use.conversation === conversation);
  }

  adopt(connection: Connection, declared: Fields): Instance {
    const instance = this.make(connection, declared);
    this.assign(instance, { kind: this.isShared ? 'shared' : 'warm' });
    // Calls with a wait for the tools go out within this turn.
    inNextTurn(() => this.allowEviction(instance));
    return instance;
  }

  call(
    conversation: string,
    call: ToolCall,
    {
      original,
      published,
      asTask,
    }: {
      original: string;
      published: string;
      asTask: boolean;
    },
  ): Promise<ToolOutcome | PoolFailure> {
    // Written out, because a copy by `...` costs all who read it (P3).
    const { arguments: given, meta, signal, onProgress, client, instance } = call;
    const { timeouts, launch } = this.deps.definition();
    const timed = {
      tool: original,
      arguments: given,
      meta,
      signal,
      onProgress,
      client,
      instance,
      asTask,
      timeouts,
    };
    return this.use(conversation, call, async (instance) => {
      call.recording?.onSend(instance.id, given);
      const outcome = await instance.call(timed, published);
      if (outcome.kind !== 'result') return outcome;
      this.tasks.begin(outcome.result, instance, conversation, published);
      // The news of a lease wait for a result with text.
      if (taskIn(outcome.result) !== undefined) return outcome;
      const news = this.isShared
        ? this.deps.conversations.newsOfSharing(conversation)
        : instance.news;
      instance.news = undefined;
      if (!news) return outcome;
      return {
        ...outcome,
        news,
        ...(launch.transport === 'stdio' && { folder: launch.cwd }),
      };
    });
  }

  /** Finds the instance as a call does. The news of a lease wait for a call. */
  request(conversation: string, request: OtherRequest): Promise<OtherOutcome | PoolFailure> {
    // A request to any instance does not come from its holder.
    const { client } = request.instance === 'any' ? {} : request;
    const timed = {
      ...request,
      client,
      timeouts: this.deps.definition().timeouts,
    };
    const send = (): Promise<OtherOutcome | PoolFailure> =>
      this.use(conversation, request, (instance) => {
        request.recording?.onSend(instance.id, request.params);
        return instance.request(timed);
      });
    if (!isAboutTask(request.method)) return send();
    // The server of a shared instance also knows the tasks of earlier instances.
    return this.tasks.request(timed, conversation, this.isShared ? send : undefined);
  }

  noteClient(client: ServerClient, change: ClientChange): void {
    for (const instance of this.instances) instance.noteClient(client, change);
    const { conversation } = client;
    if (change !== 'gone' || conversation === undefined) return;
    this.deps.conversations.subscriptions.delete(conversation);
    void this.starts.of(conversation)?.end();
    const held = this.holderOf(conversation);
    if (held) void this.retire(held, retiredLimitMs, 'the session of its conversation has ended');
  }

  /**
   * Ends the conversation's lease or cancels its start. Resolves with false if the conversation has
   * neither.
   */
  async release(conversation: string, reason: string): Promise<boolean> {
    const starting = this.starts.of(conversation);
    void starting?.end();
    const held = this.holderOf(conversation);
    if (held?.hasTasks) void this.retire(held, longestTaskMs, reason);
    else if (held) await this.retire(held, 0, reason);
    return held !== undefined || starting !== undefined;
  }

  /** Ends every instance and every start under way. The pool goes on serving. */
  async recycle(reason: string): Promise<void> {
    for (const start of this.starts.all) this.ends.add(start.end());
    this.ends.add(this.endSpare(reason));
    await Promise.all(this.live.map((instance) => this.retire(instance, 0, reason)));
    await this.ends.settled();
  }

  /** Ends the free instances and their starts. The instances and starts of conversations go on. */
  async endUnheld(reason: string): Promise<void> {
    const warm = this.only('warm');
    void this.starts.warm?.end();
    await Promise.all([this.endSpare(reason), warm && this.retire(warm, 0, reason)]);
  }

  async drain(limitMs: number, reason: string): Promise<void> {
    this.phase = 'draining';
    this.ends.add(this.endSpare(reason));
    const retireAll = (): Promise<unknown> => {
      const inUse = this.live.filter(({ use }) => use.kind !== 'draining');
      return Promise.all(inUse.map((instance) => this.retire(instance, limitMs, reason)));
    };
    const starting = this.starts.all.map((start) => {
      if (start.waiters.every(({ aborted }) => aborted)) void start.end();
      return start.outcome.then(retireAll);
    });
    // The live instances do not wait for the starts.
    await Promise.all([retireAll(), ...starting]);
    this.phase = 'closed';
    await this.ends.settled();
  }

  review(): void {
    for (const instance of this.instances) instance.reviewIdle();
    if (!this.wantsSpare()) this.ends.add(this.endSpare('spare instances are no longer kept'));
  }

  async close(reason: string): Promise<void> {
    this.phase = 'closed';
    await this.recycle(reason);
  }

  /**
   * Sends on the instance for a request, or on one that is started for it.
   *
   * - `instanceFor` finds one that is open: `send` is called in this turn, so the request counts as
   *   in flight before anything else happens.
   * - The one found has just died: it stays until the pool knows its death. The request then looks
   *   again, and starts another.
   * - It finds none: `useAnother` starts one.
   */
  private use<Used>(
    conversation: string,
    terms: RequestTerms,
    send: (instance: Instance) => Promise<Used>,
  ): Promise<Used | PoolFailure | { readonly kind: 'cancelled' }> {
    const held = this.instanceFor(conversation, terms);
    if (!held) return this.useAnother(conversation, terms, send);
    return held.isOpen ? send(held) : held.ended.then(() => this.use(conversation, terms, send));
  }

  /** Starts an instance, and sends on it in the turn of its start. */
  private async useAnother<Used>(
    conversation: string,
    { client, signal, instance }: RequestTerms,
    send: (instance: Instance) => Promise<Used>,
  ): Promise<Used | PoolFailure | { readonly kind: 'cancelled' }> {
    if (instance === 'held' && !this.isShared) return { kind: 'notHeld' };
    if (this.phase === 'closed') return { kind: 'notSent', cause: 'the server was stopped' };
    if (this.freeFor(conversation, client)) {
      const refused = await this.deps.services.connector.makeRoom(signal, { isLease: true });
      if (!refused) return this.use(conversation, { client, signal, instance }, send);
      if (refused.kind === 'failed') return { kind: 'startFailed', failure: refused.failure };
      return refused;
    }
    const starting = this.start(
      {
        kind: 'leased',
        conversation,
        client,
      },
      client,
      signal,
    );
    // This is chained and not awaited: a later drain must find this call in flight when the start
    // is done.
    const begun = starting.then((started): { outcome: Promise<Used> } | NotStarted => {
      if (signal.aborted) return { kind: 'cancelled' };
      if (started.kind === 'started') return { outcome: send(started.instance) };
      // The instance with more capabilities did not start, so the present shared one serves as far
      // as it can.
      const shared = this.only('shared');
      return shared ? { outcome: send(shared) } : started;
    });
    const first = (await orAborted(begun, signal)) ?? ({ kind: 'cancelled' } as const);
    if ('outcome' in first) return first.outcome;
    if (first.kind === 'failed') return { kind: 'startFailed', failure: first.failure };
    return signal.aborted
      ? { kind: 'cancelled' }
      : { kind: 'notSent', cause: 'its start was cancelled' };
  }

  /**
   * A pool with one shared instance starts that. The new instance replaces the one with the same
   * use.
   */
  start(
    purpose: Purpose,
    client?: ServerClient,
    waiter?: RequestTerms['signal'],
  ): Promise<StartOutcome> {
    if (this.isShared) return this.starts.start({ kind: 'shared' }, this.wanted, client, waiter);
    const { capabilities } = client ?? this.deps.services.expectedClient();
    return this.starts.start(purpose, capabilities, client, waiter);
  }

  /**
   * Returns the instance for a request, if no start is needed. Gives a free one to the
   * conversation.
   */
  private instanceFor(
    conversation: string,
    { client, instance }: RequestTerms,
  ): Instance | undefined {
    if (this.isShared) return instance === undefined ? this.sharedFor(client) : this.only('shared');
    const held = this.holderOf(conversation);
    if (held || instance === 'held') return held;
    if (instance === 'any') return this.open;
    const free = this.freeFor(conversation, client);
    if (!free || !this.hasRoomForLease) return undefined;
    this.lease(free, conversation, client);
    return free;
  }

  private freeFor(conversation: string, client: ServerClient | undefined): Instance | undefined {
    if (this.holderOf(conversation) || this.starts.of(conversation)) return undefined;
    return [this.only('warm'), this.only('spare')].find(
      (one) => one?.isOpen && knows(one.declared, client),
    );
  }

  private get hasRoomForLease(): boolean {
    return this.deps.services.connector.hasRoom({ isLease: true });
  }

  /**
   * Returns undefined if the client can do more than the shared instance knows, and another one can
   * start.
   */
  private sharedFor(client: ServerClient | undefined): Instance | undefined {
    const shared = this.only('shared');
    const fits = !client || (shared && covers(shared.declared, client.capabilities));
    if (!fits) this.wanted = union(this.wanted, client.capabilities);
    return fits || this.phase !== 'open' ? shared : undefined;
  }

  private connected(connection: Connection, start: Start, listing: ToolListing): Instance {
    const instance = this.make(connection, start.declared);
    this.assign(instance, start.purpose);
    if (start.isSpare) this.allowEviction(instance);
    // By then, every waiting caller has sent.
    else void start.outcome.then(() => queueMicrotask(() => this.allowEviction(instance)));
    if (this.phase === 'open')
      this.deps.onEvent({
        kind: 'started',
        instance,
        listing,
      });
    return instance;
  }

  /**
   * Gives a new instance the use that its start was for. Each use but a lease has one instance, so
   * the earlier instance drains.
   */
  private assign(instance: Instance, purpose: Purpose): void {
    if (purpose.kind === 'leased')
      return this.lease(instance, purpose.conversation, purpose.client);
    const isShared = purpose.kind === 'shared';
    const before = this.find((one) => one !== instance && one.use.kind === purpose.kind);
    this.replace(
      before,
      isShared ? 'a client needed more capabilities' : 'another one took its place',
    );
    instance.use = purpose;
    if (!isShared) return;
    instance.follow(this.deps.conversations.shared);
    this.changed();
  }

  /**
   * Makes an instance the lease of a conversation: a new one, the warm or the spare one. The lease
   * before drains. The order counts: the next spare instance is wanted because of earlier
   * conversations, so it is planned before this one is known.
   */
  private lease(instance: Instance, conversation: string, client: ServerClient | undefined): void {
    const { conversations, services } = this.deps;
    this.replace(this.holderOf(conversation), 'a client needed more capabilities');
    const wasSpare = instance.use.kind === 'spare';
    instance.use = {
      kind: 'leased',
      conversation,
      since: services.clock.now(),
    };
    instance.lessee = conversation;
    instance.client = client;
    instance.follow(conversations.subscriptionsOf(conversation));
    const { capabilities } = client ?? services.expectedClient();
    this.starts.startAhead(
      capabilities,
      () => this.wantsSpare() && this.hasRoomForLease && !this.only('spare') && !this.starts.ahead,
    );
    const news = conversations.newsOfLease(conversation, client);
    if (news.kind === 'replaced') services.connector.noteReplaced(news.cause);
    instance.news = news;
    // A fresh lease makes no room, so its waiting callers need no protection.
    this.allowEviction(instance);
    if (wasSpare) this.deps.onEvent({ kind: 'spareTaken', instance });
    this.changed();
  }

  private replace(before: Instance | undefined, reason: string): void {
    if (before) void this.retire(before, retiredLimitMs, reason);
  }

  /** At most one instance has one of these uses. */
  private only(kind: 'warm' | 'spare' | 'shared'): Instance | undefined {
    return this.find(({ use }) => use.kind === kind);
  }

  private find(isMeant: (instance: Instance) => boolean): Instance | undefined {
    for (const instance of this.instances)
      if (instance.phase === 'live' && isMeant(instance)) return instance;
    return undefined;
  }

  private wantsSpare(): boolean {
    const { services, server, definition } = this.deps;
    const isWanted =
      definition().spare !== 0 && services.conversations?.expectsMore(server) === true;
    return isWanted && this.phase === 'open';
  }

  private make(connection: Connection, declared: Fields): Instance {
    const { services, server, definition } = this.deps;
    const instance: Instance = new Instance(`${server}#${nextInstance++}`, connection, declared, {
      clock: services.clock,
      idleLimit: () => definition().timeouts.idle,
      onRest: () => services.connector.announceIdle(),
      onOfferChanged: (offer) =>
        this.deps.onEvent({
          kind: 'offerChanged',
          instance,
          offer,
        }),
      onTaskResult: (tool, result) =>
        this.deps.onEvent({
          kind: 'taskResult',
          tool,
          result,
        }),
      onEnd: (reason, how) => this.ended(instance, reason, how),
    });
    this.instances.add(instance);
    services.recorder.event({
      event: 'started',
      toolset: server,
      instance: instance.id,
    });
    return instance;
  }

  /** Until this is called, the slot belongs to the start, and others wait for room. */
  private allowEviction(instance: Instance): void {
    this.deps.services.connector.setHolder(instance.connection, instance);
  }

  private async endSpare(reason: string): Promise<void> {
    const spare = this.only('spare');
    await Promise.all([this.starts.endAhead(), spare && this.retire(spare, 0, reason)]);
  }

  /**
   * Lets no new call reach the instance, and ends it within the limit. A limit of 0 ends it now.
   */
  private retire(instance: Instance, limitMs: number, reason: string): Promise<void> {
    if (limitMs > 0) this.noteLoss(instance, reason);
    const ended = limitMs > 0 ? instance.drain(limitMs, reason) : instance.end(reason);
    this.ends.add(ended);
    return ended;
  }

  /** A dead instance is gone at once. Another one lives until its processes have ended. */
  private ended(instance: Instance, reason: string, how: EndOfInstance): void {
    const isDeath = how === 'died';
    const { id, lessee, use } = instance;
    const { services, server } = this.deps;
    // Behind this, the cause of a death may quote the server, whose texts are in no fact (H1b).
    const own = isDeath ? /^The server process [\w ]+/.exec(reason)?.[0] : reason;
    services.recorder.event({
      event: isDeath ? 'died' : lessee === undefined ? 'ended' : 'released',
      toolset: server,
      instance: id,
      ...(lessee !== undefined && { conversation: lessee }),
      ...(own !== undefined && { reason: own }),
    });
    const drop = (): void => {
      this.tasks.forget(instance);
      this.instances.delete(instance);
    };
    this.noteLoss(instance, reason);
    if (isDeath) drop();
    this.ends.add(
      instance
        .end(reason)
        .finally(drop)
        .finally(() => this.changed()),
    );
    if (isDeath)
      this.deps.onEvent({
        kind: 'died',
        cause: reason,
        use,
      });
    this.changed();
  }

  private noteLoss({ use }: Instance, cause: string): void {
    if (use.kind === 'leased') this.deps.conversations.losses.set(use.conversation, cause);
  }

  private changed(): void {
    this.deps.onEvent({ kind: 'changed' });
  }
}
