/**
 * The serving part of one server (R3, R6): the last-known-good definition, its lists and its
 * instances. Invariants: the published tools change in one step (`onPublish`); a list with an error
 * changes nothing.
 */
import { delay } from '../base/clock.js';
import { perObject } from '../base/perObject.js';
import { asText } from '../base/text.js';
import type { ServerDefinition } from '../config/model.js';
import {
  type Connection,
  ListError,
  type OfferKind,
  type ToolListing,
} from '../connections/connection.js';
import type { Instance } from '../instances/instance.js';
import { InstancePool } from '../instances/pool.js';
import { Reconnection } from '../instances/reconnection.js';
import type { PoolDeps, PoolEvent } from '../instances/services.js';
import { capabilitiesKey, type Fields } from '../protocol/client.js';
import type { Curation } from '../tools/curate.js';
import { featuresOf, type ServerFeatures } from '../tools/features.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import { AppPages } from './appPages.js';
import { failureOf, type Failure, type FailureCause } from './failure.js';
import { type Offer, type Offered, Offers, type Curated } from './offers.js';
import { Outputs } from './outputs.js';
import { isForEveryone, placeOf, type ListCause } from './placing.js';
import { listedAgain, Relisting } from './relisting.js';
import { spokenBy, type RememberedOffer, type Spoken } from './remembered.js';

export interface ServingDeps extends Pick<PoolDeps, 'services' | 'server' | 'conversations'> {
  readonly filteredTools: () => FilteredToolsReport;
  readonly onPublish: () => void;
  readonly onChange: () => void;
}

interface Started {
  readonly definition: ServerDefinition;
  /** It becomes the warm or the shared instance (L4). */
  readonly connection: Connection;
  readonly declared: Fields;
  readonly offer: Offer;
  readonly curated: Curated;
}

/** Why the newest list for everyone did not become the common one. */
interface ListFault {
  readonly why: string;
  /** The list, if it gives two tools one name. Other transforms may make it right. */
  readonly refused?: Offer | undefined;
}

/** In milliseconds. Two deaths within this time are an error (X4a). */
const minute = 60_000;

/** Some servers list their tools only after a while, and report no change. */
const askAgainMs = [2_000, 10_000, 60_000];

export class Serving {
  readonly pool: InstancePool;
  /**
   * Brings back the shared or the warm instance. A lease comes back with the next call of its
   * conversation.
   */
  readonly reconnection: Reconnection;
  definition: ServerDefinition;
  curated: Curated;
  instructions: string | undefined;
  failure: Failure | undefined;
  idleSince: number;
  /**
   * The server's description of itself at the common list. A later instance may be another version
   * of the server.
   */
  spoken: Spoken;
  readonly pages: AppPages;
  outputs: Outputs;
  private listedAt: number;
  private fault: ListFault | undefined;
  /** Why the list of an instance failed that is only for its conversation. */
  private readonly ownFaults = new WeakMap<Instance, string>();
  private readonly offers: Offers;
  private readonly relistingOf = perObject((instance: Instance) => this.newRelisting(instance));
  private starting: Promise<unknown> | undefined;
  private readonly ending = new AbortController();
  private lastCause = '';
  /** The times of its deaths within the last minute. */
  private deaths: readonly number[] = [];

  constructor(
    private readonly deps: ServingDeps,
    { definition, connection, declared, offer, curated }: Started,
  ) {
    const { services } = deps;
    this.definition = definition;
    this.curated = curated;
    this.instructions = connection.instructions;
    this.spoken = spokenBy(connection);
    this.idleSince = services.clock.now();
    this.listedAt = this.idleSince;
    this.offers = new Offers(offer, declared);
    this.pool = new InstancePool({
      ...deps,
      definition: () => this.definition,
      onEvent: (event) => this.follow(event),
    });
    this.reconnection = new Reconnection(
      services,
      () => this.startFresh(),
      deps.onChange,
      () => this.setFailure(this.loss(true)),
    );
    const instance = this.pool.adopt(connection, declared);
    this.offers.remember(instance, offer, this.offers.given(instance, 'start'));
    this.pages = new AppPages(this.pool, this.ending.signal, services.redactor, deps.onChange);
    this.pages.follow(this.curated.tools);
    this.outputs = new Outputs(deps.onChange);
    void this.askAgain(instance);
  }

  /**
   * Why a list of the server was not taken, as long as that lasts. A failure of an own list ends
   * with its instance.
   */
  get refreshFailure(): string | undefined {
    if (this.fault) return this.fault.why;
    for (const instance of this.pool.live) {
      if (!this.isInUse(instance)) continue;
      const why = this.ownFaults.get(instance) ?? this.refusalOf(instance);
      if (why !== undefined) return why;
    }
    return undefined;
  }

  get features(): ServerFeatures {
    return featuresOf(this.spoken.capabilities, this.spoken.protocolVersion);
  }

  get listing(): ToolListing {
    return this.offers.common.listing;
  }

  get toRemember(): RememberedOffer {
    const { listing, instructions } = this;
    return {
      at: this.listedAt,
      listing,
      instructions,
      declared: this.offers.commonDeclared,
      ...this.spoken,
    };
  }

  /** Returns the own list of the conversation, or the common one. */
  offeredTo(conversation?: string): Offered {
    const { common, commonDeclared } = this.offers;
    const held = this.instanceOf(conversation);
    const own = held && !this.definition.trulyStateless ? this.offers.ofInstance(held) : undefined;
    const offered =
      held && own && own !== common && this.offered(own, [capabilitiesKey(held.declared)]);
    return (
      offered || {
        listing: common.listing,
        curated: this.curated,
        declared: [commonDeclared],
      }
    );
  }

  /** Conversations with an own list. */
  get ownLists(): readonly string[] {
    if (!this.offers.hasOwn) return [];
    return this.pool.live.flatMap(({ use, client }) => {
      const conversation = use.kind === 'leased' ? client?.listedFor : undefined;
      return conversation !== undefined && this.offeredTo(conversation).special !== undefined
        ? [conversation]
        : [];
    });
  }

  everyOffer(): readonly Offered[] {
    const { live } = this.pool;
    return this.offers
      .all(live)
      .flatMap((offer) => this.offered(offer, this.offers.declaredOf(offer, live)) ?? []);
  }

  /** Takes a definition of the same launch. If two tools would have one name, nothing changes. */
  recurate(definition: ServerDefinition): Extract<Curation, { kind: 'refused' }> | undefined {
    const report = this.deps.filteredTools();
    const refused = this.fault?.refused;
    const ofRefused = refused?.curate(definition, report);
    const isRight = ofRefused?.kind === 'curated';
    const curated = isRight ? ofRefused : this.offers.common.curate(definition, report);
    if (curated.kind === 'refused') return curated;
    const sameView = definition.viewHash === this.definition.viewHash;
    this.definition = definition;
    if (refused && isRight) this.setCommon(refused, curated);
    else this.curated = curated;
    this.pool.review();
    this.pages.follow(this.curated.tools);
    // Places move with every edit of the file. Only a visible change counts for the catalogue.
    if (!sameView) this.deps.onPublish();
    return undefined;
  }

  startFresh(): Promise<boolean> {
    const started = this.pool.start({ kind: 'warm' }).then((outcome) => outcome.kind === 'started');
    this.starting = started;
    return started;
  }

  /** Starts one for a caller, so that earlier failures no longer count. */
  startAgain(): Promise<boolean> {
    this.reconnection.reset();
    this.deaths = [];
    return this.startFresh();
  }

  async settled(): Promise<void> {
    await this.starting;
    // Later listings do not count: a server with endless changes must not hold up the edit of
    // another.
    await Promise.all(this.pool.live.map((instance) => this.relistingOf(instance).now));
  }

  drain(limitMs: number, reason: string): Promise<void> {
    this.end();
    return this.pool.drain(limitMs, reason);
  }

  close(reason: string): Promise<void> {
    this.end();
    return this.pool.close(reason);
  }

  /** Lists past their lifetime are requested again, and the client is notified of a change. */
  noteListed(conversation: string | undefined): void {
    const held = this.instanceOf(conversation);
    for (const instance of this.pool.live) {
      if (instance.use.kind === 'leased' && instance !== held) continue;
      for (const kind of instance.connection.takeStale()) this.relist(instance, kind);
    }
  }

  /** A pool that drains still has users and views, but its events change nothing else. */
  private follow(event: PoolEvent): void {
    if (event.kind === 'changed') {
      if (this.pool.live.length === 0) this.idleSince = this.deps.services.clock.now();
      this.deps.onChange();
    }
    if (this.hasEnded) return;
    switch (event.kind) {
      case 'changed':
        // A conversation without a lease is offered the common list.
        if (this.offers.hasOwn) this.deps.onPublish();
        return;
      case 'offerChanged':
        return this.relist(event.instance, event.offer);
      case 'spareTaken':
        return this.followTaken(event.instance);
      case 'started':
        this.instructions = event.instance.connection.instructions;
        // Its conversation keeps the common list, because the server may still answer calls.
        if (!event.listing.failure) this.apply(event.instance, event.listing, 'start');
        // It may be another version of the server.
        if (event.instance.use.kind !== 'leased') this.outputs = new Outputs(this.deps.onChange);
        void this.askAgain(event.instance);
        this.reconnection.well();
        return this.setFailure(this.deaths.length > 1 ? this.loss(false) : undefined);
      case 'startFailed':
        return this.setFailure(event);
      case 'taskResult':
        return this.noteTaskResult(event);
      case 'died':
        return this.followDeath(event.use.kind, event.cause);
    }
  }

  private noteTaskResult({ tool, result }: Extract<PoolEvent, { kind: 'taskResult' }>): void {
    const tools = this.everyOffer().flatMap(({ curated }) => curated.tools);
    const called = tools.find(({ original }) => original === tool);
    if (called) this.outputs.note(called, result);
  }

  private followTaken(instance: Instance): void {
    const offer = this.offers.ofInstance(instance);
    if (offer) this.apply(instance, offer.listing, 'start');
  }

  private followDeath(use: Instance['use']['kind'], cause: string): void {
    if (use === 'spare') return;
    this.lastCause = cause;
    void this.countDeath();
    this.setFailure(this.loss(false));
    if (use === 'warm' || use === 'shared') this.reconnection.died();
  }

  /** After a minute without another death, earlier ones no longer count. */
  private async countDeath(): Promise<void> {
    const { clock } = this.deps.services;
    const now = clock.now();
    const deaths = [...this.deaths.filter((at) => now - at < minute), now];
    this.deaths = deaths;
    await delay(clock, minute, this.ending.signal);
    if (this.hasEnded || this.deaths !== deaths) return;
    this.deaths = [];
    if (deaths.length > 1 && this.pool.live.length > 0) this.setFailure(undefined);
  }

  private loss(final: boolean): FailureCause {
    return {
      kind: 'lost',
      cause: this.lastCause,
      count: this.deaths.length,
      final,
    };
  }

  /** @param cause undefined if an instance has started */
  private setFailure(cause: FailureCause | undefined): void {
    this.failure = cause && failureOf(cause, this.deps.server, this.deps.services);
    this.deps.onChange();
  }

  /** Gives the list of an instance its place: common, own, or none (see `placing`). */
  private apply(instance: Instance, listing: ToolListing, cause: ListCause): void {
    const { offers, deps } = this;
    const offer = offers.offerOf(listing, this.pool.live);
    const curated = offer.curate(this.definition, deps.filteredTools());
    const list = offers.given(instance, cause);
    const place = placeOf({
      ...list,
      isSame: offer === offers.ofInstance(instance),
      isCommon: offer === offers.common,
      isRefused: curated.kind === 'refused',
      isOneRefused: this.fault?.refused !== undefined,
    });
    offers.remember(instance, offer, list);
    this.ownFaults.delete(instance);
    if (cause === 'start' && (place === 'common' || place === 'refused'))
      this.spoken = spokenBy(instance.connection);
    if (curated.kind === 'refused') {
      const [{ message: why }] = curated.problems;
      if (place === 'refused') this.fault = { why, refused: offer };
    } else if (place === 'common') this.setCommon(offer, curated);
    else if (place === 'confirmed') this.fault = undefined;
    if (place === 'common' || place === 'own') deps.onPublish();
    deps.onChange();
  }

  private setCommon(offer: Offer, curated: Curated): void {
    this.fault = undefined;
    this.listedAt = this.deps.services.clock.now();
    this.offers.common = offer;
    this.curated = curated;
    this.pages.follow(curated.tools);
  }

  private offered(offer: Offer, declared: readonly string[]): Offered | undefined {
    const { listing } = offer;
    if (offer === this.offers.common)
      return {
        listing,
        curated: this.curated,
        declared,
      };
    const curated = offer.curate(this.definition, this.deps.filteredTools());
    return curated.kind === 'curated'
      ? {
          listing,
          curated,
          declared,
          special: offer.id,
        }
      : undefined;
  }

  private instanceOf(conversation: string | undefined): Instance | undefined {
    return conversation === undefined ? undefined : this.pool.holderOf(conversation);
  }

  private relist(instance: Instance, kind: OfferKind): void {
    if (instance.use.kind !== 'draining') this.relistingOf(instance).request(kind);
  }

  /** Asks a server that listed no tools again, until it lists some. */
  private async askAgain(instance: Instance): Promise<void> {
    const { clock } = this.deps.services;
    const { connection, startedAt } = instance;
    const isWanted = (): boolean =>
      this.isInUse(instance) && this.offers.ofInstance(instance)?.listing.tools.length === 0;
    if (!connection.capabilities.tools) return;
    for (const ms of askAgainMs) {
      if (isWanted()) await delay(clock, startedAt + ms - clock.now(), this.ending.signal);
      if (isWanted()) this.relist(instance, 'tools');
    }
  }

  private newRelisting(instance: Instance): Relisting {
    return new Relisting(instance, {
      clock: this.deps.services.clock,
      signal: this.ending.signal,
      list: (kinds) => this.listAgain(instance, kinds),
      onFailed: (error) => this.setFault(instance, error),
    });
  }

  private async listAgain(instance: Instance, kinds: ReadonlySet<OfferKind>): Promise<void> {
    const { connection, declared } = instance;
    const { definition, deps } = this;
    const last = this.offers.ofInstance(instance)?.listing ?? this.listing;
    const listed = await listedAgain(connection, kinds, last, definition.timeouts.connect);
    const { firstSeen } = deps.services;
    const listing = await firstSeen.inOrder(listed, connection, definition, declared);
    const apply = (): void => {
      if (this.isInUse(instance)) this.apply(instance, listing, 'change');
    };
    const { share } = connection;
    if (!share) return apply();
    const offer = this.offers.offerOf(listing, this.pool.live);
    await share.run(offer.prepare(this.definition, deps.filteredTools()));
    await share.chargeTurn(apply);
  }

  private setFault(instance: Instance, error: unknown): void {
    // The end of the instance is already reported.
    if (!this.isInUse(instance)) return;
    const why = this.deps.services.redactor.redact(
      error instanceof ListError ? error.message : asText(error),
    );
    const isForAll = isForEveryone(this.offers.given(instance, 'change'));
    if (isForAll) this.fault = { why, refused: this.fault?.refused };
    else this.ownFaults.set(instance, why);
    this.deps.onChange();
  }

  private refusalOf(instance: Instance): string | undefined {
    const offer = this.offers.ofInstance(instance);
    if (offer === this.offers.common) return undefined;
    const curated = offer?.curate(this.definition, this.deps.filteredTools());
    return curated?.kind === 'refused' ? curated.problems[0].message : undefined;
  }

  private isInUse(instance: Instance): boolean {
    return !this.hasEnded && this.pool.live.includes(instance) && instance.use.kind !== 'draining';
  }

  private get hasEnded(): boolean {
    return this.ending.signal.aborted;
  }

  private end(): void {
    this.ending.abort();
    this.reconnection.dispose();
  }
}
