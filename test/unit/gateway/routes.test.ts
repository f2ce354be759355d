import assert from 'node:assert/strict';
import {
  everyToolset,
  isEditorPath,
  parseRoute,
  routePath,
} from '../../../src/core/gateway/routes.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('gateway: paths (G2)', () => {
  it('a path names the kind of client and the toolset', () => {
    assert.deepEqual(parseRoute('/editor/play-wright_1'), {
      policy: policies.editor,
      toolset: 'play-wright_1',
    });
    assert.deepEqual(parseRoute('/mcp/a'), { policy: policies.agent, toolset: 'a' });
  });

  it('a path may end in a slash or carry a query', () => {
    assert.deepEqual(parseRoute('/mcp/a/'), { policy: policies.agent, toolset: 'a' });
    assert.deepEqual(parseRoute('/mcp/a?x=/editor/b'), { policy: policies.agent, toolset: 'a' });
  });

  it('/mcp is the path of all toolsets', () => {
    for (const url of ['/mcp', '/mcp/', '/mcp?x']) {
      assert.deepEqual(parseRoute(url), { policy: policies.agent, toolset: everyToolset });
    }
  });

  it('a path with an address belongs to one conversation', () => {
    const address = 'a_-'.repeat(8);
    assert.deepEqual(parseRoute(`/mcp/c/c/${address}`), {
      policy: policies.agent,
      toolset: 'c',
      address,
    });
    assert.deepEqual(parseRoute(`/mcp/c/${address}/`), {
      policy: policies.agent,
      toolset: everyToolset,
      address,
    });
    assert.deepEqual(parseRoute('/mcp/c'), { policy: policies.agent, toolset: 'c' });
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
    it(`no toolset is at the path ${String(url)}`, () => assert.equal(parseRoute(url), undefined));
  }

  it('a written path is read as the same route', () => {
    for (const route of [
      { policy: policies.editor, toolset: 'a' },
      { policy: policies.agent, toolset: 'b' },
      { policy: policies.agent, toolset: everyToolset },
      { policy: policies.agent, toolset: everyToolset, address: 'a'.repeat(22) },
      { policy: policies.agent, toolset: 'b', address: 'a'.repeat(22) },
    ] as const) {
      assert.deepEqual(parseRoute(routePath(route)), route);
    }
  });

  it('a path below /editor/ is a path of the editor, also if no toolset is there', () => {
    assert.equal(isEditorPath('/editor/a/b/c'), true);
    assert.equal(isEditorPath('/mcp/editor/'), false);
    assert.equal(isEditorPath(undefined), false);
  });
});
