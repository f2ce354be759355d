/**
 * The serving part of one server (R3, R6): the last-known-good definition, its lists and its
 * instances. Invariants: the published tools change in one step (`onPublish`); a list with an error
 * changes nothing.
 */
import { delay } from '../base/clock.js';
import { perObject } from '../base/perObject.js';
import { SingleFlight } from '../base/singleFlight.js';
import { asText } from '../base/text.js';
import { TokenBucket } from '../base/tokenBucket.js';
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
import { spokenBy, type RememberedOffer, type Spoken } from './remembered.js';

export interface ServingDeps extends Pick<PoolDeps, 'services' | 'server' | 'conversations'> {
  readonly filteredTools: () => FilteredToolsReport;
  readonly onPublish: () => void;
  readonly onChange: () => void;
}

interface Refresh {
  readonly kinds: Set<OfferKind>;
  readonly flight: SingleFlight;
  listingNow: Promise<void> | undefined;
}

/** However often an instance reports changes, it is asked no more often (R6). */
const burst = 8;
const perSecond = 2;

interface Started {
  readonly definition: ServerDefinition;
  /** It becomes the warm or the shared instance (L4). */
  readonly connection: Connection;
  readonly declared: Fields;
  readonly offer: Offer;
  readonly curated: Curated;
}

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
  private commonFailure: string | undefined;
  private readonly ownFailures = new WeakMap<Instance, string>();
  /** The newest list, if it gives two tools one name. Other transforms may make it right. */
  private rejected: Offer | undefined;
  idleSince: number;

  readonly pages: AppPages;
  private readonly offers: Offers;
  private readonly refreshOf = perObject((instance: Instance) => this.newRefresh(instance));
  private starting: Promise<unknown> | undefined;
  private readonly ending = new AbortController();
  private lastCause = '';
  /**
   * The server's description of itself at the common list. A later instance may be another version
   * of the server.
   */
  spoken: Spoken;
  private listedAt: number;

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
    const definitionNow = (): ServerDefinition => this.definition;
    const onEvent = (event: PoolEvent): void => this.follow(event);
    this.pool = new InstancePool({ ...deps, definition: definitionNow, onEvent });
    this.reconnection = new Reconnection(
      services,
      () => this.startFresh(),
      deps.onChange,
      () => this.noteHealth({ kind: 'lost', cause: this.lastCause, final: true }),
    );
    this.offers.note(this.pool.adopt(connection, declared), offer, true);
    this.pages = new AppPages(this.pool, this.ending.signal, services.redactor, deps.onChange);
    this.pages.follow(this.curated.tools);
  }

  /**
   * Why a list of the server was not taken, as long as that lasts. A failure of an own list ends
   * with its instance.
   */
  get refreshFailure(): string | undefined {
    const own = (instance: Instance): string | undefined =>
      this.ownFailures.get(instance) ?? this.refusalOf(instance);
    return (
      this.commonFailure ??
      this.pool.live.filter((one) => this.isInUse(one)).flatMap((one) => own(one) ?? [])[0]
    );
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

  offeredTo(conversation?: string): Offered {
    const { common, commonDeclared } = this.offers;
    const held = conversation === undefined ? undefined : this.pool.holderOf(conversation);
    const own = held && !this.definition.trulyStateless ? this.offers.ofInstance(held) : undefined;
    const special =
      held && own && own !== common && this.offered(own, [capabilitiesKey(held.declared)]);
    return (
      special || { listing: common.listing, curated: this.curated, declared: [commonDeclared] }
    );
  }

  private offered(offer: Offer, declared: readonly string[]): Offered | undefined {
    const { listing } = offer;
    if (offer === this.offers.common) return { listing, curated: this.curated, declared };
    const curated = offer.curate(this.definition, this.deps.filteredTools());
    return curated.kind === 'curated'
      ? { listing, curated, declared, special: offer.id }
      : undefined;
  }

  get ownLists(): readonly string[] {
    if (!this.offers.isVaried) return [];
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
    const { rejected } = this;
    const ofNewest = rejected?.curate(definition, this.deps.filteredTools());
    const isNewer = ofNewest?.kind === 'curated';
    const curated = isNewer
      ? ofNewest
      : this.offers.common.curate(definition, this.deps.filteredTools());
    if (curated.kind === 'refused') return curated;
    const sameView = definition.viewHash === this.definition.viewHash;
    this.definition = definition;
    if (rejected && isNewer) this.take(rejected, curated);
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
    return this.startFresh();
  }

  async settled(): Promise<void> {
    await this.starting;
    // Later listings do not count: a server with endless changes must not hold up the edit of
    // another.
    await Promise.all(this.pool.live.map((instance) => this.refreshOf(instance).listingNow));
  }

  drain(limitMs: number, reason: string): Promise<void> {
    this.end();
    return this.pool.drain(limitMs, reason);
  }

  close(reason: string): Promise<void> {
    this.end();
    return this.pool.close(reason);
  }

  /** A pool that drains still has users and views, but its events change nothing else. */
  private follow(event: PoolEvent): void {
    if (event.kind === 'changed') {
      if (this.pool.live.length === 0) this.idleSince = this.deps.services.clock.now();
      this.deps.onChange();
    }
    if (this.ended) return;
    // A conversation without a lease is offered the common list.
    if (event.kind === 'changed' && this.offers.isVaried) this.deps.onPublish();
    else if (event.kind === 'offerChanged') this.refresh(event.instance, event.offer);
    else if (event.kind === 'startFailed')
      this.noteHealth({ kind: 'startFailed', failure: event.failure });
    else if (event.kind === 'taken') {
      const offer = this.offers.takenSpare(event.instance);
      if (offer) this.note(event.instance, offer.listing, true);
    } else if (event.kind === 'started') {
      this.instructions = event.instance.connection.instructions;
      // Its conversation keeps the common list, because the server may still answer calls.
      if (!event.listing.failure) this.note(event.instance, event.listing, true);
      this.reconnection.well();
      this.noteHealth(undefined);
    } else if (event.kind === 'died' && event.use.kind !== 'spare') {
      this.noteHealth({ kind: 'lost', cause: event.cause, final: false });
      this.lastCause = event.cause;
      if (event.use.kind === 'warm' || event.use.kind === 'shared') this.reconnection.died();
    }
  }

  /** @param cause undefined if an instance has started */
  private noteHealth(cause: FailureCause | undefined): void {
    this.failure = cause && failureOf(cause, this.deps.server, this.deps.services);
    this.deps.onChange();
  }

  private note(instance: Instance, listing: ToolListing, isStart = false): void {
    const offer = this.offers.offerOf(listing, this.pool.live);
    const isAsBefore = !isStart && !this.rejected && offer === this.offers.ofInstance(instance);
    const isCommon = this.offers.note(instance, offer, isStart);
    this.ownFailures.delete(instance);
    if (isCommon && isStart) this.spoken = spokenBy(instance.connection);
    if (isAsBefore && isCommon) this.commonFailure = undefined;
    if (isAsBefore && (!isCommon || offer === this.offers.common)) return this.deps.onChange();
    const curated = offer.curate(this.definition, this.deps.filteredTools());
    if (curated.kind === 'refused') {
      if (isCommon) [this.rejected, this.commonFailure] = [offer, curated.problems[0].message];
    } else {
      if (isCommon) this.take(offer, curated);
      this.deps.onPublish();
    }
    this.deps.onChange();
  }

  private take(offer: Offer, curated: Curated): void {
    this.commonFailure = undefined;
    this.rejected = undefined;
    this.listedAt = this.deps.services.clock.now();
    this.offers.common = offer;
    this.curated = curated;
    this.pages.follow(curated.tools);
  }

  /** Lists past their lifetime are requested again, and the client is notified of a change. */
  noteListed(conversation: string | undefined): void {
    const held = conversation === undefined ? undefined : this.pool.holderOf(conversation);
    for (const instance of this.pool.live) {
      if (instance.use.kind === 'leased' && instance !== held) continue;
      for (const kind of instance.connection.takeStale()) this.refresh(instance, kind);
    }
  }

  private refresh(instance: Instance, kind: OfferKind): void {
    if (instance.use.kind === 'draining') return;
    const refresh = this.refreshOf(instance);
    refresh.kinds.add(kind);
    void refresh.flight.request();
  }

  private newRefresh(instance: Instance): Refresh {
    const { clock } = this.deps.services;
    const { signal } = this.ending;
    const bucket = new TokenBucket(clock, burst, perSecond);
    const listAgain = async (): Promise<void> => {
      const waitMs = Math.ceil(bucket.take());
      if (waitMs > 0) await delay(clock, waitMs, signal);
      await instance.connection.share?.rest(signal);
      // An earlier run may have taken this change too.
      if (signal.aborted || refresh.kinds.size === 0) return;
      refresh.listingNow = this.listAgain(instance, refresh.kinds);
      await refresh.listingNow;
      refresh.listingNow = undefined;
    };
    const refresh: Refresh = {
      kinds: new Set(),
      flight: new SingleFlight(listAgain),
      listingNow: undefined,
    };
    return refresh;
  }

  /** A failed list is requested again with the next change. */
  private async listAgain(instance: Instance, changed: Set<OfferKind>): Promise<void> {
    const { connection } = instance;
    const kinds = new Set(changed);
    changed.clear();
    try {
      const last = this.offers.ofInstance(instance)?.listing ?? this.listing;
      const { definition, deps } = this;
      const listed = await listedAgain(connection, kinds, last, definition.timeouts.connect);
      const listing = await deps.services.firstSeen.inOrder(
        listed,
        connection,
        definition,
        instance.declared,
      );
      const noteIt = (): void => void (this.isInUse(instance) && this.note(instance, listing));
      const { share } = connection;
      if (!share) return noteIt();
      await share.run(
        this.offers
          .offerOf(listing, this.pool.live)
          .prepare(this.definition, this.deps.filteredTools()),
      );
      await share.chargeTurn(noteIt);
    } catch (error) {
      for (const kind of kinds) changed.add(kind);
      // The end of the instance is already reported.
      if (!this.isInUse(instance)) return;
      const why = this.deps.services.redactor.redact(
        error instanceof ListError ? error.message : asText(error),
      );
      if (this.offers.isForAll(instance)) this.commonFailure = why;
      else this.ownFailures.set(instance, why);
      this.deps.onChange();
    }
  }

  private refusalOf(instance: Instance): string | undefined {
    const offer = this.offers.ofInstance(instance);
    const curated =
      offer === this.offers.common
        ? undefined
        : offer?.curate(this.definition, this.deps.filteredTools());
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
}

async function listedAgain(
  connection: Connection,
  kinds: ReadonlySet<OfferKind>,
  last: ToolListing,
  timeoutMs: number,
): Promise<ToolListing> {
  const options = { signal: new AbortController().signal, timeoutMs };
  const [{ tools, malformed }, prompts, resources] = await Promise.all([
    kinds.has('tools') ? connection.listTools(options) : last,
    kinds.has('prompts') ? connection.listPrompts(options) : last.prompts,
    kinds.has('resources') ? connection.listResources(options) : last.resources,
  ]);
  return {
    tools,
    malformed,
    prompts: unlessFailed(prompts, last.prompts),
    resources: unlessFailed(resources, last.resources),
  };
}

function unlessFailed<Listing extends { readonly failure?: string }>(
  next: Listing | undefined,
  before: Listing | undefined,
): Listing | undefined {
  return next?.failure !== undefined && before ? { ...before, failure: next.failure } : next;
}
