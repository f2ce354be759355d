/**
 * Writes replies: a quick answer as JSON, because clients read it faster than an event; otherwise
 * server-sent events. The head waits for the first message, so a quick answer is one packet (P3).
 * Comments keep every stream alive: after 300 s of silence, the editor drops a reply, and its call
 * never settles. Writing to a closed stream does nothing.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { inPieces, inTurns } from '../base/turns.js';
import { mostUnread } from '../protocol/versions.js';

/** A stream as sessions see it. Messages are JSON without line breaks. */
export interface MessageStream {
  send(message: string): void;
  /** Sends a message, or drops it if the client reads too slowly. */
  sendIfReading(message: string): void;
}

export interface OpenStream extends MessageStream {
  end(): void;
}

export interface Reply extends MessageStream {
  /**
   * Without an answer, the request was cancelled. The last one ends the stream. A sent head has no
   * `status`.
   */
  settle(answer: string | undefined, status?: number): void;
  /** Returns the progress token of the present POST. @param first of the first POST */
  progressToken(first: unknown): unknown;
}

const comment = ': keep-alive\n\n';
/**
 * Clients wait this long for the head of a reply, in milliseconds. After it, an error has no HTTP
 * status of its own.
 */
const headLimitMs = 2_000;
/** A longer answer is written in pieces, in characters. */
const longBody = 512 * 1024;
/** A listening stream with more unread bytes is closed. */
const listeningLimit = 4 << 20;

function frame(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

const eventHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
} as const;

export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  more?: OutgoingHttpHeaders,
): void {
  if (response.headersSent || response.destroyed) return;
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
    ...more,
  };
  response.writeHead(status, headers).end(json);
}

/** One timer for the comments of all streams. A first one may come early, never late. */
export class Heartbeat implements Disposable {
  private readonly responses = new Set<ServerResponse>();
  private timer: Disposable | undefined;

  constructor(
    readonly clock: Clock,
    private readonly intervalMs: number,
  ) {}

  add(response: ServerResponse): void {
    this.responses.add(response);
    response.once('close', () => this.responses.delete(response));
    this.timer ??= this.clock.after(this.intervalMs, () => this.beat());
  }

  remove(response: ServerResponse): void {
    this.responses.delete(response);
  }

  dispose(): void {
    this.timer?.dispose();
    this.responses.clear();
  }

  private beat(): void {
    this.timer = undefined;
    for (const response of this.responses) {
      if (response.writableEnded || response.destroyed || response.writableLength > mostUnread)
        continue;
      response.write(comment);
    }
    if (this.responses.size > 0) this.timer = this.clock.after(this.intervalMs, () => this.beat());
  }
}

/** The stream of a GET, open until either side ends it or its client does not read. */
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
    const { response } = this;
    if (response.writableEnded || response.destroyed) return;
    // Ending the stream would wait for the client to read everything.
    if (response.writableLength > listeningLimit) response.destroy();
    else response.write(frame(message));
  }

  sendIfReading(message: string): void {
    if (this.response.writableLength < mostUnread) this.send(message);
  }

  end(): void {
    if (!this.response.writableEnded) this.response.end();
  }
}

export class PostReply implements Reply {
  private headSent = false;
  private readonly head: Disposable;

  /** @param isBatch true if the requests came as an array, so a single object is a wrong answer */
  constructor(
    private readonly response: ServerResponse,
    private readonly heartbeat: Heartbeat,
    private unsettled = 1,
    private readonly isBatch = false,
  ) {
    response.on('error', () => {});
    this.head = heartbeat.clock.after(headLimitMs, () => {
      if (this.isClosed) return;
      this.sendHead();
      response.flushHeaders();
    });
  }

  send(message: string): void {
    if (this.isClosed) return;
    this.sendHead();
    this.response.write(frame(message));
  }

  sendIfReading(message: string): void {
    if (this.response.writableLength < mostUnread) this.send(message);
  }

  progressToken(first: unknown): unknown {
    return first;
  }

  settle(answer: string | undefined, status = 200): void {
    this.unsettled -= 1;
    if (this.unsettled > 0) {
      if (answer !== undefined) this.send(answer);
      return;
    }
    this.head.dispose();
    if (this.isClosed) return;
    const readsJson =
      !this.isBatch && this.response.req.headers.accept?.includes('application/json') === true;
    const isEvents = answer === undefined || this.headSent || (status === 200 && !readsJson);
    // A text goes out with the head in one piece; bytes would be copied first.
    const body = answer !== undefined && isEvents ? frame(answer) : (answer ?? '');
    if (body.length > longBody) return this.endInPieces(body, isEvents, status);
    if (this.headSent) {
      this.response.end(body);
      return;
    }
    const length = Buffer.byteLength(body);
    // Written out, because a copy by `...` takes longer than everything else here (P3).
    const { 'content-type': type, 'cache-control': cache } = eventHeaders;
    const headers: OutgoingHttpHeaders = isEvents
      ? {
          'content-type': type,
          'cache-control': cache,
          'content-length': length,
        }
      : { 'content-type': 'application/json', 'content-length': length };
    this.response.writeHead(isEvents ? 200 : status, headers).end(body);
  }

  /** Encoding a long body at once would block the event loop (P10). */
  private endInPieces(body: string, isEvents: boolean, status: number): void {
    const { response } = this;
    if (isEvents) this.sendHead();
    else response.writeHead(status, { 'content-type': 'application/json' });
    this.heartbeat.remove(response);
    void inTurns(inPieces(body, (piece) => this.isClosed || response.write(piece))).then(() =>
      response.end(),
    );
  }

  private sendHead(): void {
    if (this.headSent) return;
    this.headSent = true;
    this.head.dispose();
    this.response.writeHead(200, eventHeaders);
    this.heartbeat.add(this.response);
  }

  private get isClosed(): boolean {
    return this.response.writableEnded || this.response.destroyed;
  }
}
