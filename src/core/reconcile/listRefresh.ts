/**
 * Asks one instance again for what it says has changed (R6). Several changes at once are one request; what could not be
 * had is asked for with the next change.
 */
import { type Clock, delay } from '../base/clock.js';
import { SingleFlight } from '../base/singleFlight.js';
import type { Sliced } from '../base/turns.js';
import { TokenBucket } from '../base/tokenBucket.js';
import type { Connection, OfferKind, ToolListing } from '../connections/connection.js';

/**
 * An instance that says that its tools changed is asked for them several times at once, as changes come in bursts, and
 * then twice a second, however often it says so (R6).
 */
const burst = 8;
const perSecond = 2;

interface RefreshDeps {
  readonly clock: Clock;
  readonly connection: Connection;
  /** When it is aborted, nothing is asked any more. */
  readonly signal: AbortSignal;
  readonly timeoutMs: () => number;
  /** What the instance listed last. */
  readonly last: () => ToolListing;
  /** Does in slices what `onListed` would take long for. */
  readonly prepare: (listing: ToolListing) => Sliced<void>;
  readonly onListed: (listing: ToolListing) => void;
  readonly onFailure: (error: unknown) => void;
}

export class ListRefresh {
  private readonly kinds = new Set<OfferKind>();
  private readonly flight = new SingleFlight(() => this.runInTurn());
  private readonly bucket: TokenBucket;
  /** Resolves when the listing under way has ended. */
  listingNow: Promise<void> | undefined;

  constructor(private readonly deps: RefreshDeps) {
    this.bucket = new TokenBucket(deps.clock, burst, perSecond);
  }

  request(kind: OfferKind): void {
    this.kinds.add(kind);
    void this.flight.request();
  }

  private async runInTurn(): Promise<void> {
    const { clock, signal } = this.deps;
    const waitMs = Math.ceil(this.bucket.take());
    if (waitMs > 0) await delay(clock, waitMs, signal).catch(() => undefined);
    await this.deps.connection.share?.rest(signal);
    if (signal.aborted) return;
    this.listingNow = this.run();
    await this.listingNow;
    this.listingNow = undefined;
  }

  private async run(): Promise<void> {
    const { connection, last: lastListed, timeoutMs, onListed, onFailure } = this.deps;
    const kinds = new Set(this.kinds);
    this.kinds.clear();
    if (kinds.size === 0) return; // An earlier run has taken this change with its own.
    try {
      const options = { signal: new AbortController().signal, timeoutMs: timeoutMs() };
      const last = lastListed();
      const [tools, prompts, resources] = await Promise.all([
        kinds.has('tools') ? connection.listTools(options) : last,
        kinds.has('prompts') ? connection.listPrompts(options) : last.prompts,
        kinds.has('resources') ? connection.listResources(options) : last.resources,
      ]);
      const listing = {
        tools: tools.tools,
        malformed: tools.malformed,
        prompts: unlessFailed(prompts, last.prompts),
        resources: unlessFailed(resources, last.resources),
      };
      const { share } = connection;
      if (!share) return onListed(listing);
      await share.run(this.deps.prepare(listing));
      await share.chargeTurn(() => onListed(listing));
    } catch (error) {
      for (const kind of kinds) this.kinds.add(kind);
      onFailure(error);
    }
  }
}

/** Keeps the old list, with the reason, where the new one could not be had. */
function unlessFailed<Listing extends { readonly failure?: string }>(
  next: Listing | undefined,
  before: Listing | undefined,
): Listing | undefined {
  return next?.failure !== undefined && before ? { ...before, failure: next.failure } : next;
}
