/**
 * Speaks HTTP+SSE of protocol 2024-11-05 (X2): one event stream, opened by GET. Its first event names the address for
 * posts, and all answers come on the stream. When the stream ends, the connection is over, because nothing can be
 * resumed.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { readEvents, statusFailure } from './answer.js';
import {
  cancelledRequest,
  OpenRequest,
  requestId,
  sharedController,
  type HttpChannel,
  type HttpChannelDeps,
} from './endpoint.js';
import { TransientMap } from '../../base/transientMap.js';
import { broken, discard, isWithinOrigin, shown, type HttpReply } from './exchange.js';
import { shortened } from '../../protocol/inBrief.js';
import { failureAnswer, TransportFailure } from '../../failures/transportFailure.js';

const endpointLimitMs = 10_000;

export class LegacySseChannel implements HttpChannel {
  private readonly closing = sharedController();
  private target: URL | undefined;
  private readonly posting = new TransientMap<RequestId, OpenRequest>();
  /** The ids of requests without an answer, as texts, because some servers answer with the number as a text. */
  private readonly asked = new TransientMap<string, true>();

  constructor(private readonly deps: HttpChannelDeps) {}

  /** Resolves to undefined when the address for posts is known, or to the reason why it does not speak HTTP+SSE. */
  async open(): Promise<TransportFailure | undefined> {
    const { endpoint, clock } = this.deps;
    endpoint.url = endpoint.configured;
    endpoint.sessionId = undefined;
    try {
      const reply = await endpoint.get(undefined, 'other', this.closing.signal);
      if (reply.status !== 200 || reply.contentType !== 'text/event-stream') return await statusFailure(reply);
      return await new Promise<TransportFailure | undefined>((resolve) => {
        const silent = new TransportFailure({ kind: 'broken', detail: 'it named no endpoint', url: shown(reply.url) });
        const timer = clock.after(endpointLimitMs, () => resolve(silent));
        void this.listen(reply, resolve).finally(() => timer.dispose());
      });
    } catch (error) {
      return broken(error, endpoint.configured);
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const id = requestId(message);
    if (id !== undefined) return void this.request(id, message);
    const cancelled = cancelledRequest(message);
    const request = cancelled === undefined ? undefined : this.posting.get(cancelled);
    const { signal } = this.closing;
    if (!request) return await this.post(message, 'other', signal);
    await request.cancel(this.deps.clock, signal, (limit) => this.post(message, 'other', limit));
  }

  close(): Promise<void> {
    this.closing.abort();
    for (const request of this.posting.values()) request.abort();
    return Promise.resolve();
  }

  private async request(id: RequestId, message: JSONRPCMessage): Promise<void> {
    const request = new OpenRequest();
    if (this.closing.signal.aborted) request.abort();
    this.posting.set(id, request);
    this.asked.set(String(id), true);
    try {
      await this.post(message, 'call', request.signal, request.onDelivery);
    } catch (error) {
      this.asked.delete(String(id));
      const failure = request.failure(error, this.deps.endpoint.configured);
      this.deps.deliver(failureAnswer(id, failure));
      if (failure.reason.kind === 'unreachable') this.die(failure.message);
    } finally {
      this.posting.delete(id);
    }
  }

  /** @param kind the sockets to use: some servers hold those of calls until the calls are answered */
  private async post(
    message: JSONRPCMessage,
    kind: 'call' | 'other',
    signal: AbortSignal,
    onDelivery?: (isDelivered: boolean) => void,
  ): Promise<void> {
    const { endpoint } = this.deps;
    const reply = await endpoint.post(JSON.stringify(message), kind, signal, { url: this.target, onDelivery });
    if (reply.status < 200 || reply.status > 299) throw await statusFailure(reply);
    discard(reply.body);
  }

  private async listen(reply: HttpReply, opened: (failure: TransportFailure | undefined) => void): Promise<void> {
    const url = shown(reply.url);
    let failure = new TransportFailure({ kind: 'broken', detail: 'the server ended the event stream', url });
    try {
      await readEvents(reply, {
        share: this.deps.share,
        isAsked: (message) => !('method' in message) && this.asked.delete(String(message.id)),
        onOther: (event, data) => {
          if (event === 'endpoint') opened(this.aim(data, reply.url));
        },
        log: this.deps.log,
        deliver: (message) => this.deps.deliver(message),
      });
    } catch (error) {
      failure = broken(error, reply.url);
    }
    opened(failure);
    this.die(failure.message);
  }

  private aim(data: string, base: URL): TransportFailure | undefined {
    const target = URL.canParse(data, base.href) ? new URL(data, base) : undefined;
    if (target && isWithinOrigin(base, target)) {
      this.target = target;
      return undefined;
    }
    const detail = `its endpoint event names another origin: ${target ? shown(target) : shortened(data, 200)}`;
    return new TransportFailure({ kind: 'redirect', detail, url: shown(base), remedy: { kind: 'otherEndpoint' } });
  }

  private die(cause: string): void {
    if (!this.closing.signal.aborted && this.target) this.deps.die(cause);
  }
}
