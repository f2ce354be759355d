/**
 * Reads a server's answer to one posted message (X2). A broken event stream is resumed after
 * its last event, never by a second request. A stream still open after the answer is closed.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Readable } from 'node:stream';
import { withoutMark } from '../../base/byteOrderMark.js';
import { delay } from '../../base/clock.js';
import { asFields } from '../../base/isObject.js';
import type { Disposable } from '../../base/disposables.js';
import { requestId, type HttpChannelDeps } from './endpoint.js';
import {
  broken,
  type HttpReply,
  inShort,
  isForNow,
  readPieces,
  readRefused,
  readShort,
  shown,
} from './exchange.js';
import type { Log } from '../../base/log.js';
import type { LoopShare } from '../../base/turns.js';
import { shortened } from '../../protocol/inBrief.js';
import {
  exchangeMs,
  largestAnswer,
  largestUnasked,
  longMessage,
  unaskedMs,
  parseLongMessages,
  parseMessages,
} from '../../protocol/jsonRpc.js';
import { decodedInSlices, storedJson } from '../../protocol/json.js';
import { TransportFailure } from '../../failures/transportFailure.js';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/**
 * Bounds on the server's retry delay: without them it could keep us busy, or silence us for a
 * month.
 */
const shortestRetryMs = 100;
const longestRetryMs = 10 * 60_000;

interface Unfinished {
  readonly lastEventId: string;
  readonly failure: TransportFailure;
  /** True if events came, or the server itself ended the stream to be asked again later. */
  readonly getsOn: boolean;
}

const mayBeJson = /^(?:application\/.*json|(?:text\/(?:json|plain)|application\/octet-stream|)$)/;

const mostResumptions = 5;
const firstDelayMs = 1000;
const afterAnswerMs = 2000;

type AnswerReader = Pick<EventStreamReader, 'deliver' | 'onRetry' | 'log' | 'share'>;

/**
 * Rejects with a `TransportFailure` if no answer can come. @param signal also ends the reading of
 * `reply`
 */
export async function readWholeAnswer(
  { endpoint, clock, log, share }: Pick<HttpChannelDeps, 'endpoint' | 'clock' | 'log' | 'share'>,
  id: RequestId,
  reply: HttpReply,
  deliver: (message: JSONRPCMessage) => void,
  signal: AbortSignal,
): Promise<void> {
  let current = reply;
  let retryMs: number | undefined;
  let timer: Disposable | undefined;
  const reader: AnswerReader = {
    deliver: (message) => {
      if (answers(message, id)) timer = clock.after(afterAnswerMs, () => current.body.destroy());
      deliver(message);
    },
    onRetry: (ms) => (retryMs = ms),
    log,
    share,
  };
  try {
    let unfinished = await readAnswer(reply, id, reader);
    for (let attempt = 0; unfinished; attempt++) {
      const { lastEventId, failure }: Unfinished = unfinished;
      if (attempt === mostResumptions || signal.aborted) throw failure;
      await delay(clock, retryMs ?? firstDelayMs * 2 ** attempt, signal);
      log.write('debug', `Taking up the answer to request ${id} after event ${lastEventId}`);
      const taken = await endpoint.get(lastEventId, 'call', signal).catch((error: unknown) => {
        if (broken(error, endpoint.url).reason.kind === 'broken') return undefined;
        // This failure concerns only the resumption: the server may have acted on the first request
        // (X4).
        throw failure;
      });
      if (!taken) continue;
      current = taken;
      if (!isEventStream(taken)) {
        taken.body.destroy();
        if (!isForNow(taken)) throw failure;
        retryMs = Math.max(firstDelayMs * 2 ** attempt, retryMs ?? 0);
        continue;
      }
      unfinished = await readStream(current, id, reader, lastEventId);
      if (unfinished?.getsOn) attempt = -1;
    }
  } finally {
    timer?.dispose();
  }
}

async function readAnswer(
  reply: HttpReply,
  id: RequestId,
  reader: AnswerReader,
): Promise<Unfinished | undefined> {
  const { status, contentType } = reply;
  if (status < 200 || status > 299) return await readRefusal(reply, id, reader);
  if (contentType === 'text/event-stream') return await readStream(reply, id, reader);
  // Some servers send JSON-RPC without saying so.
  if (status !== 202 && mayBeJson.test(contentType)) return await readJson(reply, id, reader);
  throw notMcp(
    reply,
    status === 202 ? 'it accepted the request, but did not answer it' : await readShort(reply),
  );
}

/** More of a body, or of a stream without events, appears in no message. */
const mostShown = 8 * 1024;
const mostUnread = 1024;

function notMcp(
  { contentType, undecoded, url }: HttpReply,
  text: string,
  isJson = true,
): TransportFailure {
  const isCompressed = undecoded !== undefined;
  const isUtf16 = text.includes('\0"\0') || text.includes('"\0');
  const fault = isCompressed ? 'compression' : isUtf16 ? 'utf16' : isJson ? undefined : 'notJson';
  const body = isCompressed
    ? `compressed with ${shortened(undecoded, 60)}`
    : inShort(text.replace(/[\0\uFFFD]/g, ''));
  return new TransportFailure({
    kind: 'notMcp',
    contentType,
    body,
    url: shown(url),
    ...(fault && { fault }),
  });
}

export async function statusFailure(reply: HttpReply): Promise<TransportFailure> {
  return failureWith(reply, await readShort(reply));
}

/** A long text is not parsed again for a message. */
function isJson(text: string): boolean {
  return text.length > longMessage || storedJson(withoutMark(text)) !== undefined;
}

/** A JSON-RPC error without the id of the request does not answer it, but its message says why. */
function wordsIn(text: string): string {
  const { error } = asFields(storedJson(text));
  const { message } = asFields(error);
  return typeof message === 'string' ? message : text;
}

function failureWith({ status, contentType, url }: HttpReply, body: string): TransportFailure {
  return new TransportFailure({ kind: 'status', status, body, contentType, url: shown(url) });
}

/** Some servers send their JSON-RPC errors with an HTTP status. */
async function readRefusal(
  reply: HttpReply,
  id: RequestId,
  { deliver }: AnswerReader,
): Promise<undefined> {
  const text = await readRefused(reply);
  const answer = answerIn(reply, text, id);
  if (!answer) throw failureWith(reply, inShort(wordsIn(text)));
  deliver(answer);
}

export function answerIn(
  reply: HttpReply,
  text: string,
  id: RequestId | undefined,
): JSONRPCMessage | undefined {
  if (reply.contentType !== 'application/json' || id === undefined) return undefined;
  return parseMessages(text)?.find((message) => answers(message, id));
}

export function isEventStream({ status, contentType }: HttpReply): boolean {
  return status === 200 && contentType === 'text/event-stream';
}

async function readJson(
  reply: HttpReply,
  id: RequestId,
  { deliver, share }: AnswerReader,
): Promise<undefined> {
  const long = new LongBody(share, reply.body);
  let text: string;
  let messages: JSONRPCMessage[] | undefined;
  try {
    const pieces = await readPieces(reply, largestAnswer, (length) => long.grow(length));
    if (long.isLong) {
      text = await share.run(decodedInSlices(pieces));
      messages = await parseLongMessages(share, text);
    } else {
      await share.turn();
      text = Buffer.concat(pieces).toString('utf8');
      messages = parseMessages(text);
    }
    messages = messages?.map((message) => withId(message, id));
    const [first] = messages ?? [];
    if (!first || long.isLong || messages?.length !== 1)
      await share.chargeTurns(messages ?? [], deliver);
    else {
      share.note(unaskedMs);
      deliver(first);
    }
  } finally {
    long.dispose();
  }
  if (!messages?.some((message) => answers(message, id)))
    throw notMcp(reply, text.slice(0, mostShown), messages !== undefined || isJson(text));
}

async function readStream(
  reply: HttpReply,
  id: RequestId,
  reader: AnswerReader,
  after?: string,
): Promise<Unfinished | undefined> {
  const url = shown(reply.url);
  let lastEventId = after;
  let answered = false;
  let isEnded = true;
  let isLegacy = false;
  let unread = '';
  let failure = new TransportFailure({
    kind: 'broken',
    detail: 'the stream ended without the answer',
    url,
  });
  try {
    await readEvents(reply, {
      ...reader,
      onId: (eventId) => (lastEventId = eventId),
      onUnread: (text) => (unread = text),
      onOther: (event) => {
        isLegacy ||= event === 'endpoint';
        if (isLegacy) reply.body.destroy();
      },
      isAsked: (message) => answers(withId(message, id), id),
      deliver: (received) => {
        const message = withId(received, id);
        answered ||= answers(message, id);
        reader.deliver(message);
      },
    });
  } catch (error) {
    failure = error as TransportFailure;
    isEnded = false;
  }
  if (answered) return undefined;
  if (isLegacy) {
    const body = 'an event `endpoint`';
    throw new TransportFailure({
      kind: 'notMcp',
      contentType: reply.contentType,
      body,
      url,
      isLegacyStream: true,
    });
  }
  if (isEnded && lastEventId === undefined && unread.trim() !== '') throw notMcp(reply, unread);
  if (lastEventId === undefined || ['closed', 'tooLarge'].includes(failure.reason.kind))
    throw failure;
  return { lastEventId, failure, getsOn: isEnded || lastEventId !== after };
}

/** Some servers write the number as a text. */
export function answers(message: JSONRPCMessage, id: RequestId): boolean {
  return !('method' in message) && message.id !== undefined && String(message.id) === String(id);
}

/** An error without an id, in the reply to a request, is its answer. */
function withId(message: JSONRPCMessage, id: RequestId): JSONRPCMessage {
  return 'error' in message && message.id === undefined ? { ...message, id } : message;
}

interface EventStreamReader {
  readonly deliver: (message: JSONRPCMessage) => void;
  readonly log: Log;
  readonly isAsked: (message: JSONRPCMessage) => boolean;
  readonly share: LoopShare;
  readonly most?: number;
  readonly onOther?: (event: string, data: string) => void;
  readonly onId?: (id: string) => void;
  /** Called at the end with the beginning of a stream without any event. */
  readonly onUnread?: (text: string) => void;
  /** The server's delay before we may ask again, in milliseconds and bounded. */
  readonly onRetry?: (ms: number) => void;
}

/** Resolves when the server ends the stream; rejects with a `TransportFailure` if it breaks off. */
export async function readEvents(reply: HttpReply, reader: EventStreamReader): Promise<void> {
  const { body, url } = reply;
  const { share, log, most = largestAnswer } = reader;
  const skip = (what: string): void =>
    log.write('warn', `[http] event that is not JSON-RPC: ${shortened(what, 2000)}`);
  const decoder = new TextDecoder();
  const long = new LongBody(share, body);
  const events: EventSourceMessage[] = [];
  let excess = false;
  // The reading of a short, expected answer is charged to the caller, not to the server.
  let fed = 0;
  const spend = (
    messages: readonly JSONRPCMessage[] | undefined,
    ms: number,
    isLong: boolean,
  ): void => {
    let least = messages ? 0 : unaskedMs;
    for (const message of messages ?? [])
      if (requestId(message) !== undefined) least += exchangeMs;
      else if (!reader.isAsked(message)) least += unaskedMs;
    if (least > 0 || isLong) share.spend(Math.max(least, ms));
    else share.note(Math.max(unaskedMs, ms));
  };
  const hear = (
    { event = 'message', data }: EventSourceMessage,
    message: JSONRPCMessage | undefined,
  ): void => {
    if (message) reader.deliver(message);
    // Some servers give each event of theirs a name.
    else if (event !== 'message') reader.onOther?.(event, data);
    else if (data.trim() !== '') skip(data);
  };
  const take = async (event: EventSourceMessage): Promise<void> => {
    const { data } = event;
    const isLong = data.length > longMessage;
    if (isLong) share.spend(fed);
    const since = share.now();
    const messages = isLong
      ? await parseLongMessages(share, data)
      : event.event === 'endpoint'
        ? undefined
        : parseMessages(data);
    if (data.length > largestUnasked && !messages?.some((message) => reader.isAsked(message)))
      return skip(
        `A message of more than ${largestUnasked / 1024 / 1024} MiB, which nobody asked for`,
      );
    // The listener removes an answer from its open requests on the question, so it is delivered
    // after it.
    spend(messages, isLong ? 0 : share.now() - since + fed, isLong);
    if (!isLong && (messages?.length ?? 1) === 1) return hear(event, messages?.[0]);
    await share.chargeTurns(messages ?? [undefined], (message) => hear(event, message));
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
        const { id } = event;
        if (id !== undefined && id !== '' && !/\p{Cc}/u.test(id)) reader.onId?.(id);
        // One chunk may hold thousands of events.
        if (share.isTurnFull) await share.turn();
        await take(event);
        fed = 0;
        pending = 0;
        long.dispose();
        // One chunk may hold a thousand questions. After them all, our own work for this server
        // would wait for seconds.
        await long.rest();
      }
      await long.grow(pending);
      await long.rest();
    }
    // Some servers end the stream without the empty line after the last event.
    parser.feed('\n\n');
    const [last] = events.splice(0);
    if (last && last.data.length <= longMessage && parseMessages(last.data)) await take(last);
    else if (!hasEvents) reader.onUnread?.(beginning);
  } catch (error) {
    throw broken(error, url);
  } finally {
    long.dispose();
  }
}

/**
 * Reads one body within the server's share of the event loop (S2c). A long message also waits for a
 * place.
 */
class LongBody implements Disposable {
  private place: Disposable | undefined;

  constructor(
    private readonly share: LoopShare,
    private readonly body: Readable,
  ) {}

  get isLong(): boolean {
    return this.place !== undefined;
  }

  grow(length: number): Promise<void> | undefined {
    if (length <= longMessage || this.place) return undefined;
    return this.untilClosed(async (closed) => {
      this.place = await this.share.placeForLong(closed);
    });
  }

  rest(): Promise<void> | undefined {
    return this.share.waitMs === 0
      ? undefined
      : this.untilClosed((closed) => this.share.rest(closed));
  }

  dispose(): void {
    this.place?.dispose();
    this.place = undefined;
  }

  private async untilClosed(wait: (closed: AbortSignal) => Promise<void>): Promise<void> {
    const closed = new AbortController();
    const close = (): void => closed.abort();
    if (this.body.destroyed) close();
    this.body.once('close', close);
    await wait(closed.signal);
    this.body.off('close', close);
  }
}
