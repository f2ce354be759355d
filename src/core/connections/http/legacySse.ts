/**
 * HTTP+SSE of protocol 2024-11-05 (X2). The end of its stream ends the connection: nothing can be
 * resumed.
 */
import { english } from '../../base/language.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { isEventStream, readEvents, statusFailure } from './answer.js';
import { HttpChannel, type PostTerms } from './endpoint.js';
import { jsonOf } from '../../base/jsonInSlices.js';
import { TransientMap } from '../../base/transientMap.js';
import { broken, discard, isWithinOrigin, shown, type HttpReply } from './exchange.js';
import { shortened } from '../../protocol/inBrief.js';
import { TransportFailure } from '../../failures/transportFailure.js';

export class LegacySseChannel extends HttpChannel {
  private target: URL | undefined;
  /**
   * The ids of requests without an answer, as texts, because some servers answer with the number as
   * a text.
   */
  private readonly asked = new TransientMap<string, true>();

  /**
   * Resolves to undefined when the address for posts is known, or to the reason why it does not
   * speak HTTP+SSE.
   */
  async open(): Promise<TransportFailure | undefined> {
    const { endpoint } = this.deps;
    endpoint.url = endpoint.configured;
    endpoint.sessionId = undefined;
    try {
      const reply = await endpoint.get(undefined, 'other', this.closing.signal);
      if (!isEventStream(reply)) return await statusFailure(reply);
      return await new Promise((resolve) => void this.listen(reply, resolve));
    } catch (error) {
      return broken(error, endpoint.configured);
    }
  }

  protected async call(id: RequestId, message: JSONRPCMessage, terms: PostTerms): Promise<void> {
    this.asked.set(String(id), true);
    try {
      await this.post(message, 'call', terms);
    } catch (error) {
      this.asked.delete(String(id));
      throw error;
    }
  }

  protected sendOther(message: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    return this.post(message, 'other', { signal });
  }

  protected failed({ reason, message }: TransportFailure): void {
    if (reason.kind === 'unreachable') this.die(message);
  }

  /** @param kind the sockets to use: some servers hold the sockets of calls until the answer */
  private async post(
    message: JSONRPCMessage,
    kind: 'call' | 'other',
    terms: PostTerms,
  ): Promise<void> {
    const reply = await this.deps.endpoint.post(await jsonOf(message), kind, {
      ...terms,
      url: this.target,
    });
    if (reply.status < 200 || reply.status > 299) throw await statusFailure(reply);
    discard(reply.body);
  }

  private async listen(
    reply: HttpReply,
    opened: (failure: TransportFailure | undefined) => void,
  ): Promise<void> {
    const url = shown(reply.url);
    let failure = new TransportFailure({
      kind: 'broken',
      detail: 'the server ended the event stream',
      url,
    });
    try {
      await readEvents(reply, {
        share: this.deps.share,
        log: this.deps.log,
        isAsked: (message) => !('method' in message) && this.asked.delete(String(message.id)),
        onOther: (event, data) => event === 'endpoint' && opened(this.aim(data, reply.url)),
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
    const detail = english`its endpoint event names another origin: ${target ? shown(target) : shortened(data, 200)}`;
    return new TransportFailure({
      kind: 'redirect',
      detail,
      url: shown(base),
      remedy: { kind: 'otherEndpoint' },
    });
  }

  private die(cause: string): void {
    if (!this.closing.signal.aborted && this.target) this.deps.die(cause);
  }
}
