/**
 * Stands between the SDK's client, which speaks as to a legacy server, and a server of the modern era. Requests get
 * what they must say of themselves; a result that asks for input becomes requests to the client, and the request goes
 * out again with their answers; subscriptions and changes of lists come by `subscriptions/listen`.
 *
 * Invariants: a request of the client has one answer; it goes out again only when the server asked for that; what it
 * is answered with ends what is still asked of the client.
 */
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import type { Log } from '../../base/log.js';
import type { Fields, ServerClient } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import { metaKeys } from '../../protocol/requestMeta.js';
import { inBrief } from '../jsonRpc.js';
import type { ServerTransport } from '../transport.js';
import { InputRound, mostRounds, stateOnlyPauseMs, withInput } from './inputRound.js';
import { Listening } from './listening.js';
import type { RequestHeaders } from './requestHeaders.js';
import { capabilitiesOf } from './requestMeta.js';

interface ModernSessionDeps {
  readonly transport: ServerTransport;
  readonly headers: RequestHeaders;
  readonly clock: Clock;
  readonly log: Log;
  /** What a request says of its client where no client is behind it. */
  readonly meta: Fields;
  /** What the server declared. */
  readonly capabilities: Fields;
  /** Takes what the SDK's client is to hear. */
  readonly deliver: (message: JSONRPCMessage) => void;
}

/** A request of the client that has no answer yet. */
interface Exchange {
  readonly request: JSONRPCRequest;
  /** The id under which it is with the server; undefined while the client is asked. */
  sentAs: RequestId | undefined;
  rounds: number;
  asking: InputRound | undefined;
}

export class ModernSession {
  /** By the client's ids. */
  private readonly open = new Map<RequestId, Exchange>();
  /** By the ids under which they were sent, where those are others. */
  private readonly resent = new Map<RequestId, Exchange>();
  /** Requests to the client, by their ids. */
  private readonly asked = new Map<RequestId, Exchange>();
  /** The requests of ours from which messages to the client arose. */
  private readonly origins = new WeakMap<object, RequestId>();
  private readonly declared = new WeakMap<object, Fields>();
  private readonly listening: Listening;
  private over = false;

  constructor(private readonly deps: ModernSessionDeps) {
    this.listening = new Listening({ ...deps, send: (message) => this.send(message) });
  }

  /** Resolves when changes of what the server offers are told from now on, or will not be told. */
  listen(): Promise<void> {
    return this.listening.start();
  }

  dispose(): void {
    this.over = true;
    this.listening.dispose();
  }

  originOf(message: object): RequestId | undefined {
    const own = this.origins.get(message);
    if (own !== undefined) return own;
    const sentAs = this.deps.transport.originOf?.(message);
    return sentAs === undefined ? undefined : (this.resent.get(sentAs)?.request.id ?? sentAs);
  }

  metaFor(client: ServerClient | undefined): Fields {
    const { meta } = this.deps;
    if (!client) return meta;
    let said = this.declared.get(client.capabilities);
    if (!said) {
      said = { ...meta, [metaKeys.clientCapabilities]: capabilitiesOf(client.capabilities) };
      this.declared.set(client.capabilities, said);
    }
    return client.logLevel === undefined ? said : { ...said, [metaKeys.logLevel]: client.logLevel };
  }

  async fromClient(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return this.answered(message);
    // The other notifications of a client mean nothing in the modern era.
    if (!('id' in message))
      return message.method === 'notifications/cancelled' ? this.cancel(message.params) : undefined;
    switch (message.method) {
      case 'ping':
      case 'logging/setLevel':
        return this.deliver({ jsonrpc: '2.0', id: message.id, result: {} });
      case 'resources/subscribe':
        return this.deliver(await this.listening.subscribe(message));
      case 'resources/unsubscribe':
        return this.deliver(this.listening.unsubscribe(message));
      default: {
        const exchange = { request: this.complete(message), sentAs: message.id, rounds: 0, asking: undefined };
        this.open.set(message.id, exchange);
        await this.send(exchange.request);
      }
    }
  }

  fromServer(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      if (message.id === undefined || this.listening.hearsAnswer(message)) return;
      const exchange = this.resent.get(message.id) ?? this.open.get(message.id);
      if (exchange?.sentAs !== message.id) return;
      if ('error' in message) this.finish(exchange, { error: message.error });
      else this.take(exchange, message.result);
      return;
    }
    if ('id' in message) {
      this.deps.log.write(
        'warn',
        `[protocol] The server sent the request ${message.method}, as none may since 2026-07-28.`,
      );
      return;
    }
    if (!this.listening.hears(message)) this.deliver(withoutSubscription(message));
  }

  private send(message: JSONRPCMessage): Promise<void> {
    const { transport, headers } = this.deps;
    return transport.send(message, transport.hasHeaders === true ? { headers: headers.of(message) } : undefined);
  }

  private deliver(message: JSONRPCMessage): void {
    if (!this.over) this.deps.deliver(message);
  }

  /** Requests that a client stands behind have said all that already. */
  private complete(request: JSONRPCRequest): JSONRPCRequest {
    const { params } = request;
    if (params?._meta?.[metaKeys.protocolVersion] !== undefined) return request;
    return { ...request, params: { ...params, _meta: { ...params?._meta, ...this.deps.meta } } };
  }

  private take(exchange: Exchange, result: Readonly<Record<string, unknown>>): void {
    const { resultType = 'complete' } = result;
    switch (resultType) {
      case 'complete':
        if (exchange.request.method === 'tools/list' && this.deps.transport.hasHeaders === true)
          this.deps.headers.learn(result);
        return this.finish(exchange, { result: withoutEnvelope(result) });
      case 'input_required':
        return this.askClient(exchange, result);
      default: {
        const message = `The server answered with a result of the type ${inBrief(resultType, 100)}, which is not known here.`;
        return this.finish(exchange, { error: { code: errorCodes.internal, message } });
      }
    }
  }

  private finish(
    exchange: Exchange,
    answer: { readonly result: Fields } | { readonly error: JSONRPCErrorResponse['error'] },
  ): void {
    const { id, method } = exchange.request;
    this.forget(exchange);
    // The tool asks for headers that were not known; with its new definition the next call has them.
    if ('error' in answer && answer.error.code === errorCodes.headerMismatch && method === 'tools/call') {
      this.deliver({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    }
    this.deliver({ jsonrpc: '2.0', id, ...answer } as JSONRPCMessage);
  }

  private forget(exchange: Exchange): void {
    this.open.delete(exchange.request.id);
    if (exchange.sentAs !== undefined) this.resent.delete(exchange.sentAs);
    exchange.sentAs = undefined;
    for (const id of exchange.asking?.unanswered ?? []) {
      this.asked.delete(id);
      const params = { requestId: id, reason: 'The call that needed it is over.' };
      this.deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
    exchange.asking = undefined;
  }

  private askClient(exchange: Exchange, result: Fields): void {
    const { sentAs } = exchange;
    if (sentAs !== undefined) this.resent.delete(sentAs);
    exchange.sentAs = undefined;
    const refuse = (message: string): void =>
      this.finish(exchange, { error: { code: errorCodes.internal, message: `The server ${message}` } });
    if (++exchange.rounds > mostRounds) return refuse(`asked for more input ${mostRounds} times, and then once more.`);
    const round = InputRound.of(result);
    if (typeof round === 'string') return refuse(`asked for input, but ${round}.`);
    exchange.asking = round;
    if (round.requests.length === 0) {
      this.deps.clock.after(stateOnlyPauseMs, () => void this.sendAgain(exchange, round));
      return;
    }
    for (const { id } of round.requests) this.asked.set(id, exchange);
    for (const { id, method, params } of round.requests) {
      const message = { jsonrpc: '2.0' as const, id, method, ...(params && { params }) };
      this.origins.set(message, exchange.request.id);
      this.deliver(message);
    }
  }

  /** The client has answered what the server wanted to know. */
  private answered(message: Exclude<JSONRPCMessage, { method: string }>): void {
    const exchange = message.id === undefined ? undefined : this.asked.get(message.id);
    const round = exchange?.asking;
    if (!exchange || !round || message.id === undefined) return;
    this.asked.delete(message.id);
    if ('error' in message) {
      round.unanswered.delete(message.id);
      return this.finish(exchange, { error: message.error });
    }
    round.answer(message.id, message.result);
    if (round.unanswered.size === 0) void this.sendAgain(exchange, round);
  }

  private async sendAgain(exchange: Exchange, round: InputRound): Promise<void> {
    const { request, rounds } = exchange;
    if (this.over || exchange.asking !== round) return;
    exchange.asking = undefined;
    const id = `${request.id}-${rounds}`;
    exchange.sentAs = id;
    this.resent.set(id, exchange);
    try {
      await this.send({ ...request, id, params: withInput(request.params, round) });
    } catch (error) {
      this.finish(exchange, { error: { code: errorCodes.server, message: String(error) } });
    }
  }

  private async cancel(params: unknown): Promise<void> {
    const { requestId, ...rest } = (isObject(params) ? params : {}) as { requestId?: RequestId };
    const exchange = requestId === undefined ? undefined : this.open.get(requestId);
    if (!exchange) return;
    const { sentAs } = exchange;
    this.forget(exchange);
    if (sentAs === undefined) return;
    await this.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { ...rest, requestId: sentAs },
    });
  }
}

/** Which subscription a message came by means nothing to those who hear it. */
function withoutSubscription(message: JSONRPCNotification): JSONRPCNotification {
  const { params } = message;
  if (params?._meta?.[metaKeys.subscriptionId] === undefined) return message;
  return { ...message, params: withoutMeta(params, metaKeys.subscriptionId) };
}

/** What of a result is said to the connection alone is taken out. */
function withoutEnvelope(result: Fields): Fields {
  const { resultType, ...rest } = result;
  const whole = resultType === undefined ? result : rest;
  return isObject(whole['_meta']) ? withoutMeta(whole, metaKeys.serverInfo) : whole;
}

function withoutMeta(fields: Fields, key: string): Record<string, unknown> {
  const { _meta: meta, ...rest } = fields;
  const kept = Object.entries(isObject(meta) ? meta : {}).filter(([name]) => name !== key);
  return kept.length > 0 ? { ...rest, _meta: Object.fromEntries(kept) } : rest;
}
