/** Receives a modern server's notifications about its lists and about watched resources and tasks, as legacy ones. */
import { createHash } from 'node:crypto';
import type { JSONRPCNotification } from '@modelcontextprotocol/sdk/types.js';
import { delay, limited, type Clock } from '../../base/clock.js';
import { unlessAborted } from '../../base/events.js';
import { isObject } from '../../base/isObject.js';
import type { Log } from '../../base/log.js';
import { rpcErrorOf, type Exchange, type Peer, type Result } from '../../peer/peer.js';
import { asText } from '../../base/text.js';
import { TransportFailure } from '../../failures/transportFailure.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes, RpcFailure } from '../../protocol/errors.js';
import { inBrief } from '../../protocol/inBrief.js';
import { metaKeys, taskChanged } from '../../protocol/versions.js';

interface CommonDeps {
  readonly clock: Clock;
  readonly peer: Pick<Peer, 'begin'>;
  readonly meta: Fields;
  /** True if each subscription has its own stream; otherwise all share one, in order. */
  readonly hasStreams: boolean;
  readonly onRefused: (error: RpcFailure) => void;
}

interface ListeningDeps extends CommonDeps {
  readonly log: Log;
  readonly capabilities: Fields;
  readonly report: (notification: JSONRPCNotification) => void;
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

  async start(): Promise<void> {
    if (this.told.length === 0) return;
    const begun = this.ofLists.renew().then((outcome) => {
      if (outcome.kind === 'agreed') return;
      const why = inBrief(outcome.error.message, 300);
      this.deps.log.write('debug', `[protocol] The server does not report changes: ${why}`);
    });
    const inTime = limited(this.deps.clock, agreeLimitMs, undefined, (over) => unlessAborted(begun, over));
    await inTime.catch(() => undefined);
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

interface WatchedItemsDeps extends Omit<SubscriptionDeps, 'wanted' | 'onGap'> {
  readonly key: string;
  readonly onGap: (id: string) => void;
}

/** Receives notifications about single watched items: one subscription for all of a kind. */
export class WatchedItems {
  readonly subscription: Subscription;
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

  remove(item: unknown): Result {
    if (typeof item === 'string' && this.ids.delete(item)) void this.subscription.renew();
    return {};
  }
}

interface SubscriptionDeps extends CommonDeps {
  /** Returns the filter to listen with from now on; undefined for nothing. */
  readonly wanted: () => Fields | undefined;
  readonly onGap: () => void;
  readonly signal: AbortSignal;
}

/** A subscription with a successor. Its messages may still be in flight. */
interface Leaving {
  readonly request: Request;
  /** How often each notification has come since: on this one, and on its successor. */
  readonly told: Map<string, { before: number; after: number }>;
}

type Begun =
  | { readonly kind: 'agreed'; readonly filter: Fields }
  | { readonly kind: 'refused'; readonly error: RpcFailure };

interface Request {
  readonly id: string;
  readonly exchange: Exchange;
  readonly begun: (begun: Begun) => void;
  hasBegun: boolean;
}

const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
/** After this time, in milliseconds, all messages of the old stream have come. */
const underWayMs = 1_000;

/**
 * One `subscriptions/listen` to a modern server. It begins again when it ends or the filter changes.
 *
 * Invariants: the old one ends only when its successor has begun. If each has a separate stream, messages still in
 * flight on the old one are delivered, and duplicates once. An ended subscription begins again at growing intervals,
 * and `onGap` reports possibly missed notifications. If the server refuses it, it is not repeated.
 */
export class Subscription {
  private current: Request | undefined;
  private holding: Request | undefined;
  private leaving: Leaving | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private readonly requests = new Map<string, Request>();

  constructor(private readonly deps: SubscriptionDeps) {}

  renew(): Promise<Begun> {
    const turn = this.turn.then(() => this.renewNow());
    this.turn = turn;
    return turn;
  }

  private async renewNow(): Promise<Begun> {
    const { wanted, meta } = this.deps;
    const before = this.current;
    const filter = wanted();
    if (!filter) {
      const leaving = this.leaving?.request;
      this.current = this.holding = this.leaving = undefined;
      for (const request of [before, leaving]) if (request) this.cancel(request);
      return { kind: 'agreed', filter: {} };
    }
    const begun = await new Promise<Begun>((resolve) => this.ask({ notifications: filter, _meta: meta }, resolve));
    if (!before) return begun;
    if (begun.kind === 'agreed') {
      if (before !== this.leaving?.request) this.cancel(before);
    } else if (this.requests.has(before.id)) this.current = before;
    // The old one ended during the failed request for its successor.
    else void this.beginAgain();
    return begun;
  }

  private ask(params: Fields, begun: Request['begun']): void {
    const exchange = this.deps.peer.begin();
    const request = { id: String(exchange.token), exchange, begun, hasBegun: false };
    this.current = request;
    this.requests.set(request.id, request);
    const ended = exchange.send('subscriptions/listen', params).then(
      () => this.ended(request.id),
      (error: unknown) => {
        const { code, message, data } = rpcErrorOf(error);
        this.ended(request.id, new RpcFailure(code, message, data));
      },
    );
    void ended.finally(() => exchange.dispose());
  }

  /** True if the id belongs to this subscription, and the notification is new. `what` returns equal texts for equal ones. */
  tells(given: unknown, what: () => string): boolean {
    const { holding, leaving } = this;
    const id = asText(given);
    const isBefore = leaving?.request.id === id;
    if (!isBefore && holding?.id !== id) return false;
    if (!leaving) return true;
    const thing = what();
    const told = leaving.told.get(thing) ?? { before: 0, after: 0 };
    leaving.told.set(thing, told);
    const known = Math.max(told.before, told.after);
    return ++told[isBefore ? 'before' : 'after'] > known;
  }

  acknowledged(id: unknown, filter: unknown): void {
    const request = this.requests.get(asText(id));
    if (!request || request.hasBegun) return;
    request.hasBegun = true;
    if (this.deps.hasStreams && this.holding) this.leave(this.holding);
    this.holding = request;
    request.begun({ kind: 'agreed', filter: isObject(filter) ? filter : {} });
  }

  /** @param error undefined: the server ended it in good order */
  ended(id: unknown, error?: RpcFailure): void {
    const request = this.requests.get(asText(id));
    if (!request) return;
    this.requests.delete(request.id);
    if (error) this.deps.onRefused(error);
    const wasCurrent = this.current === request;
    if (wasCurrent) this.current = undefined;
    if (this.holding === request) this.holding = undefined;
    if (this.leaving?.request === request) this.leaving = undefined;
    if (request.hasBegun) {
      if (wasCurrent) void this.beginAgain();
      return;
    }
    const atOnce = new RpcFailure(errorCodes.internal, 'The server ended the subscription at once.');
    request.begun({ kind: 'refused', error: error ?? atOnce });
  }

  private async beginAgain(): Promise<void> {
    const { clock, signal, onGap } = this.deps;
    for (let ms = firstDelayMs; ; ms = Math.min(2 * ms, longestDelayMs)) {
      await delay(clock, ms, signal).catch(() => undefined);
      if (signal.aborted || this.current) return;
      const begun = await this.renew();
      if (begun.kind === 'agreed') return onGap();
      if (!(begun.error.data instanceof TransportFailure)) return;
    }
  }

  private leave(request: Request): void {
    const { clock, signal } = this.deps;
    // Its messages had time to come while the successor of its successor began.
    if (this.leaving) this.cancel(this.leaving.request);
    const leaving = { request, told: new Map() };
    this.leaving = leaving;
    const end = (): void => {
      if (this.leaving !== leaving) return;
      this.leaving = undefined;
      this.cancel(request);
    };
    delay(clock, underWayMs, signal).then(end, () => undefined);
  }

  private cancel({ id, exchange }: Request): void {
    if (this.requests.delete(id)) exchange.stop('Nobody listens to it.');
  }
}
