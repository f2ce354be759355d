/**
 * Decides who may speak to the listener (G2). Every program and every web page on this machine can reach the
 * port. The token keeps programs out. `Host` (against DNS rebinding) and `Origin` keep pages out.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

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
    if (this.sockets.size >= mostStrangers) {
      const [first] = this.sockets;
      if (first) this.end(first);
    }
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }

  admit(socket: Socket): void {
    this.sockets.delete(socket);
  }

  private end(socket: Socket): void {
    this.sockets.delete(socket);
    socket.destroy();
  }
}
