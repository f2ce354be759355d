/**
 * What serves for one server (R2, R3, R6): the last-known-good definition, what the server lists, what is published of
 * it, and the instances. It follows the server's own changes; edits of the file reach it through `ServerUnit`.
 * Invariants: the published tools change in one step (`onCommit`); a list that cannot be taken changes nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { asText } from '../base/text.js';
import type { ServerDefinition } from '../config/model.js';
import {
  type Connection,
  type Connector,
  ListError,
  type OfferKind,
  type ToolListing,
} from '../connections/connection.js';
import type { ConversationHistory } from '../instances/conversationHistory.js';
import type { Instance } from '../instances/instance.js';
import type { Slots } from '../instances/limit.js';
import { InstancePool } from '../instances/pool.js';
import type { StartTurns } from '../instances/startTurns.js';
import { Reconnection } from '../instances/reconnection.js';
import type { ServerSubscriptions } from '../instances/subscriptions.js';
import type { ExpectedClient, Fields } from '../protocol/client.js';
import type { Curation } from '../tools/curate.js';
import { featuresOf, type ServerFeatures } from '../tools/features.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import { AppPages } from './appPages.js';
import type { FailureCause } from './failure.js';
import { ListRefresh } from './listRefresh.js';
import { type Offer, Offers, type Curated } from './offers.js';
import type { Judge } from './plan.js';
import { spokenBy, type Spoken } from './remembered.js';
import type { KnownConversations, OfferMemory, RememberedOffer } from './remembered.js';

/** What the host gives to the reconciliation of one server. */
export interface UnitDeps {
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly serverLog: Log;
  readonly connector: Connector & Slots;
  readonly turns: StartTurns;
  /** Returns a number in [0, 1) for the jitter of reconnecting. */
  readonly random: () => number;
  readonly filteredTools: () => FilteredToolsReport;
  /** How many milliseconds calls in flight have after their instance was replaced or removed (R4). */
  readonly drainLimitMs: number;
  /** Returns the client that will use instances that nobody uses yet (G4). */
  readonly expected: () => ExpectedClient;
  /** Holds what clients are subscribed to, whichever instances serve. */
  readonly subscriptions: ServerSubscriptions;
  /** Holds what conversations have had of the server, whichever instances serve. */
  readonly history: ConversationHistory;
  readonly redact: (text: string) => string;
  /** Says whether a definition may run (S1); `reconsider` tells that this changed. */
  readonly judge: Judge;
  /** Whether nothing of a server whose tools are remembered runs before it is needed. */
  readonly startsOnCall: (definition: ServerDefinition) => boolean;
  /** Keeps what servers listed for the next window. Where it is absent, nothing is kept. */
  readonly memory?: OfferMemory | undefined;
  /** Knows which servers conversations use. Where it is absent, no instance waits for one that nobody expects. */
  readonly conversations?: KnownConversations | undefined;
  /** Called in the same turn in which what is published changed. */
  readonly onCommit: () => void;
  /** Called when something that a view shows changed. */
  readonly onChange: () => void;
}

/** What is offered to somebody. */
export interface Offered {
  readonly listing: ToolListing;
  readonly curated: Curated;
  /** Is there where it is not the common list; equal for those who are offered the same. */
  readonly special?: number;
}

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
  /** Brings back what all conversations need, the shared or the warm instance. A lease comes back with its next call. */
  readonly reconnection: Reconnection;
  /** What the server said of itself when an instance started last. */
  instructions: string | undefined;
  features: ServerFeatures;
  /** The time in epoch milliseconds since when it serves. */
  readonly since: number;
  /** Says why the newest list for all was not taken. */
  private commonFailure: string | undefined;
  /** The same of the lists of instances that list for themselves. */
  private readonly ownFailures = new WeakMap<Instance, string>();
  /** Holds the newest list if it gives two tools one name: other transforms may make it right. */
  private rejected: Offer | undefined;
  idleSince: number | undefined;

  /** What the pages of apps are like, as far as they were read. */
  readonly pages: AppPages;
  private readonly offers: Offers;
  private readonly refreshes = new WeakMap<Instance, ListRefresh>();
  /** Resolves when the last start that was asked for has ended. */
  private starting: Promise<unknown> | undefined;
  private readonly ending = new AbortController();
  private lastCause = '';
  /** What the connection said of itself that listed for all last: the next may be to another version of the server. */
  private spoken: Spoken;
  /** The time in epoch milliseconds when the common list was given. */
  private listedAt: number;

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
    offer: Offer,
    /** What is published of the common list. */
    public curated: Curated,
  ) {
    this.instructions = connection.instructions;
    this.spoken = spokenBy(connection);
    this.features = featuresOf(connection.capabilities, connection.protocolVersion);
    this.since = deps.clock.now();
    this.listedAt = this.since;
    this.offers = new Offers(offer, declared);
    this.pool = new InstancePool({
      server: deps.id,
      launch: definition.launch,
      trulyStateless: definition.trulyStateless,
      timeouts: () => this.definition.timeouts,
      connector: deps.connector,
      turns: deps.turns,
      wantsSpare: () => this.definition.spare !== 0 && deps.conversations?.expectsMore(deps.id) === true,
      onTaken: (instance) => {
        const offer = this.offers.takenSpare(instance);
        if (offer) this.unlessEnded(() => this.note(instance, offer.listing, true));
      },
      clock: deps.clock,
      log: deps.serverLog,
      onChange: () => {
        if (this.pool.live.length === 0) this.idleSince = deps.clock.now();
        events.onChange();
        // Whose lease ended or died is offered what others are.
        if (this.offers.isVaried) this.unlessEnded(events.onCommit);
      },
      expected: deps.expected,
      subscriptions: deps.subscriptions,
      history: deps.history,
      onOfferChanged: (instance, kind) => this.refresh(instance, kind),
      onDeath: (cause, use) =>
        this.unlessEnded(() => {
          if (use.kind === 'spare') return;
          events.onFailure({ kind: 'lost', cause, final: false });
          this.lastCause = cause;
          if (use.kind === 'warm' || use.kind === 'shared') this.reconnection.died();
        }),
      onStarted: (instance, listing) =>
        this.unlessEnded(() => {
          this.instructions = instance.connection.instructions;
          this.note(instance, listing, true);
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
    this.offers.note(this.pool.adopt(connection, declared), offer, true);
    this.pages = new AppPages({
      read: (request) => (this.pool.takesAny ? this.pool.request('', request) : undefined),
      signal: this.ending.signal,
      redact: deps.redact,
      onChange: events.onChange,
    });
    this.pages.follow(this.curated.tools);
  }

  /** Says why a list of the server was not taken, while that lasts. What an instance listed for itself ends with it. */
  get refreshFailure(): string | undefined {
    const own = (instance: Instance): string | undefined => this.ownFailures.get(instance) ?? this.refusalOf(instance);
    return this.commonFailure ?? this.pool.live.filter((one) => this.isInUse(one)).flatMap((one) => own(one) ?? [])[0];
  }

  /** The common list: of what all are offered who are not offered another. */
  get listing(): ToolListing {
    return this.offers.common.listing;
  }

  /** What another window may publish of it before it has started there. */
  get toRemember(): RememberedOffer {
    const { listing, instructions } = this;
    return { at: this.listedAt, listing, instructions, ...this.spoken };
  }

  get serverInfo(): Connection['serverInfo'] {
    return this.spoken.serverInfo;
  }

  /** Returns the list of the conversation's instance, or the common one. */
  offeredTo(conversation?: string): Offered {
    const { common } = this.offers;
    const held = conversation === undefined ? undefined : this.pool.holderOf(conversation);
    const offer = (held && !this.definition.trulyStateless && this.offers.ofInstance(held)) || common;
    const curated = offer === common ? this.curated : offer.curate(this.definition, this.report());
    // What gives two tools one name is offered to nobody (N5).
    if (curated.kind === 'refused') return { listing: common.listing, curated: this.curated };
    return { listing: offer.listing, curated, ...(offer !== common && { special: offer.id }) };
  }

  /** The conversations that hold an instance which lists something else than the common list has. */
  get ownLists(): readonly string[] {
    if (!this.offers.isVaried) return [];
    return this.pool.live.flatMap(({ use, client }) => {
      const conversation = use.kind === 'leased' ? client?.listedFor : undefined;
      return conversation !== undefined && this.offeredTo(conversation).special !== undefined ? [conversation] : [];
    });
  }

  /** Returns what is offered to anybody, the common list first. */
  everyOffer(): readonly Offered[] {
    return this.offers.all(this.pool.live).flatMap((offer): Offered[] => {
      const { listing, id } = offer;
      if (offer === this.offers.common) return [{ listing, curated: this.curated }];
      const curated = offer.curate(this.definition, this.report());
      return curated.kind === 'curated' ? [{ listing, curated, special: id }] : [];
    });
  }

  /**
   * Takes a definition of the same launch. If two tools would have one name, nothing changes and the problems are
   * returned.
   */
  recurate(definition: ServerDefinition): Extract<Curation, { kind: 'refused' }> | undefined {
    const { rejected } = this;
    const ofNewest = rejected?.curate(definition, this.report());
    const isNewer = ofNewest?.kind === 'curated';
    const curated = isNewer ? ofNewest : this.offers.common.curate(definition, this.report());
    if (curated.kind === 'refused') return curated;
    const sameView = definition.viewHash === this.definition.viewHash;
    this.definition = definition;
    if (rejected && isNewer) this.take(rejected, curated);
    else this.curated = curated;
    this.pool.review();
    this.pages.follow(this.curated.tools);
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
    await Promise.all(this.pool.live.map((instance) => this.refreshes.get(instance)?.listingNow));
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

  private note(instance: Instance, listing: ToolListing, isStart = false): void {
    const offer = this.offers.offerOf(listing, this.pool.live);
    const isAsBefore = !isStart && !this.rejected && offer === this.offers.ofInstance(instance);
    const isCommon = this.offers.note(instance, offer, isStart);
    this.ownFailures.delete(instance);
    if (isCommon && isStart) this.hear(instance.connection);
    if (isAsBefore && isCommon) this.commonFailure = undefined;
    if (isAsBefore && (!isCommon || offer === this.offers.common)) return this.events.onChange();
    const curated = offer.curate(this.definition, this.report());
    if (curated.kind === 'refused') {
      if (isCommon) [this.rejected, this.commonFailure] = [offer, curated.problems[0].message];
    } else {
      if (isCommon) this.take(offer, curated);
      this.events.onCommit();
    }
    this.events.onChange();
  }

  private hear(connection: Connection): void {
    const spoken = spokenBy(connection);
    if (isDeepStrictEqual(spoken, this.spoken)) return;
    this.spoken = spoken;
    this.features = featuresOf(spoken.capabilities, spoken.protocolVersion);
  }

  private take(offer: Offer, curated: Curated): void {
    this.commonFailure = undefined;
    this.rejected = undefined;
    this.listedAt = this.deps.clock.now();
    this.offers.common = offer;
    this.curated = curated;
    this.pages.follow(curated.tools);
  }

  /**
   * Somebody lists what is offered. What its server does not call fresh any more is asked for again; who listed is told if
   * it has changed.
   */
  noteListed(conversation: string | undefined): void {
    const held = conversation === undefined ? undefined : this.pool.holderOf(conversation);
    for (const instance of this.pool.live) {
      if (instance.use.kind === 'leased' && instance !== held) continue;
      for (const kind of instance.connection.takeStale()) this.refresh(instance, kind);
    }
  }

  /** An instance says that what it offers has changed. */
  private refresh(instance: Instance, kind: OfferKind): void {
    if (instance.use.kind === 'draining') return;
    const refresh = this.refreshes.get(instance) ?? this.refreshOf(instance);
    this.refreshes.set(instance, refresh);
    refresh.request(kind);
  }

  private refreshOf(instance: Instance): ListRefresh {
    const { connection } = instance;
    return new ListRefresh({
      clock: this.deps.clock,
      connection,
      signal: this.ending.signal,
      timeoutMs: () => this.definition.timeouts.connect,
      last: () => this.offers.ofInstance(instance)?.listing ?? this.listing,
      prepare: (listing) => this.offers.offerOf(listing, this.pool.live).prepare(this.definition, this.report()),
      onListed: (listing) => void (this.isInUse(instance) && this.note(instance, listing)),
      onFailure: (error) => {
        // An instance that has ended meanwhile has already told why.
        if (!this.isInUse(instance)) return;
        const why = this.deps.redact(error instanceof ListError ? error.message : asText(error));
        if (this.offers.isForAll(instance)) this.commonFailure = why;
        else this.ownFailures.set(instance, why);
        this.events.onChange();
      },
    });
  }

  private refusalOf(instance: Instance): string | undefined {
    const offer = this.offers.ofInstance(instance);
    const curated = offer === this.offers.common ? undefined : offer?.curate(this.definition, this.report());
    return curated?.kind === 'refused' ? curated.problems[0].message : undefined;
  }

  private isInUse(instance: Instance): boolean {
    return !this.ended && this.pool.live.includes(instance) && instance.use.kind !== 'draining';
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
