import assert from 'node:assert/strict';
import { everyToolset } from '../../../src/core/gateway/backend.js';
import {
  BearerCheck,
  isEditorPath,
  isLocalHost,
  isLocalOrigin,
  parseRoute,
  routePath,
} from '../../../src/core/gateway/access.js';

describe('gateway: access (G2)', () => {
  describe('paths', () => {
    it('say the kind of client and the toolset', () => {
      assert.deepEqual(parseRoute('/editor/play-wright_1'), { clientKind: 'editor', toolset: 'play-wright_1' });
      assert.deepEqual(parseRoute('/mcp/a'), { clientKind: 'plain', toolset: 'a' });
    });

    it('may end in a slash or carry a query', () => {
      assert.deepEqual(parseRoute('/mcp/a/'), { clientKind: 'plain', toolset: 'a' });
      assert.deepEqual(parseRoute('/mcp/a?x=/editor/b'), { clientKind: 'plain', toolset: 'a' });
    });

    it('/mcp alone stands for every toolset', () => {
      for (const url of ['/mcp', '/mcp/', '/mcp?x']) {
        assert.deepEqual(parseRoute(url), { clientKind: 'plain', toolset: everyToolset });
      }
    });

    it('an address is that of one conversation alone', () => {
      const address = 'a_-'.repeat(8);
      assert.deepEqual(parseRoute(`/mcp/c/c/${address}`), { clientKind: 'plain', toolset: 'c', address });
      assert.deepEqual(parseRoute(`/mcp/c/${address}/`), { clientKind: 'plain', toolset: everyToolset, address });
      assert.deepEqual(parseRoute('/mcp/c'), { clientKind: 'plain', toolset: 'c' });
    });

    for (const url of [
      `/editor/a/c/${'a'.repeat(24)}`,
      `/mcp/a/c/${'a'.repeat(21)}`,
      `/mcp/a/c/${'a'.repeat(65)}`,
      `/mcp/a/d/${'a'.repeat(24)}`,
      undefined,
      '',
      '/',
      '/editor',
      '/editor/',
      '/mcpx',
      '/mcp/a/b',
      '/mcp/../editor/a',
      '/mcp/a%62',
      '/MCP/a',
      '//mcp/a',
      'http://127.0.0.1/mcp/a',
      `/mcp/${'a'.repeat(65)}`,
      '/mcp/a b',
      '/mcp/ä',
    ]) {
      it(`nothing is at ${String(url)}`, () => assert.equal(parseRoute(url), undefined));
    }

    it('are written as they are read', () => {
      for (const route of [
        { clientKind: 'editor', toolset: 'a' },
        { clientKind: 'plain', toolset: 'b' },
        { clientKind: 'plain', toolset: everyToolset },
        { clientKind: 'plain', toolset: everyToolset, address: 'a'.repeat(22) },
        { clientKind: 'plain', toolset: 'b', address: 'a'.repeat(22) },
      ] as const) {
        assert.deepEqual(parseRoute(routePath(route)), route);
      }
    });

    it('of the editor are told by their beginning, also where nothing is', () => {
      assert.equal(isEditorPath('/editor/a/b/c'), true);
      assert.equal(isEditorPath('/mcp/editor/'), false);
      assert.equal(isEditorPath(undefined), false);
    });
  });

  describe('Host', () => {
    for (const host of ['127.0.0.1:7', 'localhost:7', '[::1]:7']) {
      it(`${host} is ours`, () => assert.equal(isLocalHost(host, 7), true));
    }
    for (const host of [
      undefined,
      '',
      '127.0.0.1',
      '127.0.0.1:8',
      'evil.example:7',
      'localhost:7.evil.example',
      '0.0.0.0:7',
    ]) {
      it(`${String(host)} is not`, () => assert.equal(isLocalHost(host, 7), false));
    }
  });

  describe('Origin', () => {
    for (const origin of [undefined, 'http://localhost', 'http://127.0.0.1:3000', 'https://[::1]:8443']) {
      it(`${String(origin)} may`, () => assert.equal(isLocalOrigin(origin), true));
    }
    for (const origin of [
      '',
      'null',
      'http://evil.example',
      'http://localhost.evil.example',
      'http://evil.example/http://localhost',
      'http://user@localhost',
      'file://',
      'vscode-webview://x',
    ]) {
      it(`${JSON.stringify(origin)} may not`, () => assert.equal(isLocalOrigin(origin), false));
    }
  });

  describe('token', () => {
    const check = new BearerCheck('s3cret-token');
    for (const header of ['Bearer s3cret-token', 'bearer s3cret-token', 'BEARER  s3cret-token ']) {
      it(`accepts ${header}`, () => assert.equal(check.accepts(header), true));
    }
    for (const header of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      's3cret-token',
      'Basic s3cret-token',
      'Bearer s3cret-tokem',
      'Bearer s3cret-token2',
      'Bearer s3cret-toke',
      'Bearer s3cret-token s3cret-token',
    ]) {
      it(`refuses ${String(header)}`, () => assert.equal(check.accepts(header), false));
    }
  });
});
