/**
 * Makes a transport into a connection with listed tools (X3). A server known as modern gets
 * `server/discover` (X8). Every other one gets `initialize`, because some legacy servers end at
 * anything else, and `server/discover` only after a refusal. Invariant: a legacy server gets no
 * other messages, unless it was modern before.
 */
import type { ClientCapabilities, JSONRPCNotification } from '@modelcontextprotocol/sdk/types.js';
import { orAborted } from '../../base/events.js';
import {
  startFailure,
  type FailedOpening,
  type TransportFailures,
} from '../../failures/startFailure.js';
import { refusesUs, TransportFailure } from '../../failures/transportFailure.js';
import { ConnectionEnded, Peer, type PeerListener } from '../../peer/peer.js';
import { declaredCapabilities, type Fields, type ServerClient } from '../../protocol/client.js';
import { errorCodes, RpcFailure, type RpcError } from '../../protocol/errors.js';
import { modernVersion, protocolVersions } from '../../protocol/versions.js';
import { ListError, StartTimedOut, type ConnectOutcome, type ToolListing } from '../connection.js';
import { inFormOf, readInitializeAnswer } from '../handshake.js';
import { LiveConnection, type LiveConnectionDeps, type Protocol } from '../liveConnection.js';
import { logMessage, trafficTrace } from '../logging.js';
import { ServerRequests } from '../serverRequests.js';
import {
  discover,
  inTime,
  mayBeModern,
  type Discovery,
  type EraMemory,
  ModernProtocol,
  ownMeta,
} from './modern.js';
import { RequestHeaders } from './requestHeaders.js';

export interface OpeningDeps extends Pick<
  LiveConnectionDeps,
  'transport' | 'clock' | 'share' | 'log'
> {
  readonly era: EraMemory;
  readonly self: OpeningClient;
  readonly trace: () => boolean;
  readonly limit: OpeningLimit;
}

/** The server learns this of its client. */
interface OpeningClient {
  readonly version: string;
  readonly capabilities: Fields;
  /** The client that an instance of one conversation belongs to. */
  readonly client?: ServerClient | undefined;
}

interface OpeningLimit {
  readonly timeoutMs: number;
  /**
   * Aborts with `StartTimedOut` after that time, and with any other reason if nobody wants the
   * connection.
   */
  readonly signal: AbortSignal;
}

export type Opening =
  | {
      readonly kind: 'opened';
      readonly connection: LiveConnection;
      readonly listing: ToolListing;
      /** Why the server listed no tools, but something else. */
      readonly toolsFailure?: FailedOpening;
    }
  | FailedOpening;

const mostListings = 3;
/** Some servers complain of a message without an id, and answer it then. */
const answerGraceMs = 1_000;
/** Missing prompts and resources are a separate problem; the tools do not wait longer for them. */
const othersLimitMs = 5_000;
/** The last version without a header for the version. */
const beforeInitialize = '2024-11-05';

export async function connectOver(
  deps: OpeningDeps,
  failures: TransportFailures,
): Promise<ConnectOutcome> {
  const { timeoutMs, signal } = deps.limit;
  const opening = await openConnection(deps);
  if (opening.kind === 'opened') {
    const { connection, listing, toolsFailure } = opening;
    if (!toolsFailure)
      return {
        kind: 'connected',
        connection,
        listing,
      };
    const { message, fix } = await startFailure(toolsFailure, timeoutMs, failures);
    return {
      kind: 'connected',
      connection,
      listing: { ...listing, failure: { message, fix } },
    };
  }
  const failure = await startFailure(opening, timeoutMs, failures);
  await deps.transport.close();
  const isUnwanted = opening.kind === 'stopped' && !(signal.reason instanceof StartTimedOut);
  return isUnwanted ? { kind: 'cancelled' } : { kind: 'failed', failure };
}

export function openConnection(deps: OpeningDeps): Promise<Opening> {
  return new Opener(deps).open();
}

type Answer = { readonly result: Fields } | { readonly error: RpcFailure };

class Opener implements PeerListener {
  private readonly peer: Peer;
  private readonly serverRequests: ServerRequests;
  private readonly headers = new RequestHeaders();
  private readonly declared: ClientCapabilities;
  private readonly clientInfo: Fields;
  private readonly meta: Fields;
  private connection: LiveConnection | undefined;
  private error: RpcError | undefined;
  private hasEnded = false;
  /** Why a server without a session fails, unless it discovers. */
  private refusal: FailedOpening | undefined;
  /** True while `notifications/initialized` is sent. */
  private isAnswered = false;

  constructor(private readonly deps: OpeningDeps) {
    const { transport, clock, log } = deps;
    const { client, version, capabilities } = deps.self;
    this.peer = new Peer(
      {
        transport,
        clock,
        log,
        trace: trafficTrace(log, clock, deps.trace),
      },
      this,
    );
    const notify = (method: string, params?: Fields): void =>
      this.connection?.notify(method, params);
    this.serverRequests = new ServerRequests(this.peer, transport, notify, client);
    this.declared = declaredCapabilities(capabilities);
    this.clientInfo = { name: 'mcp-toolsets', version };
    this.meta = ownMeta(this.clientInfo, this.declared as Fields);
  }

  async open(): Promise<Opening> {
    const { limit } = this.deps;
    const { signal } = limit;
    if (signal.aborted) return { kind: 'stopped', during: 'initialize' };
    const opened = await orAborted(this.openProtocol(), signal);
    if (opened && !signal.aborted) return 'kind' in opened ? opened : await list(opened, limit);
    if (this.refusal && signal.reason instanceof StartTimedOut) return this.refusal;
    if (this.isAnswered) return { kind: 'stopped', during: 'initialized' };
    return {
      kind: 'stopped',
      during: 'initialize',
      ...(this.error && { error: this.error }),
    };
  }

  answer({ method }: { readonly method: string }): Promise<Fields> {
    if (method === 'ping') return Promise.resolve({});
    return Promise.reject(new RpcFailure(errorCodes.methodNotFound, 'Method not found'));
  }

  hear({ method, params = {} }: JSONRPCNotification): void {
    if (method === 'notifications/message') logMessage(this.deps.log, params);
  }

  /** It is the answer to the request that waits, unless the server answers that too. */
  failed(error: RpcError): void {
    if (this.error) return;
    this.error = error;
    this.deps.clock.after(answerGraceMs, () => this.connection ?? this.peer.answerOnly(error));
  }

  ended(): void {
    this.hasEnded = true;
  }

  private async openProtocol(): Promise<LiveConnection | FailedOpening> {
    const { deps, peer, serverRequests } = this;
    try {
      await deps.transport.start();
      const protocol = await this.choose();
      if ('kind' in protocol) return protocol;
      const connection = new LiveConnection({
        ...deps,
        peer,
        protocol,
        serverRequests,
      });
      this.connection = connection;
      peer.listener = connection;
      this.isAnswered = !(protocol instanceof ModernProtocol);
      await protocol.begin((notification) => connection.handle(notification));
      return this.hasEnded || connection.isOver
        ? { kind: 'transport', failure: undefined }
        : connection;
    } catch (error) {
      // The words of the server before its end explain more than its end.
      if (error instanceof ConnectionEnded && this.error) return refused(this.error);
      const to = this.isAnswered ? { to: 'notifications/initialized' } : {};
      return {
        kind: 'transport',
        failure: error instanceof TransportFailure ? error : undefined,
        ...to,
      };
    }
  }

  /**
   * Chooses the protocol.
   *
   * | server | sent | then |
   * |---|---|---|
   * | not known as modern | `initialize` | a refusal may come from a modern one: `server/discover` |
   * | known as modern | `server/discover` | see `confirmModern` |
   */
  private async choose(): Promise<Protocol | FailedOpening> {
    const { era } = this.deps;
    const opened = era.expected === 'modern' ? await this.confirmModern() : {};
    if (opened.protocol) return opened.protocol;
    const answer = opened.answer ?? (await this.initialize());
    const legacy = this.legacy(answer);
    if (!('result' in answer ? versionIn(answer) === modernVersion : mayBeModern(answer.error)))
      return legacy;
    // Such an answer makes no session. So a slow server has the whole time of its start for
    // discovery.
    if ('kind' in legacy) this.refusal = legacy;
    const discovery = await this.discover().catch((error: unknown) => {
      if (error instanceof ConnectionEnded) return undefined;
      throw error;
    });
    this.refusal = undefined;
    return (discovery && this.modern(discovery)) ?? legacy;
  }

  /**
   * Asks a server known as modern whether it still is. If it is silent, it may be slow, or a legacy
   * server that ignores `server/discover` has taken its place. So it gets `initialize` too, and
   * three answers race:
   *
   * - the discovery: it decides
   * - `initialize` with a legacy version: the server is legacy, and this answer opens the connection
   * - a refusal of `initialize`, or the modern version in it: the discovery is awaited
   *
   * Returns the protocol, or the answer to `initialize`, or neither if that has not been sent.
   */
  private async confirmModern(): Promise<{
    readonly protocol?: Protocol | FailedOpening;
    readonly answer?: Answer;
  }> {
    const { era, clock } = this.deps;
    try {
      const discovery = this.discover();
      let opened: Promise<Answer> | undefined;
      let found = await inTime(clock, discovery);
      if (!found) {
        this.speak(beforeInitialize);
        opened = this.initialize();
        const unlessOpened = opened.then((answer) => {
          const version = versionIn(answer);
          return typeof version === 'string' && version !== modernVersion ? undefined : discovery;
        });
        found = await Promise.race([discovery, unlessOpened]);
      }
      const protocol = found && this.modern(found);
      if (protocol) return { protocol };
      era.onSeen('legacy');
      this.speak(beforeInitialize);
      return opened ? { answer: await opened } : {};
    } catch (error) {
      if (error instanceof ConnectionEnded) era.onSeen('legacy');
      throw error;
    }
  }

  private discover(): Promise<Discovery> {
    return discover({ peer: this.peer, speak: (version) => this.speak(version) }, this.meta);
  }

  private speak(version: string): void {
    const { transport } = this.deps;
    transport.setProtocolVersion?.(version);
    const hasHeaders = version === modernVersion && transport.hasHeaders === true;
    this.peer.headersOf = hasHeaders ? (message) => this.headers.of(message) : undefined;
  }

  private async initialize(): Promise<Answer> {
    const { declared: capabilities, clientInfo } = this;
    const params = {
      protocolVersion: protocolVersions[0],
      capabilities,
      clientInfo,
    };
    try {
      return { result: await this.peer.request('initialize', params) };
    } catch (error) {
      if (error instanceof RpcFailure && !(error instanceof ConnectionEnded)) return { error };
      throw error;
    }
  }

  private legacy(answer: Answer): Protocol | FailedOpening {
    if ('error' in answer) return refused(answer.error);
    const facts = readInitializeAnswer(answer.result);
    if (typeof facts === 'string') return { kind: 'wrongAnswer', detail: facts };
    const { protocolVersion } = facts;
    this.deps.transport.setProtocolVersion?.(protocolVersion);
    const { peer, serverRequests, declared } = this;
    return {
      facts,
      call: (exchange, method, params) =>
        exchange.send(method, inFormOf(protocolVersion, method, params)),
      list: (method, params, signal) => peer.request(method, params, signal),
      begin: () => peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      answer: async (request, signal) => {
        const { method } = request;
        return method === 'ping'
          ? {}
          : inFormOf(protocolVersion, method, await serverRequests.answer(request, signal));
      },
      takes: (method) =>
        method !== 'notifications/roots/list_changed' || declared.roots?.listChanged === true,
    };
  }

  /** Returns undefined if the server may be a legacy one. */
  private modern(discovery: Discovery): Protocol | FailedOpening | undefined {
    if (discovery.kind === 'none') return undefined;
    if (discovery.kind !== 'modern') return discovery;
    const { facts, capabilities } = discovery;
    this.deps.era.onSeen('modern');
    if (typeof facts === 'string') return { kind: 'wrongAnswer', detail: facts };
    this.speak(modernVersion);
    const { deps, peer, headers, meta, serverRequests } = this;
    const speak = (version: string): void => this.speak(version);
    return new ModernProtocol(
      {
        ...deps,
        peer,
        headers,
        serverRequests,
        speak,
      },
      meta,
      facts,
      capabilities,
    );
  }
}

function refused({ code, message, data }: RpcError): FailedOpening {
  return data instanceof TransportFailure
    ? { kind: 'transport', failure: data }
    : {
        kind: 'refused',
        code,
        message,
      };
}

function versionIn(answer: Answer): unknown {
  return 'result' in answer ? answer.result['protocolVersion'] : undefined;
}

async function list(
  connection: LiveConnection,
  { signal, timeoutMs }: OpeningLimit,
): Promise<Opening> {
  try {
    for (let listings = 1; ; listings++) {
      connection.changedUnheard = false;
      // They are listed at once, because other lists must not delay the tools.
      const soon = { signal, timeoutMs: Math.min(timeoutMs, othersLimitMs) };
      const [listing, prompts, resources] = await Promise.all([
        connection
          .listTools({ signal, timeoutMs })
          .catch((error: unknown) => failedList(error, signal)),
        connection.listPrompts(soon),
        connection.listResources(soon),
      ]);
      const others = { ...(prompts && { prompts }), ...(resources && { resources }) };
      if ('failed' in listing) {
        const isOffered = (prompts?.prompts.length ?? 0) + (resources?.resources.length ?? 0) > 0;
        const { failed } = listing;
        const isAll = failed.kind === 'transport' && failed.failure?.reason.kind === 'signIn';
        if (failed.kind === 'stopped' || isAll || !isOffered || connection.isOver) return failed;
        const none = {
          tools: [],
          malformed: [],
          ...others,
        };
        return {
          kind: 'opened',
          connection,
          listing: none,
          toolsFailure: failed,
        };
      }
      if (connection.changedUnheard && listings < mostListings) continue;
      connection.learnRoots();
      return {
        kind: 'opened',
        connection,
        listing: { ...listing, ...others },
      };
    }
  } catch (error) {
    return failedList(error, signal).failed;
  }
}

function failedList(error: unknown, signal: AbortSignal): { readonly failed: FailedOpening } {
  if (signal.aborted) return { failed: { kind: 'stopped', during: 'list' } };
  if (!(error instanceof ListError)) throw error;
  // Some servers let anyone initialize, and refuse the next message.
  const failure = (error.cause as { data?: unknown } | undefined)?.data;
  const explains =
    failure instanceof TransportFailure &&
    (['signIn', 'redirect'].includes(failure.reason.kind) || refusesUs(failure.reason));
  return {
    failed: explains
      ? {
          kind: 'transport',
          failure,
          to: 'tools/list',
        }
      : { kind: 'listFailed', reason: error.message },
  };
}
