/** Hears from a modern server of single things that somebody wants to hear of: one subscription for all of a kind. */
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { errorCodes } from '../../protocol/errors.js';
import { Subscription, type SubscriptionDeps } from './subscription.js';

interface WatchedItemsDeps extends Omit<SubscriptionDeps, 'wanted' | 'onGap'> {
  /** The key of the filter. */
  readonly key: string;
  /** The parameter by which a request names one. */
  readonly param: string;
  /** Called with each of them when nobody knows what happened to it meanwhile. */
  readonly onGap: (id: string) => void;
}

export class WatchedItems {
  readonly subscription: Subscription;
  /** With what came of asking for each. */
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

  /** Resolves with the answer. */
  async add({ id, params }: JSONRPCRequest): Promise<JSONRPCMessage> {
    const item = params?.[this.deps.param];
    if (typeof item !== 'string') return done(id);
    // Who asks for the same meanwhile is told the same.
    const asked = this.ids.get(item) ?? this.subscription.renew();
    this.ids.set(item, asked);
    const begun = await asked;
    const agreed = begun.kind === 'agreed' ? begun.filter[this.deps.key] : undefined;
    if (Array.isArray(agreed) && agreed.includes(item)) return done(id);
    if (this.ids.get(item) === asked) {
      this.ids.delete(item);
      if (begun.kind === 'agreed') void this.subscription.renew();
    }
    const refused = { code: errorCodes.invalidParams, message: 'The server does not report updates of this resource.' };
    return { jsonrpc: '2.0', id, error: begun.kind === 'refused' ? begun.error : refused };
  }

  /** Returns the answer. */
  remove({ id, params }: JSONRPCRequest): JSONRPCMessage {
    const item = params?.[this.deps.param];
    if (typeof item === 'string' && this.ids.delete(item)) void this.subscription.renew();
    return done(id);
  }
}

function done(id: JSONRPCRequest['id']): JSONRPCMessage {
  return { jsonrpc: '2.0', id, result: {} };
}
