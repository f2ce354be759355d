/**
 * Stands between the SDK's client, which speaks as to a legacy server, and a server of the modern era. Requests get
 * what they must say of themselves; a result that asks for input becomes requests to the client, and the request goes
 * out again with their answers; subscriptions and changes of lists come by `subscriptions/listen`.
 *
 * Invariants: a request of the client has one answer; it goes out again only when the server asked for that, or refused
 * it unread for its headers, and then once; what it is answered with ends what is still asked of the client.
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
import { asText } from '../../base/text.js';
import type { Fields, ServerClient } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import type { MirroredParam } from '../../protocol/mirroredParams.js';
import { metaKeys } from '../../protocol/requestMeta.js';
import { knowsTasks, taskIn, unwatchTask, watchTask } from '../../protocol/tasks.js';
import { modernVersion } from '../../protocol/versions.js';
import { inBrief } from '../jsonRpc.js';
import type { ServerTransport } from '../transport.js';
import { InputRound, mostRounds, stateOnlyPauseMs, withInput } from './inputRound.js';
import { Listening } from './listening.js';
import type { RequestHeaders } from './requestHeaders.js';
import { TransientMap } from '../../base/transientMap.js';
import { capabilitiesOf } from './requestMeta.js';
import { ToolLists } from './toolLists.js';

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
  /** As it went out last. */
  params: JSONRPCRequest['params'];
  /** The parameters of its tool that went into headers then. */
  mirrored: readonly MirroredParam[];
  /** The id under which it is with the server; undefined while the client or the server is asked something for it. */
  sentAs: RequestId | undefined;
  /** How often it went out. */
  times: number;
  rounds: number;
  /** Whether its headers were refused. */
  isRefused: boolean;
  asking: InputRound | undefined;
}

type Refusal = JSONRPCErrorResponse['error'];

export class ModernSession {
  /** By the client's ids. */
  private readonly open = new TransientMap<RequestId, Exchange>();
  /** By the ids under which they were sent, where those are others. */
  private readonly resent = new Map<RequestId, Exchange>();
  /** Requests to the client, by their ids. */
  private readonly asked = new Map<RequestId, Exchange>();
  /** The requests of ours from which messages to the client arose. */
  private readonly origins = new WeakMap<object, RequestId>();
  /** The keys under which the server asked what became messages to the client. */
  private readonly keys = new WeakMap<object, string>();
  private readonly declared = new WeakMap<object, Fields>();
  private readonly toolLists: ToolLists;
  private readonly listening: Listening;
  private over = false;

  constructor(private readonly deps: ModernSessionDeps) {
    const send = (message: JSONRPCMessage): Promise<void> => this.send(message);
    this.listening = new Listening({ ...deps, send });
    this.toolLists = new ToolLists({ ...deps, send });
  }

  /** Resolves when changes of what the server offers are told from now on, or will not be told. */
  listen(): Promise<void> {
    return this.listening.start();
  }

  dispose(): void {
    this.over = true;
    this.listening.dispose();
    this.toolLists.dispose();
  }

  originOf(message: object): RequestId | undefined {
    const own = this.origins.get(message);
    if (own !== undefined) return own;
    const sentAs = this.deps.transport.originOf?.(message);
    return sentAs === undefined ? undefined : (this.resent.get(sentAs)?.request.id ?? sentAs);
  }

  keyOf(request: object): string | undefined {
    return this.keys.get(request);
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
        return this.deliver(await this.listening.resources.add(message));
      case 'resources/unsubscribe':
        return this.deliver(this.listening.resources.remove(message));
      case watchTask:
        return this.deliver(await this.listening.tasks.add(message));
      case unwatchTask:
        return this.deliver(this.listening.tasks.remove(message));
      default: {
        const request = this.complete(message);
        const counts = { times: 1, rounds: 0, isRefused: false };
        const { params, id } = request;
        const mirrored = this.deps.headers.mirroredBy(params?.['name']);
        this.open.set(id, { request, params, mirrored, sentAs: id, asking: undefined, ...counts });
        await this.send(request);
      }
    }
  }

  fromServer(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      if (message.id === undefined || this.listening.hearsAnswer(message) || this.toolLists.hearsAnswer(message))
        return;
      const exchange = this.resent.get(message.id) ?? this.open.get(message.id);
      if (exchange?.sentAs !== message.id) return;
      if ('error' in message) this.refused(exchange, message.error);
      else this.take(exchange, message.result);
      return;
    }
    if ('id' in message) {
      this.deps.log.write(
        'warn',
        `[protocol] The server sent the request ${message.method}, which no server may send since 2026-07-28.`,
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
        return this.finish(exchange, { result: withoutEnvelope(exchange.rounds > 0 ? withoutHints(result) : result) });
      case 'input_required':
        return this.askClient(exchange, result);
      default: {
        if (isExpectedTask(exchange.request, result)) {
          return this.finish(exchange, { result: { ...withoutEnvelope(result), resultType } });
        }
        const message = `The server answered with a result of an unknown type: ${inBrief(resultType, 100)}.`;
        return this.finish(exchange, { error: { code: errorCodes.internal, message } });
      }
    }
  }

  private finish(
    exchange: Exchange,
    answer: { readonly result: Fields } | { readonly error: JSONRPCErrorResponse['error'] },
  ): void {
    this.forget(exchange);
    this.deliver({ jsonrpc: '2.0', id: exchange.request.id, ...answer } as JSONRPCMessage);
  }

  private refused(exchange: Exchange, error: Refusal): void {
    const { request, isRefused } = exchange;
    const isOfHeaders = error.code === errorCodes.headerMismatch && request.method === 'tools/call';
    if (isOfHeaders && this.deps.transport.hasHeaders === true && !isRefused) void this.mirrorAnew(exchange, error);
    else this.finish(exchange, { error: inWords(error) });
  }

  /** A tool wants other headers than when it was listed. With its new definition the call goes out once more. */
  private async mirrorAnew(exchange: Exchange, error: Refusal): Promise<void> {
    exchange.isRefused = true;
    this.takeBack(exchange);
    this.deliver({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await this.toolLists.learn();
    if (this.open.get(exchange.request.id) !== exchange) return;
    // Another call that was refused may have had the tools listed since this one went out.
    const { request, params, mirrored } = exchange;
    const headers = (...given: [(readonly MirroredParam[])?]): string =>
      JSON.stringify(this.deps.headers.of({ ...request, params }, ...given));
    if (headers() === headers(mirrored)) this.finish(exchange, { error: inWords(error) });
    else await this.sendAgain(exchange, params);
  }

  /** No answer is expected under the id that it has. */
  private takeBack(exchange: Exchange): void {
    if (exchange.sentAs !== undefined) this.resent.delete(exchange.sentAs);
    exchange.sentAs = undefined;
  }

  private forget(exchange: Exchange): void {
    this.open.delete(exchange.request.id);
    this.takeBack(exchange);
    for (const id of exchange.asking?.unanswered ?? []) {
      this.asked.delete(id);
      const params = { requestId: id, reason: 'The call that needed it is over.' };
      this.deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
    exchange.asking = undefined;
  }

  private askClient(exchange: Exchange, result: Fields): void {
    this.takeBack(exchange);
    const refuse = (message: string): void =>
      this.finish(exchange, { error: { code: errorCodes.internal, message: `The server ${message}` } });
    if (++exchange.rounds > mostRounds) return refuse(`asked for more input more than ${mostRounds} times.`);
    const round = InputRound.of(result);
    if (typeof round === 'string') return refuse(`asked for input, but ${round}.`);
    exchange.asking = round;
    if (round.requests.length === 0) {
      this.deps.clock.after(stateOnlyPauseMs, () => void this.goOn(exchange, round));
      return;
    }
    for (const { id } of round.requests) this.asked.set(id, exchange);
    for (const { id, key, method, params } of round.requests) {
      const message = { jsonrpc: '2.0' as const, id, method, ...(params && { params }) };
      this.origins.set(message, exchange.request.id);
      this.keys.set(message, key);
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
    if (round.unanswered.size === 0) void this.goOn(exchange, round);
  }

  private async goOn(exchange: Exchange, round: InputRound): Promise<void> {
    if (exchange.asking !== round) return;
    exchange.asking = undefined;
    await this.sendAgain(exchange, withInput(exchange.request.params, round));
  }

  private async sendAgain(exchange: Exchange, params: JSONRPCRequest['params']): Promise<void> {
    if (this.over) return;
    const { request } = exchange;
    const id = `${request.id}-${exchange.times++}`;
    exchange.params = params;
    exchange.mirrored = this.deps.headers.mirroredBy(params?.['name']);
    exchange.sentAs = id;
    this.resent.set(id, exchange);
    try {
      await this.send({ ...request, id, ...(params && { params }) });
    } catch (error) {
      this.finish(exchange, { error: { code: errorCodes.server, message: asText(error) } });
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

/** What a server says of its connection with us means something else to those whose connection is with us. */
function inWords(error: Refusal): Refusal {
  const { code, message } = error;
  if (code !== errorCodes.headerMismatch && code !== errorCodes.unsupportedVersion) return error;
  const what = code === errorCodes.headerMismatch ? 'the headers of the request' : `protocol version ${modernVersion}`;
  return { code: errorCodes.internal, message: `The server refused ${what}: ${message}` };
}

/** Which subscription a message came by means nothing to those who hear it. */
function withoutSubscription(message: JSONRPCNotification): JSONRPCNotification {
  const { params } = message;
  if (params?._meta?.[metaKeys.subscriptionId] === undefined) return message;
  return { ...message, params: withoutMeta(params, metaKeys.subscriptionId) };
}

/** True if a call was answered with a task and its client knows tasks. */
function isExpectedTask({ method, params }: JSONRPCRequest, result: Fields): boolean {
  const declared = params?._meta?.[metaKeys.clientCapabilities];
  return method === 'tools/call' && isObject(declared) && taskIn(result) !== undefined && knowsTasks(declared);
}

/** Removes the fields that are meant for this connection only. */
function withoutEnvelope(result: Fields): Fields {
  const { resultType, ...rest } = result;
  const whole = resultType === undefined ? result : rest;
  return isObject(whole['_meta']) ? withoutMeta(whole, metaKeys.serverInfo) : whole;
}

/** What depends on more than the request itself may not be kept (X8). */
function withoutHints({ ttlMs: _, cacheScope: __, ...rest }: Fields): Fields {
  return rest;
}

function withoutMeta(fields: Fields, key: string): Record<string, unknown> {
  const { _meta: meta, ...rest } = fields;
  const kept = Object.entries(isObject(meta) ? meta : {}).filter(([name]) => name !== key);
  return kept.length > 0 ? { ...rest, _meta: Object.fromEntries(kept) } : rest;
}
