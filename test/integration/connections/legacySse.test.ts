/** Rule X2: real servers over HTTP+SSE of protocol 2024-11-05. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callTool, http, once, Rig, textOf } from './rig.js';
import { literal } from '../../../src/core/config/model.js';

describe('HTTP+SSE', function () {
  this.timeout(60_000);
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.end());

  for (const refusal of ['400', '403', '404', '405', '415', '500', '501']) {
    it(`a server that refuses initialize with ${refusal} gets HTTP+SSE, and the log says so`, async () => {
      const { url } = await rig.listen('legacy-sse', '--refusal', refusal);
      const { connection } = await rig.start(
        http(url, { headers: new Map([['X-Own', literal('mine')]]) }),
      );
      assert.equal(connection.protocolVersion, '2024-11-05');
      const line = await rig.logged('HTTP+SSE');
      assert.equal(
        line,
        `${url} answers a posted initialize with HTTP ${refusal}; speaking HTTP+SSE of protocol 2024-11-05 to it`,
      );
      const headers = JSON.parse(await textOf(connection, 'headers')) as Record<string, string>;
      assert.equal(headers['x-own'], 'mine');
    });
  }

  it('a refused `notifications/initialized` over HTTP+SSE does not end the start, unless it refuses us (X2b)', async () => {
    const { url } = await rig.listen('legacy-sse', '--refuses-initialized', '400');
    const { connection } = await rig.start(http(url));
    assert.equal(await textOf(connection, 'echo', { text: 'fine' }), 'fine');
    await rig.logged('the server refused notifications/initialized');
    const closed = await rig.listen('legacy-sse', '--refuses-initialized', '401');
    const outcome = await rig.attempt(http(closed.url));
    assert.equal(outcome.kind, 'failed');
  });

  it('many calls over HTTP+SSE can be cancelled at once while the server holds their exchanges (X6)', async () => {
    const { url } = await rig.listen('legacy-sse', '--holds-calls');
    const { connection } = await rig.start(http(url));
    const controllers = Array.from({ length: 256 }, () => new AbortController());
    const begun: Promise<void>[] = [];
    const waiting = controllers.map(({ signal }) => {
      let onProgress: () => void = () => {};
      begun.push(new Promise((resolve) => (onProgress = resolve)));
      return callTool(connection, 'slow', { ms: 60_000, steps: 200 }, { signal, onProgress });
    });
    await Promise.all(begun);
    for (const controller of controllers) controller.abort();
    for (const call of waiting) assert.deepEqual(await call, { kind: 'cancelled' });
    for (let cancelled = 0; cancelled < 256;)
      cancelled = (JSON.parse(await textOf(connection, 'cancelled')) as string[]).length;
  });

  it('A server that answers the first POST with an event `endpoint` gets HTTP+SSE at once', async () => {
    let posts = 0;
    const server = createServer((request, response) => {
      if (request.url === '/messages') {
        response.writeHead(202).end();
        return;
      }
      posts += request.method === 'POST' ? 1 : 0;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /messages\n\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const controller = new AbortController();
    const attempt = rig.attempt(http(`http://127.0.0.1:${port}/sse`), {
      signal: controller.signal,
    });
    assert.match(
      await rig.logged('HTTP+SSE'),
      /answers a posted initialize with an event `endpoint`/,
    );
    controller.abort();
    await attempt;
    assert.equal(posts, 1);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('a connection over HTTP+SSE ends with its stream', async () => {
    const { url } = await rig.listen('legacy-sse');
    const { connection } = await rig.start(http(url));
    const died = once(connection.onDidDie);
    assert.equal((await callTool(connection, 'drop')).kind, 'lost');
    await died;
  });
});
