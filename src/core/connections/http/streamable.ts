/**
 * MCP's Streamable HTTP, from the client's side (X2, X4): every message is posted; answers come as JSON or events;
 * a stream of its own brings what the server says unasked.
 *
 * Invariants: a request is posted once, and a second time only when the first was refused for its session (404): then
 * the server has not acted on it. A stream that broke is taken up only after an event id, never by asking anew. That
 * nothing listens any more is found out at once by whatever broke.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { finished } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { delay } from '../../base/clock.js';
import { readAnswer, readStream, statusFailure, type AnswerEnd, type AnswerReader } from './answer.js';
import {
  cancelledRequest,
  requestId,
  sharedController,
  type HttpChannel,
  type HttpChannelParts,
  type HttpEndpoint,
} from './endpoint.js';
import { broken, shown, type HttpReply } from './exchange.js';
import { HttpSession } from './session.js';
import { shortened } from '../jsonRpc.js';
import { ServerStream } from './serverStream.js';
import { failureAnswer, TransportFailure } from '../transport.js';

interface StreamableChannelParts extends HttpChannelParts {
  readonly endpoint: HttpEndpoint;
  /** The server forgot the session and gave another: what the old one held is gone. */
  readonly onRenewed: () => void;
}

const mostResumptions = 5;
const firstDelayMs = 1000;
/** A stream that stays open after its answer gives its socket back after this. */
const afterAnswerMs = 2000;
const handBackLimitMs = 50;
const probeLimitMs = 2000;
const removeLimitMs = 500;

export class StreamableChannel implements HttpChannel {
  private readonly open = new Map<RequestId, AbortController>();
  private readonly closing = sharedController();
  private readonly session: HttpSession;
  private readonly stream: ServerStream;
  private probing: Promise<void> | undefined;
  private retryMs: number | undefined;
  private probes = 0;

  constructor(private readonly parts: StreamableChannelParts) {
    const { endpoint } = parts;
    this.session = new HttpSession({
      endpoint,
      log: parts.log,
      ask: (message) => this.ask(message),
      signal: this.closing.signal,
      onRenewed: () => {
        this.stream.restart();
        parts.onRenewed();
      },
    });
    this.stream = new ServerStream({
      ...parts,
      reader: this.reader(),
      signal: this.closing.signal,
      suspect: () => this.suspect(),
      renew: (expired) => this.session.renew(expired),
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const id = requestId(message);
    if (id !== undefined) {
      void this.request(id, message);
      return;
    }
    await this.tell(message);
    const cancelled = cancelledRequest(message);
    if (cancelled !== undefined) this.open.get(cancelled)?.abort();
    if ('method' in message && message.method === 'notifications/initialized') this.stream.restart();
  }

  /** Opens the way for the first message. Resolves with the failure instead of delivering it. */
  async initialize(id: RequestId, message: JSONRPCMessage): Promise<TransportFailure | undefined> {
    this.session.remember(message);
    return await this.answerTo(id, message);
  }

  /** Whether the server answers to a ping in the session that holds now. */
  async isAlive(): Promise<boolean> {
    const { endpoint } = this.parts;
    const reply = await endpoint.post(this.ping(), 'other', this.closing.signal).catch(() => undefined);
    reply?.body.resume();
    return reply !== undefined && reply.status >= 200 && reply.status <= 299;
  }

  async close(): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.closing.abort();
    for (const controller of this.open.values()) controller.abort();
    const limit = new AbortController();
    const timer = this.parts.clock.after(removeLimitMs, () => limit.abort());
    await this.session.remove(limit.signal);
    timer.dispose();
  }

  private async request(id: RequestId, message: JSONRPCMessage): Promise<void> {
    const failure = await this.answerTo(id, message);
    if (!failure) return;
    this.parts.deliver(failureAnswer(id, failure));
    this.judge(failure);
  }

  /** Delivers the answer, or resolves with why there is none. */
  private async answerTo(id: RequestId, message: JSONRPCMessage): Promise<TransportFailure | undefined> {
    const controller = new AbortController();
    if (this.closing.signal.aborted) controller.abort();
    this.open.set(id, controller);
    try {
      await this.exchange(id, message, controller, this.parts.deliver);
      return undefined;
    } catch (error) {
      const { url } = this.parts.endpoint;
      return controller.signal.aborted ? new TransportFailure({ kind: 'closed', url: shown(url) }) : broken(error, url);
    } finally {
      this.open.delete(id);
    }
  }

  private async exchange(
    id: RequestId,
    message: JSONRPCMessage,
    controller: AbortController,
    deliver: (message: JSONRPCMessage, origin?: RequestId) => void,
  ): Promise<void> {
    const { signal } = controller;
    const reply = await this.post(message, 'call', signal);
    this.session.adopt(message, reply);
    let timer: { dispose(): void } | undefined;
    const reader = this.reader((received) => {
      if (!('method' in received) && received.id === id) {
        timer = this.parts.clock.after(afterAnswerMs, () => controller.abort());
      }
      deliver(received, id);
    });
    try {
      const end = await readAnswer(reply, id, reader);
      if (end.kind === 'resumable') await this.resume(end, id, reader, signal);
    } finally {
      timer?.dispose();
    }
  }

  /** Posts; once more under a new session if the old one is refused. */
  private async post(message: JSONRPCMessage, kind: 'call' | 'other', signal: AbortSignal): Promise<HttpReply> {
    const { endpoint } = this.parts;
    const body = JSON.stringify(message);
    if ('method' in message && message.method === 'initialize') {
      return await endpoint.post(body, kind, signal, endpoint.configured);
    }
    await this.session.settled();
    const session = endpoint.sessionId;
    const reply = await endpoint.post(body, kind, signal);
    const accepted = session === undefined ? reply : await this.session.unlessRefused(reply);
    if (accepted || session === undefined) return accepted ?? reply;
    await this.session.renew(session);
    return await endpoint.post(body, kind, signal);
  }

  /** For what has no answer. Rejects when the server does not take it. */
  private async tell(message: JSONRPCMessage): Promise<void> {
    try {
      const reply = await this.post(message, 'other', this.closing.signal);
      if (reply.status < 200 || reply.status > 299) throw await statusFailure(reply);
      await this.handBack(reply);
    } catch (error) {
      if (error instanceof TransportFailure) this.judge(error);
      throw error;
    }
  }

  /**
   * Gives the socket of a reply that says nothing back before more is sent, as the next request then goes out on it at
   * once: so the server's stream is asked for before the first call is, and needs no connection of its own.
   */
  private async handBack({ body }: HttpReply): Promise<void> {
    const limit = new AbortController();
    const read = finished(body.resume()).catch(() => undefined);
    await Promise.race([read, delay(this.parts.clock, handBackLimitMs, limit.signal).catch(() => undefined)]);
    limit.abort();
    await nextTurn();
  }

  /** Our own question; its answer goes to nobody else. */
  private async ask(message: JSONRPCMessage): Promise<JSONRPCMessage> {
    const id = requestId(message) ?? '';
    const controller = new AbortController();
    this.open.set(id, controller);
    let answer: JSONRPCMessage | undefined;
    try {
      await this.exchange(id, message, controller, (received) => {
        if (!('method' in received) && received.id === id) answer = received;
        else this.parts.deliver(received);
      });
    } finally {
      this.open.delete(id);
    }
    return answer ?? message;
  }

  private async resume(
    from: Extract<AnswerEnd, { kind: 'resumable' }>,
    id: RequestId,
    reader: AnswerReader,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log, endpoint } = this.parts;
    let { lastEventId, failure } = from;
    for (let attempt = 0; attempt < mostResumptions && !signal.aborted; attempt++) {
      await delay(clock, this.retryMs ?? firstDelayMs * 2 ** attempt, signal).catch(() => undefined);
      log.write('debug', `Taking up the answer to request ${id} after event ${lastEventId}`);
      const reply = await endpoint.get(lastEventId, 'call', signal);
      if (reply.status !== 200 || reply.contentType !== 'text/event-stream') {
        reply.body.destroy();
        throw failure;
      }
      const end = await readStream(reply, id, reader).catch((error: TransportFailure) => {
        if (error.trouble.kind !== 'broken') throw error;
        return undefined; // broke off before its first event: the last id still holds
      });
      if (end?.kind === 'answered') return;
      if (!end) continue;
      ({ lastEventId, failure } = end);
      attempt = -1; // events came: it is getting on
    }
    throw failure;
  }

  /** Not reached: the connection is over. Broke off: ask whether anyone is there. */
  private judge({ trouble, message }: TransportFailure): void {
    if (this.closing.signal.aborted) return;
    if (trouble.kind === 'unreachable' || trouble.kind === 'sessionLost') this.parts.die(message);
    else if (trouble.kind === 'broken') this.suspect();
  }

  private suspect(): void {
    this.probing ??= this.probe().finally(() => (this.probing = undefined));
  }

  private async probe(): Promise<void> {
    const controller = new AbortController();
    const { signal } = this.closing;
    const abort = (): void => controller.abort();
    signal.addEventListener('abort', abort, { once: true });
    const timer = this.parts.clock.after(probeLimitMs, abort);
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          const reply = await this.parts.endpoint.post(this.ping(), 'other', controller.signal);
          reply.body.destroy();
          return;
        } catch (error) {
          const { trouble, message } = broken(error, this.parts.endpoint.url);
          if (controller.signal.aborted) return; // no answer is no proof
          if (trouble.kind === 'unreachable' || attempt === 3) return this.parts.die(message);
          await delay(this.parts.clock, 20 * attempt, controller.signal).catch(() => undefined);
        }
      }
    } finally {
      timer.dispose();
      signal.removeEventListener('abort', abort);
    }
  }

  private ping(): string {
    return JSON.stringify({ jsonrpc: '2.0', id: `probe-${++this.probes}`, method: 'ping' });
  }

  private reader(deliver: (message: JSONRPCMessage) => void = this.parts.deliver): AnswerReader {
    return {
      deliver,
      onRetry: (ms) => (this.retryMs = ms),
      onStray: (text) => this.parts.log.write('warn', `[http] event that is not JSON-RPC: ${shortened(text, 2000)}`),
    };
  }
}
