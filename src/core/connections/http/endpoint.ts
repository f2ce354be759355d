/**
 * The address of an HTTP server and the headers for it. It has two sets of sockets, so no call
 * blocks a cancellation.
 */
import { english } from '../../base/language.js';
import { printerOf } from '../../config/launchValues.js';
import type { HttpLaunch } from '../../config/model.js';
import { directAgents, type HttpAgents, type MakeAgents } from './agents.js';
import { Cookies } from './cookies.js';
import {
  askAgain,
  longestPauseMs,
  pauseMs,
  refusalIn,
  refusesCredential,
  type Refusal as Refused,
} from './refusals.js';
import {
  broken,
  exchange,
  type HttpExchange,
  type HttpReply,
  isWithinOrigin,
  shown,
} from './exchange.js';
import {
  failureAnswer,
  TransportFailure,
  wasNotDelivered,
} from '../../failures/transportFailure.js';
import { modernVersion } from '../../protocol/versions.js';
import { TransientMap } from '../../base/transientMap.js';
import type { SendOptions } from '../../peer/peer.js';
import { setMaxListeners } from 'node:events';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { delay, limited, systemClock, type Clock } from '../../base/clock.js';
import { unlessAborted } from '../../base/events.js';
import type { Log } from '../../base/log.js';
import type { LoopShare } from '../../base/turns.js';

/** A call holds its socket until it is answered. */
const mostCallSockets = 256;
const mostOtherSockets = 16;
/** Servers commonly close an idle socket after 5 s. A request on a closing socket would be lost. */
const idleSocketMs = 4000;
const agentOptions = {
  keepAlive: true,
  maxFreeSockets: 4,
  timeout: idleSocketMs,
};

export interface Refusal {
  readonly status: number;
  readonly header: string | undefined;
}

export type Verdict =
  /** `more`: sentences for the failure. */
  | { readonly kind: 'other'; readonly more?: string }
  /** There is another token now, so the request may go out once more. */
  | { readonly kind: 'renewed' }
  /** `fix` is the next step, if signing in again would fail again. */
  | {
      readonly kind: 'signIn';
      readonly why: string;
      readonly fix?: string;
    }
  | { readonly kind: 'notRenewed'; readonly why: string };

export interface HttpAccess {
  token(): Promise<string | undefined>;
  /** @param used the token of the refused request. @param again a new token was tried already */
  refused(refusal: Refusal, used: string | undefined, again: boolean): Promise<Verdict>;
}

type Kind = 'call' | 'other';
type Message = Omit<HttpExchange, 'credentials' | 'agents'>;

export interface PostTerms {
  readonly signal: AbortSignal;
  readonly url?: URL | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Called with true once the server may have the message, and with false if it refused the token
   * or the session.
   */
  readonly onDelivery?: ((isDelivered: boolean) => void) | undefined;
  readonly limitMs?: number | undefined;
}

/**
 * Runs the programs of values again. Resolves to the launch with their output, or to the reason why
 * there is none.
 */
export type FetchAgain = (signal: AbortSignal) => Promise<HttpLaunch | string>;

export interface EndpointParts {
  readonly agents?: MakeAgents | undefined;
  readonly clock?: Clock;
  readonly fetchAgain?: FetchAgain | undefined;
}

/** The address and the headers of the file, which programs may print. */
interface Own {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The credentials of a refused request. */
interface Sent {
  readonly own: Own;
  readonly token: string | undefined;
  readonly again: boolean;
}

/** An error with the id of the request is its answer. */
const hasId = /"id"\s*:\s*["\d]/;

function ownOf({ url, headers }: HttpLaunch): Own {
  const named = [...headers].map(([name, { value }]) => [name.toLowerCase(), value]);
  return {
    url: new URL(url.value),
    headers: Object.fromEntries(named),
  };
}

export class HttpEndpoint {
  /** The place to which redirects of initialize led. */
  url: URL;
  sessionId: string | undefined;
  /**
   * The value of its header; undefined before there is a version, and for versions without the
   * header.
   */
  protocolVersion: string | undefined;
  private own: Own;
  private readonly cookies: Cookies;
  private readonly calls: HttpAgents;
  private readonly others: HttpAgents;

  constructor(
    private readonly launch: HttpLaunch,
    private readonly clientVersion: string,
    private readonly access?: HttpAccess,
    private readonly parts: EndpointParts = {},
  ) {
    const { agents = directAgents } = parts;
    this.calls = agents({ ...agentOptions, maxSockets: mostCallSockets });
    this.others = agents({ ...agentOptions, maxSockets: mostOtherSockets });
    this.own = ownOf(launch);
    this.url = this.configured;
    this.cookies = new Cookies(this.configured.origin);
    this.sessionId = launch.sessionId === '' ? undefined : launch.sessionId;
  }

  get configured(): URL {
    return this.own.url;
  }

  post(
    body: string,
    kind: Kind,
    { signal, url = this.url, headers, ...terms }: PostTerms,
  ): Promise<HttpReply> {
    const own = {
      ...headers,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    };
    return this.exchange(
      {
        method: 'POST',
        url,
        headers: own,
        body,
        signal,
      },
      kind,
      terms,
    );
  }

  get(lastEventId: string | undefined, kind: Kind, signal: AbortSignal): Promise<HttpReply> {
    const headers = {
      accept: 'text/event-stream',
      // Node writes each character of a header as one byte. The id must go back as UTF-8.
      ...(lastEventId !== undefined && {
        'last-event-id': Buffer.from(lastEventId).toString('latin1'),
      }),
    };
    return this.exchange(
      {
        method: 'GET',
        url: this.url,
        headers,
        signal,
      },
      kind,
    );
  }

  remove(signal: AbortSignal): Promise<HttpReply> {
    const headers = { accept: 'application/json' };
    return this.exchange(
      {
        method: 'DELETE',
        url: this.url,
        headers,
        signal,
      },
      'other',
    );
  }

  dispose(): void {
    this.calls.destroy();
    this.others.destroy();
  }

  /**
   * Sends a request once more if the server has not acted on it: it refused a credential, and there
   * is another one; or it asked for a short pause.
   */
  private async exchange(
    request: Message,
    kind: Kind,
    { onDelivery, limitMs = longestPauseMs }: Pick<PostTerms, 'onDelivery' | 'limitMs'> = {},
  ): Promise<HttpReply> {
    const { access, parts } = this;
    const { clock = systemClock } = parts;
    const { signal } = request;
    const isToOwn = request.url.href === this.configured.href;
    let again = false;
    for (let hasPaused = false; ;) {
      const token = access && (await unlessAborted(access.token(), signal));
      const { own } = this;
      const present = {
        ...request,
        url: isToOwn ? own.url : request.url,
      };
      const replied = await exchange({
        ...this.withHeaders(present, token),
        agents: kind === 'call' ? this.calls : this.others,
        onDelivered: onDelivery && (() => onDelivery(true)),
      });
      this.cookies.take(replied.url, replied.headers['set-cookie']);
      const refusal = await refusalIn(replied);
      if (!refusal) return replied;
      const { reply, text } = refusal;
      const pause = pauseMs(reply, clock.now());
      if (![401, 403].includes(reply.status)) {
        if (pause === undefined) return reply;
        const isShort = pause <= Math.min(longestPauseMs, limitMs);
        if (hasPaused || !isShort || hasId.test(text)) return { ...reply, more: askAgain(pause) };
        hasPaused = true;
        onDelivery?.(false);
        await delay(clock, pause, signal);
        continue;
      }
      onDelivery?.(false);
      const verdict = await this.verdictOn(refusal, { own, token, again }, signal);
      if (verdict.kind === 'other') return { ...reply, ...verdict };
      if (verdict.kind !== 'renewed')
        throw new TransportFailure({ ...verdict, url: shown(reply.url) });
      again = true;
    }
  }

  private async verdictOn(
    refusal: Refused,
    { own, token, again }: Sent,
    signal: AbortSignal,
  ): Promise<Verdict> {
    const { access, parts, launch } = this;
    const { status, headers } = refusal.reply;
    const isRefused = refusesCredential(refusal);
    let other: Verdict = { kind: 'other' };
    const named = [...launch.headers].map(
      ([name, value]) => [english`header ${name}`, value] as const,
    );
    const values = [...named, ['address', launch.url] as const];
    const [what, printed] = values.find(([, value]) => printerOf(value)) ?? [];
    if (isRefused && printed) {
      const isNewest = own === this.own && !again;
      const fetched = isNewest ? await parts.fetchAgain?.(signal) : undefined;
      const why = typeof fetched === 'object' ? this.take(fetched) : fetched;
      if (!again && own !== this.own) return { kind: 'renewed' };
      const program = printerOf(printed)?.argv[0] ?? '';
      const from = english`The ${what ?? ''} comes from the program ${program}, which was run again.`;
      other = {
        kind: 'other',
        more: why === undefined ? from : english`${from} ${why}`,
      };
    }
    if (!access) return other;
    const refused = {
      status: isRefused ? 401 : status,
      header: headers['www-authenticate'],
    };
    const verdict = await unlessAborted(access.refused(refused, token, again), signal);
    return verdict.kind === 'other' ? other : verdict;
  }

  /** The session, the sign-in and the cookies belong to the origin. */
  private take(fetched: HttpLaunch): string | undefined {
    const { configured, url } = this;
    if (!URL.canParse(fetched.url.value)) return english`It printed no address.`;
    const own = ownOf(fetched);
    if (own.url.origin !== configured.origin)
      return english`It printed an address of another origin.`;
    this.own = own;
    if (url.href === configured.href) this.url = own.url;
    return undefined;
  }

  private withHeaders(
    request: Message,
    token: string | undefined,
  ): Message & Pick<HttpExchange, 'credentials'> {
    const { url } = request;
    const { sessionId, protocolVersion } = this;
    const headers = {
      'accept-encoding': 'gzip, br',
      'user-agent': `mcp-toolsets/${this.clientVersion}`,
      ...request.headers,
      ...(protocolVersion !== undefined && { 'mcp-protocol-version': protocolVersion }),
    };
    // Configured headers and tokens are for the configured origin; a session belongs to the origin
    // of its server.
    const isOurs = isWithinOrigin(this.configured, url);
    const cookie = this.cookies.headerFor(url, this.own.headers['cookie']);
    const credentials = {
      ...(isOurs && this.own.headers),
      ...(isOurs && token !== undefined && { authorization: `Bearer ${token}` }),
      ...(isOurs && cookie !== undefined && { cookie }),
      ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
    };
    return {
      ...request,
      headers,
      credentials,
    };
  }
}

export interface HttpChannelDeps {
  readonly endpoint: HttpEndpoint;
  readonly log: Log;
  readonly clock: Clock;
  readonly share: LoopShare;
  /** `origin` is the id of the request whose stream brought the message. */
  readonly deliver: (message: JSONRPCMessage, origin?: RequestId) => void;
  readonly die: (cause: string) => void;
}

const cancelLimitMs = 10_000;

interface OpenRequest {
  readonly controller: AbortController;
  isDelivered: boolean;
}

/**
 * Sends messages in one form of the transport, and keeps the open requests. After `close`, it
 * delivers nothing.
 */
export abstract class HttpChannel {
  protected readonly closing = new AbortController();
  private readonly requests = new TransientMap<RequestId | undefined, OpenRequest>();

  constructor(protected readonly deps: HttpChannelDeps) {
    // Many exchanges listen to it, and each removes its listener at its end.
    setMaxListeners(0, this.closing.signal);
  }

  /** Delivers the answer to a request; rejects with the reason for its absence. */
  protected abstract call(id: RequestId, message: JSONRPCMessage, terms: PostTerms): Promise<void>;
  protected abstract sendOther(message: JSONRPCMessage, signal: AbortSignal): Promise<void>;
  protected abstract failed(failure: TransportFailure): void;

  /**
   * Resolves at once for a request, because its outcome is delivered, and for others when the
   * server has taken them.
   */
  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    const id = requestId(message);
    if (id !== undefined) {
      void this.request(id, message, options);
      return;
    }
    const { endpoint, clock } = this.deps;
    const { signal } = this.closing;
    const request = this.requests.get(cancelledRequest(message));
    if (!request) return await this.sendOther(message, signal);
    // For a modern server, the end of the answer's stream is the cancellation. Any other that may
    // have the request gets the cancellation first, because the end of an exchange cancels nothing
    // (X6).
    const isTold = request.isDelivered && endpoint.protocolVersion !== modernVersion;
    try {
      if (isTold)
        await limited(clock, cancelLimitMs, signal, (limit) => this.sendOther(message, limit));
    } finally {
      request.controller.abort();
    }
  }

  /** Delivers the answer, or resolves to the reason for its absence. */
  async answerTo(
    id: RequestId,
    message: JSONRPCMessage,
    options?: SendOptions,
  ): Promise<TransportFailure | undefined> {
    const controller = new AbortController();
    const request = { controller, isDelivered: false };
    const { signal } = controller;
    if (this.closing.signal.aborted) controller.abort();
    this.requests.set(id, request);
    try {
      const onDelivery = (isDelivered: boolean): void => {
        request.isDelivered = isDelivered;
      };
      await this.call(id, message, {
        signal,
        ...options,
        onDelivery,
      });
      return undefined;
    } catch (error) {
      const { url } = this.deps.endpoint;
      const failure = broken(error, url);
      if (!signal.aborted || wasNotDelivered(failure)) return failure;
      return new TransportFailure({
        kind: 'closed',
        wasDelivered: true,
        url: shown(url),
      });
    } finally {
      this.requests.delete(id);
    }
  }

  /** Ends the exchange of a request that was answered elsewhere. */
  protected answered(id: RequestId | undefined): void {
    const request = this.requests.get(id) ?? this.requests.get(Number(id));
    request?.controller.abort();
  }

  close(): Promise<void> {
    this.closing.abort();
    for (const { controller } of this.requests.values()) controller.abort();
    return Promise.resolve();
  }

  private async request(
    id: RequestId,
    message: JSONRPCMessage,
    options?: SendOptions,
  ): Promise<void> {
    const failure = await this.answerTo(id, message, options);
    if (!failure) return;
    this.deps.deliver(failureAnswer(id, failure));
    this.failed(failure);
  }
}

export function requestId(message: JSONRPCMessage): RequestId | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}

function cancelledRequest(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return (message.params as { requestId?: RequestId } | undefined)?.requestId;
}
