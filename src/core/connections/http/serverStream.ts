/**
 * The stream on which a Streamable HTTP server says what nobody asked for: opened by GET, opened again when it ends
 * (X2). A server may have none (405). Invariants: at most one at a time; it never waits less than the server says.
 */
import { delay } from '../../base/clock.js';
import { readEvents, bodyLimit, type AnswerReader } from './answer.js';
import type { HttpChannelParts, HttpEndpoint } from './endpoint.js';
import { broken } from './exchange.js';
import { parseMessages } from '../jsonRpc.js';

interface ServerStreamParts extends HttpChannelParts {
  readonly endpoint: HttpEndpoint;
  readonly reader: AnswerReader;
  readonly signal: AbortSignal;
  /** The stream broke off: is anyone there? */
  readonly suspect: () => void;
  /** The session of the stream is unknown to the server. */
  readonly renew: (expired: string) => Promise<void>;
}

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

export class ServerStream {
  private current: AbortController | undefined;
  private retryMs: number | undefined;
  private lastEventId: string | undefined;

  constructor(private readonly parts: ServerStreamParts) {
    parts.signal.addEventListener('abort', () => this.current?.abort(), { once: true });
  }

  /** Opens the stream of the session that holds now. */
  restart(): void {
    this.current?.abort();
    this.lastEventId = undefined;
    if (this.parts.signal.aborted) return;
    const controller = new AbortController();
    this.current = controller;
    void this.listen(controller.signal);
  }

  private async listen(signal: AbortSignal): Promise<void> {
    const { clock, suspect } = this.parts;
    for (let failures = 0; !signal.aborted;) {
      const outcome = await this.listenOnce(signal);
      if (signal.aborted || outcome === 'none') return;
      failures = outcome === 'ended' ? 0 : failures + 1;
      if (outcome === 'broke') suspect();
      const wait = this.retryMs ?? Math.min(firstDelayMs * 2 ** Math.max(0, failures - 1), longestDelayMs);
      await delay(clock, wait, signal).catch(() => undefined);
    }
  }

  private async listenOnce(signal: AbortSignal): Promise<'none' | 'ended' | 'broke' | 'refused'> {
    const { endpoint, log, die, renew } = this.parts;
    const session = endpoint.sessionId;
    try {
      const reply = await endpoint.get(this.lastEventId, 'other', signal);
      if (reply.status === 200 && reply.contentType === 'text/event-stream') {
        await readEvents(reply, {
          limit: bodyLimit,
          onRetry: (ms) => (this.retryMs = ms),
          onEvent: ({ event, id, data }) => this.hear(event, id, data),
        });
        return 'ended';
      }
      reply.body.destroy();
      if (reply.status === 404 && session !== undefined) {
        await renew(session); // which opens the stream of the new session
        return 'none';
      }
      if (reply.status >= 500 && reply.status !== 501) return 'refused';
      if (reply.status !== 405)
        log.write('debug', `[http] no stream for messages of the server (HTTP ${reply.status})`);
      return 'none';
    } catch (error) {
      const { trouble, message } = broken(error, endpoint.url);
      if (signal.aborted) return 'none';
      if (trouble.kind === 'unreachable' || trouble.kind === 'sessionLost') die(message);
      return 'broke';
    }
  }

  private hear(event: string, id: string | undefined, data: string): void {
    if (id !== undefined && id !== '') this.lastEventId = id;
    if (event !== 'message' || data.trim() === '') return;
    const messages = parseMessages(data);
    if (!messages) this.parts.reader.onStray(data);
    for (const message of messages ?? []) this.parts.reader.deliver(message);
  }
}
