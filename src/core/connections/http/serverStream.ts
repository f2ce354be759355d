/**
 * The stream for unrequested messages of a Streamable HTTP server. It is opened by GET, and again when it ends (X2). A
 * server may have none. Invariants: there is at most one stream at a time; the server's delay is respected, within the
 * bounds of `readEvents`; a lost session is believed only of a stream that existed.
 */
import { delay } from '../../base/clock.js';
import { logStrayEvent, readEvents } from './answer.js';
import type { HttpChannelDeps, HttpEndpoint } from './endpoint.js';
import { largestUnasked } from '../unasked.js';
import { broken, isForNow } from './exchange.js';
import type { Liveness } from './liveness.js';
import type { HttpSession } from './session.js';

interface ServerStreamDeps extends HttpChannelDeps {
  readonly endpoint: HttpEndpoint;
  readonly session: HttpSession;
  readonly liveness: Liveness;
  /** Aborted when the connection is closed. */
  readonly signal: AbortSignal;
}

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

export class ServerStream {
  private current: AbortController | undefined;
  private retryMs: number | undefined;
  private lastEventId: string | undefined;
  /** The session of the last stream. */
  private streamedIn: string | undefined;

  constructor(private readonly deps: ServerStreamDeps) {
    deps.session.onDidRenew(() => this.restart());
  }

  /** Opens the stream of the present session. */
  restart(): void {
    this.current?.abort();
    this.lastEventId = undefined;
    const { signal } = this.deps;
    if (signal.aborted) return;
    this.current = new AbortController();
    void this.listen(AbortSignal.any([signal, this.current.signal]));
  }

  private async listen(signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    for (let failures = 0; !signal.aborted;) {
      const outcome = await this.listenOnce(signal);
      if (signal.aborted || outcome === 'none') return;
      failures = outcome === 'ended' ? 0 : failures + 1;
      const growing = Math.min(firstDelayMs * 2 ** Math.max(0, failures - 1), longestDelayMs);
      // The server's delay is for an ended stream. A refusing server must not be asked ten times a second.
      const wait = outcome === 'refused' ? Math.max(growing, this.retryMs ?? 0) : (this.retryMs ?? growing);
      await delay(clock, wait, signal).catch(() => undefined);
    }
  }

  private async listenOnce(signal: AbortSignal): Promise<'none' | 'ended' | 'broke' | 'refused'> {
    const { endpoint, log, liveness } = this.deps;
    const session = endpoint.sessionId;
    try {
      const reply = await endpoint.get(this.lastEventId, 'other', signal);
      if (reply.status === 200 && reply.contentType === 'text/event-stream') {
        this.streamedIn = session;
        await readEvents(reply, {
          share: this.deps.share,
          most: largestUnasked,
          isAsked: () => false,
          onRetry: (ms) => (this.retryMs = ms),
          onId: (id) => (this.lastEventId = id),
          onStray: (text) => logStrayEvent(log, text),
          deliver: (message) => this.deps.deliver(message),
        });
        return 'ended';
      }
      reply.body.destroy();
      // Otherwise the server has no such address, and the next message shows a lost session.
      if (reply.status === 404 && session !== undefined && this.streamedIn === session) {
        await this.deps.session.renew(session); // That opens the stream of the new session.
        return 'none';
      }
      if (isForNow(reply)) return 'refused';
      if (this.lastEventId !== undefined && reply.status !== 405) {
        // The server may have forgotten the event. Later messages are lost either way.
        this.lastEventId = undefined;
        return 'refused';
      }
      if (reply.status !== 405)
        log.write('debug', `[http] no stream for messages of the server (HTTP ${reply.status})`);
      return 'none';
    } catch (error) {
      if (signal.aborted) return 'none';
      liveness.judge(broken(error, endpoint.url));
      return 'broke';
    }
  }
}
