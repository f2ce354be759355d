/**
 * Hears from a modern server what changed: on one subscription of its lists, on others of the resources and the tasks to
 * which somebody has subscribed, in the words of the legacy era where there are any.
 */
import { createHash } from 'node:crypto';
import type { JSONRPCMessage, JSONRPCNotification, JSONRPCResponse } from '@modelcontextprotocol/sdk/types.js';
import { delay, type Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import type { Log } from '../../base/log.js';
import type { Fields } from '../../protocol/client.js';
import { metaKeys } from '../../protocol/requestMeta.js';
import { inBrief } from '../../protocol/inBrief.js';
import { taskChanged } from '../../protocol/tasks.js';
import type { ServerTransport } from '../transport.js';
import { isSubscriptionId, Subscription } from './subscription.js';
import { WatchedItems } from './watchedItems.js';

interface ListeningDeps {
  readonly transport: Pick<ServerTransport, 'hasHeaders'>;
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

type Params = NonNullable<JSONRPCNotification['params']>;

export class Listening {
  private readonly closing = new AbortController();
  private readonly told: (typeof lists)[number][];
  private readonly ofLists: Subscription;
  readonly resources: WatchedItems;
  readonly tasks: WatchedItems;
  private readonly all: readonly Subscription[];

  constructor(private readonly deps: ListeningDeps) {
    const { clock, meta, send, capabilities, transport } = deps;
    this.told = lists.filter(([kind]) => {
      const capability = capabilities[kind];
      return isObject(capability) && capability['listChanged'] === true;
    });
    const common = {
      clock,
      meta,
      signal: this.closing.signal,
      send,
      // Each request of HTTP is answered by a stream of its own.
      hasStreams: transport.hasHeaders === true,
    };
    this.ofLists = new Subscription({
      ...common,
      wanted: () => Object.fromEntries(this.told.map(([, key]) => [key, true])),
      onGap: () => {
        for (const [kind] of this.told) this.tell(`notifications/${kind}/list_changed`, {});
      },
    });
    this.resources = new WatchedItems({
      ...common,
      key: 'resourceSubscriptions',
      param: 'uri',
      onGap: (uri) => this.tell('notifications/resources/updated', { uri }),
    });
    this.tasks = new WatchedItems({
      ...common,
      key: 'taskIds',
      param: 'taskId',
      onGap: (taskId) => this.tell(taskChanged, { taskId }),
    });
    this.all = [this.ofLists, this.resources.subscription, this.tasks.subscription];
  }

  /** Resolves when changes of the lists are told from now on, or will not be told. */
  async start(): Promise<void> {
    if (this.told.length === 0) return;
    const limit = new AbortController();
    const begun = this.ofLists.renew().then((outcome) => {
      if (outcome.kind === 'agreed') return;
      const why = inBrief(outcome.error.message, 300);
      this.deps.log.write('debug', `[protocol] The server does not report changes: ${why}`);
    });
    await Promise.race([begun, delay(this.deps.clock, agreeLimitMs, limit.signal).catch(() => undefined)]);
    limit.abort();
  }

  dispose(): void {
    this.closing.abort();
  }

  /** Whether the answer is the end of a subscription. */
  hearsAnswer(answer: JSONRPCResponse): boolean {
    if (!isSubscriptionId(answer.id)) return false;
    const error = 'error' in answer ? answer.error : undefined;
    for (const one of this.all) one.ended(answer.id, error);
    return true;
  }

  /** Whether the notification is about a subscription itself, or comes by one that holds no more. */
  hears({ method, params = {} }: JSONRPCNotification): boolean {
    switch (method) {
      case 'notifications/subscriptions/acknowledged':
        for (const one of this.all) {
          one.acknowledged(params._meta?.[metaKeys.subscriptionId], params['notifications']);
        }
        return true;
      case 'notifications/cancelled':
        for (const one of this.all) one.ended(params['requestId']);
        return true;
      default: {
        const id = params._meta?.[metaKeys.subscriptionId];
        return id !== undefined && !this.all.some((one) => one.tells(id, () => printOf(method, params)));
      }
    }
  }

  private tell(method: string, params: Record<string, unknown>): void {
    if (!this.closing.signal.aborted) this.deps.deliver({ jsonrpc: '2.0', method, params });
  }
}

/** The same for what two subscriptions tell alike, and short however long that is. */
function printOf(method: string, { _meta: { [metaKeys.subscriptionId]: _, ...meta } = {}, ...rest }: Params): string {
  return createHash('sha256')
    .update(JSON.stringify([method, rest, meta]))
    .digest('base64');
}
