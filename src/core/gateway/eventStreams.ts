/**
 * Replies as server-sent events. What is answered in the turn in which it was asked goes out as one write; otherwise the
 * head goes out at once and the rest as it comes. (Holding the head back for a moment was measured: it gains nothing at
 * the median, as the write falls into the time the server works.) Every open stream is kept alive by comments: the editor's
 * HTTP client gives up on a stream that is silent for 300 s, and then its call never settles.
 *
 * Streams carry no event ids: what a lost stream held is not sent again. Writing to a stream whose client is gone
 * does nothing.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';

/** What sessions see of a stream. Messages are JSON without line breaks. */
export interface MessageStream {
  send(message: string): void;
}

export interface OpenStream extends MessageStream {
  end(): void;
}

/** The reply to one POST. */
export interface Reply extends MessageStream {
  /** Sends what may get lost: dropped where the client reads too slowly. */
  sendIfReading(message: string): void;
  /** Settles one request of the POST, with its answer or (cancelled) without; the last one ends the stream. */
  settle(answer: string | undefined): void;
}

const comment = ': keep-alive\n\n';
/** A client with this much unread, in bytes, gets no more progress. */
const unreadLimit = 1 << 20;

function frame(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

const eventHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' } as const;

/** One timer for all streams: the first comment of a stream may come early, never late. */
export class Heartbeat implements Disposable {
  private readonly responses = new Set<ServerResponse>();
  private timer: Disposable | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
  ) {}

  add(response: ServerResponse): void {
    this.responses.add(response);
    response.once('close', () => this.responses.delete(response));
    this.timer ??= this.clock.after(this.intervalMs, () => this.beat());
  }

  dispose(): void {
    this.timer?.dispose();
    this.responses.clear();
  }

  private beat(): void {
    this.timer = undefined;
    for (const response of this.responses) {
      if (response.writableEnded || response.destroyed || response.writableLength > unreadLimit) continue;
      response.write(comment);
    }
    if (this.responses.size > 0) this.timer = this.clock.after(this.intervalMs, () => this.beat());
  }
}

/** The stream of a GET: open until either side ends it. */
export class ListenStream implements OpenStream {
  constructor(
    private readonly response: ServerResponse,
    heartbeat: Heartbeat,
  ) {
    response.on('error', () => {});
    response.writeHead(200, eventHeaders);
    response.flushHeaders();
    heartbeat.add(response);
  }

  send(message: string): void {
    if (!this.response.writableEnded && !this.response.destroyed) this.response.write(frame(message));
  }

  end(): void {
    if (!this.response.writableEnded) this.response.end();
  }
}

interface PostReplyDeps {
  readonly heartbeat: Heartbeat;
  /** How many requests will be settled. */
  readonly requests: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export class PostReply implements Reply {
  /** What is said before the head goes out. */
  private gathered = '';
  private headSent = false;
  private unsettled: number;

  constructor(
    private readonly response: ServerResponse,
    private readonly deps: PostReplyDeps,
  ) {
    this.unsettled = deps.requests;
    response.on('error', () => {});
  }

  /** To be called once, when every message of the POST has been taken in. */
  release(): void {
    if (this.unsettled === 0 || this.isClosed) return;
    this.headSent = true;
    this.response.writeHead(200, { ...eventHeaders, ...this.deps.headers });
    if (this.gathered === '') this.response.flushHeaders();
    else this.response.write(this.gathered);
    this.gathered = '';
    this.deps.heartbeat.add(this.response);
  }

  send(message: string): void {
    if (this.isClosed) return;
    if (this.headSent) this.response.write(frame(message));
    else this.gathered += frame(message);
  }

  sendIfReading(message: string): void {
    if (this.response.writableLength < unreadLimit) this.send(message);
  }

  settle(answer: string | undefined): void {
    this.unsettled -= 1;
    if (this.unsettled > 0) {
      if (answer !== undefined) this.send(answer);
      return;
    }
    if (this.isClosed) return;
    const last = answer === undefined ? '' : frame(answer);
    if (this.headSent) {
      this.response.end(last);
      return;
    }
    const body = Buffer.from(this.gathered + last);
    this.response.writeHead(200, { ...eventHeaders, ...this.deps.headers, 'content-length': body.length });
    this.response.end(body);
  }

  private get isClosed(): boolean {
    return this.response.writableEnded || this.response.destroyed;
  }
}
