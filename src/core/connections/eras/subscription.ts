/**
 * One `subscriptions/listen` to a modern server. It begins again when it ends or the filter changes.
 *
 * Invariants: the old one ends only when its successor has begun. If each has a separate stream, messages still in
 * flight on the old one are delivered, and duplicates once. An ended subscription begins again at growing intervals,
 * and `onGap` reports possibly missed notifications. If the server refuses it, it is not repeated.
 */
import { delay, type Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import { asText } from '../../base/text.js';
import { TransportFailure } from '../../failures/transportFailure.js';
import { rpcErrorOf, type Exchange, type Peer } from '../../peer/peer.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes, RpcFailure } from '../../protocol/errors.js';

export interface SubscriptionDeps {
  readonly clock: Clock;
  readonly peer: Pick<Peer, 'begin'>;
  /** The `_meta` of requests without a client. */
  readonly meta: Fields;
  /** True if each subscription has its own stream; otherwise all share one, in order. */
  readonly hasStreams: boolean;
  /** Returns the filter to listen with from now on; undefined for nothing. */
  readonly wanted: () => Fields | undefined;
  readonly onGap: () => void;
  readonly onRefused: (error: RpcFailure) => void;
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

export class Subscription {
  /** The request sent last. */
  private current: Request | undefined;
  /** The request last acknowledged by the server. */
  private holding: Request | undefined;
  private leaving: Leaving | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private readonly requests = new Map<string, Request>();

  constructor(private readonly deps: SubscriptionDeps) {}

  /** Begins with the present filter, after earlier renewals. */
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

  /**
   * True if the id belongs to this subscription, and the notification is new.
   * @param what the same text for the same notification
   */
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
