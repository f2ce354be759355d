/**
 * What serves for one server: the last-known-good definition, what the server offers, what is made of it, and the
 * instances (R2, R3, R6). It follows the server's own changes; edits of the file reach it through `ServerUnit`.
 * Invariants: the published tools change in one step (`onCommit`); a list that cannot be taken changes nothing.
 */
import { SingleFlight } from '../base/singleFlight.js';
import type { ServerDefinition } from '../config/model.js';
import {
  type Connection,
  type Connector,
  ListError,
  type OfferKind,
  type ToolListing,
} from '../connections/connection.js';
import { InstancePool } from '../instances/pool.js';
import { Reconnection } from '../instances/reconnection.js';
import type { ExpectedClient, Fields } from '../protocol/client.js';
import { curate, type Curation, type FilteredToolsReport } from '../tools/curate.js';
import { featuresOf, type ServerFeatures } from '../tools/features.js';
import type { TroubleCause } from './status.js';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import type { Log } from '../base/log.js';
import type { Seats } from '../instances/limit.js';
import type { Subscriptions } from '../instances/subscriptions.js';
import type { Judge } from './plan.js';

type Curated = Extract<Curation, { kind: 'curated' }>;

interface ServingEvents {
  /** What is published changed; called in the same turn. */
  readonly onCommit: () => void;
  readonly onChange: () => void;
  readonly onTrouble: (cause: TroubleCause) => void;
  /** An instance has started. */
  readonly onWell: () => void;
}

export class Serving {
  readonly pool: InstancePool;
  /** Brings back what all dialogs need: the shared instance, or the warm one. A lease comes back with its next call. */
  readonly reconnection: Reconnection;
  readonly serverInfo: Connection['serverInfo'];
  readonly instructions: string | undefined;
  readonly features: ServerFeatures;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Why the server's newest list was not taken. */
  refreshTrouble: string | undefined;
  /** The newest list, if it gives two tools one name: other transforms may make it right. */
  private rejected: ToolListing | undefined;
  idleSince: number | undefined;

  private refreshFrom: Connection;
  private readonly changedKinds = new Set<OfferKind>();
  private readonly refreshing = new SingleFlight(() => this.refreshInTurn());
  private readonly refreshPace: RefreshPace;
  /** The listing under way. */
  private listingNow: Promise<void> | undefined;
  /** The last start that was asked for. */
  private starting: Promise<unknown> | undefined;
  private ended = false;
  private lastCause = '';

  /**
   * @param connection the one that listed; it becomes the warm or shared instance (L4).
   * @param announced what it was told of its clients.
   */
  constructor(
    private readonly options: UnitOptions,
    private readonly events: ServingEvents,
    public definition: ServerDefinition,
    connection: Connection,
    announced: Fields,
    public listing: ToolListing,
    public curated: Curated,
  ) {
    this.serverInfo = connection.serverInfo;
    this.instructions = connection.instructions;
    this.features = featuresOf(connection.capabilities, connection.protocolVersion);
    this.since = options.clock.now();
    this.refreshFrom = connection;
    this.refreshPace = new RefreshPace(options.clock);
    this.pool = new InstancePool({
      server: options.id,
      launch: definition.launch,
      trulyStateless: definition.trulyStateless,
      timeouts: () => this.definition.timeouts,
      connector: options.connector,
      clock: options.clock,
      log: options.serverLog,
      onChange: () => {
        if (this.pool.live.length === 0) this.idleSince = options.clock.now();
        events.onChange();
      },
      expected: options.expected,
      subscriptions: options.subscriptions,
      onOfferChanged: (changed, kind) => {
        this.refreshFrom = changed;
        this.changedKinds.add(kind);
        void this.refreshing.request();
      },
      onDeath: (cause, use) =>
        this.unlessEnded(() => {
          events.onTrouble({ kind: 'lost', cause, final: false });
          this.lastCause = cause;
          if (use.kind === 'warm' || use.kind === 'shared') this.reconnection.died();
        }),
      onStarted: (newest) =>
        this.unlessEnded(() => {
          this.relist(newest);
          this.reconnection.well();
          events.onWell();
        }),
      onStartFailed: (failure) => this.unlessEnded(() => events.onTrouble({ kind: 'startFailed', failure })),
    });
    this.reconnection = new Reconnection({
      clock: options.clock,
      random: options.random,
      start: () => this.startFresh(),
      onChange: events.onChange,
      onGiveUp: () => this.unlessEnded(() => events.onTrouble({ kind: 'lost', cause: this.lastCause, final: true })),
    });
    this.pool.adopt(connection, announced);
  }

  /** Takes a definition of the same launch. Returns the problems if two tools would have one name; then nothing changed. */
  recurate(definition: ServerDefinition): Extract<Curation, { kind: 'refused' }> | undefined {
    const { rejected } = this;
    const ofNewest = rejected && curate(definition, rejected, this.report());
    const isNewer = ofNewest?.kind === 'curated';
    const curated = isNewer ? ofNewest : curate(definition, this.listing, this.report());
    if (curated.kind === 'refused') return curated;
    const sameView = definition.viewHash === this.definition.viewHash;
    this.definition = definition;
    if (rejected && isNewer) this.take(rejected, curated);
    else this.curated = curated;
    // Places move with every edit of the file; only what agents see is a change of the registry.
    if (!sameView) this.events.onCommit();
    return undefined;
  }

  /** Starts an instance; does nothing about those that live. Resolves to whether it started. */
  startFresh(): Promise<boolean> {
    const started = this.pool.startWarm().then((outcome) => outcome.kind === 'started');
    this.starting = started;
    return started;
  }

  /** Somebody asks for it: as `startFresh`, and what failed before no longer counts. */
  startAgain(): Promise<boolean> {
    this.reconnection.reset();
    return this.startFresh();
  }

  async settled(): Promise<void> {
    await this.starting;
    // Not those to come: a server that announces changes for ever must not hold up the edit of another.
    await this.listingNow;
  }

  /** New calls no longer come; those in flight have `limitMs` (R4). */
  drain(limitMs: number, reason: string): Promise<void> {
    this.end();
    return this.pool.drain(limitMs, reason);
  }

  close(reason: string): Promise<void> {
    this.end();
    return this.pool.close(reason);
  }

  private report(): FilteredToolsReport {
    return this.options.filteredTools();
  }

  private relist(listing: ToolListing): void {
    if (this.ended) return;
    const curated = curate(this.definition, listing, this.report());
    if (curated.kind === 'refused') {
      this.refreshTrouble = curated.problems[0].message;
      this.rejected = listing;
    } else {
      this.take(listing, curated);
      this.events.onCommit();
    }
    this.events.onChange();
  }

  private take(listing: ToolListing, curated: Curated): void {
    this.refreshTrouble = undefined;
    this.rejected = undefined;
    this.listing = listing;
    this.curated = curated;
  }

  private async refreshInTurn(): Promise<void> {
    await this.refreshPace.turn();
    if (this.ended) return;
    this.listingNow = this.refresh();
    await this.listingNow;
  }

  private async refresh(): Promise<void> {
    const connection = this.refreshFrom;
    const kinds = new Set(this.changedKinds);
    this.changedKinds.clear();
    if (kinds.size === 0) return; // an earlier run has taken this change with its own
    try {
      const options = { signal: new AbortController().signal, timeoutMs: this.definition.timeouts.connect };
      // A list that was rejected is the server's newest, too.
      const last = this.rejected ?? this.listing;
      const [tools, prompts, resources] = await Promise.all([
        kinds.has('tools') ? connection.listTools(options) : last,
        kinds.has('prompts') ? connection.listPrompts(options) : last.prompts,
        kinds.has('resources') ? connection.listResources(options) : last.resources,
      ]);
      this.relist({
        tools: tools.tools,
        malformed: tools.malformed,
        prompts: unlessFailed(prompts, last.prompts),
        resources: unlessFailed(resources, last.resources),
      });
    } catch (error) {
      for (const kind of kinds) this.changedKinds.add(kind);
      // An instance that has ended meanwhile has said what it had to say.
      if (this.ended || !this.pool.live.some((instance) => instance.connection === connection)) return;
      this.refreshTrouble = this.options.redact(error instanceof ListError ? error.message : String(error));
      this.events.onChange();
    }
  }

  private end(): void {
    this.ended = true;
    this.reconnection.dispose();
    this.refreshPace.dispose();
  }

  private unlessEnded(run: () => void): void {
    if (!this.ended) run();
  }
}

/** A list that could not be had leaves the old one, with the reason. */
function unlessFailed<Listing extends { readonly failure?: string }>(
  next: Listing | undefined,
  before: Listing | undefined,
): Listing | undefined {
  return next?.failure !== undefined && before ? { ...before, failure: next.failure } : next;
}

/**
 * How often a server that says that its tools changed is asked for them (R6): several times at once, as changes
 * come in bursts, and then twice a second, however often it says so.
 */

const burst = 8;
const intervalMs = 500;

class RefreshPace implements Disposable {
  private left = burst;
  private since: number;
  private timer: Disposable | undefined;
  private release: (() => void) | undefined;
  private ended = false;

  constructor(private readonly clock: Clock) {
    this.since = clock.now();
  }

  /** Resolves when it may be asked, and when nobody will ask any more. One at a time waits. */
  async turn(): Promise<void> {
    if (this.ended) return;
    const now = this.clock.now();
    this.left = Math.min(burst, this.left + (now - this.since) / intervalMs);
    this.since = now;
    this.left--;
    if (this.left >= 0) return;
    await new Promise<void>((resolve) => {
      this.release = resolve;
      this.timer = this.clock.after(Math.ceil(-this.left * intervalMs), resolve);
    });
  }

  dispose(): void {
    this.ended = true;
    this.timer?.dispose();
    this.release?.();
  }
}

/** What one server's reconciliation is given by the host. */

export interface UnitOptions {
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly serverLog: Log;
  readonly connector: Connector & Seats;
  /** In [0, 1), for the jitter of reconnecting. */
  readonly random: () => number;
  readonly filteredTools: () => FilteredToolsReport;
  /** Milliseconds that calls in flight have when their instance was replaced or removed (R4). */
  readonly drainLimitMs: number;
  /** Who will use instances that nobody uses yet (G4). */
  readonly expected: () => ExpectedClient;
  /** What clients are subscribed to at the instance that all share, whichever that is. */
  readonly subscriptions: Subscriptions;
  readonly redact: (text: string) => string;
  /** Whether it may run (S1); `reconsider` tells that this changed. */
  readonly judge: Judge;
  /** What is published changed; called in the same turn. */
  readonly onCommit: () => void;
  /** Something a view shows changed. */
  readonly onChange: () => void;
}
