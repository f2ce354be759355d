/**
 * Reads what a server answers to one posted message: JSON, or events that end with the answer. It delivers every
 * message as it comes, says how the reading ended, and does not ask again.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { broken, type HttpReply, inShort, readShort, readText, shown } from './exchange.js';
import type { EventPace } from './eventPace.js';
import type { Log } from '../../base/log.js';
import { parseMessages, shortened } from '../jsonRpc.js';
import { TransportFailure } from '../transport.js';
import { createParser } from 'eventsource-parser';

/** The limit of a body in bytes, and of an event in characters. */
const bodyLimit = 64 * 1024 * 1024;

const refusalLimit = 1024 * 1024;

/** Whoever is told to ask at once would do nothing else, and whoever is told to ask in a month would hear no more. */
const shortestRetryMs = 100;
const longestRetryMs = 10 * 60_000;

export interface AnswerReader {
  readonly deliver: (message: JSONRPCMessage) => void;
  readonly onRetry: (ms: number) => void;
  /** Called for what an event stream has that is not JSON-RPC. */
  readonly onStray: (text: string) => void;
  /** That of all streams on which the answer comes. */
  readonly pace: EventPace;
}

type AnswerEnd =
  | { readonly kind: 'answered' }
  /** The stream ended or broke off before the answer; it can be taken up after this event. */
  | {
      readonly kind: 'resumable';
      readonly lastEventId: string;
      readonly failure: TransportFailure;
      /** Whether events came, or the server itself ended it, as one does that wants to be asked again later. */
      readonly getsOn: boolean;
    };

/** Rejects with a `TransportFailure` when there is no answer and will be none. */
export async function readAnswer(reply: HttpReply, id: RequestId, reader: AnswerReader): Promise<AnswerEnd> {
  if (reply.status < 200 || reply.status > 299) return await readRefusal(reply, id, reader);
  switch (reply.contentType) {
    case 'application/json':
      return await readJson(reply, id, reader);
    case 'text/event-stream':
      return await readStream(reply, id, reader);
    default:
      throw new TransportFailure({
        kind: 'notMcp',
        contentType: reply.contentType,
        body: reply.status === 202 ? 'it accepted the request, but did not answer it' : await readShort(reply),
        url: shown(reply.url),
      });
  }
}

/** Makes the failure that a status stands for, and reads the body for it. */
export async function statusFailure(reply: HttpReply): Promise<TransportFailure> {
  return failureWith(reply, await readShort(reply));
}

function failureWith({ status, contentType, url }: HttpReply, body: string): TransportFailure {
  return new TransportFailure({ kind: 'status', status, body, contentType, url: shown(url) });
}

/** Some servers send their JSON-RPC errors with a status of their own. */
async function readRefusal(reply: HttpReply, id: RequestId, { deliver }: AnswerReader): Promise<AnswerEnd> {
  const text = await readRefusalText(reply);
  const answer = answerIn(reply, text, id);
  if (!answer) throw failureWith(reply, inShort(text));
  deliver(answer);
  return { kind: 'answered' };
}

/** Resolves with what a refusal says: all of it if it may be JSON-RPC, and its beginning otherwise. */
export async function readRefusalText(reply: HttpReply): Promise<string> {
  if (reply.contentType !== 'application/json') return await readShort(reply);
  return await readText(reply, refusalLimit).catch(() => '');
}

/** Finds the answer to a request in the text of a refusal. */
export function answerIn(
  { contentType }: HttpReply,
  text: string,
  id: RequestId | undefined,
): JSONRPCMessage | undefined {
  if (contentType !== 'application/json' || id === undefined) return undefined;
  return parseMessages(text)?.find((message) => answers(message, id));
}

async function readJson(reply: HttpReply, id: RequestId, { deliver }: AnswerReader): Promise<AnswerEnd> {
  const text = await readText(reply, bodyLimit);
  const messages = parseMessages(text);
  for (const message of messages ?? []) deliver(message);
  if (messages?.some((message) => answers(message, id))) return { kind: 'answered' };
  const body = inShort(text);
  throw new TransportFailure({ kind: 'notMcp', contentType: reply.contentType, body, url: shown(reply.url) });
}

/**
 * This reads the stream with which an answer is taken up, too.
 * @param after the event after which it is taken up
 */
export async function readStream(
  reply: HttpReply,
  id: RequestId,
  reader: AnswerReader,
  after?: string,
): Promise<AnswerEnd> {
  let lastEventId = after;
  let answered = false;
  let isEnded = true;
  let failure = new TransportFailure({
    kind: 'broken',
    detail: 'the stream ended without the answer',
    url: shown(reply.url),
  });
  try {
    await readEvents(reply, {
      ...reader,
      onId: (eventId) => (lastEventId = eventId),
      isAsked: (message) => answers(message, id),
      deliver: (message) => {
        answered ||= answers(message, id);
        reader.deliver(message);
      },
    });
  } catch (error) {
    failure = error as TransportFailure;
    isEnded = false;
  }
  if (answered) return { kind: 'answered' };
  const final = failure.reason.kind === 'closed' || failure.reason.kind === 'tooLarge';
  if (lastEventId === undefined || final) throw failure;
  return { kind: 'resumable', lastEventId, failure, getsOn: isEnded || lastEventId !== after };
}

export function logStrayEvent(log: Log, text: string): void {
  log.write('warn', `[http] event that is not JSON-RPC: ${shortened(text, 2000)}`);
}

/** Some servers answer with the number as a text. */
export function answers(message: JSONRPCMessage, id: RequestId): boolean {
  return !('method' in message) && message.id !== undefined && String(message.id) === String(id);
}

interface EventStreamReader {
  readonly deliver: (message: JSONRPCMessage) => void;
  /** Called for an event of messages that is not JSON-RPC. */
  readonly onStray: (text: string) => void;
  /** Says of an answer whether it is one that we wait for. */
  readonly isAsked: (message: JSONRPCMessage) => boolean;
  readonly pace: EventPace;
  /** Called for an event of another kind. */
  readonly onOther?: (event: string, data: string) => void;
  /** Called for an id that can be given back in a header. */
  readonly onId?: (id: string) => void;
  /** The server says how long to wait before asking again, in milliseconds; what it says is bounded. */
  readonly onRetry?: (ms: number) => void;
}

/**
 * Reads server-sent events in bounded memory. Resolves when the server ends the stream; rejects with a
 * `TransportFailure` when it breaks off.
 */
export async function readEvents(reply: HttpReply, reader: EventStreamReader): Promise<void> {
  const { body, url } = reply;
  const decoder = new TextDecoder();
  let excess = false;
  const parser = createParser({
    maxBufferSize: bodyLimit,
    onEvent: ({ event = 'message', id, data }) => {
      if (id !== undefined && id !== '' && !/\p{Cc}/u.test(id)) reader.onId?.(id);
      const messages = event === 'message' ? parseMessages(data) : undefined;
      reader.pace.spend(data.length, messages, reader.isAsked);
      if (event !== 'message') return reader.onOther?.(event, data);
      if (!messages && data.trim() !== '') reader.onStray(data);
      for (const message of messages ?? []) reader.deliver(message);
    },
    onComment: ({ length }) => reader.pace.spendOther(length),
    onRetry: (ms) => reader.onRetry?.(Math.min(Math.max(ms, shortestRetryMs), longestRetryMs)),
    onError: ({ type, line = '' }) => {
      if (type === 'max-buffer-size-exceeded') excess = true;
      else reader.pace.spendOther(line.length);
    },
  });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (excess) throw new TransportFailure({ kind: 'tooLarge', limit: bodyLimit, url: shown(url) });
      await reader.pace.rest(body);
    }
  } catch (error) {
    throw broken(error, url);
  }
}
