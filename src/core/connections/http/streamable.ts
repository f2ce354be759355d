/**
 * Speaks Streamable HTTP (X2): every message is posted, and one more stream brings unrequested
 * messages.
 */
import { english } from '../../base/language.js';
import { Readable } from 'node:stream';
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { finished } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { delay, limited } from '../../base/clock.js';
import {
  answerIn,
  answers,
  isEventStream,
  readEvents,
  readWholeAnswer,
  statusFailure,
} from './answer.js';
import { HttpChannel, requestId, type HttpChannelDeps, type PostTerms } from './endpoint.js';
import {
  broken,
  discard,
  inShort,
  isForNow,
  readRefused,
  shown,
  type HttpReply,
} from './exchange.js';
import { readInitializeAnswer, versionHeader } from '../handshake.js';
import { errorCodes } from '../../protocol/errors.js';
import { largestUnasked } from '../../protocol/jsonRpc.js';
import { jsonOf } from '../../base/jsonInSlices.js';
import { messageOf } from '../../base/text.js';
import { inNextTurn } from '../../base/turns.js';
import { unlessAborted } from '../../base/events.js';
import { TransportFailure } from '../../failures/transportFailure.js';

interface StreamableDeps extends HttpChannelDeps {
  readonly timeoutMs: number;
  readonly onRenewed: () => void;
}

const handBackLimitMs = 50;
const removeLimitMs = 500;
const probeLimitMs = 2000;
const mostProbes = 3;

export class StreamableChannel extends HttpChannel {
  private readonly session: HttpSession;
  private readonly stream: ServerStream;
  private probing: Promise<void> | undefined;
  private probes = 0;

  constructor(deps: StreamableDeps) {
    super(deps);
    const { signal } = this.closing;
    const onRenewed = (): void => {
      this.stream.restart();
      deps.onRenewed();
    };
    const failed = (failure: TransportFailure): void => this.failed(failure);
    this.session = new HttpSession({ ...deps, onRenewed }, failed, signal);
    const deliver = (message: JSONRPCMessage): void => {
      deps.deliver(message);
      if (!('method' in message)) this.answered(message.id);
    };
    this.stream = new ServerStream({ ...deps, deliver }, this.session, failed, signal);
  }

  async isAlive(): Promise<boolean> {
    const reply = await this.ping(this.closing.signal).catch(() => undefined);
    if (reply) discard(reply.body);
    return reply !== undefined && reply.status >= 200 && reply.status <= 299;
  }

  override async close(): Promise<void> {
    if (this.closing.signal.aborted) return;
    await super.close();
    await limited(this.deps.clock, removeLimitMs, undefined, (signal) =>
      this.session.remove(signal),
    );
  }

  protected async call(id: RequestId, message: JSONRPCMessage, terms: PostTerms): Promise<void> {
    const { endpoint, deliver } = this.deps;
    const session = endpoint.sessionId;
    let isDenied = false;
    const deliverUnlessDenied = (received: JSONRPCMessage): void => {
      if (session !== undefined && answers(received, id) && deniesSession(received, message))
        isDenied = true;
      else deliver(received, id);
    };
    const reply = await this.session.post(message, 'call', terms);
    if (isEmpty(reply) && (await unlessAborted(this.stream.opened, terms.signal)))
      return await this.elsewhere(reply, terms.signal);
    await readWholeAnswer(this.deps, id, reply, deliverUnlessDenied, terms.signal);
    if (!isDenied || session === undefined) return;
    terms.onDelivery?.(false);
    await unlessAborted(this.session.renew(session), terms.signal);
    const again = await this.session.post(message, 'call', terms);
    await readWholeAnswer(this.deps, id, again, (received) => deliver(received, id), terms.signal);
  }

  /** Lets the stream bring the answer, which aborts the signal. Rejects when the stream ends. */
  private async elsewhere({ body, url }: HttpReply, signal: AbortSignal): Promise<void> {
    discard(body);
    await unlessAborted(this.stream.over, signal);
    const detail = 'the stream that had to bring the answer ended';
    throw new TransportFailure({ kind: 'broken', detail, isEnded: true, url: shown(url) });
  }

  protected async sendOther(message: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    try {
      const reply = await this.session.post(message, 'other', { signal });
      if (reply.status < 200 || reply.status > 299) throw await statusFailure(reply);
      await this.handBack(reply);
    } catch (error) {
      if (error instanceof TransportFailure) this.failed(error);
      throw error;
    } finally {
      if ('method' in message && message.method === 'notifications/initialized')
        this.stream.restart();
    }
  }

  /**
   * Probes the server. Requests that failed likewise report first: the end makes other results
   * unknown (X4).
   */
  protected failed({ reason, message }: TransportFailure): void {
    const { signal } = this.closing;
    const { clock, die } = this.deps;
    if (signal.aborted) return;
    if (reason.kind === 'unreachable' || reason.kind === 'sessionLost')
      inNextTurn(() => signal.aborted || die(message));
    if (reason.kind !== 'broken' || this.probing) return;
    const probing = limited(clock, probeLimitMs, signal, (limit) => this.probe(limit));
    this.probing = probing.finally(() => (this.probing = undefined));
  }

  /** Silence does not prove death. */
  private async probe(signal: AbortSignal): Promise<void> {
    const { endpoint, clock, die } = this.deps;
    for (let attempt = 1; ; attempt++) {
      try {
        const reply = await this.ping(signal);
        reply.body.destroy();
        return;
      } catch (error) {
        const { reason, message } = broken(error, endpoint.url);
        // A server lives if it wants a sign-in or redirects.
        if (signal.aborted || (reason.kind !== 'unreachable' && reason.kind !== 'broken')) return;
        if (reason.kind === 'unreachable' || attempt === mostProbes) return die(message);
        await delay(clock, 20 * attempt, signal);
      }
    }
  }

  private ping(signal: AbortSignal): Promise<HttpReply> {
    const ping = {
      jsonrpc: '2.0',
      id: `probe-${++this.probes}`,
      method: 'ping',
    };
    return this.deps.endpoint.post(JSON.stringify(ping), 'other', { signal });
  }

  /**
   * Gives back the socket of an empty reply before more is sent, so the server's stream needs no
   * further connection.
   */
  private async handBack({ body }: HttpReply): Promise<void> {
    const read = finished(discard(body));
    const inTime = limited(this.deps.clock, handBackLimitMs, undefined, (over) =>
      unlessAborted(read, over),
    );
    await inTime.catch(() => undefined);
    await nextTurn();
  }
}

/*
 * Does a refusal deny the session of the connection? The status alone does not say: rmcp answers
 * 401 to a forgotten session, the SDK of TypeScript 400, other servers 200 with an error. So the
 * words decide. Each alternative below is there for a text of a server or of an SDK.
 */

/** JSON-RPC keeps these codes for itself; an error with another code is one of the tool. */
const isReserved = (code: number): boolean => code >= -32768 && code <= -32000;
/** This much of a refusal may be about the session; what is longer is about something else. */
const mostWords = 200;
/** “Bad Request: No valid session ID provided”, “Not Found: Invalid or expired session ID” */
const beginnings =
  /^\W*(?:(?:http|\d{3}|bad request|unauthorized|forbidden|not found|gone|invalid request|(?:mcp |internal |server )*error)\b[\s:.,—-]*)*/i;
/** “Bad Request: Server not initialized”. But not “Database not initialized”. */
const uninitialized =
  /^(?:the |this )?(?:mcp )?(?:server )?(?:is |was |has )?not (?:been |yet )*initiali[sz]ed/i;
/** “MCP session "abc" could not be found”, “Mcp-Session-Id header is required” */
const theSession =
  /^(.*?)(?<![a-z])(?:mcp[- ])?session(?![a-z])([- ]?(?:ids?|identifier)(?![a-z]))?(.*)$/is;
/**
 * “No transport found for sessionId”, “Your session has expired”. Before “session”, any other word
 * means the session of something else: “Browser session closed”, “Your login session at GitHub …”.
 */
const neutral =
  /^(?:\W*(?:there|the|an?|this|that|your|any|for|with|to|in|by|or|and|is|was|has|have|had|does|did|could|can|cannot|can't|couldn't|request|client|server|mcp|http|transport|connection|header|find|found|locate|valid|active|existing|matching|given|provided|requested|specified|previous|current|must|include|requires?|no|not|such|unable|failed|without|invalid|unknown|bad|stale|missing|lost|expired|terminated|closed|inactive|dead|unrecogni[sz]ed)(?![a-z]))*\W*$/i;
/** “No such session”, “Could not find session”, “Bad session id”, “Stale session” */
const deniedBefore =
  /\b(?:no|not|unable|failed|without|cannot|can't|couldn't|requires?|must|invalid|unknown|bad|stale|missing|lost|expired|terminated|closed|inactive|dead|unrecogni[sz]ed)\b/i;
/** “Session ID header is required”, “Session with ID abc was not found” */
const fillers =
  /^(?:with|ids?|header|value|has|have|is|was|does|been|be|could|can|already|or|and)$/i;
/** “Session not found: 0b1f”, “Session doesn't exist”, “Session terminated”, “Session timed out” */
const deniedBehind =
  /^(?:(?:not|cannot|doesn't|isn't|wasn't) (?:found|valid|active|recogni[sz]ed|known|exist|initiali[sz]ed|available|alive|open|provided|present|found)\b|(?:un(?:known|recogni[sz]ed)|invalid|expired|missing|required|terminated|closed|no longer|gone|timed out|timeout|lost|ended|stale|inactive|removed|deleted|dead)\b)/i;

/** True if the words deny the session of the connection, and not one that a tool has. */
function saysSessionUnknown(text: string): boolean {
  // A body of JSON says it in one of its texts.
  const said = /^\s*[[{]/.test(text)
    ? [...text.matchAll(/"((?:[^"\\]|\\.)*)/g)].map(([, each = '']) => each)
    : [text];
  return said.some((each) => deniesInWords(each));
}

function deniesInWords(text: string): boolean {
  const words = text
    .replace(/(?<=[a-z])(?=[A-Z])|_/g, ' ')
    .replaceAll('’', "'")
    .replace(beginnings, '');
  if (uninitialized.test(words)) return true;
  const [, before = '', id = '', behind = ''] = theSession.exec(words) ?? [undefined, 'none'];
  if (!neutral.test(before)) return false;
  const said = behind.replace(/(["'`])[^"'`]*\1/g, ' ').split(/[^\p{L}\p{N}'-]+/u);
  const all = said.filter((word) => word !== '' && !fillers.test(word) && !/\d/.test(word));
  const isDenied = (rest: readonly string[]): boolean =>
    deniedBehind.test(rest.join(' ')) ||
    (deniedBefore.test(before) && /^(?:provided|given|exists?|found|)$/i.test(rest.join(' ')));
  // An id may be a word too.
  return isDenied(all) || (/\bids?\b|identifier/i.test(`${id}${behind}`) && isDenied(all.slice(1)));
}

/** Tools refuse their arguments and fail with these codes. */
const codesOfTools: readonly number[] = [errorCodes.invalidParams, errorCodes.internal];

/** True if the answer denies the session, so the server has not acted on the request. */
function deniesSession(answer: JSONRPCMessage, request: JSONRPCMessage): boolean {
  if (!('error' in answer)) return false;
  const { code, message: text } = answer.error;
  const { arguments: given } = ('params' in request && request.params) || {};
  const mayBeOfTool =
    codesOfTools.includes(code) && Object.keys(given ?? {}).some((key) => /session/i.test(key));
  return isReserved(code) && !mayBeOfTool && text.length <= mostWords && deniesInWords(text);
}

/**
 * A session that is lost within this time and after so few requests was refused right after it
 * began.
 */
const earlyMs = 10_000;
const fewRequests = 3;
const mostEarlyLosses = 2;
const forgottenAtOnce = english`gave one that was forgotten at once too. Perhaps several replicas run without sticky sessions.`;

/**
 * Posts messages within the session (X2). Invariants: a message is posted a second time only if it
 * was refused for its session, because then the server has not acted on it; several refusals of one
 * session make one new session; a configured session belongs to someone else, so it is not ended
 * here.
 */
class HttpSession {
  private first: JSONRPCMessage | undefined;
  private renewing: Promise<void> | undefined;
  private renewals = 0;
  private given = false;
  private since: number;
  private accepted = 0;
  private earlyLosses = 0;

  /** @param onLost called when the server gave no new session, even if no request waits for it */
  constructor(
    private readonly deps: StreamableDeps,
    private readonly onLost: (failure: TransportFailure) => void,
    private readonly signal: AbortSignal,
  ) {
    this.since = deps.clock.now();
  }

  async post(
    message: JSONRPCMessage,
    kind: 'call' | 'other',
    terms: PostTerms,
  ): Promise<HttpReply> {
    const method = 'method' in message ? message.method : undefined;
    if (method === 'initialize') return await this.initialize(message, kind, terms.signal);
    const { endpoint } = this.deps;
    if (method === 'server/discover') {
      const reply = await endpoint.post(JSON.stringify(message), kind, {
        ...terms,
        url: endpoint.configured,
      });
      if (reply.status <= 299) endpoint.url = reply.url;
      return reply;
    }
    if (this.renewing) await unlessAborted(this.renewing, terms.signal);
    const body = await jsonOf(message);
    const session = endpoint.sessionId;
    const reply = await endpoint.post(body, kind, terms);
    const accepted = session === undefined ? reply : await this.unlessRefused(reply, message);
    if (accepted && accepted.status <= 299 && requestId(message) !== undefined) this.accepted += 1;
    if (accepted || session === undefined) return accepted ?? reply;
    terms.onDelivery?.(false);
    await unlessAborted(this.renew(session), terms.signal);
    return await endpoint.post(body, kind, terms);
  }

  private async initialize(
    message: JSONRPCMessage,
    kind: 'call' | 'other',
    signal: AbortSignal,
  ): Promise<HttpReply> {
    const { endpoint } = this.deps;
    this.first = message;
    const reply = await endpoint.post(JSON.stringify(message), kind, {
      signal,
      url: endpoint.configured,
    });
    if (reply.status > 299) return reply;
    endpoint.url = reply.url;
    const session = reply.headers['mcp-session-id'];
    if (typeof session === 'string' && session !== '') {
      endpoint.sessionId = session;
      this.given = true;
    }
    return reply;
  }

  private async unlessRefused(
    reply: HttpReply,
    message: JSONRPCMessage,
  ): Promise<HttpReply | undefined> {
    if (reply.status < 400) return reply;
    if (reply.status === 401 && reply.headers['www-authenticate'] !== undefined) return reply;
    const text = await readRefused(reply);
    const answer = answerIn(reply, text, requestId(message));
    const denied = answer
      ? deniesSession(answer, message)
      : reply.status === 404 || saysSessionUnknown(inShort(text));
    return denied ? undefined : { ...reply, body: Readable.from([Buffer.from(text)]) };
  }

  /** Resolves when there is a session other than `expired`. Rejects if the server gives none. */
  renew(expired: string): Promise<void> {
    if (this.deps.endpoint.sessionId !== expired) return this.renewing ?? Promise.resolve();
    this.renewing ??= this.begin().finally(() => (this.renewing = undefined));
    return this.renewing;
  }

  private async begin(): Promise<void> {
    const { endpoint, log, clock, timeoutMs } = this.deps;
    const { first } = this;
    if (!first) throw new Error('A session was refused before initialize');
    const isEarly = clock.now() - this.since < earlyMs && this.accepted < fewRequests;
    this.earlyLosses = isEarly ? this.earlyLosses + 1 : 0;
    try {
      if (this.earlyLosses >= mostEarlyLosses) throw this.lost(forgottenAtOnce);
      log.write('warn', `${shown(endpoint.url)} no longer knows the session; initialising again`);
      endpoint.sessionId = undefined;
      endpoint.protocolVersion = undefined;
      await limited(clock, timeoutMs, this.signal, (limit) => this.initializeAgain(first, limit));
    } catch (error) {
      const saysWhy =
        error instanceof TransportFailure &&
        ['unreachable', 'sessionLost'].includes(error.reason.kind);
      const failure = saysWhy ? error : this.lost(english`came to nothing: ${messageOf(error)}`);
      this.onLost(failure);
      throw failure;
    }
    this.since = clock.now();
    this.accepted = 0;
    this.deps.onRenewed();
  }

  private lost(detail: string): TransportFailure {
    return new TransportFailure({
      kind: 'sessionLost',
      detail,
      url: shown(this.deps.endpoint.url),
    });
  }

  private async initializeAgain(first: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    const { endpoint } = this.deps;
    const id = `renewal-${++this.renewals}`;
    const reply = await this.initialize({ ...first, id } as JSONRPCRequest, 'call', signal);
    const heard: JSONRPCMessage[] = [];
    const hear = (received: JSONRPCMessage): void => {
      if (answers(received, id)) heard.push(received);
      else this.deps.deliver(received);
    };
    await readWholeAnswer(this.deps, id, reply, hear, signal);
    const [message] = heard;
    if (message && 'error' in message)
      throw this.lost(english`was refused: ${message.error.message}`);
    const facts = readInitializeAnswer(message && 'result' in message ? message.result : undefined);
    if (typeof facts === 'string')
      throw this.lost(english`was answered wrongly: the answer ${facts}`);
    endpoint.protocolVersion = versionHeader(facts.protocolVersion);
    const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    discard((await endpoint.post(initialized, 'other', { signal })).body);
  }

  async remove(signal: AbortSignal): Promise<void> {
    if (!this.given) return;
    // A server that has gone or does not answer will forget the session.
    const reply = await this.deps.endpoint.remove(signal).catch(() => undefined);
    if (reply) discard(reply.body);
  }
}

function isEmpty({ status, headers }: HttpReply): boolean {
  return status === 202 || status === 204 || (status === 200 && headers['content-length'] === '0');
}

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/**
 * The stream opened by GET (X2), for unrequested messages and for the answers of servers that only
 * accept a POST. A server may have none. Invariants: there is at most one stream at a time; a lost
 * session is believed only of a stream that existed.
 */
class ServerStream {
  private current: AbortController | undefined;
  private retryMs: number | undefined;
  private lastEventId: string | undefined;
  private streamedIn: string | undefined;
  /** Resolves to true if the newest GET opened a stream. */
  opened = Promise.resolve(false);
  /** Resolves at the end of the newest GET. */
  over: Promise<unknown> = this.opened;

  constructor(
    private readonly deps: HttpChannelDeps,
    private readonly session: HttpSession,
    private readonly onFailure: (failure: TransportFailure) => void,
    private readonly closing: AbortSignal,
  ) {}

  restart(): void {
    this.current?.abort();
    this.lastEventId = undefined;
    if (this.closing.aborted) return;
    this.current = new AbortController();
    void this.listen(AbortSignal.any([this.closing, this.current.signal]));
  }

  private async listen(signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    for (let failures = 0; !signal.aborted;) {
      const listening = this.listenOnce(signal);
      this.over = listening;
      const outcome = await listening;
      if (signal.aborted || outcome === 'none') return;
      failures = outcome === 'ended' ? 0 : failures + 1;
      const growing = Math.min(firstDelayMs * 2 ** Math.max(0, failures - 1), longestDelayMs);
      // The server's delay is for an ended stream. A refusing server must not be asked ten times a
      // second.
      const wait =
        outcome === 'refused' ? Math.max(growing, this.retryMs ?? 0) : (this.retryMs ?? growing);
      await delay(clock, wait, signal);
    }
  }

  private async listenOnce(signal: AbortSignal): Promise<'none' | 'ended' | 'broke' | 'refused'> {
    const { endpoint, log, share, deliver } = this.deps;
    const session = endpoint.sessionId;
    try {
      const replying = endpoint.get(this.lastEventId, 'other', signal);
      this.opened = replying.then(isEventStream, () => false);
      const reply = await replying;
      if (isEventStream(reply)) {
        this.streamedIn = session;
        await readEvents(reply, {
          share,
          log,
          most: largestUnasked,
          isAsked: () => false,
          onRetry: (ms) => (this.retryMs = ms),
          onId: (id) => (this.lastEventId = id),
          deliver: (message) => deliver(message),
        });
        return 'ended';
      }
      reply.body.destroy();
      // Otherwise the server has no such address, and the next message shows a lost session.
      if (reply.status === 404 && session !== undefined && this.streamedIn === session) {
        await this.session.renew(session); // That opens the stream of the new session.
        return 'none';
      }
      if (isForNow(reply)) return 'refused';
      if (this.lastEventId !== undefined && reply.status !== 405) {
        // The server may have forgotten the event. Later messages are lost either way.
        this.lastEventId = undefined;
        return 'refused';
      }
      const { status } = reply;
      if (status !== 405)
        log.write('debug', `[http] no stream for messages of the server (HTTP ${status})`);
      return 'none';
    } catch (error) {
      if (signal.aborted) return 'none';
      this.onFailure(broken(error, endpoint.url));
      return 'broke';
    }
  }
}
