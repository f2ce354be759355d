/**
 * Lists the tools, prompts or resources of one instance again after it has reported a change (R6). Several changes at
 * once are one request. A failed list is requested again with the next change.
 */
import { type Clock, delay } from '../base/clock.js';
import { SingleFlight } from '../base/singleFlight.js';
import type { Sliced } from '../base/turns.js';
import { TokenBucket } from '../base/tokenBucket.js';
import type { Connection, OfferKind, ToolListing } from '../connections/connection.js';

/** However often an instance reports changes, it is asked no more often (R6). */
const burst = 8;
const perSecond = 2;

interface RefreshDeps {
  readonly clock: Clock;
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly timeoutMs: () => number;
  readonly last: () => ToolListing;
  readonly prepare: (listing: ToolListing) => Sliced<void>;
  readonly onListed: (listing: ToolListing) => void;
  readonly onFailure: (error: unknown) => void;
}

export class ListRefresh {
  private readonly kinds = new Set<OfferKind>();
  private readonly flight = new SingleFlight(() => this.runInTurn());
  private readonly bucket: TokenBucket;
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
    if (kinds.size === 0) return; // An earlier run has taken this change too.
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

function unlessFailed<Listing extends { readonly failure?: string }>(
  next: Listing | undefined,
  before: Listing | undefined,
): Listing | undefined {
  return next?.failure !== undefined && before ? { ...before, failure: next.failure } : next;
}
