/**
 * A fake HTTP endpoint for the channels. The test makes the replies, and no request leaves the
 * process.
 */
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unlessAborted } from '../../../src/core/base/events.js';
import type { HttpEndpoint, PostTerms } from '../../../src/core/connections/http/endpoint.js';
import type { HttpReply } from '../../../src/core/connections/http/exchange.js';
import { TransportFailure } from '../../../src/core/failures/transportFailure.js';

export interface Sent {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

type Answer = HttpReply | Promise<HttpReply>;
/** The test calls `delivery` with true if the server may have the message. */
type Post = (
  message: Sent,
  signal: AbortSignal,
  delivery: (isDelivered: boolean) => void,
) => Answer;

const url = new URL('http://server.test/mcp');

export class FakeEndpoint {
  readonly configured = url;
  url = url;
  sessionId: string | undefined;
  protocolVersion: string | undefined;
  /** The methods of sent messages. A stream is `GET` with the event at which it resumes. */
  readonly seen: string[] = [];

  constructor(
    private readonly onPost: Post,
    private readonly onGet: (signal: AbortSignal) => Answer = () => status(405),
  ) {}

  /** This fake in the type of the real endpoint. */
  get endpoint(): HttpEndpoint {
    return this as unknown as HttpEndpoint;
  }

  async post(
    body: string,
    _kind: string,
    { signal, onDelivery = () => {} }: PostTerms,
  ): Promise<HttpReply> {
    const message = JSON.parse(body) as Sent;
    this.seen.push(message.method ?? 'answer');
    return await untilClosed(this.onPost(message, signal, onDelivery), signal);
  }

  async get(
    lastEventId: string | undefined,
    _kind: string,
    signal: AbortSignal,
  ): Promise<HttpReply> {
    this.seen.push(lastEventId === undefined ? 'GET' : `GET ${lastEventId}`);
    return await untilClosed(this.onGet(signal), signal);
  }

  remove(): Promise<HttpReply> {
    this.seen.push('DELETE');
    return Promise.resolve(status(200));
  }
}

export function status(code: number, body = '', contentType = 'text/plain'): HttpReply {
  return { status: code, headers: {}, contentType, url, body: Readable.from([Buffer.from(body)]) };
}

/** A separate answer to one request, in JSON. */
export function answered(
  message: Sent,
  result: object,
  headers: HttpReply['headers'] = {},
): HttpReply {
  const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result });
  return { ...status(200, body, 'application/json'), headers };
}

/** A finite stream of events. */
export function events(text: string): HttpReply {
  return status(200, text, 'text/event-stream');
}

/** A reply that never arrives. */
export function silence(): Promise<never> {
  return new Promise(() => {});
}

export function unreachable(): Promise<never> {
  const reason = {
    kind: 'unreachable',
    code: 'ECONNREFUSED',
    detail: 'the connection was refused',
    url: url.href,
  } as const;
  return Promise.reject(new TransportFailure(reason));
}

/** Answers in a later turn of the event loop, like every server. */
async function untilClosed(answer: Answer, signal: AbortSignal): Promise<HttpReply> {
  try {
    const [given] = await unlessAborted(Promise.all([answer, nextTurn()]), signal);
    return given;
  } catch (error) {
    throw signal.aborted
      ? new TransportFailure({ kind: 'closed', wasDelivered: true, url: url.href })
      : error;
  }
}
