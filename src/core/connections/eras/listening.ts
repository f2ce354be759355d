/**
 * One `subscriptions/listen` to a modern server, for changes of its lists and of watched resources
 * and tasks. Invariants: a request ends only when its successor has begun, and messages still in
 * flight on its stream are delivered; possibly missed notifications are reported; a refused
 * subscription is not repeated.
 */
import type { JSONRPCNotification } from '@modelcontextprotocol/sdk/types.js';
import { delay, limited, type Clock } from '../../base/clock.js';
import { unlessAborted } from '../../base/events.js';
import { asFields, type Fields } from '../../base/isObject.js';
import type { Log } from '../../base/log.js';
import { rpcFailureOf, type Exchange, type Peer } from '../../peer/peer.js';
import { asText } from '../../base/text.js';
import { TransportFailure } from '../../failures/transportFailure.js';
import { errorCodes, RpcFailure } from '../../protocol/errors.js';
import { inBrief } from '../../protocol/inBrief.js';
import { metaKeys, taskChanged } from '../../protocol/versions.js';

interface ListeningDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly peer: Pick<Peer, 'begin'>;
  readonly meta: Fields;
  /** True if each request has its own stream; otherwise all share one, in order. */
  readonly hasStreams: boolean;
  readonly capabilities: Fields;
  readonly report: (notification: JSONRPCNotification) => void;
  readonly onRefused: (error: RpcFailure) => void;
}

/** The tools are listed without the subscription if the server has not agreed to it by then. */
const agreeLimitMs = 2_000;
const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
/** After this time, in milliseconds, all messages of the old stream have come. */
const underWayMs = 1_000;

/**
 * The fields of the filter with single items: the notification about one, and its field with the
 * item.
 */
const itemKinds = {
  resourceSubscriptions: ['notifications/resources/updated', 'uri'],
  taskIds: [taskChanged, 'taskId'],
} as const;

type ItemKind = keyof typeof itemKinds;

interface Request {
  readonly id: string;
  readonly exchange: Exchange;
  readonly begun: (filter: Fields) => void;
  readonly refused: (error: RpcFailure) => void;
  hasBegun: boolean;
}

export class Listening {
  private readonly closing = new AbortController();
  private lists: readonly string[];
  private readonly watched: Record<ItemKind, Map<string, Promise<Fields>>> = {
    resourceSubscriptions: new Map(),
    taskIds: new Map(),
  };
  private readonly requests = new Map<string, Request>();
  private current: Request | undefined;
  /** The request before the current one. Its messages may still be in flight. */
  private leaving: Request | undefined;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: ListeningDeps) {
    this.lists = ['tools', 'prompts', 'resources'].filter((kind) => {
      const capability = deps.capabilities[kind];
      return asFields(capability)['listChanged'] === true;
    });
  }

  async start(): Promise<void> {
    if (this.lists.length === 0) return;
    const begun = this.renew().catch((error: Error) => {
      this.leaveOut(error);
      this.deps.log.write(
        'debug',
        `[protocol] The server does not report changes: ${inBrief(error.message, 300)}`,
      );
    });
    const inTime = limited(this.deps.clock, agreeLimitMs, undefined, (over) =>
      unlessAborted(begun, over),
    );
    await inTime.catch(() => undefined);
  }

  dispose(): void {
    this.closing.abort();
  }

  /** True if it concerns a subscription itself, or arrived on an ended one. */
  hears({ method, params = {} }: JSONRPCNotification): boolean {
    const id = params._meta?.[metaKeys.subscriptionId];
    if (method === 'notifications/subscriptions/acknowledged')
      this.acknowledged(id, params['notifications']);
    else if (method === 'notifications/cancelled') this.ended(params['requestId']);
    else return id !== undefined && this.requests.get(asText(id))?.hasBegun !== true;
    return true;
  }

  /**
   * Resolves to the result of the request; rejects with an `RpcFailure` if the server does not
   * report the item.
   */
  async add(kind: ItemKind, item: unknown): Promise<Fields> {
    if (typeof item !== 'string') return {};
    const items = this.watched[kind];
    const asked = items.get(item) ?? this.renew();
    items.set(item, asked);
    const forget = (): boolean => items.get(item) === asked && items.delete(item);
    let agreed: unknown;
    try {
      agreed = (await asked)[kind];
    } catch (error) {
      // At once, because the next request waits to name the remaining items.
      forget();
      throw error;
    }
    if (Array.isArray(agreed) && agreed.includes(item)) return {};
    if (forget()) this.renew().catch(() => undefined);
    throw new RpcFailure(
      errorCodes.invalidParams,
      'The server does not report updates of this resource.',
    );
  }

  remove(kind: ItemKind, item: unknown): Fields {
    if (typeof item === 'string' && this.watched[kind].delete(item))
      this.renew().catch(() => undefined);
    return {};
  }

  private renew(): Promise<Fields> {
    const run = (): Promise<Fields> => this.renewNow();
    const turn = this.turn.then(run, run);
    this.turn = turn;
    return turn;
  }

  private async renewNow(): Promise<Fields> {
    const before = this.current;
    const items = Object.entries(this.watched).filter(([, { size }]) => size > 0);
    const notifications: Fields = Object.fromEntries([
      ...this.lists.map((kind) => [`${kind}ListChanged`, true] as const),
      ...items.map(([kind, ids]) => [kind, [...ids.keys()]] as const),
    ]);
    if (Object.keys(notifications).length === 0) {
      this.current = undefined;
      for (const request of this.requests.values()) this.cancel(request);
      return {};
    }
    try {
      const filter = await this.ask({ notifications, _meta: this.deps.meta });
      if (before) this.leave(before);
      return filter;
    } catch (error) {
      if (before && this.requests.has(before.id)) this.current = before;
      // It ended during the failed request for its successor.
      else if (before) void this.beginAgain();
      throw error;
    }
  }

  private ask(params: Fields): Promise<Fields> {
    return new Promise((begun, refused) => {
      const exchange = this.deps.peer.begin();
      const request = {
        id: String(exchange.token),
        exchange,
        begun,
        refused,
        hasBegun: false,
      };
      this.current = request;
      this.requests.set(request.id, request);
      const ended = exchange.send('subscriptions/listen', params).then(
        () => this.ended(request.id),
        (error: unknown) => this.ended(request.id, rpcFailureOf(error)),
      );
      void ended.finally(() => exchange.dispose());
    });
  }

  private acknowledged(id: unknown, filter: unknown): void {
    const request = this.requests.get(asText(id));
    if (!request || request.hasBegun) return;
    request.hasBegun = true;
    request.begun(asFields(filter));
  }

  /** @param error undefined: the server ended it in good order */
  private ended(id: unknown, error?: RpcFailure): void {
    const request = this.requests.get(asText(id));
    if (!request) return;
    this.requests.delete(request.id);
    if (error) this.deps.onRefused(error);
    const wasCurrent = this.current === request;
    if (wasCurrent) this.current = undefined;
    if (!request.hasBegun) {
      const atOnce = new RpcFailure(
        errorCodes.internal,
        'The server ended the subscription at once.',
      );
      request.refused(error ?? atOnce);
    } else if (wasCurrent) void this.beginAgain();
  }

  private async beginAgain(): Promise<void> {
    const { signal } = this.closing;
    for (let ms = firstDelayMs; ; ms = Math.min(2 * ms, longestDelayMs)) {
      await delay(this.deps.clock, ms, signal);
      if (signal.aborted || this.current) return;
      const failure = await this.renew().then(() => undefined, rpcFailureOf);
      if (!failure) return this.reportGap();
      if (!this.leaveOut(failure)) return;
    }
  }

  /**
   * A server may refuse all because of one kind. Returns false if nothing else is left to ask for.
   */
  private leaveOut(failure: Error): boolean {
    if (!(failure instanceof RpcFailure) || failure.data instanceof TransportFailure) return true;
    const refused = Object.values(this.watched).findLast(({ size }) => size > 0);
    if (refused) refused.clear();
    else this.lists = [];
    return refused !== undefined;
  }

  private reportGap(): void {
    const tell = (method: string, params: Fields): void => {
      if (!this.closing.signal.aborted)
        this.deps.report({
          jsonrpc: '2.0',
          method,
          params,
        });
    };
    for (const kind of this.lists) tell(`notifications/${kind}/list_changed`, {});
    for (const [kind, [method, field]] of Object.entries(itemKinds))
      for (const item of this.watched[kind as ItemKind].keys()) tell(method, { [field]: item });
  }

  private leave(before: Request): void {
    if (!this.deps.hasStreams) return this.cancel(before);
    // Its messages had time to come while the successor of its successor began.
    if (this.leaving) this.cancel(this.leaving);
    this.leaving = before;
    const { signal } = this.closing;
    void delay(this.deps.clock, underWayMs, signal).then(
      () => signal.aborted || this.cancel(before),
    );
  }

  private cancel({ id, exchange }: Request): void {
    if (this.requests.delete(id)) exchange.stop('Nobody listens to it.');
  }
}
