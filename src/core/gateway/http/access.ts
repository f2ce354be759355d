/**
 * Decides who may speak to the listener, and how much (G2). Every program and every web page on this machine can reach
 * the port. The token keeps programs out. `Host` (against DNS rebinding) and `Origin` keep pages out.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/clock.js';

function hostsAt(port: number): string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
}

/** Names of hosts have no case. */
export function isLocalHost(host: string | undefined, port: number): boolean {
  return host !== undefined && hostsAt(port).includes(host.toLowerCase());
}

/** Programs send no `Origin`. A page sends it, and only pages of this machine may connect. */
export function isLocalOrigin(origin: string | undefined): boolean {
  return origin === undefined || /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i.test(origin);
}

/** Returns why a request from elsewhere is refused, with the hosts that it may name. Quotes nothing of the request. */
export function strangerAdvice(host: string | undefined, port: number): string {
  const hosts = hostsAt(port).join(', ');
  return isLocalHost(host, port)
    ? 'The header Origin names another machine. Only programs, which send no Origin, and pages of 127.0.0.1, localhost and [::1] get an answer.'
    : `The header Host must be one of ${hosts}. Write http://127.0.0.1:${port} in the URL of the client. A client in a container needs the network of this machine, or a forwarded port with that Host.`;
}

/** Compares in constant time. The length of the token is no secret. */
export class BearerCheck {
  private readonly expected: Buffer;

  constructor(token: string) {
    this.expected = Buffer.from(token);
  }

  accepts(authorization: string | undefined): boolean {
    const match = /^bearer +([^ ]+) *$/i.exec(authorization ?? '');
    if (!match) return false;
    const given = Buffer.from(match[1] ?? '');
    return given.length === this.expected.length && timingSafeEqual(given, this.expected);
  }
}

export const mostStrangers = 64;

/**
 * Bounds the sockets without the token. Beyond the bound, a new socket ends the oldest. An honest client shows the
 * token at once, so it always gets in.
 */
export class Strangers {
  /** The sockets in the order of their arrival. */
  private readonly sockets = new Set<Socket>();

  add(socket: Socket): void {
    const [oldest] = this.sockets;
    if (oldest && this.sockets.size >= mostStrangers) {
      this.admit(oldest);
      oldest.destroy();
    }
    this.sockets.add(socket);
    socket.once('close', () => this.admit(socket));
  }

  /** Counts the socket no more. */
  admit(socket: Socket): void {
    this.sockets.delete(socket);
  }
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** The time from the end of the headers to the end of the body, in milliseconds. */
  readonly timeoutMs: number;
  /** Nothing of the body is kept. */
  readonly isDropped?: true;
}

type BodyOutcome =
  | { readonly kind: 'read'; readonly text: string }
  /** The rest is discarded as it arrives, so the client reads the answer and not a reset. */
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'tooSlow' }
  | { readonly kind: 'aborted' };

/** This much is read from a client without the token, so it reads the answer and not a reset. */
export const strangersBody: BodyLimits = { maxBytes: 1 << 20, timeoutMs: 5_000, isDropped: true };

/** Reads the body of a request, within bounds of size and time. Never rejects. */
export function readBody(request: IncomingMessage, limits: BodyLimits, clock: Clock): Promise<BodyOutcome> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) {
    request.resume();
    return Promise.resolve({ kind: 'tooLarge' });
  }
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let isSettled = false;
    const settle = (outcome: BodyOutcome): void => {
      if (isSettled) return;
      isSettled = true;
      chunks = [];
      timer.dispose();
      resolve(outcome);
    };
    // Listeners stay and discard the rest, because removing them costs more than calling them (P3).
    const take = (chunk: Buffer): void => {
      if (isSettled) return;
      size += chunk.length;
      if (size > limits.maxBytes) settle({ kind: 'tooLarge' });
      else if (!limits.isDropped) chunks.push(chunk);
    };
    const end = (): void => {
      const [first] = chunks;
      const whole = chunks.length === 1 && first ? first : Buffer.concat(chunks);
      settle({ kind: 'read', text: whole.toString('utf8') });
    };
    const timer = clock.after(limits.timeoutMs, () => settle({ kind: 'tooSlow' }));
    // Without a listener, the error of an aborted request would be thrown; `close` follows it.
    request
      .on('error', () => {})
      .on('data', take)
      .on('end', end)
      .on('close', () => settle({ kind: 'aborted' }));
  });
}
