/** Rule X2: rare behaviour of real HTTP servers and proxies. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { proxyAgents } from '../../../src/cli/proxies.js';
import type { HttpAccess } from '../../../src/core/connections/http/endpoint.js';
import type { OAuth } from '../../../src/core/connections/http/oauth/oauth.js';
import { startProxy, type Proxy } from '../../support/core/proxy.js';
import { callTool, http, once, Rig, textOf } from './rig.js';

interface Message {
  readonly id?: number;
  readonly method: string;
}

interface Own {
  readonly host?: string;
  readonly get?: (request: IncomingMessage, response: ServerResponse) => void;
  /** Body of a response with status 202. */
  readonly accepted?: string;
}

const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });

function answer({ id }: Message, response: ServerResponse, result: object): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

describe('rare behaviour of HTTP servers and proxies (X2)', () => {
  let rig: Rig;
  const servers: Server[] = [];
  const proxies: Proxy[] = [];
  beforeEach(() => (rig = new Rig()));
  afterEach(async () => {
    // The rig counts open sockets of this process, and both ends of these sockets are in it.
    await rig.close();
    for (const proxy of proxies.splice(0)) await proxy.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    await rig.end();
  });

  /** @param call answers `tools/call` */
  async function serve(
    call: (message: Message, response: ServerResponse) => void,
    own: Own = {},
  ): Promise<URL> {
    const server = createServer((request, response) => {
      if (request.method === 'GET' && own.get) return own.get(request, response);
      if (request.method !== 'POST') return void response.writeHead(405).end();
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const message = JSON.parse(body) as Message;
        if (message.id === undefined) return void response.writeHead(202).end(own.accepted);
        if (message.method === 'tools/call') return call(message, response);
        answer(message, response, {
          protocolVersion: '2025-06-18',
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'x', version: '1' },
          tools: [],
        });
      });
    });
    servers.push(server);
    const host = own.host ?? '127.0.0.1';
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const { port } = server.address() as AddressInfo;
    return new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}/mcp`);
  }

  it('a server at an IPv6 address answers calls', async () => {
    const { href } = await serve((message, response) => answer(message, response, text('six')), {
      host: '::1',
    });
    assert.match(href, /^http:\/\/\[::1\]:/);
    assert.equal(await textOf((await rig.start(http(href))).connection, 'x'), 'six');
  });

  it('a status 202 with a body is accepted', async () => {
    const accepted = 'ok '.repeat(50_000);
    const { href } = await serve((message, response) => answer(message, response, text('yes')), {
      accepted,
    });
    assert.equal(await textOf((await rig.start(http(href))).connection, 'x'), 'yes');
  });

  it('a call fails at once if the server switches to another protocol (X4)', async () => {
    const { href } = await serve((_, response) => {
      response.socket?.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n',
      );
    });
    const { connection } = await rig.start(http(href));
    const outcome = await callTool(connection, 'x');
    assert.equal(outcome.kind, 'error');
    assert.match((outcome as { message: string }).message, /\/mcp answered with HTTP 101\.$/);
  });

  it('calls succeed after the server has closed their idle sockets', async () => {
    const { href } = await serve((message, response) => answer(message, response, text('again')));
    const [server] = servers;
    let open = 0;
    server?.on('connection', (socket) => {
      open += 1;
      socket.on('close', () => (open -= 1));
    });
    const { connection } = await rig.start(http(href));
    for (let calls = 0; calls < 5; calls++) {
      server?.closeIdleConnections();
      while (open > 0) await turn();
      assert.equal(await textOf(connection, 'x'), 'again');
    }
  });

  it('an event stream is read byte by byte, with every kind of line end', async () => {
    const { href } = await serve((message, response) => {
      const event = { jsonrpc: '2.0', id: message.id, result: text('größe 🌍') };
      const [first, ...rest] = JSON.stringify(event, null, 1).split('\n');
      const lines = [
        ': hello',
        '',
        'event: message',
        `data:${first}`,
        ...rest.map((line) => `data: ${line}`),
        '',
        '',
      ];
      const bytes = Buffer.from(
        lines.map((line, index) => line + (['\n', '\r\n', '\r'][index % 3] ?? '')).join(''),
      );
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      const write = (at: number): void => {
        if (at >= bytes.length) return void response.end();
        response.write(bytes.subarray(at, at + 1), () => setImmediate(write, at + 1));
      };
      write(0);
    });
    assert.equal(await textOf((await rig.start(http(href))).connection, 'x'), 'größe 🌍');
  });

  it('a dropped event stream resumes after its last event and the retry time of the server', async () => {
    const seen: (string | undefined)[] = [];
    const { href } = await serve((message, response) => answer(message, response, text('x')), {
      get: (request, response) => {
        seen.push(request.headers['last-event-id'] as string | undefined);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
        response.write(`retry: 10\nid: event-${seen.length}\ndata: ${JSON.stringify(changed)}\n\n`);
        if (seen.length < 4) setTimeout(() => response.destroy(), 20);
      },
    });
    const { connection } = await rig.start(http(href));
    while (seen.length < 4) await once(connection.onDidChangeOffer);
    assert.deepEqual(seen, [undefined, 'event-1', 'event-2', 'event-3']);
    assert.equal(await textOf(connection, 'x'), 'x');
  });

  for (const [what, id, back] of [
    ['any script', 'größe ✓ 🌍', 'größe ✓ 🌍'],
    ['characters that no header takes', 'a\u0001b', undefined],
  ] as const) {
    it(`an event stream resumes after event ids in ${what}`, async () => {
      const seen: (string | undefined)[] = [];
      const { href } = await serve((message, response) => answer(message, response, text('x')), {
        get: (request, response) => {
          const header = request.headers['last-event-id'] as string | undefined;
          seen.push(header && Buffer.from(header, 'latin1').toString());
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
          response.write(`retry: 10\nid: ${id}\ndata: ${JSON.stringify(changed)}\n\n`);
          if (seen.length < 2) response.end();
        },
      });
      const { connection } = await rig.start(http(href));
      while (seen.length < 2) await once(connection.onDidChangeOffer);
      assert.deepEqual(seen, [undefined, back]);
      assert.equal(await textOf(connection, 'x'), 'x');
    });
  }

  it('a call that is cancelled during a token renewal is not sent again, and sends no cancellation (X6)', async () => {
    const posted: string[] = [];
    const { href } = await serve((message, response) => {
      if (posted.length === 1) response.writeHead(401).end();
      else answer(message, response, text('another'));
    });
    servers[0]?.prependListener('request', (request: IncomingMessage) => {
      request.on('data', (body) =>
        posted.push(...(/tools\/call|notifications\/cancelled/.exec(String(body)) ?? [])),
      );
    });
    let renew: () => void = () => {};
    const refused = new Promise<void>((resolve) => {
      const access: HttpAccess = {
        token: () => Promise.resolve('token'),
        refused: () =>
          new Promise((verdict) => {
            renew = () => verdict({ kind: 'renewed' });
            resolve();
          }),
      };
      rig = new Rig({ oauth: { accessFor: () => access } as unknown as OAuth });
    });
    const { connection } = await rig.start(http(href));
    const stop = new AbortController();
    const call = callTool(connection, 'x', {}, { signal: stop.signal });
    await refused;
    stop.abort();
    assert.equal((await call).kind, 'cancelled');
    renew();
    assert.equal(await textOf(connection, 'x'), 'another');
    assert.deepEqual(posted, ['tools/call', 'tools/call']);
  });

  describe('HTTP proxies', () => {
    const far = 'http://tools.test/mcp';

    async function proxyTo(url: URL | undefined, credentials?: string): Promise<Proxy> {
      const proxy = await startProxy(url && { 'tools.test': url.host }, credentials);
      proxies.push(proxy);
      return proxy;
    }

    /** Sends every request through this proxy. */
    function through(address: string): void {
      rig = new Rig({ agents: (options) => proxyAgents(options, () => new URL(address)) });
    }

    it('a proxy gets unencrypted requests with its credentials, and concurrent calls get their own answers', async () => {
      const url = await serve((message, response) =>
        answer(message, response, text(String(message.id))),
      );
      const proxy = await proxyTo(url, 'me:mine');
      through(proxy.url.replace('//', '//me:mine@'));
      const { connection } = await rig.start(http(far));
      const texts = await Promise.all(Array.from({ length: 20 }, () => textOf(connection, 'x')));
      assert.equal(new Set(texts).size, 20);
      assert.deepEqual(new Set(proxy.seen), new Set([`POST ${far}`, `GET ${far}`]));
    });

    it('a proxy passes event streams and cancellations', async () => {
      let listening: ServerResponse | undefined;
      const url = await serve(() => listening?.write(changed), {
        get: (_, response) => {
          listening = response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.flushHeaders();
        },
      });
      const changed = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })}\n\n`;
      const proxy = await proxyTo(url);
      through(proxy.url);
      const { connection } = await rig.start(http(far));
      const heard = once(connection.onDidChangeOffer);
      const stop = new AbortController();
      while (!listening) await turn();
      const call = callTool(connection, 'x', {}, { signal: stop.signal });
      assert.equal(await heard, 'tools');
      stop.abort();
      assert.equal((await call).kind, 'cancelled');
    });

    it('encrypted requests use a tunnel through the proxy, and certificates are checked', async () => {
      const proxy = await proxyTo(undefined);
      through(proxy.url);
      const { url } = await rig.listen('http', '--tls', 'self-signed');
      const { code, message } = await rig.failure(http(url));
      assert.equal(code, 'http-tls', message);
      assert.deepEqual(new Set(proxy.seen), new Set([`CONNECT ${new URL(url).host}`]));
    });

    for (const address of [far, 'https://tools.test/mcp']) {
      it(`the failure names the proxy if it requires credentials: ${address}`, async () => {
        const proxy = await proxyTo(undefined, 'me:mine');
        through(proxy.url.replace('//', '//me:wrong-secret@'));
        const refused = await rig.failure(http(address));
        assert.match(
          refused.message,
          /^answered with HTTP 407: a proxy in front of the server requires credentials/,
        );
        assert.ok(!JSON.stringify([refused, rig.lines]).includes('wrong-secret'));
      });
    }

    it('a proxy whose address begins with https:// and that speaks no TLS is named (X3d)', async () => {
      const plain = await proxyTo(undefined);
      const closing = createTcpServer((socket) => socket.once('data', () => socket.destroy()));
      await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve));
      const closingUrl = `https://127.0.0.1:${(closing.address() as AddressInfo).port}`;
      for (const address of [far, 'https://tools.test/mcp']) {
        through(plain.url.replace('http:', 'https:'));
        const { code, message, fix } = await rig.failure(http(address));
        assert.equal(code, 'http-tls', message);
        assert.match(message, /the proxy https:\S+ does not speak TLS/);
        assert.match(fix, /^Write http:\/\/ in its address in HTTP_PROXY/);
        // The error of a socket that closes during the handshake must not end the process.
        through(closingUrl);
        const closed = await rig.failure(http(address));
        assert.match(closed.message, /the proxy https:\S+ cannot be reached/);
      }
      closing.close();
    });

    it('the failure names an unreachable proxy without its credentials', async () => {
      const proxy = await startProxy();
      await proxy.close();
      through(proxy.url.replace('//', '//me:mine@'));
      const gone = await rig.failure(http(far));
      const { host } = new URL(proxy.url);
      assert.ok(
        gone.message.includes(
          `${far} cannot be reached: the connection was refused (through the proxy ${host})`,
        ),
      );
    });
  });
});
