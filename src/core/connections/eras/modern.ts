/**
 * The protocol versions since 2026-07-28, without sessions. Each request says its version and capabilities. If a
 * result requires input, the same request follows with the answers of the client. Changes are reported on
 * `subscriptions/listen`.
 *
 * Invariant: a request goes out again only if the server asked for it, or refused the request unread because of its
 * headers, and then once.
 */
import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { delay, limited, type Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import type { Log } from '../../base/log.js';
import { TransportFailure } from '../../failures/transportFailure.js';
import { rpcErrorOf, type Exchange, type Peer, type Result } from '../../peer/peer.js';
import type { ServerTransport } from '../../peer/transport.js';
import { declaredCapabilities, type Fields, type ServerClient } from '../../protocol/client.js';
import { errorCodes, RpcFailure } from '../../protocol/errors.js';
import { inBrief } from '../../protocol/inBrief.js';
import { mirroredParams, type MirroredParam } from '../../protocol/mirroredParams.js';
import {
  metaKeys,
  metaOf,
  modernVersion,
  knowsTasks,
  taskIn,
  unwatchTask,
  watchTask,
} from '../../protocol/versions.js';
import type { ServerFacts } from '../handshake.js';
import type { Protocol } from '../protocol.js';
import type { ServerRequest, ServerRequests } from '../serverRequests.js';
import { discover, inTime, mayBeModern } from './discovery.js';
import type { EraMemory } from './eraMemory.js';
import { Listening } from './listening.js';
import type { RequestHeaders } from './requestHeaders.js';

interface ModernDeps {
  readonly peer: Peer;
  readonly transport: ServerTransport;
  readonly serverRequests: ServerRequests;
  readonly headers: RequestHeaders;
  readonly clock: Clock;
  readonly log: Log;
  readonly era: EraMemory;
  /** The `_meta` of requests without a client. */
  readonly meta: Fields;
  readonly speak: (version: string) => void;
}

/** How often a server may ask for more before its call fails. */
const mostRounds = 16;
const mostInputRequests = 64;
/** The pause before a request goes out again without a question to anybody. */
const stateOnlyPauseMs = 250;
const mostToolPages = 1_000;
/** Calls wait for a page of tools, so it is not awaited longer. */
const toolPageLimitMs = 10_000;

export class ModernProtocol implements Protocol {
  private readonly declared = new WeakMap<object, Fields>();
  private readonly listening: Listening;
  private report: (notification: JSONRPCNotification) => void = () => {};
  private learning: Promise<void> | undefined;
  private isDoubted = false;

  /** @param capabilities the server's capabilities, word for word */
  constructor(
    private readonly deps: ModernDeps,
    readonly facts: ServerFacts,
    capabilities: Fields,
  ) {
    const { peer, transport, clock, log, meta } = deps;
    this.listening = new Listening({
      peer,
      hasStreams: transport.hasHeaders === true,
      clock,
      log,
      meta,
      capabilities,
      report: (notification) => this.report(notification),
      onRefused: (error) => this.check(error),
    });
  }

  metaFor(client: ServerClient | undefined): Fields {
    const { meta } = this.deps;
    if (!client) return meta;
    let said = this.declared.get(client.capabilities);
    if (!said) {
      said = { ...meta, [metaKeys.clientCapabilities]: modernCapabilities(client.capabilities) };
      this.declared.set(client.capabilities, said);
    }
    return client.logLevel === undefined ? said : { ...said, [metaKeys.logLevel]: client.logLevel };
  }

  begin(report: (notification: JSONRPCNotification) => void): Promise<void> {
    this.report = report;
    return this.listening.start();
  }

  async call(exchange: Exchange, method: string, params: Fields): Promise<Result> {
    const { resources, tasks } = this.listening;
    switch (method) {
      case 'ping':
      case 'logging/setLevel':
        return {};
      case 'resources/subscribe':
        return await exchange.during(resources.add(params['uri']));
      case 'resources/unsubscribe':
        return resources.remove(params['uri']);
      case watchTask:
        return await exchange.during(tasks.add(params['taskId']));
      case unwatchTask:
        return tasks.remove(params['taskId']);
      default:
        return await this.exchange(exchange, method, params);
    }
  }

  async list(method: string, params: Fields | undefined, signal: AbortSignal): Promise<Result> {
    const whole = { ...params, _meta: this.deps.meta };
    return await this.deps.peer.during(signal, undefined, (exchange) => this.exchange(exchange, method, whole));
  }

  read(notification: JSONRPCNotification): JSONRPCNotification | undefined {
    if (this.listening.hears(notification)) return undefined;
    const { params } = notification;
    if (params?._meta?.[metaKeys.subscriptionId] === undefined) return notification;
    return { ...notification, params: withoutMeta(params, metaKeys.subscriptionId) };
  }

  answer({ method }: JSONRPCRequest): Promise<undefined> {
    const text = `[protocol] The server sent the request ${method}, which no server may send since 2026-07-28.`;
    this.deps.log.write('warn', text);
    return Promise.resolve(undefined);
  }

  takes(): boolean {
    return false;
  }

  whatIsWrongWithTool({ inputSchema }: Fields): string | undefined {
    if (this.deps.transport.hasHeaders !== true) return undefined;
    const mirrored = mirroredParams(inputSchema);
    return mirrored.kind === 'wrong' ? mirrored.detail : undefined;
  }

  dispose(): void {
    this.listening.dispose();
  }

  private async exchange(exchange: Exchange, method: string, params: Fields): Promise<Result> {
    const hasHeaders = this.deps.transport.hasHeaders === true;
    let request = params;
    let isRefused = false;
    for (let rounds = 0; ;) {
      const mirrored = this.deps.headers.mirroredBy(request['name']);
      let result: Result;
      try {
        result = await exchange.send(method, request);
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        this.check(error);
        const isOfHeaders = error.code === errorCodes.headerMismatch && method === 'tools/call' && hasHeaders;
        if (!isOfHeaders || isRefused) throw inOurWords(error);
        isRefused = true;
        this.report({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        await exchange.during(this.learnHeaders());
        // The tool wants the same headers as before, so the call would be refused again.
        if (this.headersOf(method, request) === this.headersOf(method, request, mirrored)) throw inOurWords(error);
        continue;
      }
      if (result['resultType'] !== 'input_required') {
        return this.complete(method, request, result, rounds > 0);
      }
      rounds += 1;
      if (rounds > mostRounds) throw inputFailure(`asked for more input more than ${mostRounds} times.`);
      request = { ...params, ...(await this.inputFor(exchange, result)) };
    }
  }

  private headersOf(method: string, params: Fields, mirrored?: readonly MirroredParam[]): string {
    return JSON.stringify(this.deps.headers.of({ jsonrpc: '2.0', method, params }, mirrored));
  }

  private complete(method: string, request: Fields, result: Result, hadInput: boolean): Result {
    const { resultType = 'complete' } = result;
    if (resultType === 'complete') {
      if (method === 'tools/list' && this.deps.transport.hasHeaders === true) this.deps.headers.learn(result);
      return withoutEnvelope(hadInput ? withoutHints(result) : result);
    }
    if (isExpectedTask(result, method, request)) return { ...withoutEnvelope(result), resultType };
    const message = `The server answered with a result of an unknown type: ${inBrief(resultType, 100)}.`;
    throw new RpcFailure(errorCodes.internal, message);
  }

  /** Asks the client for the input required by a result. */
  private async inputFor(exchange: Exchange, result: Result): Promise<Fields> {
    const input = readInput(result);
    if (typeof input === 'string') throw inputFailure(`asked for input, but ${input}.`);
    const { requests, state } = input;
    if (requests.length === 0) await exchange.during(delay(this.deps.clock, stateOnlyPauseMs));
    const ask = async (request: ServerRequest & { readonly key: string }): Promise<[string, Fields]> => {
      try {
        return [request.key, await this.deps.serverRequests.answer(request, undefined, [exchange])];
      } catch (error) {
        const { code, message, data } = rpcErrorOf(error);
        throw new RpcFailure(code, message, data);
      }
    };
    const answers = await exchange.during(Promise.all(requests.map(ask)));
    return {
      ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) }),
      ...(state !== undefined && { requestState: state }),
    };
  }

  /** Lists the tools for their wishes about headers, once for all waiting calls. */
  private learnHeaders(): Promise<void> {
    this.learning ??= this.learnPages()
      .catch(() => undefined)
      .finally(() => (this.learning = undefined));
    return this.learning;
  }

  private async learnPages(): Promise<void> {
    const { peer, clock, headers, meta } = this.deps;
    let cursor: unknown;
    for (let pages = 0; pages < mostToolPages; pages++) {
      const params = { ...(cursor !== undefined && { cursor }), _meta: meta };
      const page = await limited(clock, toolPageLimitMs, undefined, (signal) =>
        peer.request('tools/list', params, signal),
      );
      headers.learn(page);
      cursor = page['nextCursor'];
      if (typeof cursor !== 'string' || cursor === '') return;
    }
  }

  /** A server of another era may have taken the place of the old one, without any other notice. */
  private check(error: RpcFailure): void {
    if (looksLegacy(error)) void this.askAgain();
  }

  private async askAgain(): Promise<void> {
    const { transport, era, clock } = this.deps;
    if (this.isDoubted || !transport.fail) return;
    this.isDoubted = true;
    const found = await inTime(clock, discover(this.deps)).catch(() => undefined);
    this.isDoubted = false;
    if (found?.kind !== 'none' && found?.kind !== 'otherVersions') return;
    era.onSeen('legacy');
    transport.fail(`The server no longer speaks protocol version ${modernVersion}.`);
  }
}

/** Returns the `_meta` of requests without a client. */
export function ownMeta(clientInfo: Fields, capabilities: Fields): Fields {
  return {
    [metaKeys.protocolVersion]: modernVersion,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: modernCapabilities(capabilities),
  };
}

/** Clients of this version do not report changes of their roots. A server asks for them in each request that needs them. */
function modernCapabilities(capabilities: Fields): Fields {
  const declared: Fields = declaredCapabilities(capabilities);
  return { ...declared, ...(declared['roots'] !== undefined && { roots: {} }) };
}

interface Input {
  readonly requests: readonly (ServerRequest & { readonly key: string })[];
  /** The server wants this back, word for word. */
  readonly state: string | undefined;
}

/** Returns the fault of the result, as a clause, if it cannot be answered. */
function readInput({ inputRequests = {}, requestState }: Fields): Input | string {
  if (requestState !== undefined && typeof requestState !== 'string') return 'its `requestState` is not a string';
  if (!isObject(inputRequests)) return 'its `inputRequests` is not an object';
  const entries = Object.entries(inputRequests);
  if (entries.length === 0 && requestState === undefined) return 'names nothing that it needs';
  if (entries.length > mostInputRequests) return `wants more than ${mostInputRequests} answers at once`;
  const requests: (ServerRequest & { readonly key: string })[] = [];
  for (const [key, request] of entries) {
    if (!isObject(request) || typeof request['method'] !== 'string') return 'one of its `inputRequests` has no method';
    const params = isObject(request['params']) ? request['params'] : undefined;
    requests.push({ key, method: request['method'], params: withElicitationId(params) });
  }
  return { requests, state: requestState };
}

/** Legacy clients want an id with every elicitation by URL. */
function withElicitationId(params: Fields | undefined): Fields | undefined {
  return params?.['mode'] === 'url' ? { elicitationId: randomUUID(), ...params } : params;
}

function inputFailure(clause: string): RpcFailure {
  return new RpcFailure(errorCodes.internal, `The server ${clause}`);
}

/** True if a modern server may have become legacy: it refuses the version, or a request it would have read. */
function looksLegacy(error: RpcFailure): boolean {
  return error.data instanceof TransportFailure ? mayBeModern(error) : error.code === errorCodes.unsupportedVersion;
}

/** Errors about our connection to the server would mislead a client, because its connection is to us. */
function inOurWords(error: RpcFailure): RpcFailure {
  const { code, message } = error;
  if (code !== errorCodes.headerMismatch && code !== errorCodes.unsupportedVersion) return error;
  const what = code === errorCodes.headerMismatch ? 'the headers of the request' : `protocol version ${modernVersion}`;
  return new RpcFailure(errorCodes.internal, `The server refused ${what}: ${message}`);
}

/** True if a call was answered with a task and its client knows tasks. */
function isExpectedTask(result: Result, method: string, request: Fields): boolean {
  const declared = metaOf(request)[metaKeys.clientCapabilities];
  return method === 'tools/call' && isObject(declared) && taskIn(result) !== undefined && knowsTasks(declared);
}

/** Removes the fields meant for this connection only. */
function withoutEnvelope(result: Result): Result {
  const { resultType, ...rest } = result;
  const whole = resultType === undefined ? result : rest;
  return isObject(whole['_meta']) ? withoutMeta(whole, metaKeys.serverInfo) : whole;
}

/** A result depending on more than its request must not be cached (X8). */
function withoutHints({ ttlMs: _, cacheScope: __, ...rest }: Result): Result {
  return rest;
}

function withoutMeta(fields: Fields, key: string): Result {
  const { _meta: meta, ...rest } = fields;
  const kept = Object.entries(isObject(meta) ? meta : {}).filter(([name]) => name !== key);
  return kept.length > 0 ? { ...rest, _meta: Object.fromEntries(kept) } : rest;
}
