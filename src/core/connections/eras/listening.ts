/**
 * Receives a modern server's notifications about changes: on one subscription for its lists, on others for watched
 * resources and tasks. It reports them in the format of the legacy era if there is one.
 */
import { createHash } from 'node:crypto';
import type { JSONRPCNotification } from '@modelcontextprotocol/sdk/types.js';
import { delay, type Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import type { Log } from '../../base/log.js';
import type { Peer } from '../../peer/peer.js';
import type { Fields } from '../../protocol/client.js';
import type { RpcFailure } from '../../protocol/errors.js';
import { inBrief } from '../../protocol/inBrief.js';
import { metaKeys, taskChanged } from '../../protocol/versions.js';
import { Subscription } from './subscription.js';
import { WatchedItems } from './watchedItems.js';

interface ListeningDeps {
  readonly peer: Peer;
  /** True if each request has its own stream. */
  readonly hasStreams: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** The `_meta` of requests without a client. */
  readonly meta: Fields;
  /** The capabilities of the server. */
  readonly capabilities: Fields;
  readonly report: (notification: JSONRPCNotification) => void;
  /** Called when the server refuses a subscription. */
  readonly onRefused: (error: RpcFailure) => void;
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
    const { capabilities } = deps;
    this.told = lists.filter(([kind]) => {
      const capability = capabilities[kind];
      return isObject(capability) && capability['listChanged'] === true;
    });
    const common = { ...deps, signal: this.closing.signal };
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
      onGap: (uri) => this.tell('notifications/resources/updated', { uri }),
    });
    this.tasks = new WatchedItems({
      ...common,
      key: 'taskIds',
      onGap: (taskId) => this.tell(taskChanged, { taskId }),
    });
    this.all = [this.ofLists, this.resources.subscription, this.tasks.subscription];
  }

  /** Resolves when the server reports changes of its lists, or is known not to. */
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

  /** True if it concerns a subscription itself, or arrived on an ended one. */
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
    if (!this.closing.signal.aborted) this.deps.report({ jsonrpc: '2.0', method, params });
  }
}

/** Returns an equal and short text for the same notification on two subscriptions. */
function printOf(method: string, { _meta: { [metaKeys.subscriptionId]: _, ...meta } = {}, ...rest }: Params): string {
  return createHash('sha256')
    .update(JSON.stringify([method, rest, meta]))
    .digest('base64');
}
