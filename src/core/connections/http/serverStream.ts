/**
 * Keeps the stream on which a Streamable HTTP server says what nobody asked for: it is opened by GET, and opened again
 * when it ends (X2). A server may have none. Invariants: there is at most one stream at a time; it never waits less than
 * the server says, within the bounds of `readEvents`; that the session is lost is believed only of a stream that was there.
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
  /** The session in which there was a stream last. */
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
      // What the server says is for a stream that ended, and one that refuses is not to be asked ten times a second.
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
      // Else the server has no such address, and a session that is lost shows with the next message.
      if (reply.status === 404 && session !== undefined && this.streamedIn === session) {
        await this.deps.session.renew(session); // That opens the stream of the new session.
        return 'none';
      }
      if (isForNow(reply)) return 'refused';
      if (this.lastEventId !== undefined && reply.status !== 405) {
        // The server may have forgotten the event; what came since is lost either way.
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
