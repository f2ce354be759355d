/**
 * Keeps the instances of one server definition and who holds them (L1, L2, L4): one shared by all dialogs where the
 * server is truly stateless, else one leased to each dialog. It starts instances when calls need them and stops them
 * when nobody does; it decides nothing about tools. Invariants: two first calls of a dialog at once make one instance;
 * a pool that drains or has closed starts nothing for new calls; `close` resolves when nothing of the pool is left.
 */
import { BoundedMap } from '../base/boundedMap.js';
import { untilAborted } from '../base/events.js';
import { PendingEnds } from '../base/pendingEnds.js';
import type { Connection, Connector, OfferKind, StartFailure, ToolListing } from '../connections/connection.js';
import { Instance, type InstanceUse } from './instance.js';
import type {
  LeaseNews,
  OtherOutcome,
  OtherRequest,
  RequestTerms,
  ServerOutcome,
  ToolCall,
  ToolOutcome,
} from '../protocol/request.js';
import {
  capabilitiesKey,
  type ClientChange,
  covers,
  expectedClient,
  type ExpectedClient,
  type Fields,
  type ServerClient,
  union,
} from '../protocol/client.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import type { Launch, Timeouts } from '../config/model.js';
import type { Slots } from './limit.js';
import type { Subscriptions } from './subscriptions.js';

type StartOutcome =
  | { readonly kind: 'started'; readonly instance: Instance; readonly listing: ToolListing }
  | { readonly kind: 'failed'; readonly failure: StartFailure }
  | { readonly kind: 'cancelled' };

type NotStarted = Exclude<StartOutcome, { readonly kind: 'started' }>;

interface Starting {
  readonly controller: AbortController;
  readonly outcome: Promise<StartOutcome>;
  readonly since: number;
}

/** The dialog under which a shared instance is kept; no dialog's id is empty. */
const everyDialog = '';
let nextInstance = 1;
/** Calls may go on this long, in milliseconds, on a shared instance that declared less than its next client can do. */
const replacedLimitMs = 30_000;

/** Dialogs end without a word; those that never come back must not be remembered for ever. */
const mostDeaths = 1_000;
/** The time for calls in flight whose session has ended, in milliseconds. */
const abandonedLimitMs = 30_000;

export class InstancePool {
  private readonly instances = new Set<Instance>();
  private readonly holders = new Map<string, Instance>();
  private readonly starting = new Map<string, Starting>();
  private readonly ends: PendingEnds;
  /** The causes by which instances of dialogs died; each dialog is told when it has another instance (X4). */
  private readonly deaths = new BoundedMap<string, string>(mostDeaths);
  /** The dialogs that have had an instance. */
  private readonly met = new BoundedMap<string, true>(mostDeaths);
  private warm: Instance | undefined;
  /** The capabilities of all clients of a shared instance together. */
  private wanted: Fields;
  private closed = false;
  private draining = false;

  constructor(private readonly deps: PoolDeps) {
    this.wanted = deps.expected().capabilities;
    this.ends = new PendingEnds((error) => deps.log.write('error', `Ending an instance failed: ${String(error)}`));
  }

  get live(): readonly Instance[] {
    return [...this.instances];
  }

  /** The time in epoch milliseconds since when an instance is starting; undefined when none is. */
  get startingSince(): number | undefined {
    return this.starting.size === 0 ? undefined : Math.min(...[...this.starting.values()].map(({ since }) => since));
  }

  /** The instance that is the lease of this dialog. */
  holderOf(dialog: string): Instance | undefined {
    return this.holders.get(dialog);
  }

  /** Takes over the connection that listed the tools. */
  adopt(connection: Connection, declared: Fields): Instance {
    const instance = this.track(connection, declared);
    if (this.deps.trulyStateless) this.hold(instance, everyDialog);
    else this.warm = instance;
    return instance;
  }

  /** @param call names the tool as the server does */
  call(dialog: string, call: ToolCall): Promise<PoolOutcome<ToolOutcome>> {
    const timed = { ...call, timeouts: this.deps.timeouts() };
    return this.use(dialog, call, async (instance) => {
      const outcome = await instance.call(timed);
      if (outcome.kind !== 'result') return outcome;
      const { news } = instance;
      instance.news = undefined;
      return { ...outcome, news };
    });
  }

  /** Finds the instance as a call does; the news of a lease waits for a call. */
  request(dialog: string, request: OtherRequest): Promise<PoolOutcome<OtherOutcome>> {
    // What is asked of whichever lives is no word of that one's client.
    const { client } = request.instance === 'any' ? {} : request;
    const timed = { ...request, client, timeouts: this.deps.timeouts() };
    return this.use(dialog, request, (instance) => instance.request(timed));
  }

  noteClient(client: ServerClient, change: ClientChange): void {
    for (const instance of this.instances) instance.noteClient(client, change);
    if (change === 'gone' && client.dialog !== undefined) this.leave(client.dialog);
  }

  private async use<Used>(
    dialog: string,
    terms: RequestTerms,
    send: (instance: Instance) => Promise<Used>,
  ): Promise<Used | PoolFailure | { readonly kind: 'cancelled' }> {
    const { client, signal, instance } = terms;
    const held = instance === undefined ? this.heldBy(dialog, client) : this.living(dialog, instance);
    if (held?.connection.isOver) {
      // The death of the instance is about to be told, and a call that was never sent must not be lost by it.
      await held.over;
      return this.use(dialog, terms, send);
    }
    if (held) return send(held);
    if (instance === 'held' && !this.deps.trulyStateless) return { kind: 'notHeld' };
    if (this.closed) return { kind: 'lost', cause: 'the server was stopped' };
    // This is chained and not awaited: a drain that begins later must find this call in flight when the start is done.
    const begun = this.startFor(dialog, client).then((started): { outcome: Promise<Used> } | NotStarted => {
      if (signal.aborted) return { kind: 'cancelled' };
      if (started.kind === 'started') return { outcome: send(started.instance) };
      // An instance that declares more did not start, so the shared one that is there serves what it can.
      return this.shared ? { outcome: send(this.shared) } : started;
    });
    const first = await Promise.race([begun, untilAborted(signal).then((): NotStarted => ({ kind: 'cancelled' }))]);
    if ('outcome' in first) return first.outcome;
    if (first.kind === 'failed') return { kind: 'startFailed', failure: first.failure };
    return signal.aborted ? { kind: 'cancelled' } : { kind: 'lost', cause: 'its start was cancelled' };
  }

  /** Ends the dialog's lease or cancels its start; resolves with false when the dialog has neither. */
  async release(dialog: string): Promise<boolean> {
    const starting = this.starting.get(dialog);
    starting?.controller.abort();
    const held = this.deps.trulyStateless ? undefined : this.holders.get(dialog);
    if (held) await this.retire(held, 0, 'its lease was released');
    return held !== undefined || starting !== undefined;
  }

  /** Starts an instance that nobody holds yet, or the shared one where all share. */
  startWarm(): Promise<StartOutcome> {
    return this.startFor(this.deps.trulyStateless ? everyDialog : undefined);
  }

  /** Ends every instance and every start under way; the pool goes on serving. */
  async recycle(reason: string): Promise<void> {
    for (const { controller } of this.starting.values()) controller.abort();
    await Promise.all([...this.instances].map((instance) => this.retire(instance, 0, reason)));
    await this.ends.settled();
  }

  /** Takes no more starts of its own; calls in flight may finish within `limitMs` (R4). */
  async drain(limitMs: number, reason: string): Promise<void> {
    this.draining = true;
    const retireAll = (): Promise<unknown> =>
      Promise.all(
        [...this.instances]
          .filter(({ use }) => use.kind !== 'draining')
          .map((instance) => this.retire(instance, limitMs, reason)),
      );
    // What lives already does not wait for what starts for waiting calls.
    const living = retireAll();
    const starting = [...this.starting.values()].map(({ outcome }) => outcome.then(retireAll));
    await Promise.all([living, ...starting]);
    this.closed = true;
    await this.ends.settled();
  }

  async close(reason: string): Promise<void> {
    this.closed = true;
    await this.recycle(reason);
  }

  /** Ends what a dialog that has ended holds. Nobody reads what is still in flight, but it may finish (R4). */
  private leave(dialog: string): void {
    this.met.delete(dialog);
    this.starting.get(dialog)?.controller.abort();
    const held = this.deps.trulyStateless ? undefined : this.holders.get(dialog);
    if (held) void this.retire(held, abandonedLimitMs, 'the session of its conversation has ended');
  }

  private get shared(): Instance | undefined {
    return this.deps.trulyStateless ? this.holders.get(everyDialog) : undefined;
  }

  /** Returns an instance that is there already, without giving it to anybody. */
  private living(dialog: string, which: 'held' | 'any'): Instance | undefined {
    const held = this.holders.get(this.deps.trulyStateless ? everyDialog : dialog);
    if (held || which === 'held') return held;
    return [...this.instances].find(({ connection, isEnding, use }) => {
      return use.kind !== 'draining' && !isEnding && !connection.isOver;
    });
  }

  private heldBy(dialog: string, client: ServerClient | undefined): Instance | undefined {
    if (this.deps.trulyStateless) {
      if (client) this.wanted = union(this.wanted, client.capabilities);
      const { shared } = this;
      const isFit = !client || (shared && covers(shared.declared, client.capabilities));
      return isFit || this.draining || this.closed ? shared : undefined;
    }
    const held = this.holders.get(dialog);
    if (held || !this.warm || this.starting.has(dialog)) return held;
    const warm = this.warm;
    // A server may be told of no more than its client can do, and shall not be told of less (G4).
    if (client && capabilitiesKey(warm.declared) !== capabilitiesKey(client.capabilities)) return undefined;
    this.warm = undefined;
    this.hold(warm, dialog, client);
    return warm;
  }

  private hold(instance: Instance, dialog: string, client?: ServerClient): void {
    const before = this.holders.get(dialog);
    if (before && before !== instance) void this.retire(before, replacedLimitMs, 'another client needed more of it');
    this.holders.set(dialog, instance);
    if (dialog === everyDialog) {
      instance.share(this.deps.subscriptions);
    } else {
      instance.use = { kind: 'leased', dialog, since: this.deps.clock.now() };
      instance.client = client;
      instance.news = this.newsFor(dialog, client);
      this.met.set(dialog, true);
      this.deaths.delete(dialog);
    }
    this.deps.onChange();
  }

  private newsFor(dialog: string, client: ServerClient | undefined): LeaseNews {
    const isMet = this.met.has(dialog);
    const cause = this.deaths.get(dialog) ?? (isMet ? undefined : client?.lostBefore);
    if (cause !== undefined) return { kind: 'replaced', cause };
    return { kind: !isMet && client?.mayHaveLost ? 'newHere' : 'new' };
  }

  private startFor(dialog: string | undefined, client?: ServerClient): Promise<StartOutcome> {
    const key = this.deps.trulyStateless ? everyDialog : (dialog ?? `${everyDialog} warm`);
    const under = this.starting.get(key);
    if (under && !under.controller.signal.aborted) return under.outcome;
    // A start that was cancelled still ends; this caller wants another.
    if (under) this.ends.add(under.outcome);
    const controller = new AbortController();
    const outcome = this.start(key, dialog, client, controller.signal).finally(() => {
      if (this.starting.get(key) === starting) this.starting.delete(key);
      this.deps.onChange();
    });
    const starting: Starting = { controller, outcome, since: this.deps.clock.now() };
    this.starting.set(key, starting);
    this.deps.onChange();
    return outcome;
  }

  private async start(
    key: string,
    dialog: string | undefined,
    client: ServerClient | undefined,
    signal: AbortSignal,
  ): Promise<StartOutcome> {
    const { server, launch, log, connector, trulyStateless } = this.deps;
    const own = client ?? this.deps.expected();
    const { capabilities } = trulyStateless ? { capabilities: this.wanted } : own;
    const connected = await connector.connect({
      server,
      launch,
      log,
      signal,
      capabilities,
      timeoutMs: this.deps.timeouts().connect,
    });
    if (connected.kind === 'failed') {
      if (!this.draining) this.deps.onStartFailed(connected.failure);
      return connected;
    }
    if (connected.kind === 'cancelled') return connected;
    if (this.closed || signal.aborted) {
      await connected.connection.close();
      return { kind: 'cancelled' };
    }
    const instance = this.track(connected.connection, capabilities);
    if (this.deps.trulyStateless) this.hold(instance, everyDialog);
    else if (dialog === undefined) this.warm = instance;
    else this.hold(instance, key, client);
    if (!this.draining) this.deps.onStarted(instance, connected.listing);
    return { kind: 'started', instance, listing: connected.listing };
  }

  private track(connection: Connection, declared: Fields): Instance {
    const instance: Instance = new Instance({
      id: `${this.deps.server}#${nextInstance++}`,
      connection,
      declared,
      clock: this.deps.clock,
      idleLimit: () => this.deps.timeouts().idle,
      onIdle: (idle) => void this.retire(idle, 0, 'nobody used it for the idle limit'),
      onDeath: (dead, cause) => {
        const { use } = dead;
        this.drop(dead);
        this.ends.add(dead.end(cause));
        if (use.kind === 'leased') this.deaths.set(use.dialog, cause);
        this.deps.onDeath(cause, use);
        this.deps.onChange();
      },
      onOfferChanged: this.deps.onOfferChanged,
    });
    this.instances.add(instance);
    connection.belongsTo(expectedClient(this.deps.expected()));
    this.deps.connector.hold(connection, {
      idleSince: () => instance.idleSince,
      isEnding: () => instance.isEnding,
      evict: () => this.retire(instance, 0, 'it was idle the longest, and another instance needed the room'),
    });
    return instance;
  }

  private drop(instance: Instance): void {
    this.instances.delete(instance);
    if (this.warm === instance) this.warm = undefined;
    for (const [dialog, held] of this.holders) if (held === instance) this.holders.delete(dialog);
  }

  /** Retires an instance: no call reaches it from now on, and with a limit of 0 it ends at once. */
  private retire(instance: Instance, limitMs: number, reason: string): Promise<void> {
    if (this.warm === instance) this.warm = undefined;
    for (const [dialog, held] of this.holders) if (held === instance) this.holders.delete(dialog);
    const ended = (limitMs > 0 ? instance.drain(limitMs, reason) : instance.end(reason)).finally(() => {
      this.instances.delete(instance);
      this.deps.onChange();
    });
    this.ends.add(ended);
    return ended;
  }
}

interface PoolDeps {
  readonly server: string;
  readonly launch: Launch;
  readonly trulyStateless: boolean;
  /** Read whenever they are needed: they change without a restart. */
  readonly timeouts: () => Timeouts;
  readonly connector: Connector & Slots;
  /** The client that will use instances that nobody uses yet. */
  readonly expected: () => ExpectedClient;
  /** The subscriptions to the instance that all dialogs share; they outlive it. */
  readonly subscriptions: Subscriptions;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when something that a view shows has changed. */
  readonly onChange: () => void;
  readonly onOfferChanged: (instance: Instance, kind: OfferKind) => void;
  /** Called when an instance ended that nobody ended; `use` says what it was used for. */
  readonly onDeath: (cause: string, use: InstanceUse) => void;
  /** These are called when an instance that a call or a restart needed did or did not start. */
  readonly onStarted: (instance: Instance, listing: ToolListing) => void;
  readonly onStartFailed: (failure: StartFailure) => void;
}

/** Makes the outcome of a request to which the server gave no answer. */
export type PoolFailure =
  | Extract<ServerOutcome<unknown>, { readonly kind: 'lost' | 'timedOut' }>
  | { readonly kind: 'startFailed'; readonly failure: StartFailure }
  /** Only the instance of the dialog was meant, and it has none (any more). */
  | { readonly kind: 'notHeld' };

type PoolOutcome<Answered> = Answered | PoolFailure;
