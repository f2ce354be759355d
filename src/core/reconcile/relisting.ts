/**
 * Lists an instance again when it reports changes, at a bounded rate (R6). A failed list is
 * requested again with the next change.
 */
import { delay, type Clock } from '../base/clock.js';
import { SingleFlight } from '../base/singleFlight.js';
import { TokenBucket } from '../base/tokenBucket.js';
import {
  ListError,
  type Connection,
  type OfferKind,
  type ToolListing,
} from '../connections/connection.js';
import type { Instance } from '../instances/instance.js';

/** However often an instance reports changes, it is asked no more often. */
const burst = 8;
const perSecond = 2;

interface RelistingDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Lists the kinds. Rejects if that fails. */
  readonly list: (kinds: ReadonlySet<OfferKind>) => Promise<void>;
  readonly onFailed: (error: unknown) => void;
}

export class Relisting {
  /** The listing under way, if any. */
  now: Promise<void> | undefined;
  private readonly kinds = new Set<OfferKind>();
  private readonly bucket: TokenBucket;
  private readonly flight = new SingleFlight(() => this.run());

  constructor(
    private readonly instance: Instance,
    private readonly deps: RelistingDeps,
  ) {
    this.bucket = new TokenBucket(deps.clock, burst, perSecond);
  }

  request(kind: OfferKind): void {
    this.kinds.add(kind);
    void this.flight.request();
  }

  private async run(): Promise<void> {
    const { clock, signal } = this.deps;
    const waitMs = Math.ceil(this.bucket.take());
    if (waitMs > 0) await delay(clock, waitMs, signal);
    await this.instance.connection.share?.rest(signal);
    // An earlier run may have taken this change too.
    if (signal.aborted || this.kinds.size === 0) return;
    this.now = this.list();
    await this.now;
    this.now = undefined;
  }

  private async list(): Promise<void> {
    const kinds = new Set(this.kinds);
    this.kinds.clear();
    try {
      await this.deps.list(kinds);
    } catch (error) {
      for (const kind of kinds) this.kinds.add(kind);
      this.deps.onFailed(error);
    }
  }
}

/** Lists these kinds. The other kinds, and lists that fail, stay as they were in `last`. */
export async function listedAgain(
  connection: Connection,
  kinds: ReadonlySet<OfferKind>,
  last: ToolListing,
  timeoutMs: number,
): Promise<ToolListing> {
  const options = { signal: new AbortController().signal, timeoutMs };
  const [{ tools, malformed, incomplete }, prompts, resources] = await Promise.all([
    kinds.has('tools') ? connection.listTools(options) : last,
    kinds.has('prompts') ? connection.listPrompts(options) : last.prompts,
    kinds.has('resources') ? connection.listResources(options) : last.resources,
  ]);
  // A part does not replace the whole.
  if (incomplete !== undefined && last.incomplete === undefined) throw new ListError(incomplete);
  return {
    tools,
    malformed,
    ...(incomplete !== undefined && { incomplete }),
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
