import assert from 'node:assert/strict';
import { rest } from '../../../support/fakes/fakeClock.js';
import { silentLog } from '../../../support/fakes/silentLog.js';
import { CursorServers, cursorMcpOf, type CursorMcp } from '../../../../src/vscode/toolsets/cursorServers.js';

/** Has the types that Cursor publishes, and nothing else of Cursor. */
class PublishedTypes implements CursorMcp {
  readonly heard: string[] = [];
  refused: string | undefined;

  registerServer({ name, server }: Parameters<CursorMcp['registerServer']>[0]): void {
    if (name === this.refused) throw new Error('no');
    this.heard.push(`+${name} ${server.url} ${server.headers['Authorization']}`);
  }
  unregisterServer(name: string): void {
    this.heard.push(`-${name}`);
  }
}

describe('CursorServers', () => {
  const at = (port: number): { url: string; headers: { Authorization: string } } => ({
    url: `http://127.0.0.1:${port}/mcp/x`,
    headers: { Authorization: 'Bearer t' },
  });
  const told = (name: string, port: number): string => `+${name} http://127.0.0.1:${port}/mcp/x Bearer t`;
  let mcp: PublishedTypes;
  let servers: CursorServers;

  beforeEach(() => {
    mcp = new PublishedTypes();
    servers = new CursorServers(mcp, silentLog);
  });

  it('tells of what comes, changes its address and goes, and of nothing else', () => {
    servers.offer(new Map([['a', at(1)]]));
    servers.offer(
      new Map([
        ['a', at(1)],
        ['b', at(1)],
      ]),
    );
    assert.deepEqual(mcp.heard.splice(0), [told('a', 1), told('b', 1)]);
    servers.offer(new Map([['a', at(2)]]));
    assert.deepEqual(mcp.heard.splice(0), ['-a', '-b', told('a', 2)]);
    servers.dispose();
    servers.dispose();
    assert.deepEqual(mcp.heard, ['-a']);
  });

  it('offers the others where one is refused, and that one again with the next change', () => {
    const both = new Map([
      ['a', at(1)],
      ['b', at(1)],
    ]);
    mcp.refused = 'a';
    servers.offer(both);
    assert.deepEqual(mcp.heard.splice(0), [told('b', 1)]);
    mcp.refused = undefined;
    servers.offer(both);
    assert.deepEqual(mcp.heard, [told('a', 1)]);
  });

  it('lives with a promise that is broken', async () => {
    const broken = new CursorServers(
      { registerServer: () => Promise.reject(new Error('no')), unregisterServer: () => undefined },
      silentLog,
    );
    broken.offer(new Map([['a', at(1)]]));
    await rest();
  });

  it('is there in an editor that has both functions alone', () => {
    assert.equal(cursorMcpOf(undefined), undefined);
    assert.equal(cursorMcpOf({}), undefined);
    assert.equal(cursorMcpOf({ mcp: { registerServer: () => undefined } }), undefined);
    const found = { registerServer: () => undefined, unregisterServer: () => undefined };
    assert.equal(cursorMcpOf({ mcp: found }), found);
  });
});
