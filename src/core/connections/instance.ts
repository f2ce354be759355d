/**
 * One live MCP connection and what it is used for. Invariants: it ends once; it is never stopped for idleness while a
 * call runs on it; when it ends, `gone` resolves only after its process tree is gone.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import type { CallOutcome, CallRequest, Connection } from './connection.js';

export type InstanceUse =
  /** Listed the tools, and waits to become the first dialog's lease (spec L4). */
  | { readonly kind: 'warm' }
  | { readonly kind: 'shared' }
  | { readonly kind: 'leased'; readonly dialog: string; readonly since: number }
  /** Takes no new calls; ends when its last call ends (spec R4). */
  | { readonly kind: 'draining' };

/** What the dialog that leases an instance has to be told, once, with a result (spec L3, X4). */
export type LeaseNews =
  | { readonly kind: 'new' }
  /** What an earlier instance of the dialog held is gone. */
  | { readonly kind: 'replaced'; readonly cause: string };

export interface InstanceOptions {
  readonly id: string;
  readonly connection: Connection;
  readonly clock: Clock;
  /** Milliseconds without a call, read each time it is waited for. */
  readonly idleLimit: () => number;
  /** The idle limit has passed. */
  readonly onIdle: (instance: Instance) => void;
  readonly onDeath: (instance: Instance, cause: string) => void;
  readonly onToolsChanged: (instance: Instance) => void;
}

/** How long the death of a connection may be told after the loss of its calls, in milliseconds. */
const deathLimitMs = 20;

export class Instance {
  readonly id: string;
  readonly connection: Connection;
  readonly startedAt: number;
  lastCallAt: number | undefined;
  callsInFlight = 0;
  use: InstanceUse = { kind: 'warm' };
  /** Told with the next result. */
  news: LeaseNews | undefined;

  private readonly subscriptions: Disposable[];
  private idleTimer: Disposable | undefined;
  private ending: Promise<void> | undefined;
  private endReason: string | undefined;

  constructor(private readonly options: InstanceOptions) {
    this.id = options.id;
    this.connection = options.connection;
    this.startedAt = options.clock.now();
    this.subscriptions = [
      options.connection.onDidDie((cause) => {
        this.unsubscribe();
        this.announceOver();
        options.onDeath(this, cause);
        this.announceDeath();
      }),
      options.connection.onDidChangeTools(() => options.onToolsChanged(this)),
      options.connection.onDidRenewSession?.(() => {
        if (this.use.kind === 'leased') this.news = { kind: 'replaced', cause: 'the server began a new session' };
      }) ?? { dispose: () => {} },
    ];
    this.awaitIdle();
  }

  /** Epoch milliseconds since when nothing runs on it; undefined while something does, or it ends. */
  get idleSince(): number | undefined {
    return this.callsInFlight > 0 || this.ending ? undefined : (this.lastCallAt ?? this.startedAt);
  }

  /** Counts as in flight from the moment of the call, before anything is awaited. */
  async call(request: CallRequest): Promise<CallOutcome> {
    this.callsInFlight++;
    this.lastCallAt = this.options.clock.now();
    this.idleTimer?.dispose();
    try {
      const outcome = await this.connection.callTool(request);
      if (outcome.kind !== 'lost') return outcome;
      // A connection tells of its calls first and of its death after; whose call was lost must find the next instance.
      if (this.endReason === undefined) await this.untilDeath();
      return this.endReason === undefined ? outcome : { kind: 'lost', cause: this.endReason };
    } finally {
      this.callsInFlight--;
      this.lastCallAt = this.options.clock.now();
      if (this.callsInFlight === 0) {
        if (this.use.kind === 'draining') void this.end('it was replaced or removed');
        else this.awaitIdle();
      }
    }
  }

  /** Ends now if nothing is in flight, else with the last call or after `limitMs`. Resolves when it is gone. */
  async drain(limitMs: number, reason: string): Promise<void> {
    this.use = { kind: 'draining' };
    this.idleTimer?.dispose();
    if (this.callsInFlight === 0) return this.end(reason);
    const limit = this.options.clock.after(limitMs, () => void this.end(`${reason}, and the drain limit has passed`));
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

  /** Not for long: a call can be lost though the connection lives. */
  private async untilDeath(): Promise<void> {
    let limit: Disposable | undefined;
    const passed = new Promise<void>((resolve) => (limit = this.options.clock.after(deathLimitMs, resolve)));
    await Promise.race([this.death, passed]);
    limit?.dispose();
  }

  private announceOver: () => void = () => {};
  /** Resolves when it takes no more calls because its connection has ended: whoever holds it has been told. */
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
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private awaitIdle(): void {
    this.idleTimer?.dispose();
    if (this.ending) return;
    this.idleTimer = this.options.clock.after(this.options.idleLimit(), () => {
      if (this.callsInFlight === 0 && !this.ending) this.options.onIdle(this);
    });
  }
}
