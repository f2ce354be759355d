/**
 * The SDK's transport over HTTP (X2): Streamable HTTP, or HTTP+SSE if the server knows only that.
 * It does not load the SDK. Invariants: the failure of a request is delivered as its answer (see
 * `failureAnswer`), and `send` rejects only for other messages; `onclose` is called once, with
 * `causeOfEnd` known. After it, only `onlate` gets answers: for each interrupted request, whether
 * it was delivered.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../../base/clock.js';
import type { Log } from '../../base/log.js';
import { messageOf } from '../../base/text.js';
import { LoopShare } from '../../base/turns.js';
import type { HttpLaunch } from '../../config/model.js';
import { protocolVersions } from '../../protocol/versions.js';
import {
  requestId,
  type EndpointParts,
  type HttpAccess,
  type HttpChannel,
  type HttpChannelDeps,
  HttpEndpoint,
} from './endpoint.js';
import { versionHeader } from '../handshake.js';
import { LegacySseChannel } from './legacySse.js';
import { StreamableChannel } from './streamable.js';
import { failureAnswer, refusesUs, TransportFailure } from '../../failures/transportFailure.js';
import type { SendOptions, ServerTransport } from '../../peer/peer.js';

export interface HttpTransportDeps extends EndpointParts {
  readonly launch: HttpLaunch;
  readonly log: Log;
  readonly clock: Clock;
  readonly share?: LoopShare | undefined;
  readonly clientVersion: string;
  readonly timeoutMs: number;
  readonly access?: HttpAccess | undefined;
}

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'open'; readonly channel: HttpChannel }
  | { readonly kind: 'ended'; readonly cause: string };

/**
 * After these, a GET is refused too. Any other may mean HTTP+SSE: gateways do not keep to 400, 404
 * and 405.
 */
const finalStatuses = [401, 407, 429];
/**
 * A server that fails at a POST may not answer a GET. The first failure explains more than the time
 * limit.
 */
const fallBackMs = 10_000;
/** This many answers wait for a server to take them. A server asking on and on gets no more. */
const mostAnswering = 256;
const tooSlow =
  '[http] The server accepts messages too slowly, so it gets no more answers to its requests.';

/**
 * Returns the answer that says a server may know only HTTP+SSE; undefined for any other failure.
 */
function legacySign({ reason }: TransportFailure): string | undefined {
  if (reason.kind === 'notMcp' && reason.isLegacyStream) return 'an event `endpoint`';
  return reason.kind === 'status' && !finalStatuses.includes(reason.status)
    ? `HTTP ${reason.status}`
    : undefined;
}

/**
 * A lost or refused notification says nothing about other messages, unless the server refuses us
 * (X2b).
 */
export function isPointlessRefusal(error: unknown): boolean {
  if (!(error instanceof TransportFailure)) return false;
  const { kind } = error.reason;
  return kind === 'status'
    ? !refusesUs(error.reason)
    : ['broken', 'redirect', 'notMcp', 'tooLarge'].includes(kind);
}

export class HttpTransport implements ServerTransport {
  onclose?: (() => void) | undefined;
  onmessage?: ServerTransport['onmessage'];
  onlate?: ((answer: JSONRPCMessage) => void) | undefined;
  onrenewed?: (() => void) | undefined;
  readonly hasHeaders = true;

  private state: State = { kind: 'idle' };
  private readonly origins = new WeakMap<object, RequestId>();
  private sessionTried = false;
  private answering = 0;
  private ending: Promise<void> | undefined;
  private readonly channelDeps: HttpChannelDeps;

  constructor(private readonly deps: HttpTransportDeps) {
    const { launch, clientVersion, access } = deps;
    this.channelDeps = {
      endpoint: new HttpEndpoint(launch, clientVersion, access, deps),
      log: deps.log,
      clock: deps.clock,
      share: deps.share ?? new LoopShare(deps.clock),
      deliver: (message, origin) => {
        const isRequest = 'method' in message;
        if (this.hasEnded()) return isRequest ? undefined : this.onlate?.(message);
        if (origin !== undefined && isRequest) this.origins.set(message, origin);
        this.onmessage?.(message);
      },
      die: (cause) => this.fail(cause),
    };
  }

  get causeOfEnd(): string {
    return this.state.kind === 'ended' ? this.state.cause : '';
  }

  get sessionId(): string | undefined {
    return this.channelDeps.endpoint.sessionId;
  }

  originOf(message: object): RequestId | undefined {
    return this.origins.get(message);
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  setProtocolVersion(version: string): void {
    this.channelDeps.endpoint.protocolVersion = versionHeader(version);
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (this.state.kind === 'ended') throw new Error(this.state.cause);
    const id = requestId(message);
    const method = 'method' in message ? message.method : undefined;
    if (id !== undefined && method === 'initialize') {
      void this.initialize(id, message);
      return;
    }
    const channel = this.state.kind === 'open' ? this.state.channel : this.openStreamable();
    const answers = method === undefined ? 1 : 0;
    if (answers > 0 && this.answering >= mostAnswering) return this.deps.log.write('warn', tooSlow);
    this.answering += answers;
    try {
      await channel.send(message, options);
    } catch (error) {
      if (method !== 'notifications/initialized' || !isPointlessRefusal(error)) throw error;
      this.deps.log.write(
        'warn',
        `[http] the server refused notifications/initialized; going on. ${messageOf(error)}`,
      );
    } finally {
      this.answering -= answers;
    }
  }

  fail(cause: string): void {
    void this.end(cause);
  }

  close(): Promise<void> {
    return this.end('The connection was closed.');
  }

  private async initialize(id: RequestId, message: JSONRPCMessage): Promise<void> {
    const { deliver } = this.channelDeps;
    const streamable = this.openStreamable();
    const failure = await streamable.answerTo(id, message);
    if (!failure) return;
    if (this.hasEnded()) return deliver(failureAnswer(id, failure));
    const { reason } = failure;
    if (reason.kind === 'status' && this.deps.launch.sessionId !== '' && !this.sessionTried) {
      this.sessionTried = true;
      return await this.withoutInitialize(streamable, id, message, reason.status);
    }
    const why = legacySign(failure);
    if (why === undefined) return deliver(failureAnswer(id, failure));
    const later = await this.fallBack(streamable, message, why);
    if (later === 'spoken') return;
    // The next message, if any, is `server/discover`.
    if (!this.hasEnded()) this.openStreamable();
    // That the server does speak HTTP+SSE explains more than its refusal of a POST.
    const isTelling =
      later?.reason.kind === 'redirect' && later.reason.remedy?.kind === 'otherEndpoint';
    deliver(failureAnswer(id, isTelling ? later : failure));
  }

  private openStreamable(): StreamableChannel {
    const { timeoutMs } = this.deps;
    const channel = new StreamableChannel({
      ...this.channelDeps,
      timeoutMs,
      onRenewed: () => this.onrenewed?.(),
    });
    this.state = { kind: 'open', channel };
    return channel;
  }

  /** A configured session exists already, so its server takes no second initialize. */
  private async withoutInitialize(
    streamable: StreamableChannel,
    id: RequestId,
    message: JSONRPCMessage,
    status: number,
  ): Promise<void> {
    const { log } = this.deps;
    if (status !== 404 && (await streamable.isAlive())) {
      log.write(
        'info',
        'The configured session is known to the server: using it without initialize',
      );
      const [protocolVersion] = protocolVersions;
      const serverInfo = { name: this.channelDeps.endpoint.configured.host, version: '' };
      const result = {
        protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo,
      };
      this.channelDeps.deliver({
        jsonrpc: '2.0',
        id,
        result,
      });
      return;
    }
    log.write('warn', `The configured session was refused (HTTP ${status}); beginning a new one`);
    this.channelDeps.endpoint.sessionId = undefined;
    await streamable.close();
    await this.initialize(id, message);
  }

  /** @param why completes "… answers a posted initialize with" */
  private async fallBack(
    streamable: HttpChannel,
    message: JSONRPCMessage,
    why: string,
  ): Promise<'spoken' | TransportFailure | undefined> {
    await streamable.close();
    const legacy = new LegacySseChannel(this.channelDeps);
    if (this.hasEnded()) return undefined;
    this.state = { kind: 'open', channel: legacy };
    const timer = this.deps.clock.after(fallBackMs, () => void legacy.close());
    const failure = await legacy.open().finally(() => timer.dispose());
    if (failure || this.hasEnded()) {
      if (failure)
        this.channelDeps.log.write('debug', `[http] no HTTP+SSE either: ${failure.message}`);
      await legacy.close();
      return failure;
    }
    const text = `answers a posted initialize with ${why}; speaking HTTP+SSE of protocol 2024-11-05 to it`;
    this.channelDeps.log.write('info', `${this.deps.launch.url.value} ${text}`);
    await legacy.send(message);
    return 'spoken';
  }

  private hasEnded(): boolean {
    return this.state.kind === 'ended';
  }

  private end(cause: string): Promise<void> {
    return (this.ending ??= this.endOnce(cause));
  }

  private async endOnce(cause: string): Promise<void> {
    const { state } = this;
    this.state = { kind: 'ended', cause };
    this.onclose?.();
    if (state.kind === 'open') await state.channel.close();
    this.channelDeps.endpoint.dispose();
  }
}
