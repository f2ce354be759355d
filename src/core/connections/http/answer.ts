/**
 * Reads a server's answer to one posted message (X2). A broken event stream is resumed after
 * its last event, never by a second request. A stream still open after the answer is closed.
 */
import { english } from '../../base/language.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Readable } from 'node:stream';
import { withoutMark } from '../../base/byteOrderMark.js';
import { delay } from '../../base/clock.js';
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
  wordsIn,
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
import { TransportFailure, type AnswerFault } from '../../failures/transportFailure.js';
import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';

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
  const failure = (body: string, fault?: AnswerFault): TransportFailure =>
    new TransportFailure({
      kind: 'notMcp',
      contentType,
      body,
      url: shown(url),
      fault,
    });
  if (undecoded !== undefined)
    return failure(english`compressed with ${shortened(undecoded, 60)}`, 'compression');
  const body = inShort(text.replace(/[\0\uFFFD]/g, ''));
  const isUtf16 = text.includes('\0"\0') || text.includes('"\0');
  if (isUtf16) return failure(body, 'utf16');
  return failure(body, isJson ? undefined : 'notJson');
}

export async function statusFailure(reply: HttpReply): Promise<TransportFailure> {
  return failureWith(reply, await readShort(reply));
}

/** A long text is not parsed again for a message. */
function isJson(text: string): boolean {
  return text.length > longMessage || storedJson(withoutMark(text)) !== undefined;
}

function failureWith(reply: HttpReply, body: string): TransportFailure {
  const { status, contentType, url, proxy, more } = reply;
  return new TransportFailure({
    kind: 'status',
    status,
    body,
    contentType,
    url: shown(url),
    ...(proxy && { proxy }),
    ...(more !== undefined && { more }),
  });
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
    isEnded: true,
    url,
  });
  try {
    unread = await readEvents(reply, {
      ...reader,
      onId: (eventId) => (lastEventId = eventId),
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
  return {
    lastEventId,
    failure,
    getsOn: isEnded || lastEventId !== after,
  };
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
  /** The server's delay before we may ask again, in milliseconds and bounded. */
  readonly onRetry?: (ms: number) => void;
}

/**
 * Resolves when the server ends the stream, to the beginning of a stream without any event. Rejects
 * with a `TransportFailure` if it breaks off.
 */
export function readEvents(reply: HttpReply, reader: EventStreamReader): Promise<string> {
  return new EventReading(reply, reader).run();
}

class EventReading {
  private readonly decoder = new TextDecoder();
  /** Parsed and not handled yet. */
  private readonly events: EventSourceMessage[] = [];
  private readonly parser: EventSourceParser;
  private readonly long: LongBody;
  private isTooLarge = false;
  private hasEvents = false;
  private beginning = '';
  /** The bytes since the last event. */
  private pending = 0;
  /**
   * The time of parsing since the last event. The reading of a short, expected answer is charged to
   * the caller, not to the server.
   */
  private fedMs = 0;

  constructor(
    private readonly reply: HttpReply,
    private readonly reader: EventStreamReader,
  ) {
    const { share, onRetry, most = largestAnswer } = reader;
    this.long = new LongBody(share, reply.body);
    this.parser = createParser({
      maxBufferSize: most,
      onEvent: (event) => void this.events.push(event),
      onComment: () => share.spend(unaskedMs),
      onRetry: (ms) => onRetry?.(Math.min(Math.max(ms, shortestRetryMs), longestRetryMs)),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.isTooLarge = true;
        else share.spend(unaskedMs);
      },
    });
  }

  async run(): Promise<string> {
    const { body, url } = this.reply;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        this.feed(chunk);
        this.pending += chunk.length;
        for (const event of this.events.splice(0)) await this.take(event);
        await this.long.grow(this.pending);
        await this.long.rest();
      }
      return await this.takeRest();
    } catch (error) {
      throw broken(error, url);
    } finally {
      this.long.dispose();
    }
  }

  private feed(chunk: Buffer): void {
    const { share, most: limit = largestAnswer } = this.reader;
    const since = share.now();
    const text = this.decoder.decode(chunk, { stream: true });
    if (!this.hasEvents && this.beginning.length < mostUnread)
      this.beginning += text.slice(0, mostUnread);
    this.parser.feed(text);
    this.fedMs += share.now() - since;
    if (this.isTooLarge)
      throw new TransportFailure({
        kind: 'tooLarge',
        limit,
        url: shown(this.reply.url),
      });
  }

  private async take(event: EventSourceMessage): Promise<void> {
    const { share, onId } = this.reader;
    const { id } = event;
    this.hasEvents = true;
    if (id !== undefined && id !== '' && !/\p{Cc}/u.test(id)) onId?.(id);
    // One chunk may hold thousands of events.
    if (share.isTurnFull) await share.turn();
    await this.read(event);
    this.fedMs = 0;
    this.pending = 0;
    this.long.dispose();
    // One chunk may hold a thousand questions. After them all, our own work for this server would
    // wait for seconds.
    await this.long.rest();
  }

  /** Some servers end the stream without the empty line after the last event. */
  private async takeRest(): Promise<string> {
    this.parser.feed('\n\n');
    const [last] = this.events.splice(0);
    if (last && last.data.length <= longMessage && parseMessages(last.data)) await this.read(last);
    else if (!this.hasEvents) return this.beginning;
    return '';
  }

  private async read(event: EventSourceMessage): Promise<void> {
    const { data } = event;
    if (data.length > longMessage) return await this.readLong(event);
    const { share } = this.reader;
    const since = share.now();
    const messages = event.event === 'endpoint' ? undefined : parseMessages(data);
    const tookMs = share.now() - since + this.fedMs;
    // The listener removes an answer from its open requests on the question, so it is delivered
    // after it.
    const leastMs = this.leastCharge(messages);
    if (leastMs > 0) share.spend(Math.max(leastMs, tookMs));
    else share.note(Math.max(unaskedMs, tookMs));
    if (messages && messages.length !== 1) await this.hearInTurns(event, messages);
    else this.hear(event, messages?.[0]);
  }

  /** Slices are charged as they run. */
  private async readLong(event: EventSourceMessage): Promise<void> {
    const { share, isAsked } = this.reader;
    const { data } = event;
    share.spend(this.fedMs);
    const messages = await parseLongMessages(share, data);
    if (data.length > largestUnasked && !messages?.some((message) => isAsked(message))) {
      const most = `${largestUnasked / 1024 / 1024} MiB`;
      return this.logSkipped(`A message of more than ${most}, which nobody asked for`);
    }
    share.spend(this.leastCharge(messages));
    await this.hearInTurns(event, messages ?? [undefined]);
  }

  /** The least charge in milliseconds, because the further work for messages is not counted. */
  private leastCharge(messages: readonly JSONRPCMessage[] | undefined): number {
    if (!messages) return unaskedMs;
    let ms = 0;
    for (const message of messages) {
      if (requestId(message) !== undefined) ms += exchangeMs;
      else if (!this.reader.isAsked(message)) ms += unaskedMs;
    }
    return ms;
  }

  private hearInTurns(
    event: EventSourceMessage,
    messages: readonly (JSONRPCMessage | undefined)[],
  ): Promise<void> {
    return this.reader.share.chargeTurns(messages, (message) => this.hear(event, message));
  }

  private hear(
    { event = 'message', data }: EventSourceMessage,
    message: JSONRPCMessage | undefined,
  ): void {
    if (message) this.reader.deliver(message);
    // Some servers give each event of theirs a name.
    else if (event !== 'message') this.reader.onOther?.(event, data);
    else if (data.trim() !== '') this.logSkipped(data);
  }

  private logSkipped(what: string): void {
    this.reader.log.write('warn', `[http] event that is not JSON-RPC: ${shortened(what, 2000)}`);
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
