/**
 * Speaks Streamable HTTP as a client (X2, X4): every message is posted; answers come as JSON or events; one more
 * stream brings unrequested messages.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { finished } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { delay, limited } from '../../base/clock.js';
import { answers, statusFailure } from './answer.js';
import {
  cancelledRequest,
  OpenRequest,
  requestId,
  sharedController,
  type HttpChannel,
  type HttpChannelDeps,
  type HttpEndpoint,
} from './endpoint.js';
import { discard, type HttpReply } from './exchange.js';
import { Liveness } from './liveness.js';
import { unlessAborted } from '../../base/events.js';
import { TransientMap } from '../../base/transientMap.js';
import { readWholeAnswer } from './resumption.js';
import { ServerStream } from './serverStream.js';
import { deniesSession, HttpSession } from './session.js';
import { modernVersion } from '../../protocol/versions.js';
import { failureAnswer, TransportFailure } from '../../failures/transportFailure.js';
import type { ServerSendOptions } from '../../peer/transport.js';

interface StreamableChannelDeps extends HttpChannelDeps {
  readonly endpoint: HttpEndpoint;
  /** The limit for beginning a new session, in milliseconds. */
  readonly timeoutMs: number;
  /** Called when the server forgot the session and gave another. The state of the old one is gone. */
  readonly onRenewed: () => void;
}

const handBackLimitMs = 50;
const removeLimitMs = 500;

export class StreamableChannel implements HttpChannel {
  private readonly open = new TransientMap<RequestId, OpenRequest>();
  private readonly closing = sharedController();
  private readonly liveness: Liveness;
  private readonly session: HttpSession;
  private readonly stream: ServerStream;

  constructor(private readonly deps: StreamableChannelDeps) {
    const { signal } = this.closing;
    this.liveness = new Liveness({ ...deps, signal });
    const onLost = (failure: TransportFailure): void => this.liveness.judge(failure);
    this.session = new HttpSession({ ...deps, onLost, signal });
    this.stream = new ServerStream({ ...deps, session: this.session, liveness: this.liveness, signal });
    this.session.onDidRenew(deps.onRenewed);
  }

  async send(message: JSONRPCMessage, options?: ServerSendOptions): Promise<void> {
    const id = requestId(message);
    if (id !== undefined) {
      void this.request(id, message, options);
      return;
    }
    const cancelled = cancelledRequest(message);
    const request = cancelled === undefined ? undefined : this.open.get(cancelled);
    if (request) return await this.cancel(request, message);
    const begins = 'method' in message && message.method === 'notifications/initialized';
    try {
      await this.tell(message, this.closing.signal);
    } finally {
      if (begins) this.stream.restart();
    }
  }

  /** Sends the first message. Resolves to the failure in place of delivering it. */
  async initialize(id: RequestId, message: JSONRPCMessage): Promise<TransportFailure | undefined> {
    return await this.answerTo(id, message);
  }

  /** Resolves to true if the server answers a ping in the present session. */
  async isAlive(): Promise<boolean> {
    return await this.liveness.answersPing();
  }

  async close(): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.closing.abort();
    for (const request of this.open.values()) request.abort();
    await limited(this.deps.clock, removeLimitMs, undefined, (signal) => this.session.remove(signal));
  }

  private async cancel(request: OpenRequest, message: JSONRPCMessage): Promise<void> {
    // For a modern server, the end of the answer's stream is the cancellation.
    if (this.deps.endpoint.protocolVersion === modernVersion) return request.abort();
    await request.cancel(this.deps.clock, this.closing.signal, (signal) => this.tell(message, signal));
  }

  private async request(id: RequestId, message: JSONRPCMessage, options?: ServerSendOptions): Promise<void> {
    const failure = await this.answerTo(id, message, options);
    if (!failure) return;
    this.deps.deliver(failureAnswer(id, failure));
    this.liveness.judge(failure);
  }

  /** Delivers the answer, or resolves to the reason why there is none. */
  private async answerTo(
    id: RequestId,
    message: JSONRPCMessage,
    options?: ServerSendOptions,
  ): Promise<TransportFailure | undefined> {
    const request = new OpenRequest();
    const { signal, onDelivery } = request;
    if (this.closing.signal.aborted) request.abort();
    this.open.set(id, request);
    try {
      const own = { headers: options?.headers, onDelivery };
      const session = this.deps.endpoint.sessionId;
      let isDenied = false;
      const deliver = (received: JSONRPCMessage): void => {
        if (session !== undefined && answers(received, id) && deniesSession(received)) isDenied = true;
        else this.deps.deliver(received, id);
      };
      const reply = await this.session.post(message, 'call', signal, own);
      await readWholeAnswer(this.deps, id, reply, deliver, signal);
      if (!isDenied || session === undefined) return undefined;
      onDelivery(false);
      await unlessAborted(this.session.renew(session), signal);
      const again = await this.session.post(message, 'call', signal, own);
      await readWholeAnswer(this.deps, id, again, (received) => this.deps.deliver(received, id), signal);
      return undefined;
    } catch (error) {
      return request.failure(error, this.deps.endpoint.url);
    } finally {
      this.open.delete(id);
    }
  }

  /** Posts a message without an answer. Rejects if the server does not take it. */
  private async tell(message: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    try {
      const reply = await this.session.post(message, 'other', signal);
      if (reply.status < 200 || reply.status > 299) throw await statusFailure(reply);
      await this.handBack(reply);
    } catch (error) {
      if (error instanceof TransportFailure) this.liveness.judge(error);
      throw error;
    }
  }

  /**
   * Gives back the socket of an empty reply before more is sent, because the next request then goes out on it at once.
   * So the server's stream is opened before the first call, and needs no further connection.
   */
  private async handBack({ body }: HttpReply): Promise<void> {
    const limit = new AbortController();
    const read = finished(discard(body)).catch(() => undefined);
    await Promise.race([read, delay(this.deps.clock, handBackLimitMs, limit.signal).catch(() => undefined)]);
    limit.abort();
    await nextTurn();
  }
}
