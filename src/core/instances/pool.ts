/**
 * Keeps the instances of one server definition and who holds them (L1, L2, L4): one shared by all conversations where the
 * server is truly stateless, else one leased to each conversation. It starts instances when calls need them and stops them
 * when nobody does; it decides nothing about tools. Invariants: two first calls of a conversation at once make one instance;
 * a pool that drains or has closed starts nothing for new calls; `close` resolves when nothing of the pool is left.
 */
import { untilAborted } from '../base/events.js';
import { inNextTurn } from '../base/turns.js';
import { PendingEnds } from '../base/pendingEnds.js';
import type { Connection, ConnectOutcome } from '../connections/connection.js';
import { Instance } from './instance.js';
import type { NotStarted, Surrender } from './limit.js';
import type { OtherOutcome, OtherRequest, RequestTerms, ToolCall, ToolOutcome } from '../protocol/request.js';
import {
  capabilitiesKey,
  type ClientChange,
  covers,
  expectedClient,
  type Fields,
  type ServerClient,
  union,
} from '../protocol/client.js';
import { abandonedLimitMs, replacedLimitMs } from './poolDeps.js';
import type { CalledTool, PoolDeps, PoolFailure, PoolOutcome, Starting, StartOutcome } from './poolDeps.js';
import { isAboutTask, isOtherType } from '../protocol/tasks.js';
import { Spare } from './spare.js';
import { longestTaskMs, Tasks } from './tasks.js';

/** The conversation under which a shared instance is kept, and what an instance starts under that is nobody's: no ids of conversations. */
const [everyConversation, unheld] = ['', ' warm'] as const;
let nextInstance = 1;

export class InstancePool {
  private readonly instances = new Set<Instance>();
  private readonly holders = new Map<string, Instance>();
  private readonly starting = new Map<string, Starting>();
  private readonly ends: PendingEnds;
  readonly tasks: Tasks;
  private warm: Instance | undefined;
  private readonly spare: Spare;
  /** The capabilities of all clients of a shared instance together. */
  private wanted: Fields;
  private closed = false;
  private draining = false;

  constructor(private readonly deps: PoolDeps) {
    this.wanted = deps.expected().capabilities;
    this.tasks = new Tasks(deps.clock, deps.trulyStateless);
    this.ends = new PendingEnds((why) => deps.log.write('error', `Ending an instance failed: ${why}`));
    this.spare = new Spare({
      ...deps,
      isAllowed: () => !this.draining && !this.closed && deps.wantsSpare(),
      hasRoom: () => deps.connector.hasRoom(),
      start: (...terms) => this.connect(...terms),
      make: (connection, declared) => this.letMakeRoom(this.make(connection, declared)),
      onReady: deps.onStarted,
      onFailed: ({ message }) => deps.log.write('info', `No spare instance: ${message}`),
      retire: (instance, reason) => this.retire(instance, 0, reason),
    });
  }

  get live(): readonly Instance[] {
    return [...this.instances];
  }

  /** Says whether a request to `any` instance needs no start: what is ending lives, and takes none. */
  get takesAny(): boolean {
    return this.living(everyConversation, 'any')?.connection.isOver === false;
  }

  /** The time in epoch milliseconds since when an instance is starting; undefined when none is. */
  get startingSince(): number | undefined {
    let first: number | undefined;
    for (const { since } of this.starting.values()) first = Math.min(first ?? since, since);
    return first;
  }

  /** The instance that is the lease of this conversation. */
  holderOf(conversation: string): Instance | undefined {
    return this.holders.get(conversation);
  }

  /** Takes over the connection that listed the tools. */
  adopt(connection: Connection, declared: Fields): Instance {
    const instance = this.make(connection, declared);
    this.give(instance);
    // Calls that waited for the tools to be listed go out within this turn.
    inNextTurn(() => this.letMakeRoom(instance));
    return instance;
  }

  call(
    conversation: string,
    call: ToolCall,
    { original, published, asTask }: CalledTool,
  ): Promise<PoolOutcome<ToolOutcome>> {
    // Written out, as a copy by `...` costs all who read it (P3).
    const { arguments: given, meta, signal, onProgress, client, instance } = call;
    const timeouts = this.deps.timeouts();
    const timed = { tool: original, arguments: given, meta, signal, onProgress, client, instance, asTask, timeouts };
    return this.use(conversation, call, async (instance) => {
      const outcome = await instance.call(timed, published);
      if (outcome.kind !== 'result') return outcome;
      this.tasks.begin(outcome.result, instance, conversation, published);
      // The news of a lease wait for a result with text.
      if (isOtherType(outcome.result)) return outcome;
      const { news } = instance;
      instance.news = undefined;
      return news ? { ...outcome, news } : outcome;
    });
  }

  /** Finds the instance as a call does; the news of a lease waits for a call. */
  request(conversation: string, request: OtherRequest): Promise<PoolOutcome<OtherOutcome>> {
    // What is asked of whichever lives is no word of that one's client.
    const { client } = request.instance === 'any' ? {} : request;
    const timed = { ...request, client, timeouts: this.deps.timeouts() };
    const anew = (): Promise<PoolOutcome<OtherOutcome>> =>
      this.use(conversation, request, (instance) => instance.request(timed));
    if (!isAboutTask(request.method)) return anew();
    // Where all share, the server itself knows its tasks, also those that another instance has begun.
    return this.tasks.request(timed, conversation, this.deps.trulyStateless ? anew : undefined);
  }

  noteClient(client: ServerClient, change: ClientChange): void {
    for (const instance of this.instances) instance.noteClient(client, change);
    if (change === 'gone' && client.conversation !== undefined) this.leave(client.conversation);
  }

  private use<Used>(
    conversation: string,
    terms: RequestTerms,
    send: (instance: Instance) => Promise<Used>,
  ): Promise<Used | PoolFailure | { readonly kind: 'cancelled' }> {
    const { client, instance } = terms;
    const held = instance === undefined ? this.heldBy(conversation, client) : this.living(conversation, instance);
    if (!held) return this.useAnother(conversation, terms, send);
    // The death of the instance is about to be told, and a call that was never sent must not be lost by it.
    return held.connection.isOver ? held.over.then(() => this.use(conversation, terms, send)) : send(held);
  }

  /** Starts the instance that is to serve it. */
  private async useAnother<Used>(
    conversation: string,
    { client, signal, instance }: RequestTerms,
    send: (instance: Instance) => Promise<Used>,
  ): Promise<Used | PoolFailure | { readonly kind: 'cancelled' }> {
    if (instance === 'held' && !this.deps.trulyStateless) return { kind: 'notHeld' };
    if (this.closed) return { kind: 'notSent', cause: 'the server was stopped' };
    // This is chained and not awaited: a drain that begins later must find this call in flight when the start is done.
    const begun = this.startFor(instance === 'unheld' ? undefined : conversation, client, signal).then(
      (started): { outcome: Promise<Used> } | NotStarted => {
        if (signal.aborted) return { kind: 'cancelled' };
        if (started.kind === 'started') return { outcome: send(started.instance) };
        // An instance that declares more did not start, so the shared one that is there serves what it can.
        return this.shared ? { outcome: send(this.shared) } : started;
      },
    );
    const first = await Promise.race([begun, untilAborted(signal).then((): NotStarted => ({ kind: 'cancelled' }))]);
    if ('outcome' in first) return first.outcome;
    if (first.kind === 'failed') return { kind: 'startFailed', failure: first.failure };
    return signal.aborted ? { kind: 'cancelled' } : { kind: 'notSent', cause: 'its start was cancelled' };
  }

  /** Ends the conversation's lease or cancels its start; resolves with false when the conversation has neither. */
  async release(conversation: string, reason: string): Promise<boolean> {
    const starting = this.starting.get(conversation);
    starting?.controller.abort();
    const held = this.deps.trulyStateless ? undefined : this.holders.get(conversation);
    if (held?.hasTasks) void this.retire(held, longestTaskMs, reason);
    else if (held) await this.retire(held, 0, reason);
    return held !== undefined || starting !== undefined;
  }

  /** Starts an instance that nobody holds yet, or the shared one where all share. It takes the place of the one before. */
  startWarm(): Promise<StartOutcome> {
    return this.startFor(this.deps.trulyStateless ? everyConversation : undefined);
  }

  /** Ends every instance and every start under way; the pool goes on serving. */
  async recycle(reason: string): Promise<void> {
    for (const { controller, outcome } of this.starting.values()) {
      controller.abort();
      this.ends.add(outcome);
    }
    this.ends.add(this.spare.end(reason));
    await Promise.all([...this.instances].map((instance) => this.retire(instance, 0, reason)));
    await this.ends.settled();
  }

  /** Ends what no conversation holds, and its start; the instances and starts of conversations go on. */
  async endUnheld(reason: string): Promise<void> {
    this.starting.get(unheld)?.controller.abort();
    await Promise.all([this.spare.end(reason), this.warm && this.retire(this.warm, 0, reason)]);
  }

  /** Takes no more starts of its own; calls in flight may finish within `limitMs` (R4). */
  async drain(limitMs: number, reason: string): Promise<void> {
    this.draining = true;
    this.ends.add(this.spare.end(reason));
    const retireAll = (): Promise<unknown> => {
      const inUse = [...this.instances].filter(({ use }) => use.kind !== 'draining');
      return Promise.all(inUse.map((instance) => this.retire(instance, limitMs, reason)));
    };
    for (const { waiters, controller } of this.starting.values())
      if (waiters.every(({ aborted }) => aborted)) controller.abort();
    // What lives already does not wait for what starts for waiting calls.
    const living = retireAll();
    const starting = [...this.starting.values()].map(({ outcome }) => outcome.then(retireAll));
    await Promise.all([living, ...starting]);
    this.closed = true;
    await this.ends.settled();
  }

  /** Has an edit that restarts nothing count for the spare instance and for what is idle now. */
  review(): void {
    for (const instance of this.instances) instance.reviewIdle();
    if (!this.deps.wantsSpare()) this.ends.add(this.spare.end('spare instances are no longer kept'));
  }

  async close(reason: string): Promise<void> {
    this.closed = true;
    await this.recycle(reason);
  }

  /** Ends what a conversation that has ended holds. Nobody reads what is still in flight, but it may finish (R4). */
  private leave(conversation: string): void {
    this.deps.subscriptions.forget(conversation);
    this.starting.get(conversation)?.controller.abort();
    const held = this.deps.trulyStateless ? undefined : this.holders.get(conversation);
    if (held) void this.retire(held, abandonedLimitMs, 'the session of its conversation has ended');
  }

  private get shared(): Instance | undefined {
    return this.deps.trulyStateless ? this.holders.get(everyConversation) : undefined;
  }

  /** Returns an instance that is there already, without giving it to anybody. */
  private living(conversation: string, which: 'held' | 'any' | 'unheld'): Instance | undefined {
    if (which === 'unheld' && !this.deps.trulyStateless) return this.warm;
    const held = this.holders.get(this.deps.trulyStateless ? everyConversation : conversation);
    if (held || which === 'held') return held;
    return [...this.instances].find(({ connection, isEnding, use }) => {
      return use.kind !== 'draining' && !isEnding && !connection.isOver;
    });
  }

  private heldBy(conversation: string, client: ServerClient | undefined): Instance | undefined {
    if (this.deps.trulyStateless) {
      const { shared } = this;
      const isFit = !client || (shared && covers(shared.declared, client.capabilities));
      if (!isFit) this.wanted = union(this.wanted, client.capabilities);
      return isFit || this.draining || this.closed ? shared : undefined;
    }
    const held = this.holders.get(conversation);
    if (held || this.starting.has(conversation)) return held;
    const own = client && capabilitiesKey(client.capabilities);
    // A server may be told of no more than its client can do, and shall not be told of less (G4).
    const free = [this.warm, this.spare.ready].find(
      (one) => one && !one.connection.isOver && (own === undefined || capabilitiesKey(one.declared) === own),
    );
    if (free) this.hold(free, conversation, client);
    return free;
  }

  /** Gives it to the conversation that it was started for, or to all, or keeps it warm. */
  private give(instance: Instance, conversation?: string, client?: ServerClient): void {
    if (this.deps.trulyStateless) return this.hold(instance, everyConversation);
    if (conversation !== undefined) return this.hold(instance, conversation, client);
    if (this.warm) void this.retire(this.warm, replacedLimitMs, 'another one took its place');
    this.warm = instance;
  }

  private hold(instance: Instance, conversation: string, client?: ServerClient): void {
    const before = this.holders.get(conversation);
    if (before && before !== instance) void this.retire(before, replacedLimitMs, 'a client needed more capabilities');
    this.forget(instance);
    this.holders.set(conversation, instance);
    if (conversation === everyConversation) {
      instance.share(this.deps.subscriptions.shared);
    } else {
      instance.use = { kind: 'leased', conversation, since: this.deps.clock.now() };
      instance.client = client;
      instance.follow(this.deps.subscriptions.of(conversation));
      // Those before this one tell whether another is expected.
      this.spare.follow((client ?? this.deps.expected()).capabilities);
      instance.news = this.deps.history.meets(conversation, client);
      this.deps.onTaken(instance);
    }
    this.deps.onChange();
  }

  private startFor(
    conversation?: string,
    client?: ServerClient,
    waiter?: RequestTerms['signal'],
  ): Promise<StartOutcome> {
    const key = this.deps.trulyStateless ? everyConversation : (conversation ?? unheld);
    const under = this.starting.get(key);
    if (under && waiter) under.waiters.push(waiter);
    if (under && !under.controller.signal.aborted) return under.outcome;
    // A start that was cancelled still ends; this caller wants another.
    if (under) this.ends.add(under.outcome);
    if (this.draining || this.closed) return Promise.resolve({ kind: 'cancelled' });
    const claimed = key === conversation ? this.spare.claim(client?.capabilities) : undefined;
    const controller = claimed?.controller ?? new AbortController();
    const { capabilities } = client ?? this.deps.expected();
    const declared = claimed?.declared ?? (this.deps.trulyStateless ? this.wanted : capabilities);
    const connected = claimed?.outcome ?? this.connect(declared, controller.signal);
    const give = (instance: Instance): void => this.give(instance, conversation, client);
    const outcome = this.start(connected, declared, controller.signal, give).finally(() => {
      if (this.starting.get(key) === starting) this.starting.delete(key);
      this.deps.onChange();
    });
    // All who wait for it have sent by then.
    const letMakeRoom = (started: StartOutcome): void => {
      if (started.kind === 'started') queueMicrotask(() => this.letMakeRoom(started.instance));
    };
    outcome.then(letMakeRoom, () => undefined);
    const starting: Starting = { controller, outcome, since: this.deps.clock.now(), waiters: waiter ? [waiter] : [] };
    this.starting.set(key, starting);
    this.deps.onChange();
    return outcome;
  }

  private async start(
    connected: Promise<ConnectOutcome>,
    declared: Fields,
    signal: AbortSignal,
    give: (instance: Instance) => void,
  ): Promise<StartOutcome> {
    const outcome = await connected;
    if (outcome.kind === 'failed' && !this.draining) this.deps.onStartFailed(outcome.failure);
    if (outcome.kind !== 'connected') return outcome;
    const { connection, listing } = outcome;
    if (this.closed || signal.aborted) {
      await connection.close();
      return { kind: 'cancelled' };
    }
    const instance = this.make(connection, declared);
    give(instance);
    if (!this.draining) this.deps.onStarted(instance, listing);
    return { kind: 'started', instance };
  }

  /** Whoever takes what has connected makes an instance of it, or closes it. */
  private connect(capabilities: Fields, signal: AbortSignal, surrender?: Surrender): Promise<ConnectOutcome> {
    const { server, launch, log, connector } = this.deps;
    const timeoutMs = this.deps.timeouts().connect;
    return connector.connect({ server, launch, log, signal, capabilities, timeoutMs }, surrender);
  }

  private make(connection: Connection, declared: Fields): Instance {
    const instance: Instance = new Instance({
      id: `${this.deps.server}#${nextInstance++}`,
      connection,
      declared,
      clock: this.deps.clock,
      idleLimit: () => this.deps.timeouts().idle,
      onRest: () => this.deps.connector.noteIdle(),
      onIdle: (idle) => void this.retire(idle, 0, 'nobody used it for longer than its idle limit'),
      onDeath: (dead, cause) => {
        const { use } = dead;
        this.drop(dead, cause);
        this.ends.add(dead.end(cause));
        this.deps.onDeath(cause, use);
        this.deps.onChange();
      },
      onOfferChanged: this.deps.onOfferChanged,
    });
    this.instances.add(instance);
    connection.belongsTo(expectedClient(this.deps.expected()));
    return instance;
  }

  /** Until this is called it counts as starting, and others that need room wait. */
  private letMakeRoom(instance: Instance): Instance {
    this.deps.connector.hold(instance.connection, instance, (reason) => this.retire(instance, 0, reason));
    return instance;
  }

  private drop(instance: Instance, cause?: string): void {
    this.tasks.forget(instance);
    this.instances.delete(instance);
    this.forget(instance, cause);
  }

  /** It is no longer anybody's, nor waits for anybody. @param cause what its conversation learns of the loss (X4) */
  private forget(instance: Instance, cause?: string): void {
    if (this.warm === instance) this.warm = undefined;
    this.spare.forget(instance);
    for (const [conversation, held] of this.holders) {
      const isLost = held === instance && this.holders.delete(conversation) && conversation !== everyConversation;
      if (isLost && cause !== undefined) this.deps.history.loses(conversation, cause);
    }
  }

  /** Retires an instance: no call reaches it from now on, and with a limit of 0 it ends at once. */
  private retire(instance: Instance, limitMs: number, reason: string): Promise<void> {
    this.forget(instance, reason);
    const ended = (limitMs > 0 ? instance.drain(limitMs, reason) : instance.end(reason)).finally(() => {
      this.drop(instance);
      this.deps.onChange();
    });
    this.ends.add(ended);
    return ended;
  }
}
