/**
 * A proxy before one endpoint of the gateway that adds its token, for programs without a way to
 * send one. It forwards the rest unchanged, `Host` and `Origin` included. Only a local `Host` gets
 * the gateway's port.
 */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GatewayEndpoint } from '../../../src/core/gateway/http/gateway.js';

export interface TokenProxy {
  readonly url: string;
  /** Resolves when the listener and all sockets are closed. */
  close(): Promise<void>;
}

export async function startTokenProxy(endpoint: GatewayEndpoint): Promise<TokenProxy> {
  const target = new URL(endpoint.url);
  const server = createServer((incoming, response) =>
    forward(incoming, response, target, endpoint.headers),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}${target.pathname}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  target: URL,
  token: Readonly<Record<string, string>>,
): void {
  const host = (incoming.headers.host ?? '').replace(
    /^(localhost|127\.0\.0\.1):\d+$/,
    `$1:${target.port}`,
  );
  const headers = { ...incoming.headers, ...token, host };
  const { hostname, port } = target;
  const outgoing = request(
    { hostname, port, path: incoming.url, method: incoming.method, headers, agent: false },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    },
  );
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}
