/**
 * An HTTP proxy like those in companies. It forwards requests and tunnels, records them, and may
 * require credentials.
 */
import { createServer, request as ask, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { startedByTest } from './leftovers.js';

export interface Proxy {
  readonly url: string;
  /** `GET http://host/path` and `CONNECT host:port`, in order. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

/**
 * @param route the real `host:port` of a host known only to the proxy
 * @param credentials required `user:password`
 */
export async function startProxy(
  route: Readonly<Record<string, string>> = {},
  credentials?: string,
): Promise<Proxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    credentials === undefined ||
    headers['proxy-authorization'] === `Basic ${Buffer.from(credentials).toString('base64')}`;
  const real = (host: string): URL => new URL(`http://${route[host] ?? host}`);
  const server = createServer((request, response) => {
    if (!isAllowed(request))
      return void response.writeHead(407, { 'content-type': 'text/plain' }).end('who are you?');
    const url = new URL(request.url ?? '/');
    seen.push(`${request.method} ${url.origin}${url.pathname}`);
    const { hostname, port } = real(url.host);
    const { method } = request;
    const path = `${url.pathname}${url.search}`;
    const headers = { ...request.headers };
    delete headers['proxy-authorization'];
    const onward = ask({ hostname, port, method, path, headers, agent: false }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request, socket: Socket, head) => {
    seen.push(`CONNECT ${request.url}`);
    if (!isAllowed(request))
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const { hostname, port } = real(request.url ?? '');
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    for (const [one, other] of [
      [onward, socket],
      [socket, onward],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      forget();
      server.close(() => resolve());
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
    });
  const forget = startedByTest(`the proxy at ${url}`, close);
  return { url, seen, close };
}
