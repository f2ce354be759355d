/**
 * Our side of one JSON-RPC connection. It knows no methods of MCP but cancellation and progress.
 * Invariants: an answer passes on as the same object; nothing is kept of an answered, cancelled or
 * unsent request; messages keep their order.
 *
 * It works over the `Transport` interface of the SDK, because the SDK's `Protocol` class cannot
 * carry these connections:
 * - It runs each message through up to four zod schemas. It drops an invalid message, so its call
 *   hangs. A result schema copies the result.
 * - It ignores an error without a request id, for example the answer of a server to an unreadable
 *   `initialize`.
 * - Its ids are private, so a server request on an HTTP stream cannot be matched with the call of
 *   that stream. A request cannot go out again under a new id and the same progress token, but
 *   2026-07-28 needs it.
 * - Its timers run on while the server waits for a client's answer. It keeps four maps for each
 *   request, and the connection would need a fifth.
 */
import type {
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { reasonOf, type CancelSignal } from '../base/cancellation.js';
import type { Clock } from '../base/clock.js';
import { toDisposable, type Disposable } from '../base/disposables.js';
import { asFields, type Fields } from '../base/isObject.js';
import type { Log } from '../base/log.js';
import { asText, messageOf } from '../base/text.js';
import { TransientMap } from '../base/transientMap.js';
import type { ServerClient } from '../protocol/client.js';
import { errorCodes, RpcFailure, type RpcError } from '../protocol/errors.js';
import { shortened } from '../protocol/inBrief.js';
import type { ServerOutcome } from '../protocol/request.js';

export type Result = Record<string, unknown>;

export interface SendOptions extends TransportSendOptions {
  /** Headers of this message only, with lower-case names; for a transport with headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long the sender waits for an answer, in milliseconds. */
  readonly limitMs?: number | undefined;
}

export interface ServerTransport extends Transport {
  readonly pid?: number;
  /** The reason of a failed request is a `TransportFailure` in its answer (see `failureAnswer`). */
  send(message: JSONRPCMessage, options?: SendOptions): Promise<void>;
  /** True if each message has its own headers, and each request its own stream for the answer. */
  readonly hasHeaders?: boolean;
  /** True if the transport takes no more messages; `onclose` was called or will be. */
  readonly isOver?: boolean;
  readonly causeOfEnd: string;
  /** What is wrong with an answer that could not be read, and may be the one awaited. */
  readonly misread?: string | undefined;
  onrenewed?: (() => void) | undefined;
  /** Ends the transport because the other side is not the same any longer. */
  fail?(cause: string): void;
  /**
   * Returns the id of our request on whose stream a message came; absent if the transport cannot
   * know.
   */
  originOf?(message: object): RequestId | undefined;
}

export interface PeerListener {
  answer(request: JSONRPCRequest, signal: AbortSignal): Promise<Fields | undefined>;
  hear(notification: JSONRPCNotification): void;
  failed?(error: RpcError): void;
  /** The transport has ended; the open requests fail next. */
  ended(): void;
}

export type PeerTrace = Readonly<Record<'sent' | 'received', (message: JSONRPCMessage) => void>>;

interface PeerDeps {
  readonly transport: Pick<ServerTransport, 'send' | 'onmessage' | 'onclose'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly trace?: PeerTrace;
}

interface ExchangeTerms {
  readonly timeouts: Timeouts;
  readonly signal: CancelSignal;
  readonly client?: ServerClient | undefined;
  readonly onProgress?: ((params: Fields) => void) | undefined;
  /** A progress token for several exchanges; by default, the id is the token. */
  readonly token?: number | undefined;
}

export class Peer {
  headersOf: ((message: JSONRPCMessage) => Record<string, string>) | undefined;
  private lastId = -1;
  private hasEnded = false;
  /** Our requests without a result, kept here by their exchanges. */
  readonly open = new TransientMap<RequestId, Exchange>();
  private readonly incoming = new TransientMap<RequestId, AbortController>();

  constructor(
    private readonly deps: PeerDeps,
    public listener: PeerListener,
  ) {
    const { transport } = deps;
    transport.onmessage = (message) => this.receive(message);
    transport.onclose = () => this.end();
  }

  nextId(): number {
    return ++this.lastId;
  }

  begin(terms?: ExchangeTerms, id?: RequestId): Exchange {
    const exchange = new Exchange(this, this.deps.clock, terms, id);
    if (this.hasEnded) exchange.fail(new ConnectionEnded());
    return exchange;
  }

  request(method: string, params?: Fields, signal?: AbortSignal): Promise<Result> {
    return this.during(signal, undefined, (exchange) => exchange.send(method, params));
  }

  /**
   * Runs an exchange without limits but the signal. @param id of its first message; by default a
   * new one
   */
  async during<T>(
    signal: AbortSignal | undefined,
    id: RequestId | undefined,
    run: (exchange: Exchange) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const exchange = this.begin(undefined, id);
    const stop = (): void => exchange.stop(asText(signal?.reason));
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await run(exchange);
    } finally {
      signal?.removeEventListener('abort', stop);
      exchange.dispose();
    }
  }

  /** Never rejects: an undelivered notification means nothing to anybody. */
  async notify(method: string, params?: Fields): Promise<void> {
    try {
      await this.send(
        params
          ? {
              jsonrpc: '2.0',
              method,
              params,
            }
          : { jsonrpc: '2.0', method },
      );
    } catch (error) {
      this.deps.log.write('debug', `[protocol] ${method} was not sent: ${asText(error)}`);
    }
  }

  /** Returns the exchange of one of our requests. Some servers write its number as a text. */
  exchangeOf(id: unknown): Exchange | undefined {
    return (
      this.open.get(id as RequestId) ??
      (typeof id === 'string' ? this.open.get(Number(id)) : undefined)
    );
  }

  /** Answers the only open request that waits for the other side, if there is exactly one. */
  answerOnly(error: RpcError): void {
    const [only, ...others] = new Set(this.open.values().filter(({ isWaiting }) => isWaiting));
    if (only && others.length === 0)
      only.fail(new RpcFailure(error.code, error.message, error.data));
  }

  send(message: JSONRPCMessage, limitMs?: number): Promise<void> {
    this.deps.trace?.sent(message);
    const headers = this.headersOf?.(message);
    return this.deps.transport.send(message, { headers, limitMs });
  }

  private receive(message: JSONRPCMessage): void {
    this.deps.trace?.received(message);
    if (!('method' in message)) {
      const exchange = this.exchangeOf(message.id);
      if (exchange) exchange.answered(message);
      else if (message.id === undefined && 'error' in message)
        this.listener.failed?.(message.error);
      else
        this.deps.log.write(
          'debug',
          `[protocol] An answer to no open request: ${shortened(String(message.id), 60)}`,
        );
    } else if ('id' in message) void this.answer(message);
    else this.hear(message);
  }

  private hear(message: JSONRPCNotification): void {
    const params = message.params ?? {};
    try {
      if (message.method === 'notifications/progress')
        this.exchangeOf(params['progressToken'])?.progressed(params);
      const isCancelled = message.method === 'notifications/cancelled';
      const cancelled = isCancelled
        ? this.incoming.get(params['requestId'] as RequestId)
        : undefined;
      if (cancelled) cancelled.abort(params['reason']);
      else this.listener.hear(message);
    } catch (error) {
      // The words of one server must not end others.
      this.deps.log.write(
        'error',
        `[protocol] ${message.method} could not be handled: ${asText(error)}`,
      );
    }
  }

  private async answer(request: JSONRPCRequest): Promise<void> {
    const { id } = request;
    const controller = new AbortController();
    this.incoming.set(id, controller);
    try {
      const answer = await this.listener.answer(request, controller.signal).then(
        (result) => result && { result },
        (error: unknown) => ({ error: rpcErrorOf(error) }),
      );
      if (answer && !controller.signal.aborted)
        await this.send({
          jsonrpc: '2.0',
          id,
          ...answer,
        } as JSONRPCMessage);
    } catch (error) {
      this.deps.log.write(
        'debug',
        `[protocol] The answer to ${request.method} was not sent: ${asText(error)}`,
      );
    } finally {
      if (this.incoming.get(id) === controller) this.incoming.delete(id);
    }
  }

  private end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.listener.ended();
    for (const controller of this.incoming.values()) controller.abort();
    for (const exchange of this.open.values()) exchange.fail(new ConnectionEnded());
  }
}

export class ConnectionEnded extends RpcFailure {
  constructor() {
    super(errorCodes.server, 'The connection has ended.');
  }
}

/** The time limits of one request in milliseconds (X6). */
export interface Timeouts {
  /** Since the last sign of life. */
  readonly call: number;
  readonly callMax: number;
}

type CallEnd = Extract<ServerOutcome<unknown>, { kind: 'timedOut' | 'cancelled' }>;

/** What an exchange waits for. After `failed`, nothing more is sent. */
type ExchangeState =
  /** Nothing: before the first message, between two messages, or at the end. */
  | { readonly kind: 'idle' }
  /** The answer to its last message, which has this id. */
  | {
      readonly kind: 'waiting';
      readonly id: RequestId;
      readonly resolve: (result: Result) => void;
      readonly reject: (error: Error) => void;
    }
  /** Work of ours between two messages (see `during`). */
  | { readonly kind: 'working'; readonly reject: (error: Error) => void }
  | { readonly kind: 'failed'; readonly error: Error };

const idle: ExchangeState = { kind: 'idle' };

/** The timers of an exchange with terms. Both run from its beginning until `dispose`. */
interface Limits {
  readonly whole: Disposable;
  /** Begins again at each sign of life, and rests while the server asks something. */
  silence: Disposable;
}

/**
 * One of our requests until its result is known. It may take several messages. The id of the first
 * one is the progress token of all.
 */
export class Exchange implements Disposable {
  readonly token: RequestId;
  readonly client: ServerClient | undefined;
  end: CallEnd | undefined;
  private state: ExchangeState = idle;
  private limits: Limits | undefined;
  /** The number of open questions of the server. */
  private questions = 0;
  private hasSent = false;
  /** Made on demand, because every call has an exchange (P3). */
  private onEnd: Set<() => void> | undefined;
  private laterIds: RequestId[] | undefined;

  constructor(
    private readonly peer: Peer,
    private readonly clock: Clock,
    readonly terms: ExchangeTerms | undefined,
    id: RequestId | undefined,
  ) {
    this.token = terms?.token ?? id ?? peer.nextId();
    this.client = terms?.client;
    peer.open.set(this.token, this);
    if (!terms) return;
    this.limits = { whole: this.after(terms, 'callMax'), silence: this.after(terms, 'call') };
    terms.signal.addEventListener('abort', this.cancelled, { once: true });
  }

  /**
   * Resolves to the result; rejects with an `RpcFailure` if the answer is an error or the exchange
   * ends first.
   */
  send(method: string, params?: Fields): Promise<Result> {
    const { state } = this;
    if (state.kind === 'failed') return Promise.reject(state.error);
    const id = this.idOfNext();
    const message = params
      ? {
          jsonrpc: '2.0',
          id,
          method,
          params,
        }
      : {
          jsonrpc: '2.0',
          id,
          method,
        };
    return new Promise((resolve, reject) => {
      this.state = {
        kind: 'waiting',
        id,
        resolve,
        reject,
      };
      const limitMs = this.terms?.timeouts.call;
      this.peer.send(message as JSONRPCMessage, limitMs).catch(reject);
    });
  }

  private idOfNext(): RequestId {
    const isFirst = !this.hasSent && this.terms?.token === undefined;
    this.hasSent = true;
    if (isFirst) return this.token;
    const id = this.peer.nextId();
    this.laterIds ??= [];
    this.laterIds.push(id);
    this.peer.open.set(id, this);
    return id;
  }

  get isWaiting(): boolean {
    return this.state.kind === 'waiting';
  }

  during<T>(work: Promise<T>): Promise<T> {
    const { state } = this;
    return new Promise((resolve, reject) => {
      if (state.kind === 'failed') return reject(state.error);
      this.state = { kind: 'working', reject };
      work.then(resolve, reject);
    });
  }

  /**
   * While the server asks something, until the result is disposed, only the limit in all goes on.
   */
  question(onEnd: () => void): Disposable {
    this.questions++;
    this.limits?.silence.dispose();
    this.onEnd ??= new Set();
    this.onEnd.add(onEnd);
    return toDisposable(() => {
      this.onEnd?.delete(onEnd);
      this.questions--;
      this.showedLife();
    });
  }

  answered(message: JSONRPCResponse): void {
    const { state } = this;
    if (state.kind !== 'waiting' || String(message.id) !== String(state.id)) return;
    this.state = idle;
    if ('result' in message) return state.resolve(message.result);
    const { code, message: text, data } = message.error;
    state.reject(new RpcFailure(code, text, data));
  }

  progressed(params: Fields): void {
    this.showedLife();
    this.terms?.onProgress?.(params);
  }

  /** Fails, and cancels the request at the other side if that works on it. */
  stop(reason: string): void {
    const { state } = this;
    if (state.kind === 'failed') return;
    if (state.kind === 'waiting')
      void this.peer.notify('notifications/cancelled', { requestId: state.id, reason });
    this.fail(new RpcFailure(errorCodes.server, reason));
  }

  fail(error: Error): void {
    const { state } = this;
    if (state.kind === 'failed') return;
    this.state = { kind: 'failed', error };
    this.dispose();
    if (state.kind !== 'idle') state.reject(error);
  }

  dispose(): void {
    if (this.state.kind !== 'failed') this.state = idle;
    this.limits?.whole.dispose();
    this.limits?.silence.dispose();
    this.limits = undefined;
    this.terms?.signal.removeEventListener('abort', this.cancelled);
    this.onEnd?.forEach((end) => end());
    this.onEnd = undefined;
    this.forget(this.token);
    this.laterIds?.forEach((id) => this.forget(id));
  }

  private forget(id: RequestId): void {
    if (this.peer.open.get(id) === this) this.peer.open.delete(id);
  }

  private showedLife(): void {
    if (!this.terms || !this.limits || this.questions > 0) return;
    this.limits.silence.dispose();
    this.limits.silence = this.after(this.terms, 'call');
  }

  private after({ timeouts }: ExchangeTerms, limit: keyof Timeouts): Disposable {
    const ms = timeouts[limit];
    const what = limit === 'call' ? 'no sign of life' : 'no result';
    return this.clock.after(ms, () =>
      this.endBy(
        {
          kind: 'timedOut',
          limit,
          ms,
        },
        `${what} within ${ms / 1000} s`,
      ),
    );
  }

  private readonly cancelled = (): void => {
    const reason = this.terms && reasonOf(this.terms.signal);
    this.endBy({ kind: 'cancelled' }, reason ?? 'cancelled by the caller');
  };

  private endBy(end: CallEnd, reason: string): void {
    this.end ??= end;
    this.stop(reason);
  }
}

function rpcErrorOf(error: unknown): RpcError {
  const { code, data } = asFields(error);
  return {
    code: Number.isSafeInteger(code) ? (code as number) : errorCodes.internal,
    message: messageOf(error),
    ...(data !== undefined && { data }),
  };
}

export function rpcFailureOf(error: unknown): RpcFailure {
  const { code, message, data } = rpcErrorOf(error);
  return new RpcFailure(code, message, data);
}
