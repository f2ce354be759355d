/**
 * Hears from a modern server what changed: on one subscription of its lists, on another of the resources to which
 * somebody has subscribed, in the words of the legacy era.
 */
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
} from '@modelcontextprotocol/sdk/types.js';
import { delay, type Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import type { Log } from '../../base/log.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import { metaKeys } from '../../protocol/requestMeta.js';
import { inBrief } from '../jsonRpc.js';
import { isSubscriptionId, Subscription } from './subscription.js';

interface ListeningDeps {
  readonly send: (message: JSONRPCMessage) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  /** What requests say of their client. */
  readonly meta: Fields;
  /** What the server declared. */
  readonly capabilities: Fields;
  readonly deliver: (message: JSONRPCMessage) => void;
}

/** The tools are listed without the subscription if the server has not agreed to it by then. */
const agreeLimitMs = 2_000;

const lists = [
  ['tools', 'toolsListChanged'],
  ['prompts', 'promptsListChanged'],
  ['resources', 'resourcesListChanged'],
] as const;

export class Listening {
  private readonly closing = new AbortController();
  private readonly uris = new Set<string>();
  private readonly told: (typeof lists)[number][];
  private readonly ofLists: Subscription;
  private readonly ofResources: Subscription;

  constructor(private readonly deps: ListeningDeps) {
    const { clock, meta, send, capabilities } = deps;
    this.told = lists.filter(([kind]) => {
      const capability = capabilities[kind];
      return isObject(capability) && capability['listChanged'] === true;
    });
    const common = {
      clock,
      meta,
      signal: this.closing.signal,
      send,
    };
    this.ofLists = new Subscription({
      ...common,
      wanted: () => Object.fromEntries(this.told.map(([, key]) => [key, true])),
      onGap: () => {
        for (const [kind] of this.told) this.tell(`notifications/${kind}/list_changed`, {});
      },
    });
    this.ofResources = new Subscription({
      ...common,
      wanted: () => (this.uris.size === 0 ? undefined : { resourceSubscriptions: [...this.uris] }),
      onGap: () => {
        for (const uri of this.uris) this.tell('notifications/resources/updated', { uri });
      },
    });
  }

  /** Resolves when changes of the lists are told from now on, or will not be told. */
  async start(): Promise<void> {
    if (this.told.length === 0) return;
    const limit = new AbortController();
    const begun = this.ofLists.renew().then((outcome) => {
      if (outcome.kind === 'agreed') return;
      const why = inBrief(outcome.error.message, 300);
      this.deps.log.write('debug', `[protocol] The server does not tell what changes: ${why}`);
    });
    await Promise.race([begun, delay(this.deps.clock, agreeLimitMs, limit.signal).catch(() => undefined)]);
    limit.abort();
  }

  dispose(): void {
    this.closing.abort();
  }

  /** Resolves with the answer to `resources/subscribe`. */
  async subscribe({ id, params }: JSONRPCRequest): Promise<JSONRPCMessage> {
    const { uri } = (params ?? {}) as { uri?: unknown };
    if (typeof uri !== 'string' || this.uris.has(uri)) return done(id);
    this.uris.add(uri);
    const begun = await this.ofResources.renew();
    const agreed = begun.kind === 'agreed' ? begun.filter['resourceSubscriptions'] : undefined;
    if (Array.isArray(agreed) && agreed.includes(uri)) return done(id);
    this.uris.delete(uri);
    const message = 'The server does not tell when this resource is updated.';
    return {
      jsonrpc: '2.0',
      id,
      error: begun.kind === 'refused' ? begun.error : { code: errorCodes.invalidParams, message },
    };
  }

  /** Returns the answer to `resources/unsubscribe`. */
  unsubscribe({ id, params }: JSONRPCRequest): JSONRPCMessage {
    const { uri } = (params ?? {}) as { uri?: unknown };
    if (typeof uri === 'string' && this.uris.delete(uri)) void this.ofResources.renew();
    return done(id);
  }

  /** Whether the answer is the end of a subscription. */
  hearsAnswer(answer: JSONRPCResponse): boolean {
    if (!isSubscriptionId(answer.id)) return false;
    const error = 'error' in answer ? answer.error : undefined;
    for (const one of [this.ofLists, this.ofResources]) one.ended(answer.id, error);
    return true;
  }

  /** Whether the notification is about a subscription itself, or comes by one that holds no more. */
  hears({ method, params = {} }: JSONRPCNotification): boolean {
    switch (method) {
      case 'notifications/subscriptions/acknowledged':
        for (const one of [this.ofLists, this.ofResources]) {
          one.acknowledged(params._meta?.[metaKeys.subscriptionId], params['notifications']);
        }
        return true;
      case 'notifications/cancelled':
        for (const one of [this.ofLists, this.ofResources]) one.ended(params['requestId']);
        return true;
      default: {
        const id = params._meta?.[metaKeys.subscriptionId];
        return id !== undefined && !this.ofLists.holds(id) && !this.ofResources.holds(id);
      }
    }
  }

  private tell(method: string, params: Record<string, unknown>): void {
    if (!this.closing.signal.aborted) this.deps.deliver({ jsonrpc: '2.0', method, params });
  }
}

function done(id: JSONRPCRequest['id']): JSONRPCMessage {
  return { jsonrpc: '2.0', id, result: {} };
}
