/**
 * Reads a server's answer to one posted message: JSON, or events with the answer as the last one. It delivers each
 * message at once, reports how the reading ended, and does not ask again.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { LongBody } from './longBody.js';
import { broken, type HttpReply, inShort, readPieces, readShort, readText, shown } from './exchange.js';
import type { Log } from '../../base/log.js';
import type { LoopShare } from '../../base/turns.js';
import { shortened } from '../../protocol/inBrief.js';
import { parseLongMessages, parseMessages } from '../../protocol/jsonRpc.js';
import { decodedInSlices } from '../../protocol/json.js';
import { exchangeMs, largestAnswer, largestUnasked, longMessage, unaskedMs } from '../unasked.js';
import { TransportFailure } from '../../failures/transportFailure.js';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

const refusalLimit = 1024 * 1024;

/** Bounds on the server's retry delay: without them it could keep us busy, or silence us for a month. */
const shortestRetryMs = 100;
const longestRetryMs = 10 * 60_000;

export interface AnswerReader {
  readonly deliver: (message: JSONRPCMessage) => void;
  readonly onRetry: (ms: number) => void;
  /** Called with an event in place of JSON-RPC. */
  readonly onStray: (text: string) => void;
  /** The account charged for everything the server says. */
  readonly share: LoopShare;
}

type AnswerEnd =
  | { readonly kind: 'answered' }
  /** The stream ended or broke off before the answer; it can be resumed after this event. */
  | {
      readonly kind: 'resumable';
      readonly lastEventId: string;
      readonly failure: TransportFailure;
      /** True if events came, or the server itself ended the stream to be asked again later. */
      readonly getsOn: boolean;
    };

const mayBeJson = /^(?:application\/.*json.*|text\/(?:json|plain)|application\/octet-stream|)$/;

/** Rejects with a `TransportFailure` if no answer can come. */
export async function readAnswer(reply: HttpReply, id: RequestId, reader: AnswerReader): Promise<AnswerEnd> {
  if (reply.status < 200 || reply.status > 299) return await readRefusal(reply, id, reader);
  switch (reply.contentType) {
    case 'text/event-stream':
      return await readStream(reply, id, reader);
    default:
      // Some servers send JSON-RPC without saying so.
      if (reply.status !== 202 && mayBeJson.test(reply.contentType)) return await readJson(reply, id, reader);
      throw new TransportFailure({
        kind: 'notMcp',
        contentType: reply.contentType,
        body: reply.status === 202 ? 'it accepted the request, but did not answer it' : await readShort(reply),
        url: shown(reply.url),
      });
  }
}

/** Makes the failure of a status, and reads the body for it. */
export async function statusFailure(reply: HttpReply): Promise<TransportFailure> {
  return failureWith(reply, await readShort(reply));
}

function failureWith({ status, contentType, url }: HttpReply, body: string): TransportFailure {
  return new TransportFailure({ kind: 'status', status, body, contentType, url: shown(url) });
}

/** Some servers send their JSON-RPC errors with an HTTP status. */
async function readRefusal(reply: HttpReply, id: RequestId, { deliver }: AnswerReader): Promise<AnswerEnd> {
  const text = await readRefusalText(reply);
  const answer = answerIn(reply, text, id);
  if (!answer) throw failureWith(reply, inShort(text));
  deliver(answer);
  return { kind: 'answered' };
}

/** Resolves to the text of a refusal: all of it if it may be JSON-RPC, its beginning otherwise. */
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

async function readJson(reply: HttpReply, id: RequestId, { deliver, share }: AnswerReader): Promise<AnswerEnd> {
  const long = new LongBody(share, reply.body);
  let text: string;
  let messages: JSONRPCMessage[] | undefined;
  try {
    const pieces = await readPieces(reply, largestAnswer, (length) => long.grow(length));
    const deliverAll = (): void => {
      for (const message of messages ?? []) deliver(message);
    };
    if (!long.isLong) {
      text = Buffer.concat(pieces).toString('utf8');
      messages = parseMessages(text);
      deliverAll();
    } else {
      text = await share.run(decodedInSlices(pieces));
      messages = await parseLongMessages(share, text);
      await share.chargeTurn(deliverAll);
    }
  } finally {
    long.dispose();
  }
  if (messages?.some((message) => answers(message, id))) return { kind: 'answered' };
  const body = inShort(text);
  throw new TransportFailure({ kind: 'notMcp', contentType: reply.contentType, body, url: shown(reply.url) });
}

/** Reads the stream of an answer, also when it is resumed. @param after the event to resume after */
export async function readStream(
  reply: HttpReply,
  id: RequestId,
  reader: AnswerReader,
  after?: string,
): Promise<AnswerEnd> {
  let lastEventId = after;
  let answered = false;
  let isEnded = true;
  let isLegacy = false;
  let unread = '';
  let failure = new TransportFailure({
    kind: 'broken',
    detail: 'the stream ended without the answer',
    url: shown(reply.url),
  });
  try {
    await readEvents(reply, {
      ...reader,
      onId: (eventId) => (lastEventId = eventId),
      onUnread: (text) => (unread = text),
      onOther: (event) => {
        if (event !== 'endpoint') return;
        isLegacy = true;
        reply.body.destroy();
      },
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
  if (isLegacy) {
    const { contentType, url } = reply;
    const body = 'an event `endpoint`';
    throw new TransportFailure({ kind: 'notMcp', contentType, body, url: shown(url), isLegacyStream: true });
  }
  if (isEnded && lastEventId === undefined && unread.trim() !== '') {
    const body = inShort(unread);
    throw new TransportFailure({ kind: 'notMcp', contentType: reply.contentType, body, url: shown(reply.url) });
  }
  const final = failure.reason.kind === 'closed' || failure.reason.kind === 'tooLarge';
  if (lastEventId === undefined || final) throw failure;
  return { kind: 'resumable', lastEventId, failure, getsOn: isEnded || lastEventId !== after };
}

/** This many characters of a stream without events are kept, for a message. */
const mostUnread = 1024;

export function logStrayEvent(log: Log, text: string): void {
  log.write('warn', `[http] event that is not JSON-RPC: ${shortened(text, 2000)}`);
}

/** Some servers write the number as a text. */
export function answers(message: JSONRPCMessage, id: RequestId): boolean {
  return !('method' in message) && message.id !== undefined && String(message.id) === String(id);
}

interface EventStreamReader {
  readonly deliver: (message: JSONRPCMessage) => void;
  /** Called with an event in place of JSON-RPC. */
  readonly onStray: (text: string) => void;
  /** True if the message is an answer to an open request. */
  readonly isAsked: (message: JSONRPCMessage) => boolean;
  readonly share: LoopShare;
  /** The most characters of an event; by default, the limit of an answer. */
  readonly most?: number;
  /** Called for an event of another kind. */
  readonly onOther?: (event: string, data: string) => void;
  /** Called with an id fit for a header. */
  readonly onId?: (id: string) => void;
  /** Called at the end with the beginning of a stream without any event. */
  readonly onUnread?: (text: string) => void;
  /** The server's delay before we may ask again, in milliseconds and bounded. */
  readonly onRetry?: (ms: number) => void;
}

/**
 * Reads server-sent events in bounded memory. Resolves when the server ends the stream; rejects with a
 * `TransportFailure` if it breaks off.
 */
export async function readEvents(reply: HttpReply, reader: EventStreamReader): Promise<void> {
  const { body, url } = reply;
  const { share, most = largestAnswer } = reader;
  const decoder = new TextDecoder();
  const long = new LongBody(share, body);
  const events: EventSourceMessage[] = [];
  let excess = false;
  // The reading of a short, expected answer is charged to the caller, not to the server.
  let fed = 0;
  const spend = (messages: readonly JSONRPCMessage[] | undefined, ms: number, isLong: boolean): void => {
    const asked = (messages ?? []).filter((message) => reader.isAsked(message)).length;
    const exchanges = (messages ?? []).filter((message) => 'method' in message && 'id' in message).length;
    const unasked = messages ? messages.length - asked - exchanges : 1;
    const least = unasked * unaskedMs + exchanges * exchangeMs;
    if (least > 0 || isLong) share.spend(Math.max(least, ms));
  };
  const hear = ({ event = 'message', data }: EventSourceMessage, messages: JSONRPCMessage[] | undefined): void => {
    // Some servers give each event of theirs a name.
    if (event !== 'message' && !messages) return reader.onOther?.(event, data);
    if (!messages && data.trim() !== '') reader.onStray(data);
    for (const message of messages ?? []) reader.deliver(message);
  };
  const takeShort = (event: EventSourceMessage): void => {
    const since = share.now();
    const messages = event.event === 'endpoint' ? undefined : parseMessages(event.data);
    // The listener removes an answer from its open requests on the question, so it is delivered after it.
    const ms = share.now() - since + fed;
    spend(messages, ms, false);
    hear(event, messages);
  };
  const takeLong = async (event: EventSourceMessage): Promise<void> => {
    share.spend(fed);
    const messages = await parseLongMessages(share, event.data);
    if (event.data.length > largestUnasked && !messages?.some((message) => reader.isAsked(message))) {
      return reader.onStray(`A message of more than ${largestUnasked / 1024 / 1024} MiB, which nobody asked for`);
    }
    spend(messages, 0, true);
    await share.chargeTurn(() => hear(event, messages));
  };
  const parser = createParser({
    maxBufferSize: most,
    onEvent: (event) => void events.push(event),
    onComment: () => share.spend(unaskedMs),
    onRetry: (ms) => reader.onRetry?.(Math.min(Math.max(ms, shortestRetryMs), longestRetryMs)),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') excess = true;
      else share.spend(unaskedMs);
    },
  });
  let pending = 0;
  let beginning = '';
  let hasEvents = false;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const since = share.now();
      const text = decoder.decode(chunk, { stream: true });
      if (!hasEvents && beginning.length < mostUnread) beginning += text.slice(0, mostUnread);
      parser.feed(text);
      fed += share.now() - since;
      if (excess) throw new TransportFailure({ kind: 'tooLarge', limit: most, url: shown(url) });
      pending += chunk.length;
      for (const event of events.splice(0)) {
        hasEvents = true;
        const { id, data } = event;
        if (id !== undefined && id !== '' && !/\p{Cc}/u.test(id)) reader.onId?.(id);
        if (data.length > longMessage) await takeLong(event);
        else takeShort(event);
        fed = 0;
        pending = 0;
        long.dispose();
      }
      await long.grow(pending);
      await long.rest();
    }
    // Some servers end the stream without the empty line after the last event.
    parser.feed('\n\n');
    const [last] = events.splice(0);
    if (last && last.data.length <= longMessage && parseMessages(last.data)) takeShort(last);
    else if (!hasEvents) reader.onUnread?.(beginning);
  } catch (error) {
    throw broken(error, url);
  } finally {
    long.dispose();
  }
}
