/** Rule X3: start failures of HTTP servers. Real servers cause each failure. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { http, Rig } from './rig.js';
import { literal } from '../../../src/core/config/model.js';

describe('start failures of HTTP servers (X3)', function () {
  this.timeout(60_000);
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.end());

  const cases: [name: string, args: string[], code: string, words: string, path: string[]][] = [
    [
      '401 without credentials',
      ['--status', '401'],
      'http-unauthorized',
      'answered with HTTP 401: the server requires credentials, and none are configured.\nURL answered with HTTP 401: refused with 401.',
      ['headers'],
    ],
    [
      '403',
      ['--status', '403'],
      'http-unauthorized',
      'answered with HTTP 403: the credentials are not allowed to use this server, or the server does not allow this client.\nURL answered with HTTP 403: refused with 403.',
      ['headers'],
    ],
    [
      '404',
      ['--status', '404'],
      'http-not-found',
      'answered with HTTP 404: the server runs, but has nothing at this address.\nURL answered with HTTP 404: refused with 404.',
      ['url'],
    ],
    [
      '405 and no stream',
      ['--status', '405'],
      'http-status',
      'answered with HTTP 405: the address accepts no POST and has no event stream, so it is not an MCP endpoint.\nURL answered with HTTP 405: refused with 405.',
      ['url'],
    ],
    [
      '500',
      ['--status', '500'],
      'http-status',
      'answered with HTTP 500: the server failed.\nURL answered with HTTP 500: refused with 500.',
      [],
    ],
    [
      '503',
      ['--status', '503'],
      'http-status',
      'answered with HTTP 503: a proxy in front of the server cannot reach it, or the server is down for a while.\nURL answered with HTTP 503: refused with 503.',
      [],
    ],
    [
      '418',
      ['--status', '418'],
      'http-status',
      'answered with HTTP 418: the server did not accept the request.\nURL answered with HTTP 418: refused with 418.',
      ['url'],
    ],
    [
      'a web page',
      ['--html'],
      'http-not-mcp',
      'did not connect: that is a web page: the address is not an MCP endpoint, or a sign-in or proxy page answers in its place.\nURL answered with something that is not MCP (text/html): Welcome. It works.',
      ['url'],
    ],
    [
      'a redirect that does not keep the method',
      ['--redirect', 'moved'],
      'http-status',
      'did not connect: the server has moved.\nURL: it answers POST with HTTP 301 and says to GET ORIGIN/mcp.',
      ['url'],
    ],
    [
      'redirects without end',
      ['--redirect', 'loop'],
      'http-status',
      'did not connect: the redirects lead to no address that answers.\nURL: it redirects more than 5 times.',
      ['url'],
    ],
    [
      'a certificate that nobody signed',
      ['--tls', 'self-signed'],
      'http-tls',
      'did not connect: its certificate is not signed by an authority that this computer trusts.\nURL cannot be reached: self-signed certificate.',
      ['url'],
    ],
    [
      'a certificate that has expired',
      ['--tls', 'expired'],
      'http-tls',
      'did not connect: its certificate has expired, or the clock of this computer is wrong.\nURL cannot be reached: certificate has expired.',
      ['url'],
    ],
    [
      'an unknown protocol version',
      ['--protocol', '1999-01-01'],
      'server-protocol',
      'answered, but its answer to initialize names protocol version 1999-01-01; known are 2024-10-07, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25.',
      [],
    ],
  ];

  for (const [name, args, code, words, path] of cases) {
    it(`an HTTP start fails with a reason: ${name}`, async () => {
      const { url } = await rig.listen('http', ...args);
      const failure = await rig.failure(http(url));
      assert.equal(failure.code, code);
      assert.equal(
        failure.message.replaceAll(url, 'URL').replaceAll(new URL(url).origin, 'ORIGIN'),
        words,
      );
      assert.deepEqual(failure.path, path);
      assert.match(failure.fix, /^[A-Z].*\.$/);
    });
  }

  it('a 401 to configured credentials names their headers, but not their values', async () => {
    const { url } = await rig.listen('http', '--require-token', 'right');
    const headers = (value: string) => ({ headers: new Map([['Authorization', literal(value)]]) });
    const failure = await rig.failure(http(url, headers('Bearer wrong')));
    assert.equal(failure.code, 'http-unauthorized');
    assert.match(
      failure.message,
      /^answered with HTTP 401: the credentials in the headers \(Authorization\) are wrong or have expired\.\n.*HTTP 401: \{"error":"invalid_token"\}\.$/,
    );
    assert(!failure.message.includes('wrong-token'));
    await rig.start(http(url, headers('Bearer right')));
  });

  it('a server whose HTTP+SSE names an endpoint on another origin is reported with it', async () => {
    const { url } = await rig.listen('legacy-sse', '--foreign-endpoint');
    const failure = await rig.failure(http(url));
    const words =
      'did not connect: the server speaks HTTP+SSE, but names an address on another origin for messages, which is not used for safety.';
    const detail = 'its endpoint event names another origin: http://127.0.0.1:9/messages';
    assert.equal(failure.message, `${words}\n${url}: ${detail}.`);
    await rig.logged(detail);
  });

  it('an HTTP server that never answers is reported as silent', async () => {
    const { url } = await rig.listen('http', '--silent');
    assert.deepEqual(await rig.failure(http(url), { timeoutMs: 300 }), {
      code: 'server-silent',
      message: `did not answer initialize within 0.3 s. It may be overloaded or waiting for something, or a firewall may block the connection.`,
      fix: 'Check that the server runs and is reachable from here; raise timeouts.connect if it is only slow.',
      path: [],
    });
  });

  it('a closed port, an unknown host, a wrong scheme and an invalid header have different failures', async () => {
    assert.deepEqual(await rig.failure(http('http://127.0.0.1:9/mcp')), {
      code: 'http-unreachable',
      message:
        'did not connect: nothing listens there: the server is not running, or the port is wrong.\nhttp://127.0.0.1:9/mcp cannot be reached: the connection was refused.',
      fix: 'Start the server, or correct the port in url.',
      path: ['url'],
    });
    const unknown = await rig.failure(http('http://no-such-host.invalid/mcp'));
    assert.equal(unknown.code, 'http-unreachable');
    assert.match(
      unknown.message,
      /the host name does not exist\.\n|could not be looked up: there may be no network\.\n/,
    );
    assert.equal((await rig.failure(http('ftp://example.com/mcp'))).code, 'url-invalid');
    assert.equal((await rig.failure(http('example.com/mcp'))).code, 'url-invalid');
    const headers = new Map([['X-Token', literal('two\nlines')]]);
    const header = await rig.failure(http('http://127.0.0.1:9/mcp', { headers }));
    assert.match(
      header.message,
      /: a header has a character that HTTP does not allow, e\.g\. a line break\.\n/,
    );
    assert(!header.message.includes('two'));
    assert.deepEqual(header.path, ['headers']);
  });

  it('an HTTP start failure leaves out user, password and query of the address', async () => {
    const failure = await rig.failure(http('http://me:secret@127.0.0.1:9/mcp?key=hidden'));
    assert(!/secret|hidden|me:/.test(failure.message));
  });

  describe('ports without an HTTP server', () => {
    let server: Server;
    let port: number;
    const listen = async (meet: (socket: Socket) => void): Promise<void> => {
      server = createServer((socket) => meet(socket.on('error', () => {})));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      ({ port } = server.address() as AddressInfo);
    };
    afterEach(() => new Promise((resolve) => server.close(resolve)));

    it('a port that closes the connection is reported as unreachable', async () => {
      await listen((socket) => socket.destroy());
      const failure = await rig.failure(http(`http://127.0.0.1:${port}/`));
      assert.equal(failure.code, 'http-unreachable');
      assert.match(
        failure.message,
        /the server, or a proxy in front of it, ended the connection[^]*closed the connection\./,
      );
    });

    it('a port of another protocol is reported as unreachable, or as without TLS', async () => {
      // Without this read, the system would reset the connection.
      await listen((socket) => socket.resume().end('220 mail.example.com ESMTP\r\n'));
      assert.equal((await rig.failure(http(`http://127.0.0.1:${port}/`))).code, 'http-unreachable');
      const tls = await rig.failure(http(`https://127.0.0.1:${port}/`));
      assert.equal(tls.code, 'http-tls');
      assert.match(tls.message, /^did not connect: the port does not speak TLS/);
    });

    it('a start at a silent port can be cancelled, and leaves nothing', async () => {
      const controller = new AbortController();
      await listen((socket) => socket.once('data', () => controller.abort()));
      const outcome = await rig.attempt(http(`http://127.0.0.1:${port}/`), {
        signal: controller.signal,
      });
      assert.deepEqual(outcome, { kind: 'cancelled' });
    });
  });
});
