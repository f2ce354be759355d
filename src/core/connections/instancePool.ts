/**
 * The instances of one server definition and who holds them (spec L1, L2, L4): one shared by all dialogs where the
 * server is truly stateless, else one leased to each dialog. It starts instances when calls need them and stops them
 * when nobody does; it decides nothing about tools. Invariants: two first calls of a dialog at once make one instance;
 * a pool that drains or has closed starts nothing for new calls; `close` resolves when nothing of the pool is left.
 */
import { assertNever } from '../base/assertNever.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { PendingEnds } from '../base/pendingEnds.js';
import type { Launch, Timeouts } from '../config/model.js';
import type { CallOutcome, CallRequest, Connection, StartFailure, ToolListing } from './connection.js';
import type { Connector } from './connector.js';
import { Instance, type InstanceUse, type LeaseNews } from './instance.js';
import type { Seats } from './instanceBudget.js';

export interface PoolOptions {
  readonly server: string;
  readonly launch: Launch;
  readonly trulyStateless: boolean;
  /** Read whenever they are needed: they change without a restart. */
  readonly timeouts: () => Timeouts;
  readonly connector: Connector & Seats;
  readonly clock: Clock;
  readonly log: Log;
  /** Something a view shows has changed. */
  readonly onChange: () => void;
  readonly onToolsChanged: (connection: Connection) => void;
  /** An instance ended that nobody ended; `use` is what it was used for. */
  readonly onDeath: (cause: string, use: InstanceUse) => void;
  /** An instance that a call or a restart needed did or did not start. */
  readonly onStarted: (listing: ToolListing) => void;
  readonly onStartFailed: (failure: StartFailure) => void;
}

export type PoolCallOutcome =
  | Exclude<CallOutcome, { readonly kind: 'result' }>
  | (Extract<CallOutcome, { readonly kind: 'result' }> & {
      /** What the dialog has to be told of its lease, with this result. */
      readonly news: LeaseNews | undefined;
    })
  | { readonly kind: 'startFailed'; readonly failure: StartFailure };

export type StartOutcome =
  | { readonly kind: 'started'; readonly instance: Instance; readonly listing: ToolListing }
  | { readonly kind: 'failed'; readonly failure: StartFailure }
  | { readonly kind: 'cancelled' };

interface Starting {
  readonly controller: AbortController;
  readonly outcome: Promise<StartOutcome>;
  readonly since: number;
}

type Begun =
  | { readonly kind: 'begun'; readonly outcome: Promise<PoolCallOutcome> }
  | Exclude<StartOutcome, { readonly kind: 'started' }>;

/** The dialog under which a shared instance is kept; no dialog's id is empty. */
const everyDialog = '';
let nextInstance = 1;
/** Dialogs end without a word; those that never come back must not be remembered for ever. */
const mostBereaved = 1_000;

export class InstancePool {
  private readonly instances = new Set<Instance>();
  private readonly holders = new Map<string, Instance>();
  private readonly starting = new Map<string, Starting>();
  private readonly ends: PendingEnds;
  /** Dialogs whose instance died, with the cause: they are told when they have another. */
  private readonly bereaved = new Map<string, string>();
  private warm: Instance | undefined;
  private closed = false;
  private draining = false;

  constructor(private readonly options: PoolOptions) {
    this.ends = new PendingEnds((error) => options.log.write('error', `Ending an instance failed: ${String(error)}`));
  }

  get live(): readonly Instance[] {
    return [...this.instances];
  }

  /** Epoch milliseconds since when an instance is starting; undefined when none is. */
  get startingSince(): number | undefined {
    return this.starting.size === 0 ? undefined : Math.min(...[...this.starting.values()].map(({ since }) => since));
  }

  /** Takes over the connection that listed the tools. */
  adopt(connection: Connection): Instance {
    const instance = this.track(connection);
    if (this.options.trulyStateless) this.hold(instance, everyDialog);
    else this.warm = instance;
    return instance;
  }

  async call(dialog: string, request: CallRequest): Promise<PoolCallOutcome> {
    const held = this.heldBy(dialog);
    if (held?.connection.isOver) {
      // Its death is about to be told; a call that was never sent must not be lost by it.
      await held.over;
      return this.call(dialog, request);
    }
    if (held) return callAndTell(held, request);
    if (this.closed) return { kind: 'lost', cause: 'the server was stopped' };
    // Chained here, not awaited: a drain that begins later must find this call already in flight when the start is done.
    const begun = this.startFor(dialog).then((started): Begun => {
      if (request.signal.aborted) return { kind: 'cancelled' };
      return started.kind === 'started' ? { kind: 'begun', outcome: callAndTell(started.instance, request) } : started;
    });
    const first = await Promise.race([begun, cancelled(request.signal)]);
    switch (first.kind) {
      case 'begun':
        return first.outcome;
      case 'cancelled':
        return request.signal.aborted ? { kind: 'cancelled' } : { kind: 'lost', cause: 'its start was cancelled' };
      case 'failed':
        return { kind: 'startFailed', failure: first.failure };
      default:
        return assertNever(first);
    }
  }

  /** Ends the dialog's lease, or cancels its start. False: the dialog holds none. */
  async release(dialog: string): Promise<boolean> {
    const starting = this.starting.get(dialog);
    starting?.controller.abort();
    const held = this.options.trulyStateless ? undefined : this.holders.get(dialog);
    if (held) await this.retire(held, 0, 'its lease was released');
    return held !== undefined || starting !== undefined;
  }

  /** Starts an instance that nobody holds yet; the shared one where all share. */
  startWarm(): Promise<StartOutcome> {
    return this.startFor(this.options.trulyStateless ? everyDialog : undefined);
  }

  /** Ends every instance and every start under way; the pool goes on serving. */
  async recycle(reason: string): Promise<void> {
    for (const { controller } of this.starting.values()) controller.abort();
    await Promise.all([...this.instances].map((instance) => this.retire(instance, 0, reason)));
    await this.ends.settled();
  }

  /** Takes no more starts of its own; calls in flight may finish within `limitMs` (spec R4). */
  async drain(limitMs: number, reason: string): Promise<void> {
    this.draining = true;
    const retireAll = (): Promise<unknown> =>
      Promise.all(
        [...this.instances]
          .filter(({ use }) => use.kind !== 'draining')
          .map((instance) => this.retire(instance, limitMs, reason)),
      );
    // What starts for calls that wait is not waited for by what lives already.
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

  private heldBy(dialog: string): Instance | undefined {
    const held = this.holders.get(this.options.trulyStateless ? everyDialog : dialog);
    if (held || this.options.trulyStateless || !this.warm || this.starting.has(dialog)) return held;
    const warm = this.warm;
    this.warm = undefined;
    this.hold(warm, dialog);
    return warm;
  }

  private hold(instance: Instance, dialog: string): void {
    this.holders.set(dialog, instance);
    if (dialog === everyDialog) {
      instance.use = { kind: 'shared' };
    } else {
      instance.use = { kind: 'leased', dialog, since: this.options.clock.now() };
      const cause = this.bereaved.get(dialog);
      this.bereaved.delete(dialog);
      instance.news = cause === undefined ? { kind: 'new' } : { kind: 'replaced', cause };
    }
    this.options.onChange();
  }

  private startFor(dialog: string | undefined): Promise<StartOutcome> {
    const key = this.options.trulyStateless ? everyDialog : (dialog ?? `${everyDialog} warm`);
    const under = this.starting.get(key);
    if (under && !under.controller.signal.aborted) return under.outcome;
    // One that was cancelled still ends; whoever asks now wants another.
    if (under) this.ends.add(under.outcome);
    const controller = new AbortController();
    const outcome = this.start(key, dialog, controller.signal).finally(() => {
      if (this.starting.get(key) === starting) this.starting.delete(key);
      this.options.onChange();
    });
    const starting: Starting = { controller, outcome, since: this.options.clock.now() };
    this.starting.set(key, starting);
    this.options.onChange();
    return outcome;
  }

  private async start(key: string, dialog: string | undefined, signal: AbortSignal): Promise<StartOutcome> {
    const { server, launch, log, connector } = this.options;
    const connected = await connector.connect({
      server,
      launch,
      log,
      signal,
      timeoutMs: this.options.timeouts().connect,
    });
    if (connected.kind === 'failed') {
      if (!this.draining) this.options.onStartFailed(connected.failure);
      return connected;
    }
    if (connected.kind === 'cancelled') return connected;
    if (this.closed || signal.aborted) {
      await connected.connection.close();
      return { kind: 'cancelled' };
    }
    const instance = this.track(connected.connection);
    if (this.options.trulyStateless) this.hold(instance, everyDialog);
    else if (dialog === undefined) this.warm = instance;
    else this.hold(instance, key);
    if (!this.draining) this.options.onStarted(connected.listing);
    return { kind: 'started', instance, listing: connected.listing };
  }

  private track(connection: Connection): Instance {
    const instance: Instance = new Instance({
      id: `${this.options.server}#${nextInstance++}`,
      connection,
      clock: this.options.clock,
      idleLimit: () => this.options.timeouts().idle,
      onIdle: (idle) => void this.retire(idle, 0, 'nobody used it for the idle limit'),
      onDeath: (dead, cause) => {
        const { use } = dead;
        this.forget(dead);
        this.ends.add(dead.end(cause));
        if (use.kind === 'leased') this.mourn(use.dialog, cause);
        this.options.onDeath(cause, use);
        this.options.onChange();
      },
      onToolsChanged: (changed) => this.options.onToolsChanged(changed.connection),
    });
    this.instances.add(instance);
    this.options.connector.occupy(connection, {
      idleSince: () => instance.idleSince,
      vacate: () => this.retire(instance, 0, 'it was idle the longest, and another instance needed the room'),
    });
    return instance;
  }

  private mourn(dialog: string, cause: string): void {
    this.bereaved.set(dialog, cause);
    const [oldest] = this.bereaved.keys();
    if (this.bereaved.size > mostBereaved && oldest !== undefined) this.bereaved.delete(oldest);
  }

  private forget(instance: Instance): void {
    this.instances.delete(instance);
    if (this.warm === instance) this.warm = undefined;
    for (const [dialog, held] of this.holders) if (held === instance) this.holders.delete(dialog);
  }

  /** No call reaches it from now on; with a limit of 0 it ends at once. */
  private retire(instance: Instance, limitMs: number, reason: string): Promise<void> {
    if (this.warm === instance) this.warm = undefined;
    for (const [dialog, held] of this.holders) if (held === instance) this.holders.delete(dialog);
    const ended = (limitMs > 0 ? instance.drain(limitMs, reason) : instance.end(reason)).finally(() => {
      this.instances.delete(instance);
      this.options.onChange();
    });
    this.ends.add(ended);
    return ended;
  }
}

async function callAndTell(instance: Instance, request: CallRequest): Promise<PoolCallOutcome> {
  const outcome = await instance.call(request);
  if (outcome.kind !== 'result') return outcome;
  const { news } = instance;
  instance.news = undefined;
  return { ...outcome, news };
}

function cancelled(signal: AbortSignal): Promise<{ kind: 'cancelled' }> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve({ kind: 'cancelled' });
    else signal.addEventListener('abort', () => resolve({ kind: 'cancelled' }), { once: true });
  });
}
