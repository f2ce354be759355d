/** Receives notifications about single watched items: one subscription for all of a kind. */
import type { Result } from '../../peer/peer.js';
import { errorCodes, RpcFailure } from '../../protocol/errors.js';
import { Subscription, type SubscriptionDeps } from './subscription.js';

interface WatchedItemsDeps extends Omit<SubscriptionDeps, 'wanted' | 'onGap'> {
  /** The key of the filter. */
  readonly key: string;
  /** Called with each of them after notifications about it may have been missed. */
  readonly onGap: (id: string) => void;
}

export class WatchedItems {
  readonly subscription: Subscription;
  /** With the outcome of asking for each. */
  private readonly ids = new Map<string, ReturnType<Subscription['renew']>>();

  constructor(private readonly deps: WatchedItemsDeps) {
    this.subscription = new Subscription({
      ...deps,
      wanted: () => (this.ids.size === 0 ? undefined : { [deps.key]: [...this.ids.keys()] }),
      onGap: () => {
        for (const item of this.ids.keys()) deps.onGap(item);
      },
    });
  }

  /** Resolves to the result of the request; rejects with an `RpcFailure` if the server does not report the item. */
  async add(item: unknown): Promise<Result> {
    if (typeof item !== 'string') return {};
    // Concurrent requests for one item share one answer.
    const asked = this.ids.get(item) ?? this.subscription.renew();
    this.ids.set(item, asked);
    const begun = await asked;
    const agreed = begun.kind === 'agreed' ? begun.filter[this.deps.key] : undefined;
    if (Array.isArray(agreed) && agreed.includes(item)) return {};
    if (this.ids.get(item) === asked) {
      this.ids.delete(item);
      if (begun.kind === 'agreed') void this.subscription.renew();
    }
    if (begun.kind === 'refused') throw begun.error;
    throw new RpcFailure(errorCodes.invalidParams, 'The server does not report updates of this resource.');
  }

  /** Returns the result of the request. */
  remove(item: unknown): Result {
    if (typeof item === 'string' && this.ids.delete(item)) void this.subscription.renew();
    return {};
  }
}
