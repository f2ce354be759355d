/**
 * Carries out one HTTP exchange (X2). It does not use fetch, because fetch costs twice as much,
 * hides the causes of failures, and may miss the editor's proxy and certificate settings.
 * Invariants: neither body nor headers go to another origin than requested; a failure is a
 * `TransportFailure` with the information whether the request was delivered.
 */
import { english } from '../../base/language.js';
import { withoutMark } from '../../base/byteOrderMark.js';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import zlib from 'node:zlib';
import { systemClock, type Clock } from '../../base/clock.js';
import { asFields } from '../../base/isObject.js';
import { isLoopback } from '../../base/loopback.js';
import type { HttpAgents } from './agents.js';
import { shortened } from '../../protocol/inBrief.js';
import { storedJson } from '../../protocol/json.js';
import {
  TransportFailure,
  type ProxyOnTheWay,
  type RedirectRemedy,
  type TransportFailureReason,
} from '../../failures/transportFailure.js';

export interface HttpExchange {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  /** Headers about the message itself, which may go anywhere, by lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers for the origin of `url` only, by lower-case names. */
  readonly credentials?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly agents: HttpAgents;
  /** With `leave`, a redirect is the reply. The default is `follow`. */
  readonly redirects?: 'follow' | 'leave';
  /** The signal of this exchange only. Aborting it also ends the reading of the body. */
  readonly signal: AbortSignal;
  readonly onDelivered?: (() => void) | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly contentType: string;
  readonly url: URL;
  readonly body: Readable;
  /** Sentences for the failure if this is a refusal. */
  readonly more?: string;
  /** The `Content-Encoding` of a body that cannot be decoded here. */
  readonly undecoded?: string;
  readonly proxy?: ProxyOnTheWay;
}

const mostRedirects = 5;
const keepAliveProbeMs = 15_000;

export async function exchange(request: HttpExchange): Promise<HttpReply> {
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    const response = await send(request, url);
    const target = request.redirects === 'leave' ? undefined : redirectTarget(response, url);
    if (!target) return reply(response, url, request.agents);
    discard(response);
    const status = response.statusCode ?? 0;
    const remedy =
      redirects === mostRedirects ? ({ kind: 'circle' } as const) : redirectRemedy(url, target);
    const refuse = (detail: string): never => {
      throw new TransportFailure({
        kind: 'redirect',
        detail,
        url: shown(url),
        ...(remedy && { remedy }),
      });
    };
    if (redirects === mostRedirects) refuse(english`it redirects more than ${mostRedirects} times`);
    if (target.protocol !== 'http:' && target.protocol !== 'https:')
      refuse(english`it redirects to ${target.protocol}`);
    if (url.protocol === 'https:' && target.protocol === 'http:')
      refuse(english`it redirects to unencrypted ${shown(target)}`);
    if (!isWithinOrigin(url, target))
      refuse(english`it redirects to another origin, ${shown(target)}`);
    if (request.method !== 'GET' && status !== 307 && status !== 308)
      refuse(
        english`it answers ${request.method} with HTTP ${status} and says to GET ${shown(target)}`,
      );
    url = target;
  }
}

/** Returns undefined if the target may be the address to write, if the person trusts it. */
export function redirectRemedy(url: URL, target: URL): RedirectRemedy | undefined {
  if (target.href === url.href) return { kind: 'circle' };
  const right = rightAddress(url, target);
  if (right !== undefined) return { kind: 'write', url: right };
  const words = target.pathname.toLowerCase().split(/[^a-z0-9]+/);
  const isPage = words.some((word) => signInWords.includes(word));
  if (isPage && url.pathname !== target.pathname) return { kind: 'signInPage' };
  const isEncrypted = target.protocol === 'https:' || url.protocol === 'http:';
  if (!isEncrypted || !/^https?:$/.test(target.protocol)) return { kind: 'unsafe' };
  return isLoopback(target.hostname) && !isLoopback(url.hostname) ? { kind: 'unsafe' } : undefined;
}

/** Returns the address to write, if the target is plainly the same place. */
function rightAddress(url: URL, target: URL): string | undefined {
  const withoutSlash = (path: string): string => path.replace(/(?<!\/)\/+$/, '');
  if (withoutSlash(target.pathname) !== withoutSlash(url.pathname)) return undefined;
  const isHost = target.hostname === url.hostname;
  const isEncryption = isHost && target.protocol === 'https:' && url.protocol === 'http:';
  if (target.origin === url.origin || isEncryption) return shown(target);
  // A proxy that ends TLS, or maps a port, hides the right origin from its server.
  const isHidden = isHost || (isLoopback(target.hostname) && !isLoopback(url.hostname));
  const isOtherPath = target.pathname !== url.pathname;
  return isHidden && isOtherPath ? `${url.origin}${target.pathname}` : undefined;
}

const signInWords = 'login signin sign logon sso saml oauth oauth2 authorize auth accounts'.split(
  ' ',
);

/**
 * True if scheme, host and port are the same, or one is the encrypted form of the other on the
 * default ports.
 */
export function isWithinOrigin(origin: URL, url: URL): boolean {
  if (origin.origin === url.origin) return true;
  const upgraded = origin.protocol === 'http:' && url.protocol === 'https:';
  return upgraded && origin.hostname === url.hostname && origin.port === '' && url.port === '';
}

export function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/**
 * True if the server refuses only for now. A server unaware of a broken stream answers 409 to the
 * reconnect.
 */
export function isForNow({ status }: HttpReply): boolean {
  return [408, 409, 425, 429].includes(status) || (status >= 500 && status !== 501);
}

export async function readText(reply: HttpReply, limit: number): Promise<string> {
  return withoutMark(Buffer.concat(await readPieces(reply, limit)).toString('utf8'));
}

/**
 * Rejects as `readText` does. @param mayGrow awaited before more is read, with the number of bytes
 * so far
 */
export async function readPieces(
  { body, url }: HttpReply,
  limit: number,
  mayGrow?: (length: number) => Promise<void> | undefined,
  chunks: Buffer[] = [],
): Promise<Buffer[]> {
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      chunks.push(chunk);
      if (length > limit)
        throw new TransportFailure({
          kind: 'tooLarge',
          limit,
          url: shown(url),
        });
      await mayGrow?.(length);
    }
  } catch (error) {
    throw broken(error, url);
  }
  return chunks;
}

/** This many bytes of an unwanted body are read to keep its socket. */
const mostDiscarded = 64 * 1024;

const unwantedLimitMs = 2000;

/** Closes an endless body, because other messages would lack its socket. */
function limitTime(body: Readable, clock: Clock): void {
  const limit = clock.after(unwantedLimitMs, () => void body.destroy());
  body.once('close', () => limit.dispose());
}

/**
 * Reads the rest of a body away, so its socket can be used again. If the rest is endless, the
 * socket is closed.
 */
export function discard(body: Readable, clock: Clock = systemClock): Readable {
  let left = mostDiscarded;
  limitTime(body, clock);
  return body.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) body.destroy();
  });
}

/** The part of a body that may appear in a message, in bytes or characters. */
const lookedAt = 8 * 1024;
const refusalLimit = 1024 * 1024;

export async function readShort(reply: HttpReply, clock: Clock = systemClock): Promise<string> {
  limitTime(reply.body, clock);
  const chunks: Buffer[] = [];
  // If the body breaks off or is longer, the part received is enough.
  await readPieces(reply, lookedAt, undefined, chunks).catch(() => undefined);
  return inShort(Buffer.concat(chunks).toString('utf8'));
}

/** Resolves to the text of a refusal: all of it if it may be JSON-RPC, its beginning otherwise. */
export async function readRefused(reply: HttpReply): Promise<string> {
  if (reply.contentType !== 'application/json') return await readShort(reply);
  return await readText(reply, refusalLimit).catch(() => '');
}

/** Returns the message of an error, such as a JSON-RPC error without the id of the request. */
export function wordsIn(text: string): string {
  const { error } = asFields(storedJson(text));
  const { message } = asFields(error);
  return typeof message === 'string' ? message.toWellFormed() : text;
}

export function inShort(text: string): string {
  const start = text.slice(0, lookedAt);
  const plain = /<html|<!doctype/i.test(start) ? pageText(start) : start;
  const line = plain.replace(/\s+/g, ' ').trim();
  return shortened(line, 300);
}

function pageText(page: string): string {
  const title = /<title[^<>]*>([^<]*)/i.exec(page)?.[1];
  const text = page.replace(/<(script|style|head)[\s\S]*?<\/\1>/gi, ' ').replace(/<[^<>]*>/g, ' ');
  return title === undefined ? text : `${title}. ${text}`;
}

export function broken(error: unknown, url: URL): TransportFailure {
  if (error instanceof TransportFailure) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const detail = code === 'ECONNRESET' ? 'the server closed the connection' : plainly(message);
  const isTelling = /^(Z_|HPE_|ERR_BROTLI|ERR__|BROTLI|ERR_SSL|EPROTO)/.test(code ?? '');
  return new TransportFailure({
    kind: 'broken',
    detail,
    url: shown(url),
    ...(isTelling && code && { code }),
  });
}

function send(request: HttpExchange, url: URL): Promise<http.IncomingMessage> {
  const { method, headers, credentials, body, signal } = request;
  return new Promise((resolve, reject) => {
    let delivered = false;
    const closed = (): TransportFailure =>
      new TransportFailure({
        kind: 'closed',
        wasDelivered: delivered,
        url: shown(url),
      });
    if (signal.aborted) return reject(closed());
    const secure = url.protocol === 'https:';
    let outgoing: http.ClientRequest;
    try {
      outgoing = (secure ? https : http).request(url, {
        method,
        agent: request.agents.for(url),
        headers: {
          ...headers,
          ...(isWithinOrigin(request.url, url) && credentials),
          ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
        },
      });
    } catch (error) {
      // For example, a line break in a header.
      return reject(new TransportFailure(undelivered(error as NodeJS.ErrnoException, url)));
    }
    const deliver = (): void => {
      delivered = true;
      request.onDelivered?.();
    };
    outgoing.once('socket', (socket) => {
      // Keep-alive probes find out if the other machine has gone, even in silence.
      socket.setKeepAlive(true, keepAliveProbeMs);
      if (outgoing.reusedSocket || isUp(socket)) deliver();
      else socket.once(secure ? 'secureConnect' : 'connect', deliver);
    });
    // No error is given, because a socket just given back has no listener for it.
    const abort = (): void => void outgoing.destroy();
    signal.addEventListener('abort', abort, { once: true });
    outgoing.once('close', () => signal.removeEventListener('abort', abort));
    outgoing.once('response', resolve);
    // Without a listener, Node closes the socket silently.
    outgoing.once('upgrade', ({ statusCode: status = 101 }, socket) => {
      socket.destroy();
      reject(
        new TransportFailure({
          kind: 'status',
          status,
          body: '',
          contentType: '',
          url: shown(url),
        }),
      );
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) reject(closed());
      else if (delivered) reject(broken(error, url));
      else reject(new TransportFailure(undelivered(error, url, request.agents, outgoing.socket)));
    });
    outgoing.end(body);
  });
}

/** True if written bytes go out: the socket is neither connecting nor in a TLS handshake. */
function isUp(socket: Socket): boolean {
  if (socket.connecting) return false;
  // One of them is set after the handshake. Through a proxy, the handshake begins on a connected
  // socket.
  return !(socket instanceof TLSSocket) || socket.authorized || Boolean(socket.authorizationError);
}

/** OpenSSL dumps its own stack around the cause. */
function plainly(message: string): string {
  return /:SSL routines:[^:]*:([^:\n]+)/.exec(message)?.[1] ?? message;
}

function undelivered(
  error: NodeJS.ErrnoException,
  url: URL,
  agents?: HttpAgents,
  socket?: Socket | null,
): TransportFailureReason {
  const proxy = agents?.proxyFor?.(url);
  const first =
    error instanceof AggregateError
      ? (error.errors[0] as NodeJS.ErrnoException | undefined)
      : undefined;
  const code = error.code ?? first?.code ?? 'UNKNOWN';
  const message = error.message === '' ? (first?.message ?? code) : error.message;
  // Newer versions of Node add advice unfit for the editor.
  const advised = message.replace(/; if the root CA is installed locally.*$/, '');
  const plain = plainly(advised);
  const isRefused = code === 'ECONNREFUSED';
  // A dying server resets the connections it has not accepted.
  const isReset = plain.startsWith('connect ECONNRESET');
  const detail = isRefused
    ? 'the connection was refused'
    : isReset
      ? 'the connection was reset'
      : plain;
  return {
    kind: 'unreachable',
    code,
    detail: proxy?.kind === 'used' ? english`${detail} (through the proxy ${proxy.host})` : detail,
    url: shown(url),
    trust: agents?.trust,
    ...(proxy && { proxy }),
    // A request has its socket to the server when the proxy has made the tunnel.
    isPassed: url.protocol === 'https:' && Boolean(socket),
  };
}

function redirectTarget(response: http.IncomingMessage, url: URL): URL | undefined {
  const { statusCode, headers } = response;
  if (![301, 302, 303, 307, 308].includes(statusCode ?? 0) || headers.location === undefined)
    return undefined;
  return URL.canParse(headers.location, url.href) ? new URL(headers.location, url) : undefined;
}

function reply(response: http.IncomingMessage, url: URL, agents: HttpAgents): HttpReply {
  const { statusCode: status = 0, headers } = response;
  const contentType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  const decoder = decoderOf(encoding);
  const isUnread = !decoder && encoding !== '' && encoding !== 'identity';
  // An error of the response becomes one of the decoder, and the reader gets it there.
  const body = decoder ? pipeline(response, decoder, () => {}) : response;
  // A refusal of the tunnel is not encrypted.
  const isOfProxy =
    status === 407 || (url.protocol === 'https:' && !(response.socket instanceof TLSSocket));
  const proxy = isOfProxy ? agents.proxyFor?.(url) : undefined;
  return {
    status,
    headers,
    contentType,
    url,
    body,
    ...(proxy && { proxy }),
    ...(isUnread && { undecoded: encoding }),
  };
}

/** Each decoder flushes its output, so an event stream arrives event by event. */
function decoderOf(encoding: string): (NodeJS.ReadWriteStream & Readable) | undefined {
  // Each decoded piece takes a turn of the event loop, however small it is.
  const chunkSize = 64 * 1024;
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
  const flush = encoding === 'br' ? BROTLI_OPERATION_FLUSH : Z_SYNC_FLUSH;
  const options = {
    chunkSize,
    flush,
    finishFlush: flush,
  };
  if (encoding === 'br') return zlib.createBrotliDecompress(options);
  if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.createGunzip(options);
  return encoding === 'deflate' ? zlib.createInflate(options) : undefined;
}
