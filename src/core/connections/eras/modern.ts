/**
 * The protocol versions since 2026-07-28, without sessions. Invariant: a request goes out again
 * only if the server asked for input, or refused the request unread because of its headers, and
 * then once.
 */
import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { delay, limited, type Clock } from '../../base/clock.js';
import { orAborted } from '../../base/events.js';
import { asFields, isObject, without, type Fields } from '../../base/isObject.js';
import { LoopShare } from '../../base/turns.js';
import type { FailedOpening } from '../../failures/startFailure.js';
import { TransportFailure } from '../../failures/transportFailure.js';
import { rpcFailureOf, ConnectionEnded, type Exchange } from '../../peer/peer.js';
import { declaredCapabilities, type ServerClient } from '../../protocol/client.js';
import { errorCodes, RpcFailure, type RpcError } from '../../protocol/errors.js';
import { inBrief, shortened } from '../../protocol/inBrief.js';
import { mirroredParams } from '../../protocol/mirroredParams.js';
import { presentParams } from '../../protocol/shapes.js';
import {
  metaKeys,
  metaOf,
  modernVersion,
  protocolVersions,
  type Era,
  knowsTasks,
  taskIn,
  unwatchTask,
  watchTask,
} from '../../protocol/versions.js';
import { type ServerFacts, readFacts } from '../handshake.js';
import type { LiveConnectionDeps, Protocol } from '../liveConnection.js';
import type { ServerRequest } from '../serverRequests.js';
import { Listening } from './listening.js';
import type { RequestHeaders } from './requestHeaders.js';
import { BoundedMap } from '../../base/boundedMap.js';

interface ModernDeps extends Omit<LiveConnectionDeps, 'protocol' | 'share'> {
  readonly headers: RequestHeaders;
  readonly era: EraMemory;
  readonly speak: (version: string) => void;
}

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
  private readonly hasHeaders: boolean;
  private report: (notification: JSONRPCNotification) => void = () => {};
  private learning: Promise<void> | undefined;
  private isChecking = false;

  constructor(
    private readonly deps: ModernDeps,
    private readonly meta: Fields,
    readonly facts: ServerFacts,
    capabilities: Fields,
  ) {
    this.hasHeaders = deps.transport.hasHeaders === true;
    this.listening = new Listening({
      ...deps,
      meta,
      hasStreams: this.hasHeaders,
      capabilities,
      report: (notification) => this.report(notification),
      onRefused: (error) => void this.check(error),
    });
  }

  metaFor(client: ServerClient | undefined): Fields {
    const { meta } = this;
    if (!client) return meta;
    const { capabilities } = client;
    const known = this.declared.get(capabilities);
    const said = known ?? {
      ...meta,
      [metaKeys.clientCapabilities]: modernCapabilities(capabilities),
    };
    if (!known) this.declared.set(capabilities, said);
    return client.logLevel === undefined ? said : { ...said, [metaKeys.logLevel]: client.logLevel };
  }

  begin(report: (notification: JSONRPCNotification) => void): Promise<void> {
    this.report = report;
    return this.listening.start();
  }

  async call(exchange: Exchange, method: string, params: Fields): Promise<Fields> {
    const { listening } = this;
    switch (method) {
      case 'ping':
      case 'logging/setLevel':
        return {};
      case 'resources/subscribe':
        return await exchange.during(listening.add('resourceSubscriptions', params['uri']));
      case 'resources/unsubscribe':
        return listening.remove('resourceSubscriptions', params['uri']);
      case watchTask:
        return await exchange.during(listening.add('taskIds', params['taskId']));
      case unwatchTask:
        return listening.remove('taskIds', params['taskId']);
      default:
        return await this.exchange(exchange, method, params);
    }
  }

  async list(method: string, params: Fields | undefined, signal: AbortSignal): Promise<Fields> {
    const whole = { ...params, _meta: this.meta };
    return await this.deps.peer.during(signal, undefined, (exchange) =>
      this.exchange(exchange, method, whole),
    );
  }

  read(notification: JSONRPCNotification): JSONRPCNotification | undefined {
    if (this.listening.hears(notification)) return undefined;
    const { params } = notification;
    if (params?._meta?.[metaKeys.subscriptionId] === undefined) return notification;
    return { ...notification, params: withoutMeta(params, metaKeys.subscriptionId) };
  }

  async answer({ method }: JSONRPCRequest): Promise<undefined> {
    const text = `[protocol] The server sent the request ${method}, which no server may send since 2026-07-28.`;
    this.deps.log.write('warn', text);
  }

  whatIsWrongWithTool({ inputSchema }: Fields): string | undefined {
    if (!this.hasHeaders) return undefined;
    const mirrored = mirroredParams(inputSchema);
    return typeof mirrored === 'string' ? mirrored : undefined;
  }

  dispose(): void {
    this.listening.dispose();
  }

  private async exchange(exchange: Exchange, method: string, params: Fields): Promise<Fields> {
    const { headers } = this.deps;
    let request = params;
    let isRefused = false;
    for (let rounds = 0; ;) {
      const mirrored = headers.mirroredBy(request['name']);
      let result: Fields;
      try {
        result = await exchange.send(method, request);
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        void this.check(error);
        const isOfHeaders =
          error.code === errorCodes.headerMismatch && method === 'tools/call' && this.hasHeaders;
        if (!isOfHeaders || isRefused) throw inOurWords(error);
        isRefused = true;
        this.report({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        await exchange.during(this.learnHeaders());
        // The tool wants the same headers as before, so the call would be refused again.
        if (isDeepStrictEqual(headers.mirroredBy(request['name']), mirrored))
          throw inOurWords(error);
        continue;
      }
      if (result['resultType'] !== 'input_required')
        return this.complete(method, request, result, rounds > 0);
      rounds += 1;
      if (rounds > mostRounds)
        throw inputFailure(`asked for more input more than ${mostRounds} times.`);
      request = { ...params, ...(await this.inputFor(exchange, result)) };
    }
  }

  private complete(method: string, request: Fields, result: Fields, hadInput: boolean): Fields {
    const { resultType = 'complete' } = result;
    if (resultType === 'complete') {
      if (method === 'tools/list' && this.hasHeaders) this.deps.headers.learn(result);
      // A result depending on more than its request must not be cached (X8e).
      const own = withoutEnvelope(hadInput ? without(result, 'ttlMs', 'cacheScope') : result);
      return LoopShare.of(result)?.owns(own) ?? own;
    }
    const declared = metaOf(request)[metaKeys.clientCapabilities];
    const isExpected = method === 'tools/call' && isObject(declared) && knowsTasks(declared);
    if (isExpected && taskIn(result) !== undefined)
      return { ...withoutEnvelope(result), resultType };
    const message = `The server answered with a result of an unknown type: ${inBrief(resultType, 100)}.`;
    throw new RpcFailure(errorCodes.internal, message);
  }

  private async inputFor(exchange: Exchange, result: Fields): Promise<Fields> {
    const { requests, state } = readInput(result);
    if (requests.length === 0) await exchange.during(delay(this.deps.clock, stateOnlyPauseMs));
    const ask = async (request: InputRequest): Promise<[string, Fields]> => {
      const asked = this.deps.serverRequests.answer(request, undefined, [exchange]);
      return [
        request.key,
        await asked.catch((error: unknown) => Promise.reject(rpcFailureOf(error))),
      ];
    };
    const answers = await exchange.during(Promise.all(requests.map(ask)));
    return {
      ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) }),
      ...(state !== undefined && { requestState: state }),
    };
  }

  private learnHeaders(): Promise<void> {
    this.learning ??= this.learnPages()
      .catch(() => undefined)
      .finally(() => (this.learning = undefined));
    return this.learning;
  }

  private async learnPages(): Promise<void> {
    const { peer, clock, headers } = this.deps;
    const seen = new Set<unknown>();
    let cursor: unknown;
    while (seen.size < mostToolPages) {
      const params = { ...(cursor !== undefined && { cursor }), _meta: this.meta };
      const page = await limited(clock, toolPageLimitMs, undefined, (over) =>
        peer.request('tools/list', params, over),
      );
      headers.learn(page);
      cursor = page['nextCursor'];
      if (typeof cursor !== 'string' || seen.has(cursor)) return;
      seen.add(cursor);
    }
  }

  /**
   * A legacy server may have taken the place of the old one: it refuses the version, or a readable
   * request.
   */
  private async check(error: RpcFailure): Promise<void> {
    const { transport, era, clock } = this.deps;
    const isOfTransport = error.data instanceof TransportFailure;
    const looksLegacy = isOfTransport
      ? mayBeModern(error)
      : error.code === errorCodes.unsupportedVersion;
    if (!looksLegacy || this.isChecking || !transport.fail) return;
    this.isChecking = true;
    const found = await inTime(clock, discover(this.deps, this.meta)).catch(() => undefined);
    this.isChecking = false;
    if (found?.kind !== 'none' && found?.kind !== 'refused') return;
    era.onSeen('legacy');
    transport.fail(`The server no longer speaks protocol version ${modernVersion}.`);
  }
}

export function ownMeta(clientInfo: Fields, capabilities: Fields): Fields {
  return {
    [metaKeys.protocolVersion]: modernVersion,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: modernCapabilities(capabilities),
  };
}

/**
 * Clients of this version do not report changes of their roots. A server asks for them in each
 * request that needs them.
 */
function modernCapabilities(capabilities: Fields): Fields {
  const declared: Fields = declaredCapabilities(capabilities);
  return { ...declared, ...(declared['roots'] !== undefined && { roots: {} }) };
}

type InputRequest = ServerRequest & { readonly key: string };

/** `state` goes back to the server, word for word. */
function readInput({ inputRequests = {}, requestState: state }: Fields): {
  requests: InputRequest[];
  state?: string;
} {
  const refuse = (why: string): never => {
    throw inputFailure(`asked for input, but ${why}.`);
  };
  if (state !== undefined && typeof state !== 'string')
    return refuse('its `requestState` is not a string');
  if (!isObject(inputRequests)) return refuse('its `inputRequests` is not an object');
  const entries = Object.entries(inputRequests);
  if (entries.length === 0 && state === undefined) return refuse('names nothing that it needs');
  if (entries.length > mostInputRequests)
    return refuse(`wants more than ${mostInputRequests} answers at once`);
  const requests = entries.map(([key, request]): InputRequest => {
    if (!isObject(request) || typeof request['method'] !== 'string')
      return refuse('one of its `inputRequests` has no method');
    const { method } = request;
    const params = isObject(request['params'])
      ? presentParams(method, request['params'])
      : undefined;
    // Legacy clients want an id with every elicitation by URL.
    const id = params?.['mode'] === 'url' && { elicitationId: randomUUID() };
    return {
      key,
      method,
      params: params && { ...id, ...params },
    };
  });
  return { requests, ...(state !== undefined && { state }) };
}

function inputFailure(clause: string): RpcFailure {
  return new RpcFailure(errorCodes.internal, `The server ${clause}`);
}

/**
 * Errors about our connection to the server would mislead a client, because its connection is to
 * us.
 */
function inOurWords(error: RpcFailure): RpcFailure {
  const { code, message } = error;
  if (code !== errorCodes.headerMismatch && code !== errorCodes.unsupportedVersion) return error;
  const what =
    code === errorCodes.headerMismatch
      ? 'the headers of the request'
      : `protocol version ${modernVersion}`;
  return new RpcFailure(errorCodes.internal, `The server refused ${what}: ${message}`);
}

function withoutEnvelope(result: Fields): Fields {
  const { resultType, ...rest } = result;
  const whole = resultType === undefined ? result : rest;
  return isObject(whole['_meta']) ? withoutMeta(whole, metaKeys.serverInfo) : whole;
}

function withoutMeta(fields: Fields, key: string): Fields {
  const rest = without(fields, '_meta');
  const kept = without(metaOf(fields), key);
  return Object.keys(kept).length > 0 ? { ...rest, _meta: kept } : rest;
}

const ourVersions: readonly string[] = [modernVersion, ...protocolVersions];

export type Discovery =
  | {
      readonly kind: 'modern';
      readonly facts: ServerFacts | string;
      readonly capabilities: Fields;
    }
  /** The server knows discovery, but only versions unknown here, or it could not be asked. */
  | Extract<FailedOpening, { kind: 'refused' | 'transport' }>
  | { readonly kind: 'none' };

function readDiscovery(result: unknown): Discovery {
  if (!isObject(result) || !Array.isArray(result['supportedVersions'])) return { kind: 'none' };
  if (!result['supportedVersions'].includes(modernVersion))
    return otherVersions(result['supportedVersions']);
  const { capabilities, instructions } = result;
  if (!isObject(capabilities)) return { kind: 'none' };
  const said = metaOf(result)[metaKeys.serverInfo];
  const serverInfo = {
    name: 'unnamed',
    version: '',
    ...(isObject(said) && said),
  };
  return {
    kind: 'modern',
    facts: readFacts({ capabilities, serverInfo, instructions }, modernVersion),
    capabilities,
  };
}

export function readRefusedVersion(data: unknown): Discovery {
  const supported = supportedIn(data);
  const isKnown = !supported || ourVersions.some((version) => supported.includes(version));
  return isKnown ? { kind: 'none' } : otherVersions(supported);
}

function supportedIn(data: unknown): readonly unknown[] | undefined {
  const supported: unknown = asFields(data)['supported'];
  return Array.isArray(supported) ? supported : undefined;
}

function otherVersions(supported: readonly unknown[]): Discovery {
  // A version has ten characters, so no more of the list is read than is shown.
  const texts = supported.slice(0, 20).filter((version) => typeof version === 'string');
  const theirs = shortened(texts.map((version) => version.slice(0, 200)).join(', '), 200);
  const message = `It speaks protocol versions ${theirs}, but MCP Toolsets speaks only ${ourVersions.join(', ')}.`;
  return {
    kind: 'refused',
    code: errorCodes.unsupportedVersion,
    message,
  };
}

/** @param mayAskAgain a server may refuse our version once although it lists it */
export async function discover(
  deps: Pick<ModernDeps, 'peer' | 'speak'>,
  meta: Fields,
  mayAskAgain = true,
): Promise<Discovery> {
  deps.speak(modernVersion);
  try {
    return readDiscovery(await deps.peer.request('server/discover', { _meta: meta }));
  } catch (error) {
    if (!(error instanceof RpcFailure) || error instanceof ConnectionEnded) throw error;
    if (error.data instanceof TransportFailure && !mayBeModern(error))
      return { kind: 'transport', failure: error.data };
    if (error.code !== errorCodes.unsupportedVersion) return { kind: 'none' };
    const isContradiction = supportedIn(error.data)?.includes(modernVersion);
    return mayAskAgain && isContradiction
      ? await discover(deps, meta, false)
      : readRefusedVersion(error.data);
  }
}

/**
 * A silent server known as modern gets `initialize` too: it may be legacy now, or it is slow to
 * start.
 */
const discoverLimitMs = 5_000;

export function inTime<T>(clock: Clock, discovery: Promise<T>): Promise<T | undefined> {
  return limited(clock, discoverLimitMs, undefined, (over) => orAborted(discovery, over));
}

/** True unless the server could not be reached: an HTTP server refuses a request by its status. */
export function mayBeModern({ data }: RpcError): boolean {
  if (!(data instanceof TransportFailure)) return true;
  return data.reason.kind === 'status' && [400, 404, 405].includes(data.reason.status);
}

export interface EraMemory {
  readonly expected: Era;
  readonly onSeen: (era: Era) => void;
}

const mostLaunches = 1_000;

export class EraMemories {
  private readonly seen = new BoundedMap<string, Era>(mostLaunches);

  /** @param before its era in an earlier process; the one seen in this process counts more */
  of(launch: string, before: Era = 'legacy'): EraMemory {
    return {
      expected: this.seen.get(launch) ?? before,
      onSeen: (era) => this.seen.set(launch, era),
    };
  }
}
