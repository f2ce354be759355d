/** Reads a reply as a stream of server-sent events, in bounded memory. Does not reconnect. */
import { createParser } from 'eventsource-parser';
import { broken, shown, type HttpReply } from './httpExchange.js';
import { TransportFailure } from './transport.js';

export interface EventStreamReader {
  readonly onEvent: (event: { readonly event: string; readonly id: string | undefined; readonly data: string }) => void;
  /** The server says how long to wait before asking again, in milliseconds. */
  readonly onRetry?: (ms: number) => void;
  /** Of one event, in characters. */
  readonly limit: number;
}

/** Resolves when the server ends the stream; rejects with a `TransportFailure` when it breaks off. */
export async function readEvents(reply: HttpReply, reader: EventStreamReader): Promise<void> {
  const { body, url } = reply;
  const decoder = new TextDecoder();
  let excess = false;
  const parser = createParser({
    maxBufferSize: reader.limit,
    onEvent: ({ event, id, data }) => reader.onEvent({ event: event ?? 'message', id, data }),
    onRetry: (ms) => reader.onRetry?.(ms),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') excess = true;
    },
  });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (excess) throw new TransportFailure({ kind: 'tooLarge', limit: reader.limit, url: shown(url) });
    }
  } catch (error) {
    throw broken(error, url);
  }
}
