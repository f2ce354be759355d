/** Pages in a real browser at the endpoint for agents (G2f). It needs a browser, and no editor. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { systemClock } from '../../../src/core/base/clock.ts';
import { newToken } from '../../../src/core/files/tokenFile.ts';
import { createGateway, type Gateway } from '../../../src/core/gateway/http/gateway.ts';
import { FakeBackend, MemoryLog } from '../../unit/gateway/fakes.ts';
import { sharedBrowser } from '../../support/editor/browser.ts';
import { ensureChromium } from '../../support/editor/chromium.ts';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}

interface Read {
  readonly status?: number;
  readonly text?: string;
  readonly session?: string | null;
  readonly failed?: string;
}

const version = '2025-11-25';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: 'p', version: '1' },
  },
};

describe('pages in a browser at the endpoint for agents (G2f)', () => {
  const token = newToken();
  let gateway: Gateway;
  let pages: Server;
  let page: Page;

  before(async () => {
    const backend = new FakeBackend();
    backend.set('play', ['click']);
    gateway = createGateway(
      { backend, clock: systemClock, log: new MemoryLog() },
      { version: '1', stable: { port: 0, token, audience: 'agents' } },
    );
    await gateway.start();
    pages = createServer((_, response) => {
      response.setHeader('content-type', 'text/html').end('<title>A page</title>');
    });
    await once(pages.listen(0, '::'), 'listening');
    const browser = await sharedBrowser(await ensureChromium());
    page = await browser.newPage();
  });

  after(async () => {
    await page.close();
    pages.closeAllConnections();
    pages.close();
    await gateway.dispose();
  });

  const port = (): number => (pages.address() as AddressInfo).port;
  const mcp = (): string => `http://127.0.0.1:${gateway.port}/mcp/play`;

  /** Sends a request as the script of the page does. */
  const ask = (asked: Asked): Promise<Read> =>
    page.evaluate(async ({ method, url, headers, body }) => {
      try {
        const response = await fetch(url, {
          method,
          ...(headers && { headers }),
          ...(body && { body: JSON.stringify(body) }),
        });
        const session = response.headers.get('mcp-session-id');
        const isStream = method === 'GET' && response.ok;
        if (isStream) await response.body?.cancel();
        return {
          status: response.status,
          session,
          text: isStream ? '' : await response.text(),
        };
      } catch (error) {
        return { failed: String(error) };
      }
    }, asked);

  const headers = (more: Record<string, string> = {}): Record<string, string> => ({
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...more,
  });

  for (const host of ['127.0.0.1', 'localhost', '[::1]'])
    it(`A page of ${host} begins a session, lists tools, listens and ends it, as the refusal promises`, async () => {
      await page.goto(`http://${host}:${port()}/`);
      const refused = await ask({
        method: 'POST',
        url: mcp(),
        headers: headers({ authorization: 'Bearer x' }),
        body: initialize,
      });
      assert.match(refused.text ?? '', /The token is missing or wrong/, JSON.stringify(refused));
      const begun = await ask({ method: 'POST', url: mcp(), headers: headers(), body: initialize });
      assert.equal(begun.status, 200, JSON.stringify(begun));
      assert.ok(begun.session);
      const own = headers({ 'mcp-session-id': begun.session, 'mcp-protocol-version': version });
      const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
      const listed = await ask({ method: 'POST', url: mcp(), headers: own, body: list });
      assert.match(listed.text ?? '', /"click"/, JSON.stringify(listed));
      const listening = { ...own, 'last-event-id': '0' };
      assert.equal((await ask({ method: 'GET', url: mcp(), headers: listening })).status, 200);
      const ended = await ask({ method: 'DELETE', url: mcp(), headers: own });
      assert.ok(ended.status !== undefined && ended.status < 300, JSON.stringify(ended));
    });

  it('A page of any other name reads nothing, with the token or without', async () => {
    // The browser finds this name on this machine. So only the missing headers stop the page.
    await page.goto(`http://page.localhost:${port()}/`);
    for (const sent of [headers(), { 'content-type': 'text/plain' }]) {
      const read = await ask({ method: 'POST', url: mcp(), headers: sent, body: initialize });
      assert.match(read.failed ?? '', /Failed to fetch/, JSON.stringify(read));
    }
  });
});
