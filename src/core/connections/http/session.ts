/**
 * Posts messages within the session of Streamable HTTP (X2): takes the session from the answer to initialize, notices
 * when the server has forgotten it, and begins a new one. Invariants: a message is posted once, and a second time only
 * if it was refused for its session, because then the server has not acted on it; several refusals of one session make
 * one new session; a configured session belongs to someone else, so it is not ended here.
 */
import { Readable } from 'node:stream';
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { limited, type Clock } from '../../base/clock.js';
import { Emitter, unlessAborted } from '../../base/events.js';
import type { Log } from '../../base/log.js';
import { inTurns, type LoopShare } from '../../base/turns.js';
import { isLarge, jsonInSlices } from '../../protocol/json.js';
import { messageOf } from '../../base/text.js';
import { discard, inShort, shown, type HttpReply } from './exchange.js';
import { answerIn, answers, readRefusalText } from './answer.js';
import { requestId, type HttpEndpoint, type PostOptions } from './endpoint.js';
import { readWholeAnswer } from './resumption.js';
import { readInitializeAnswer, versionHeader } from '../handshake.js';
import { errorCodes } from '../../protocol/errors.js';
import { TransportFailure } from '../../failures/transportFailure.js';

interface HttpSessionDeps {
  readonly endpoint: HttpEndpoint;
  readonly clock: Clock;
  readonly log: Log;
  readonly share: LoopShare;
  /** The limit for beginning a new session, in milliseconds. All messages wait for it. */
  readonly timeoutMs: number;
  /** Receives messages other than the answer to the repeated `initialize`. */
  readonly deliver: (message: JSONRPCMessage) => void;
  /** Called when the server gave no new session, even if no request waits for it. */
  readonly onLost: (failure: TransportFailure) => void;
  readonly signal: AbortSignal;
}

/** Many servers say in words, with any status, that they no longer know the session. */
const sessionUnknown = /session|not initiali[sz]ed/i;
const saysUnknown =
  /no valid|invalid|unknown|not found|expired|missing|does not exist|required|terminated|closed|no longer|not initiali[sz]ed/i;
/** An answer to the request itself is about the session only with these codes, and with few words. */
const sessionCodes: readonly number[] = [errorCodes.server, -32001, errorCodes.invalidRequest];
const mostWords = 100;

/** A session that is lost within this time and after so few requests was refused right after it began. */
const earlyMs = 10_000;
const fewRequests = 3;
const mostEarlyLosses = 2;

function saysSessionUnknown(text: string): boolean {
  return sessionUnknown.test(text) && saysUnknown.test(text);
}

/** True if the answer denies the session, so the server has not acted on the request. */
export function deniesSession(message: JSONRPCMessage): boolean {
  if (!('error' in message)) return false;
  const { code, message: text, data } = message.error;
  const isShort = text.length <= mostWords && (data ?? undefined) === undefined;
  return isShort && sessionCodes.includes(code) && saysSessionUnknown(text);
}

export class HttpSession {
  private readonly renewed = new Emitter<void>();
  /** Called when the server forgot the session and gave another. The state of the old one is gone. */
  readonly onDidRenew = this.renewed.event;
  /** The connection's initialize, for a repetition. */
  private first: JSONRPCMessage | undefined;
  private renewing: Promise<void> | undefined;
  private renewals = 0;
  private given = false;
  /** The time in epoch milliseconds when the present session began. */
  private since: number;
  /** The requests accepted in the present session. */
  private accepted = 0;
  /** The sessions in a row that were refused right after they began. */
  private earlyLosses = 0;

  constructor(private readonly deps: HttpSessionDeps) {
    this.since = deps.clock.now();
  }

  /** @param kind the sockets to use */
  async post(
    message: JSONRPCMessage,
    kind: 'call' | 'other',
    signal: AbortSignal,
    own: Pick<PostOptions, 'headers' | 'onDelivery'> = {},
  ): Promise<HttpReply> {
    const method = 'method' in message ? message.method : undefined;
    if (method === 'initialize') return await this.initialize(message, kind, signal);
    const { endpoint } = this.deps;
    if (method === 'server/discover') {
      const url = endpoint.configured;
      const reply = await endpoint.post(JSON.stringify(message), kind, signal, { ...own, url });
      if (reply.status <= 299) endpoint.url = reply.url;
      return reply;
    }
    if (this.renewing) await unlessAborted(this.renewing, signal);
    const body = isLarge(message) ? await inTurns(jsonInSlices(message)) : JSON.stringify(message);
    const session = endpoint.sessionId;
    const reply = await endpoint.post(body, kind, signal, own);
    const id = requestId(message);
    const accepted = session === undefined ? reply : await this.unlessRefused(reply, id);
    if (accepted && accepted.status <= 299 && id !== undefined) this.accepted += 1;
    if (accepted || session === undefined) return accepted ?? reply;
    own.onDelivery?.(false);
    await unlessAborted(this.renew(session), signal);
    return await endpoint.post(body, kind, signal, own);
  }

  /** Takes session and address from the answer to initialize. */
  private async initialize(message: JSONRPCMessage, kind: 'call' | 'other', signal: AbortSignal): Promise<HttpReply> {
    const { endpoint } = this.deps;
    this.first = message;
    const reply = await endpoint.post(JSON.stringify(message), kind, signal, { url: endpoint.configured });
    if (reply.status > 299) return reply;
    endpoint.url = reply.url;
    const session = reply.headers['mcp-session-id'];
    if (typeof session === 'string' && session !== '') {
      endpoint.sessionId = session;
      this.given = true;
    }
    return reply;
  }

  /** Resolves to undefined if the reply denies the session of the message, and to the reply otherwise. */
  private async unlessRefused(reply: HttpReply, id: RequestId | undefined): Promise<HttpReply | undefined> {
    if (reply.status < 400) return reply;
    if (reply.status === 401 && reply.headers['www-authenticate'] !== undefined) return reply;
    const text = await readRefusalText(reply);
    const answer = answerIn(reply, text, id);
    const isDenied = answer ? deniesSession(answer) : reply.status === 404 || saysSessionUnknown(inShort(text));
    if (isDenied) return undefined;
    return { ...reply, body: Readable.from([Buffer.from(text)]) };
  }

  /** Resolves when there is a session other than `expired`. Rejects if the server gives none. */
  renew(expired: string): Promise<void> {
    if (this.deps.endpoint.sessionId !== expired) return this.renewing ?? Promise.resolve();
    this.renewing ??= this.begin().finally(() => (this.renewing = undefined));
    return this.renewing;
  }

  private async begin(): Promise<void> {
    const { endpoint, log, clock, timeoutMs, signal } = this.deps;
    const { first } = this;
    const isEarly = clock.now() - this.since < earlyMs && this.accepted < fewRequests;
    this.earlyLosses = isEarly ? this.earlyLosses + 1 : 0;
    if (this.earlyLosses >= mostEarlyLosses) {
      const detail = 'gave one that was forgotten at once too. Perhaps several replicas run without sticky sessions.';
      const failure = this.lost(detail);
      this.deps.onLost(failure);
      throw failure;
    }
    if (!first) throw new Error('A session was refused before initialize');
    log.write('warn', `${shown(endpoint.url)} no longer knows the session; initialising again`);
    endpoint.sessionId = undefined;
    endpoint.protocolVersion = undefined;
    try {
      await limited(clock, timeoutMs, signal, (limit) => this.initializeAgain(first, limit));
    } catch (error) {
      const saysWhy = error instanceof TransportFailure && ['unreachable', 'sessionLost'].includes(error.reason.kind);
      const failure = saysWhy ? error : this.lost(`came to nothing: ${messageOf(error)}`);
      this.deps.onLost(failure);
      throw failure;
    }
    this.since = clock.now();
    this.accepted = 0;
    this.renewed.fire();
  }

  private lost(detail: string): TransportFailure {
    return new TransportFailure({ kind: 'sessionLost', detail, url: shown(this.deps.endpoint.url) });
  }

  private async initializeAgain(first: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    const { endpoint } = this.deps;
    const message = await this.answerTo({ ...first, id: `renewal-${++this.renewals}` } as JSONRPCRequest, signal);
    if (message && 'error' in message) throw this.lost(`was refused: ${message.error.message}`);
    const answer = readInitializeAnswer(message && 'result' in message ? message.result : undefined);
    if (answer.kind === 'wrong') throw this.lost(`was answered wrongly: the answer ${answer.detail}`);
    endpoint.protocolVersion = versionHeader(answer.facts.protocolVersion);
    const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const reply = await endpoint.post(initialized, 'other', signal);
    discard(reply.body);
  }

  /** Resolves to the answer to initialize, which is delivered to nobody else. */
  private async answerTo(request: JSONRPCRequest, signal: AbortSignal): Promise<JSONRPCMessage | undefined> {
    const { id } = request;
    const reply = await this.initialize(request, 'call', signal);
    let answer: JSONRPCMessage | undefined;
    const hear = (message: JSONRPCMessage): void => {
      if (answers(message, id)) answer = message;
      else this.deps.deliver(message);
    };
    await readWholeAnswer(this.deps, id, reply, hear, signal);
    return answer;
  }

  /** Ends the session at the server; never rejects. */
  async remove(signal: AbortSignal): Promise<void> {
    if (!this.given) return;
    try {
      const reply = await this.deps.endpoint.remove(signal);
      discard(reply.body);
    } catch {
      // The server has gone or does not answer. It will forget the session.
    }
  }
}
