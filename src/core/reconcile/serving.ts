/**
 * What serves for one server (R2, R3, R6): the last-known-good definition, what the server lists, what is published of
 * it, and the instances. It follows the server's own changes; edits of the file reach it through `ServerUnit`.
 * Invariants: the published tools change in one step (`onCommit`); a list that cannot be taken changes nothing.
 */
import { type Clock, delay } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { SingleFlight } from '../base/singleFlight.js';
import { TokenBucket } from '../base/tokenBucket.js';
import type { ServerDefinition } from '../config/model.js';
import {
  type Connection,
  type Connector,
  ListError,
  type OfferKind,
  type ToolListing,
} from '../connections/connection.js';
import type { Slots } from '../instances/limit.js';
import { InstancePool } from '../instances/pool.js';
import { Reconnection } from '../instances/reconnection.js';
import type { Subscriptions } from '../instances/subscriptions.js';
import type { ExpectedClient, Fields } from '../protocol/client.js';
import { curate, type Curation } from '../tools/curate.js';
import { featuresOf, type ServerFeatures } from '../tools/features.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import type { FailureCause } from './failure.js';
import type { Judge } from './plan.js';

/**
 * A server that says that its tools changed is asked for them several times at once, as changes come in bursts, and
 * then twice a second, however often it says so (R6).
 */
const refreshBurst = 8;
const refreshesPerSecond = 2;

/** What the host gives to the reconciliation of one server. */
export interface UnitDeps {
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly serverLog: Log;
  readonly connector: Connector & Slots;
  /** Returns a number in [0, 1) for the jitter of reconnecting. */
  readonly random: () => number;
  readonly filteredTools: () => FilteredToolsReport;
  /** How many milliseconds calls in flight have after their instance was replaced or removed (R4). */
  readonly drainLimitMs: number;
  /** Returns the client that will use instances that nobody uses yet (G4). */
  readonly expected: () => ExpectedClient;
  /** Holds what clients are subscribed to at the instance that all share, whichever that is. */
  readonly subscriptions: Subscriptions;
  readonly redact: (text: string) => string;
  /** Says whether a definition may run (S1); `reconsider` tells that this changed. */
  readonly judge: Judge;
  /** Called in the same turn in which what is published changed. */
  readonly onCommit: () => void;
  /** Called when something that a view shows changed. */
  readonly onChange: () => void;
}

type Curated = Extract<Curation, { kind: 'curated' }>;

interface ServingEvents {
  /** Called in the same turn in which what is published changed. */
  readonly onCommit: () => void;
  readonly onChange: () => void;
  readonly onFailure: (cause: FailureCause) => void;
  /** Called when an instance has started. */
  readonly onWell: () => void;
}

export class Serving {
  readonly pool: InstancePool;
  /** Brings back what all dialogs need, the shared or the warm instance. A lease comes back with its next call. */
  readonly reconnection: Reconnection;
  readonly serverInfo: Connection['serverInfo'];
  readonly instructions: string | undefined;
  readonly features: ServerFeatures;
  /** The time in epoch milliseconds since when it serves. */
  readonly since: number;
  /** Says why the server's newest list was not taken. */
  refreshFailure: string | undefined;
  /** Holds the newest list if it gives two tools one name: other transforms may make it right. */
  private rejected: ToolListing | undefined;
  idleSince: number | undefined;

  private refreshFrom: Connection;
  private readonly changedKinds = new Set<OfferKind>();
  private readonly refreshing = new SingleFlight(() => this.refreshInTurn());
  private readonly refreshes: TokenBucket;
  /** Resolves when the listing under way has ended. */
  private listingNow: Promise<void> | undefined;
  /** Resolves when the last start that was asked for has ended. */
  private starting: Promise<unknown> | undefined;
  private readonly ending = new AbortController();
  private lastCause = '';

  /**
   * @param connection the connection that listed; it becomes the warm or shared instance (L4).
   * @param declared the capabilities of clients that it was told of
   */
  constructor(
    private readonly deps: UnitDeps,
    private readonly events: ServingEvents,
    public definition: ServerDefinition,
    connection: Connection,
    declared: Fields,
    public listing: ToolListing,
    public curated: Curated,
  ) {
    this.serverInfo = connection.serverInfo;
    this.instructions = connection.instructions;
    this.features = featuresOf(connection.capabilities, connection.protocolVersion);
    this.since = deps.clock.now();
    this.refreshFrom = connection;
    this.refreshes = new TokenBucket(deps.clock, refreshBurst, refreshesPerSecond);
    this.pool = new InstancePool({
      server: deps.id,
      launch: definition.launch,
      trulyStateless: definition.trulyStateless,
      timeouts: () => this.definition.timeouts,
      connector: deps.connector,
      clock: deps.clock,
      log: deps.serverLog,
      onChange: () => {
        if (this.pool.live.length === 0) this.idleSince = deps.clock.now();
        events.onChange();
      },
      expected: deps.expected,
      subscriptions: deps.subscriptions,
      onOfferChanged: (changed, kind) => {
        this.refreshFrom = changed;
        this.changedKinds.add(kind);
        void this.refreshing.request();
      },
      onDeath: (cause, use) =>
        this.unlessEnded(() => {
          events.onFailure({ kind: 'lost', cause, final: false });
          this.lastCause = cause;
          if (use.kind === 'warm' || use.kind === 'shared') this.reconnection.died();
        }),
      onStarted: (newest) =>
        this.unlessEnded(() => {
          this.relist(newest);
          this.reconnection.well();
          events.onWell();
        }),
      onStartFailed: (failure) => this.unlessEnded(() => events.onFailure({ kind: 'startFailed', failure })),
    });
    this.reconnection = new Reconnection({
      clock: deps.clock,
      random: deps.random,
      start: () => this.startFresh(),
      onChange: events.onChange,
      onGiveUp: () => this.unlessEnded(() => events.onFailure({ kind: 'lost', cause: this.lastCause, final: true })),
    });
    this.pool.adopt(connection, declared);
  }

  /**
   * Takes a definition of the same launch. If two tools would have one name, nothing changes and the problems are
   * returned.
   */
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

  /** Starts an instance beside those that live. Resolves to whether it started. */
  startFresh(): Promise<boolean> {
    const started = this.pool.startWarm().then((outcome) => outcome.kind === 'started');
    this.starting = started;
    return started;
  }

  /** Does as `startFresh` because somebody asks for it, so that what failed before no longer counts. */
  startAgain(): Promise<boolean> {
    this.reconnection.reset();
    return this.startFresh();
  }

  async settled(): Promise<void> {
    await this.starting;
    // Later listings are not waited for: a server that announces changes for ever must not hold up the edit of another.
    await this.listingNow;
  }

  /** Ends when the calls in flight have ended, for which they have `limitMs` (R4). New calls no longer come. */
  drain(limitMs: number, reason: string): Promise<void> {
    this.end();
    return this.pool.drain(limitMs, reason);
  }

  close(reason: string): Promise<void> {
    this.end();
    return this.pool.close(reason);
  }

  private report(): FilteredToolsReport {
    return this.deps.filteredTools();
  }

  private relist(listing: ToolListing): void {
    if (this.ended) return;
    const curated = curate(this.definition, listing, this.report());
    if (curated.kind === 'refused') {
      this.refreshFailure = curated.problems[0].message;
      this.rejected = listing;
    } else {
      this.take(listing, curated);
      this.events.onCommit();
    }
    this.events.onChange();
  }

  private take(listing: ToolListing, curated: Curated): void {
    this.refreshFailure = undefined;
    this.rejected = undefined;
    this.listing = listing;
    this.curated = curated;
  }

  private async refreshInTurn(): Promise<void> {
    const waitMs = Math.ceil(this.refreshes.take());
    if (waitMs > 0) await delay(this.deps.clock, waitMs, this.ending.signal).catch(() => undefined);
    if (this.ended) return;
    this.listingNow = this.refresh();
    await this.listingNow;
  }

  private async refresh(): Promise<void> {
    const connection = this.refreshFrom;
    const kinds = new Set(this.changedKinds);
    this.changedKinds.clear();
    if (kinds.size === 0) return; // An earlier run has taken this change with its own.
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
      // An instance that has ended meanwhile has already told why.
      if (this.ended || !this.pool.live.some((instance) => instance.connection === connection)) return;
      this.refreshFailure = this.deps.redact(error instanceof ListError ? error.message : String(error));
      this.events.onChange();
    }
  }

  private get ended(): boolean {
    return this.ending.signal.aborted;
  }

  private end(): void {
    this.ending.abort();
    this.reconnection.dispose();
  }

  private unlessEnded(run: () => void): void {
    if (!this.ended) run();
  }
}

/** Keeps the old list, with the reason, where the new one could not be had. */
function unlessFailed<Listing extends { readonly failure?: string }>(
  next: Listing | undefined,
  before: Listing | undefined,
): Listing | undefined {
  return next?.failure !== undefined && before ? { ...before, failure: next.failure } : next;
}
