/** Rule X2: real servers over Streamable HTTP and HTTP+SSE. Sessions end, and servers stop. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Connection } from '../../../src/core/connections/connection.js';
import { posixIt } from '../../support/notHere.js';
import { callTool, http, once, repository, Rig, textOf } from './rig.js';
import { freePort } from '../../support/freePort.js';
import { literal } from '../../../src/core/config/model.js';

const json = async <T>(connection: Connection, tool: string): Promise<T> =>
  JSON.parse(await textOf(connection, tool)) as T;
const requestsOf = (connection: Connection): Promise<string[]> => json(connection, 'requests');
const own = { headers: new Map([['X-Own', literal('mine')]]) };

describe('connections over HTTP', function () {
  this.timeout(60_000);
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.end());

  async function start(...args: string[]): Promise<Connection> {
    return (await rig.start(http((await rig.listen('http', ...args)).url, own))).connection;
  }

  it('requests have the session, the protocol version and the configured headers', async () => {
    const connection = await start();
    const headers = await json<Record<string, string>>(connection, 'headers');
    assert.equal(headers['mcp-session-id'], await textOf(connection, 'session'));
    assert.equal(headers['mcp-protocol-version'], '2025-11-25');
    assert.equal(headers['x-own'], 'mine');
    assert.equal(headers['accept'], 'application/json, text/event-stream');
    assert.equal(connection.pid, undefined);
    assert.deepEqual((await requestsOf(connection)).slice(0, 2), [
      'POST /mcp initialize 200',
      'POST /mcp notifications/initialized 202',
    ]);
  });

  for (const args of [
    ['--gzip'],
    ['--json'],
    ['--json', '--br'],
    ['--json', '--deflate'],
    ['--stateless'],
    ['--no-get'],
  ]) {
    it(`calls work with a server that has ${args.join(' ')}`, async () => {
      const connection = await start(...args);
      const text = 'größe 🌍 '.repeat(20_000);
      assert.equal(await textOf(connection, 'echo', { text }), text);
      assert.equal(await textOf(connection, 'add', { a: 2, b: 3 }), '5');
    });
  }

  it('a connection deletes its session when it closes', async () => {
    const { url } = await rig.listen('http');
    const first = await rig.start(http(url));
    const second = await rig.start(http(url));
    await first.connection.close();
    assert((await requestsOf(second.connection)).includes('DELETE /mcp - 200'));
  });

  it('a connection uses a configured session without initialize, and does not delete it', async () => {
    const { url } = await rig.listen('http');
    const { connection } = await rig.start(http(url));
    assert.equal(await textOf(connection, 'count'), '1');
    const sessionId = await textOf(connection, 'session');
    const joined = await rig.start(http(url, { sessionId }));
    assert.equal(await textOf(joined.connection, 'count'), '2');
    await joined.connection.close();
    assert.equal(await textOf(connection, 'count'), '3');
    const fresh = await rig.start(http(url, { sessionId: 'long-gone' }));
    assert.equal(await textOf(fresh.connection, 'count'), '1');
    await rig.logged('The configured session was refused (HTTP 404)');
  });

  describe('a session that the server has forgotten', () => {
    for (const status of ['404', '400']) {
      it(`a forgotten session is renewed once for all calls that were refused with ${status}`, async () => {
        const connection = await start('--no-get', '--forgotten-status', status);
        let renewed = 0;
        let changed = 0;
        assert(connection.onDidRenewSession);
        connection.onDidRenewSession(() => (renewed += 1));
        connection.onDidChangeOffer(() => (changed += 1));
        assert.equal(await textOf(connection, 'count'), '1');
        const before = await textOf(connection, 'session');
        await callTool(connection, 'forget');
        const counts = await Promise.all(
          Array.from({ length: 20 }, () => textOf(connection, 'count')),
        );
        assert.deepEqual(
          counts.map(Number).sort((a, b) => a - b),
          Array.from({ length: 20 }, (_, n) => n + 1),
        );
        assert.notEqual(await textOf(connection, 'session'), before);
        assert.deepEqual([renewed, changed], [1, 1]);
        const requests = await requestsOf(connection);
        assert.equal(requests.filter((line) => line.includes(' initialize ')).length, 2);
        assert.equal(
          requests.filter((line) => line.includes('notifications/initialized')).length,
          2,
        );
      });
    }

    it('a session is renewed each time it is forgotten, and its event stream reopens', async () => {
      const connection = await start('--expire-session-after', '6');
      for (let n = 0; n < 30; n++)
        assert.equal((await callTool(connection, 'echo', { text: 'x' })).kind, 'result');
      const connected = await start();
      await untilStreams(connected, 1);
      await callTool(connected, 'forget');
      const changed = once(connected.onDidChangeOffer);
      await callTool(connected, 'echo', { text: 'x' });
      await changed; // The new session counts as a change, too.
      const again = once(connected.onDidChangeOffer);
      for (let streams = 0; streams < 1;) {
        streams = (await requestsOf(connected)).filter((line) => line.startsWith('GET ')).length;
      }
      await callTool(connected, 'grow');
      await again;
    }).timeout(20_000);

    it('the connection ends if the server gives no new session', async () => {
      const connection = await start('--no-get', '--initialize-once');
      const died = once(connection.onDidDie);
      await callTool(connection, 'forget');
      const outcome = await callTool(connection, 'count');
      assert.equal(outcome.kind, 'error');
      assert.match((outcome as { message: string }).message, /HTTP 503/);
      assert.match(await died, /HTTP 503/);
    });
  });

  describe('redirects', () => {
    it('a redirect to the same origin keeps the method and the body', async () => {
      const connection = await start('--redirect', 'same-origin');
      const headers = await json<Record<string, string>>(connection, 'headers');
      assert.equal(headers['x-own'], 'mine');
      assert.equal(
        (await requestsOf(connection)).filter((line) => line.startsWith('POST /old ')).length,
        1,
      );
    });

    it('a redirect to another origin is refused, and no header or message goes there', async () => {
      const { url, other } = await rig.listen('http', '--redirect', 'other-origin');
      const secrets = {
        headers: new Map([
          ...own.headers,
          ['Authorization', literal('Bearer secret')],
          ['Cookie', literal('a=b')],
        ]),
      };
      const failure = await rig.failure(http(url.replace('//', '//user:password@'), secrets));
      assert.equal(
        failure.message,
        `did not connect: the server has moved.\n${url}: it redirects to another origin, ${other}.`,
      );
      assert(other !== undefined);
      const { connection } = await rig.start(http(other));
      const others = (await requestsOf(connection)).filter(
        (line) => !line.startsWith('POST /mcp '),
      );
      // This connection may have opened its own event stream already.
      assert.deepEqual(others, others.length > 0 ? ['GET /mcp - 200'] : []);
    });
  });

  describe('streams', () => {
    it('the event stream of a server reopens when it ends', async () => {
      const connection = await start('--close-get', '20', '--event-ids', '--retry', '30');
      for (let streams = 0; streams < 4;) {
        streams = (await requestsOf(connection)).filter((line) => line.startsWith('GET ')).length;
      }
    });

    it('the broken stream of a call resumes after its last event', async () => {
      const connection = await start('--event-ids', '--retry', '300');
      const begun = performance.now();
      assert.equal(await textOf(connection, 'cut'), 'resumed');
      const took = performance.now() - begun;
      assert(took >= 290, `${took.toFixed(0)} ms`);
      assert.equal(
        (await requestsOf(connection)).filter((line) => line.includes('tools/call')).length,
        0,
      );
    });

    it('a broken stream without event ids loses its own call only', async () => {
      const connection = await start();
      let died = 0;
      connection.onDidDie(() => (died += 1));
      const other = textOf(connection, 'slow', { ms: 300, steps: 3 });
      const outcome = await callTool(connection, 'cut');
      assert.deepEqual(outcome.kind, 'lost');
      assert.equal(await other, 'done');
      assert.equal(await textOf(connection, 'echo', { text: 'alive' }), 'alive');
      assert.equal(died, 0);
    });
  });

  describe('a server that stops', () => {
    it('a killed server ends its calls and its connection at once', async () => {
      const { url, child } = await rig.listen('http');
      const { connection } = await rig.start(http(url));
      const died = once(connection.onDidDie);
      const calls = [1, 2, 3].map(() => callTool(connection, 'quiet', { ms: 60_000 }));
      await textOf(connection, 'echo', { text: 'on their way' });
      child.kill('SIGKILL');
      for (const call of calls) assert.equal((await call).kind, 'lost');
      assert.match(
        await died,
        /cannot be reached: the connection was (refused|reset)\.$|broke off/,
      );
    });

    it('the death of a server with an event stream is noticed without a call', async () => {
      const { url, child } = await rig.listen('http');
      const { connection } = await rig.start(http(url));
      for (let streams = 0; streams < 1;) {
        await rig.start(http(url)).then((second) => second.connection.close());
        streams = (await requestsOf(connection)).filter((line) => line.startsWith('GET ')).length;
      }
      const died = once(connection.onDidDie);
      child.kill('SIGKILL');
      // The system resets the connection if it accepted it before the process ended.
      assert.match(await died, /cannot be reached: the connection was (refused|reset)/);
    });

    const whereEndsAreTold = posixIt(
      'under Wine, the end of an idle socket is told when it is used',
    );
    whereEndsAreTold(
      'a call that notices the death of a server without a stream was not made',
      async () => {
        const { url, child } = await rig.listen('http', '--no-get');
        const { connection } = await rig.start(http(url));
        await untilStreams(connection, 1);
        await rig.kill(child);
        await setImmediate(); // Node reads the ends of the idle sockets.
        const died = once(connection.onDidDie);
        const outcome = await callTool(connection, 'echo', { text: 'x' });
        assert.deepEqual(outcome, {
          kind: 'error',
          code: -32000,
          message: `${url} cannot be reached: the connection was refused.`,
        });
        await died;
      },
    );

    it('a server that restarts at the same address gets a new session', async () => {
      const { url, child } = await rig.listen('http', '--no-get');
      const { connection } = await rig.start(http(url));
      await untilStreams(connection, 1);
      await rig.kill(child);
      await rig.listen('http', '--no-get', '--port', new URL(url).port);
      const [first, second] = [
        await callTool(connection, 'count'),
        await callTool(connection, 'count'),
      ];
      assert.deepEqual(
        [first, second].map((outcome) =>
          outcome.kind === 'result' ? outcome.result.content[0] : outcome,
        ),
        [
          { type: 'text', text: '1' },
          { type: 'text', text: '2' },
        ],
      );
    });

    posixIt('Windows has no signals')('closing does not wait for a server that hangs', async () => {
      const { url, child } = await rig.listen('http');
      const { connection } = await rig.start(http(url));
      child.kill('SIGSTOP');
      const call = callTool(connection, 'echo', { text: 'x' });
      await connection.close();
      assert.equal((await call).kind, 'lost');
      child.kill('SIGCONT');
    });
  });

  it('waiting calls do not delay other calls or their own cancellation', async () => {
    const connection = await start();
    const controllers = Array.from({ length: 200 }, () => new AbortController());
    const waiting = controllers.map(({ signal }) =>
      callTool(connection, 'quiet', { ms: 60_000 }, { signal }),
    );
    assert.equal(await textOf(connection, 'echo', { text: 'through' }), 'through');
    for (const controller of controllers) controller.abort();
    for (const call of waiting) assert.deepEqual(await call, { kind: 'cancelled' });
    for (let cancelled = 0; cancelled < 200;)
      cancelled = (await json<string[]>(connection, 'cancelled')).length;
  });

  it('a result that is too large is lost, and the next call succeeds', async () => {
    const connection = await start('--json');
    const outcome = await callTool(connection, 'large', { bytes: 17 * 1024 * 1024 });
    assert.equal(outcome.kind, 'lost');
    assert.match((outcome as { cause: string }).cause, /larger than 16 MiB/);
    assert.equal(await textOf(connection, 'echo', { text: 'alive' }), 'alive');
  });

  describe('HTTP statuses of calls', () => {
    let server: Server;
    let answer: { status: number; type: string; body: string };
    let connection: Connection;
    beforeEach(async () => {
      answer = { status: 200, type: 'text/plain', body: '' };
      server = createServer((request, response) => {
        let text = '';
        request.on('data', (chunk) => (text += String(chunk)));
        request.on('end', () => {
          const { id, method } = (text === '' ? {} : JSON.parse(text)) as {
            id?: number;
            method?: string;
          };
          const results: Record<string, object> = {
            initialize: {
              protocolVersion: '2025-06-18',
              capabilities: { tools: {} },
              serverInfo: { name: 'x', version: '1' },
            },
            'tools/list': { tools: [] },
          };
          const result = results[method ?? ''];
          if (result) {
            response.setHeader('content-type', 'application/json');
            response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
          } else if (method === 'tools/call') {
            response.writeHead(answer.status, { 'content-type': answer.type });
            response.end(answer.body.replace('"ID"', String(id)));
          } else response.writeHead(request.method === 'POST' ? 202 : 405).end();
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      ({ connection } = await rig.start(http(`http://127.0.0.1:${port}/mcp`)));
    });
    afterEach(async () => {
      await connection.close();
      await new Promise((resolve) => server.close(resolve));
    });

    it('a status of the server is the error of the call', async () => {
      answer = { status: 500, type: 'text/plain', body: `it\n broke ${'x'.repeat(1000)}` };
      const outcome = await callTool(connection, 'x');
      assert.equal(outcome.kind, 'error');
      const { message } = outcome as { message: string };
      assert.match(message, /\/mcp answered with HTTP 500: it broke xxx/);
      assert(message.length < 400);
      answer = { status: 429, type: 'application/json', body: '{"error":"slow down"}' };
      assert.match(
        ((await callTool(connection, 'x')) as { message: string }).message,
        /HTTP 429: \{"error":"slow down"\}/,
      );
    });

    it('a status of a proxy leaves the result unknown', async () => {
      answer = {
        status: 504,
        type: 'text/html',
        body: '<html><head><title>504</title></head><body>Gateway Time-out</body></html>',
      };
      const outcome = await callTool(connection, 'x');
      assert.deepEqual(outcome.kind, 'lost');
      assert.match((outcome as { cause: string }).cause, /HTTP 504: 504\. Gateway Time-out\.$/);
    });

    it('a status with a JSON-RPC error gives that error', async () => {
      answer = {
        status: 400,
        type: 'application/json',
        body: '{"jsonrpc":"2.0","id":"ID","error":{"code":-32602,"message":"no"}}',
      };
      assert.deepEqual(await callTool(connection, 'x'), {
        kind: 'error',
        code: -32602,
        message: 'no',
      });
    });

    it('a status 200 without MCP is reported as not MCP', async () => {
      for (const [type, body] of [
        ['text/html', '<html><body>Sign in</body></html>'],
        ['application/json', '{"ok":true}'],
        ['application/json', 'not json'],
        ['text/event-stream', 'data: {"ok":true}\n\n'],
      ] as const) {
        answer = { status: 200, type, body };
        const outcome = await callTool(connection, 'x');
        if (type === 'text/event-stream') assert.equal(outcome.kind, 'lost');
        else
          assert.match(
            (outcome as { message: string }).message,
            /something that is not MCP|Sign in/,
          );
      }
    });
  });

  for (const [mode, endpoint] of [
    ['streamableHttp', 'mcp'],
    ['sse', 'sse'],
  ] as const) {
    it(`calls to @modelcontextprotocol/server-everything work over ${mode}`, async () => {
      const port = await freePort();
      const entry = path.join(
        repository,
        'node_modules/@modelcontextprotocol/server-everything/dist/index.js',
      );
      const child = spawn(process.execPath, [entry, mode], {
        env: { ...rig.env, PORT: String(port) },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      await new Promise<void>((resolve) =>
        child.stderr.on(
          'data',
          (text) => /listening|running on port/i.test(String(text)) && resolve(),
        ),
      );
      const { connection, listing } = await rig.start(http(`http://127.0.0.1:${port}/${endpoint}`));
      assert(listing.tools.length > 5);
      assert.equal(await textOf(connection, 'echo', { message: 'hello' }), 'Echo: hello');
      const seen: unknown[] = [];
      const args = { duration: 0.5, steps: 3 };
      const long = await callTool(connection, 'trigger-long-running-operation', args, {
        onProgress: (progress) => seen.push(progress),
      });
      assert.equal(long.kind, 'result', JSON.stringify(long));
      assert.equal(seen.length, 3);
      await connection.close();
      await rig.kill(child);
      child.stderr.destroy();
    });
  }
});

/** Resolves when the server has had this many requests for event streams. */
async function untilStreams(connection: Connection, count: number): Promise<void> {
  for (;;) {
    const requests = await requestsOf(connection);
    if (requests.filter((line) => line.startsWith('GET ')).length >= count) return;
  }
}
