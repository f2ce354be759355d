/**
 * One `subscriptions/listen` to a modern server, which is begun again when it ends or when something else is wanted.
 *
 * Invariants: the one before ends only when its successor has begun; where each comes by a stream of its own, what was on
 * its way by the one before is heard, and what both say is heard once; one that ended is begun again at growing intervals,
 * and `onGap` says then that nobody knows what happened meanwhile; one that the server refuses is left alone.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { delay, type Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import { asText } from '../../base/text.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import { TransportFailure } from '../../failures/transportFailure.js';

export interface SubscriptionDeps {
  readonly clock: Clock;
  readonly send: (message: JSONRPCMessage) => Promise<void>;
  /** What requests say of their client. */
  readonly meta: Fields;
  /** Whether each subscription comes by a stream of its own; otherwise all come by one, in order. */
  readonly hasStreams: boolean;
  /** Returns what is to be listened to from now on, or undefined for nothing. */
  readonly wanted: () => Fields | undefined;
  readonly onGap: () => void;
  readonly signal: AbortSignal;
}

interface Refused {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** One that has a successor, and from which something may still be on its way. */
interface Leaving {
  readonly request: Request;
  /** How often each was told since: by this one, and by its successor. */
  readonly told: Map<string, { before: number; after: number }>;
}

type Begun =
  | { readonly kind: 'agreed'; readonly filter: Fields }
  | { readonly kind: 'refused'; readonly error: Refused };

interface Request {
  readonly id: RequestId;
  readonly begun: (begun: Begun) => void;
  hasBegun: boolean;
}

const idPrefix = 'listen-';
const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
/** What a server has said by one stream has come when this time has passed, in milliseconds. */
const underWayMs = 1_000;
let nextId = 1;

/** Whether a subscription was asked for under this id, even if it is long over. */
export function isSubscriptionId(id: unknown): boolean {
  return typeof id === 'string' && id.startsWith(idPrefix);
}

export class Subscription {
  /** The one that was asked for last. */
  private current: Request | undefined;
  /** The one that the server agreed to last, so that what two say at once is heard once. */
  private holding: Request | undefined;
  private leaving: Leaving | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private readonly requests = new Map<unknown, Request>();

  constructor(private readonly deps: SubscriptionDeps) {}

  /** Begins with what is wanted when its turn comes. */
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
    const id = `${idPrefix}${nextId++}`;
    const begun = await new Promise<Begun>((resolve) => {
      const request = { id, begun: resolve, hasBegun: false };
      this.current = request;
      this.requests.set(id, request);
      const params = { notifications: filter, _meta: meta };
      this.deps.send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params }).catch((error: unknown) => {
        this.ended(id, { code: errorCodes.server, message: asText(error) });
      });
    });
    if (!before) return begun;
    if (begun.kind === 'agreed') {
      if (before !== this.leaving?.request) this.cancel(before);
    } else if (this.requests.has(before.id)) this.current = before;
    // It ended while it had a successor to be, which came to nothing.
    else void this.beginAgain();
    return begun;
  }

  /**
   * Whether this subscription tells by this id, and tells something new.
   * @param what the same text for the same thing
   */
  tells(id: unknown, what: () => string): boolean {
    const { holding, leaving } = this;
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
    const request = this.requests.get(id);
    if (!request || request.hasBegun) return;
    request.hasBegun = true;
    if (this.deps.hasStreams && this.holding) this.leave(this.holding);
    this.holding = request;
    request.begun({ kind: 'agreed', filter: isObject(filter) ? filter : {} });
  }

  /** @param error undefined: the server ended it in good order */
  ended(id: unknown, error?: Refused): void {
    const request = this.requests.get(id);
    if (!request) return;
    this.requests.delete(id);
    const wasCurrent = this.current === request;
    if (wasCurrent) this.current = undefined;
    if (this.holding === request) this.holding = undefined;
    if (this.leaving?.request === request) this.leaving = undefined;
    if (request.hasBegun) {
      if (wasCurrent) void this.beginAgain();
      return;
    }
    const atOnce = { code: errorCodes.internal, message: 'The server ended the subscription at once.' };
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
    // The one before has had the time in which its successor's successor began.
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

  private cancel({ id }: Request): void {
    if (!this.requests.delete(id)) return;
    const params = { requestId: id };
    // A transport that has ended has ended the subscription too.
    this.deps.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => undefined);
  }
}
