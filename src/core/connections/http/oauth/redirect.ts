/**
 * The browser comes back to this listener on the loopback interface (RFC 8252), which is open for
 * one sign-in.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unlessAborted } from '../../../base/events.js';
import type { Redirect } from './contract.js';

const path = '/callback';
const base = 'http://localhost';

/**
 * @param preferred the port of an earlier sign-in. If it is taken, another is used unless it
 * `isFixed`.
 */
export async function listenForRedirect(
  preferred: number | undefined,
  isFixed: boolean,
  reach: (local: URL) => Promise<URL> = (local) => Promise.resolve(local),
): Promise<Redirect> {
  const waiting = new Map<string, (parameters: URLSearchParams) => void>();
  let lastAnswer = Promise.resolve();
  const server = createServer((request, response) => {
    const asked = request.url ?? '/';
    const target = new URL(URL.canParse(asked, base) ? asked : '/', base);
    const heard = waiting.get(target.searchParams.get('state') ?? '');
    // A forwarded port may have a prefix before the path.
    lastAnswer = new Promise((resolve) => response.once('close', resolve));
    if (request.method !== 'GET' || !target.pathname.endsWith(path) || !heard)
      return answer(response, 404, gone);
    answer(response, 200, target.searchParams.has('code') ? done : refused);
    waiting.clear();
    heard(target.searchParams);
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(preferred ?? 0).catch((error: NodeJS.ErrnoException) => {
    if (preferred === undefined || isFixed || !/^(EADDRINUSE|EACCES)$/.test(error.code ?? ''))
      throw error;
    return listen(0);
  });
  const { port } = server.address() as AddressInfo;
  const { href } = await reach(new URL(`http://127.0.0.1:${port}${path}`));
  return {
    port,
    url: href,
    comesBack: (state, signal) =>
      unlessAborted(new Promise((resolve) => waiting.set(state, resolve)), signal),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // The page must arrive. Sockets opened by a browser in advance are not awaited.
      await lastAnswer;
      server.closeAllConnections();
      await closed;
    },
  };
}

const done = [
  'Almost done',
  'You can close this page. The sign-in goes on where you began it.',
] as const;
const refused = [
  'Not signed in',
  'The sign-in was refused. You can close this page. The reason is shown where you began it.',
] as const;
const gone = ['Nothing to do here', 'This sign-in has ended. Begin it again.'] as const;

function answer(
  response: ServerResponse,
  status: number,
  [title, text]: readonly [string, string],
): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  const style =
    'body{font:16px system-ui;margin:20vh auto;max-width:30em;text-align:center;color-scheme:light dark}';
  response.end(
    `<!DOCTYPE html><html lang="en"><head><title>${title}</title><style>${style}</style></head>` +
      `<body><h1>${title}</h1><p>${text}</p></body></html>`,
  );
}
