/** Pages of this machine in a browser (G2f): the way that the refusal names is open, and no other. */
import assert from 'node:assert/strict';
import { request, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createGateway, type Gateway } from '../../../src/core/gateway/http/gateway.js';
import { newToken } from '../../../src/core/files/tokenFile.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeBackend, MemoryLog } from '../../unit/gateway/fakes.js';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'p', version: '1' },
  },
});

describe('pages of this machine (G2f)', () => {
  let gateway: Gateway;
  const token = newToken();

  async function start(audience: 'agents' | 'editor'): Promise<void> {
    const backend = new FakeBackend();
    backend.set('play', ['click']);
    gateway = createGateway(
      { backend, clock: new FakeClock(), log: new MemoryLog() },
      { version: '1', stable: { port: 0, token, audience } },
    );
    await gateway.start();
  }

  beforeEach(() => start('agents'));
  afterEach(() => gateway.dispose());

  async function send(
    method: string,
    headers: Record<string, string>,
    body = '',
    path = '/mcp/play',
  ): Promise<Answer> {
    const sent = request({
      host: '127.0.0.1',
      port: gateway.port,
      method,
      path,
      headers,
      agent: false,
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  }

  const asked = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,mcp-protocol-version,mcp-param-x',
  };
  const posting = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const pages = ['http://localhost:6274', 'https://127.0.0.1', 'http://[::1]:3000'];

  for (const origin of pages) {
    it(`a page of ${origin} may ask its browser, which shows no token, and read the answer and its session`, async () => {
      const before = await send('OPTIONS', { origin, ...asked });
      assert.deepEqual([before.status, before.body], [204, '']);
      assert.equal(before.headers['access-control-allow-origin'], origin);
      assert.match(before.headers['access-control-allow-methods'] ?? '', /GET, POST, DELETE/);
      assert.equal(
        before.headers['access-control-allow-headers'],
        asked['access-control-request-headers'],
      );
      assert.equal(before.headers['access-control-allow-credentials'], undefined);
      const answer = await send('POST', { origin, ...posting }, initialize);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['access-control-allow-origin'], origin);
      assert.match(String(answer.headers['access-control-expose-headers']), /mcp-session-id/);
      assert.equal(answer.headers['vary'], 'origin');
      assert.ok(answer.headers['mcp-session-id']);
      const session = { 'mcp-session-id': String(answer.headers['mcp-session-id']) };
      const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
      const listed = await send('POST', { origin, ...posting, ...session }, list);
      assert.match(listed.body, /click/);
      assert.equal(listed.headers['access-control-allow-origin'], origin);
    });

    it(`a page of ${origin} without the token reads only why it is refused`, async () => {
      const answer = await send(
        'POST',
        { origin, ...posting, authorization: 'Bearer x' },
        initialize,
      );
      assert.equal(answer.status, 404);
      assert.match(answer.body, /The token is missing or wrong/);
      assert.equal(answer.headers['access-control-allow-origin'], origin);
    });
  }

  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', 'file://'])
    it(`a page of ${origin} reads nothing, with the token or without`, async () => {
      for (const [method, headers] of [
        ['OPTIONS', asked],
        ['POST', posting],
        ['POST', { ...posting, authorization: '' }],
      ] as const) {
        const answer = await send(
          method,
          { origin, ...headers },
          method === 'POST' ? initialize : '',
        );
        assert.equal(answer.status, 403);
        assert.deepEqual(
          Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
          [],
        );
      }
    });

  it('a Host of another name is refused, also for a page of this machine, because a name can be bound again', async () => {
    const origin = 'http://localhost:3000';
    for (const headers of [asked, posting]) {
      const method = headers === asked ? 'OPTIONS' : 'POST';
      const answer = await send(method, {
        origin,
        host: `rebound.example:${gateway.port}`,
        ...headers,
      });
      assert.equal(answer.status, 403);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
  });

  it('a page cannot read the proof of the token', async () => {
    const path = `/proof?challenge=${'A'.repeat(43)}`;
    const answer = await send('GET', { origin: 'http://localhost:3000' }, '', path);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
  });

  it('a program without Origin gets no header for browsers', async () => {
    const answer = await send('POST', posting, initialize);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
    assert.equal((await send('OPTIONS', asked)).status, 404);
  });

  it('no page reads anything at the address of the editor', async () => {
    await gateway.dispose();
    await start('editor');
    const origin = 'http://localhost:3000';
    for (const path of ['/editor/play', '/mcp/play']) {
      assert.equal((await send('OPTIONS', { origin, ...asked }, '', path)).status, 404);
      const answer = await send('POST', { origin, ...posting }, initialize, path);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
  });
});
