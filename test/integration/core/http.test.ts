/**
 * Servers over Streamable HTTP and HTTP+SSE behind the host (X2). The corners of each
 * transport have tests in `connections`.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Agent } from '../../support/core/agent.js';
import { http, rawWith, type Entry } from '../../support/core/configText.js';
import { startHttpFixture, type HttpServer } from '../../support/core/httpServers.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

describe('core: servers over HTTP', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage({ trace: true });
  });

  afterEach(endStages);

  const kinds = [
    ['Streamable HTTP, events', 'http', []],
    ['Streamable HTTP, JSON', 'http', ['--json']],
    ['Streamable HTTP without sessions', 'http', ['--stateless']],
    ['HTTP+SSE', 'legacy-sse', []],
  ] as const;

  for (const [name, program, args] of kinds) {
    describe(name, () => {
      let server: HttpServer;

      beforeEach(async () => {
        server = await stage.http(program, ...args);
      });

      const entry = (rest: Entry = {}): Entry => http(server.url, rest);

      it('An HTTP server publishes, filters, renames and answers an agent, and edits of the filter open no connection', async () => {
        await stage.edit({
          far: entry({ tools: { whitelist: ['echo', 'add'] }, transform: [{ prefix: 'far_' }] }),
        });
        assert.deepEqual(stage.published(), ['far/far_echo', 'far/far_add']);
        assert.deepEqual(stage.problems(), []);
        const agent = await Agent.connect(stage, 'far');
        assert.deepEqual(await agent.toolNames(), ['echo', 'add']);
        assert.equal(await agent.text('add', { a: 40, b: 2 }), '42');
        const before = stage.logs.text().match(/"initialize"/g)?.length;
        await stage.edit({ far: entry({ tools: { whitelist: ['echo'] } }) });
        assert.deepEqual(stage.published(), ['far/echo']);
        assert.equal(stage.logs.text().match(/"initialize"/g)?.length, before);
        const state = stage.server('far');
        assert.deepEqual([state.transport, state.state.kind], ['streamable_http', 'running']);
      });

      it('50 concurrent calls over HTTP return results and errors of every kind', async () => {
        await stage.edit({ far: entry() });
        const sums = Array.from({ length: 50 }, (_, n) => stage.text('far', 'add', { a: n, b: 1 }));
        assert.deepEqual(
          await Promise.all(sums),
          Array.from({ length: 50 }, (_, n) => String(n + 1)),
        );
        assert.equal((await stage.result('far', 'content')).content.length, 6);
        assert.equal(await stage.failure('far', 'fail', { text: 'no' }), 'no');
        const thrown = await stage.outcome('far', 'throw', { code: -32042, text: 'not so' });
        assert.deepEqual(thrown.kind === 'error' && [thrown.code, thrown.message], [
          -32042,
          'not so',
        ]);
      });

      it('Time limits end a call over HTTP, and the next call succeeds', async () => {
        await stage.edit({ far: entry({ timeouts: { call: '300ms' } }) });
        assert.match(
          await stage.failure('far', 'quiet', { ms: 60_000 }),
          /no sign of life for 0\.3 s/,
        );
        assert.equal(await stage.text('far', 'echo', { text: 'next' }), 'next');
      });

      if (!args.some((arg) => arg === '--json' || arg === '--stateless')) {
        it('Progress arrives over HTTP, and a cancellation reaches the server', async () => {
          await stage.edit({ far: entry() });
          const seen: number[] = [];
          const onProgress = ({ progress }: { progress: number }): void => void seen.push(progress);
          assert.equal(
            await stage.text('far', 'slow', { ms: 50, steps: 5 }, { onProgress }),
            'done',
          );
          assert.deepEqual(seen, [1, 2, 3, 4, 5]);
          const cancel = new AbortController();
          const options = { signal: cancel.signal, onProgress: () => cancel.abort() };
          const call = stage.outcome('far', 'slow', { ms: 600_000, steps: 60_000 }, options);
          assert.deepEqual(await call, { kind: 'cancelled' });
          // The notification is a separate request, so it may arrive after the next call.
          while (!(await stage.text('far', 'cancelled')).includes('slow')) continue;
        });
      }

      it('The death of an HTTP server leaves the result unknown, and the next call reaches the new server', async () => {
        await stage.edit({ far: entry() });
        assert.match(await stage.failure('far', 'crash'), /result unknown/);
        assert.ok(stage.publishedBy('far').includes('crash'));
        const down = JSON.stringify(await stage.outcome('far', 'echo'));
        assert.match(down, /cannot be reached|refused|broke off/);
        const port = new URL(server.url).port;
        const again = await startHttpFixture(program, [...args, '--port', port], stage.env);
        try {
          assert.equal(await stage.text('far', 'echo', { text: 'back' }), 'back');
          await stage.until(({ problems }) => problems.length === 0, 'no problem');
        } finally {
          await again.stop();
        }
      });
    });
  }

  it('Each conversation has its own HTTP session until its lease ends, and a truly stateless server has one for all', async () => {
    const { url } = await stage.http('http');
    await stage.edit({
      own: http(url),
      shared: http(url, { 'truely-stateless': true, transform: [{ prefix: 's_' }] }),
    });
    const sessions = await Promise.all(
      ['one', 'two'].map((conversation) => stage.text('own', 'session', {}, { conversation })),
    );
    assert.equal(new Set(sessions).size, 2);
    assert.equal(await stage.text('own', 'count', {}, { conversation: 'one' }), '1');
    assert.equal(await stage.text('own', 'count', {}, { conversation: 'one' }), '2');
    assert.equal(await stage.text('own', 'count', {}, { conversation: 'two' }), '1');
    const shared = await Promise.all(
      ['one', 'two'].map((conversation) => stage.text('shared', 's_session', {}, { conversation })),
    );
    assert.equal(new Set(shared).size, 1);
    await stage.host.release('own', 'one');
    assert.match(await stage.text('shared', 's_requests'), /DELETE \/mcp - 200/);
  });

  it('A session that the HTTP server forgot is replaced, and the call succeeds', async () => {
    const { url } = await stage.http('http');
    await stage.edit({ far: http(url) });
    const before = await stage.text('far', 'session');
    await stage.text('far', 'forget');
    const after = await stage.text('far', 'session');
    assert.notEqual(after, before);
    assert.deepEqual(stage.problems(), []);
  });

  it('list_changed arrives on the listening stream', async () => {
    const { url } = await stage.http('http', '--tools', 'grow,echo');
    await stage.edit({ far: http(url) });
    // The stream opens beside the first list, so an earlier change is lost.
    while (stage.publishedBy('far').length === 2) {
      await stage.text('far', 'grow');
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(stage.publishedBy('far').some((name) => name.startsWith('extra_')));
  });

  it('Headers, host variables and tokens reach the server and no other origin', async () => {
    stage.env['FAR_TOKEN'] = 'token-of-the-host';
    const { url } = await stage.http('http', '--require-token', 'token-of-the-host');
    const headers = { Authorization: { prefix: 'Bearer ', env: 'FAR_TOKEN' }, 'X-Client': 'minds' };
    await stage.edit({ far: http(url, { headers }) });
    assert.deepEqual(stage.problems(), []);
    const seen = JSON.parse(await stage.text('far', 'headers')) as Record<string, string>;
    assert.deepEqual(
      [seen['authorization'], seen['x-client']],
      ['Bearer token-of-the-host', 'minds'],
    );

    const redirecting = await stage.http('http', '--redirect', 'other-origin');
    await stage.edit({ far: http(redirecting.url, { headers }) });
    // The previous definition goes on serving.
    assert.ok(
      stage.host.snapshot.problems.some(({ message }) =>
        /redirects to another origin/.test(message),
      ),
    );
    await stage.edit({
      far: http((await stage.http('http', '--redirect', 'same-origin')).url, { headers }),
    });
    const after = JSON.parse(await stage.text('far', 'headers')) as Record<string, string>;
    assert.equal(after['authorization'], 'Bearer token-of-the-host');
  });

  it('A call in flight over HTTP finishes while its server is removed', async () => {
    const { url } = await stage.http('http');
    await stage.edit({
      far: http(url),
      near: rawWith(['echo'], { transform: [{ prefix: 'n_' }] }),
    });
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const call = stage.text('far', 'slow', { ms: 500, steps: 10 }, { onProgress: () => begin() });
    await begun;
    await stage.edit({ near: rawWith(['echo'], { transform: [{ prefix: 'n_' }] }) });
    assert.deepEqual(stage.published(), ['near/n_echo']);
    assert.equal(await call, 'done');
  });

  it('No connection to an HTTP server is open after the end', async () => {
    const open = new Set<unknown>();
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        if (request.method !== 'POST') return void response.writeHead(405).end();
        const message = JSON.parse(body) as { id?: number; method: string };
        if (message.id === undefined) return void response.writeHead(202).end();
        const result =
          message.method === 'initialize'
            ? {
                protocolVersion: '2025-06-18',
                capabilities: { tools: {} },
                serverInfo: { name: 'here', version: '1' },
              }
            : { tools: [{ name: 'one', inputSchema: { type: 'object' } }] };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      });
    });
    server.on('connection', (socket) => {
      open.add(socket);
      socket.on('close', () => {
        open.delete(socket);
        if (open.size === 0) server.emit('deserted');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as { port: number };
      await stage.edit({ far: http(`http://127.0.0.1:${port}/mcp`) });
      assert.deepEqual(stage.published(), ['far/one']);
      const deserted = new Promise<void>((resolve) => server.once('deserted', resolve));
      await stage.core.dispose();
      if (open.size > 0) await deserted;
    } finally {
      await new Promise((resolve) => server.close(resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});
