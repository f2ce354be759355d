/**
 * The editor's proxy settings and certificates apply to HTTP servers (X2), because the editor
 * routes the extension's requests.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { startProxy, type Proxy } from '../../support/core/proxy.ts';
import { repoRoot } from '../../support/editor/bridge.ts';
import {
  invoke,
  problems,
  until,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

describe('network of the editor', () => {
  const started: ChildProcess[] = [];
  let proxy: Proxy;

  /** Resolves with its address. */
  async function serve(...args: string[]): Promise<string> {
    const server = spawn(
      process.execPath,
      [join(repoRoot, 'test/fixtures/servers/http.mjs'), '--tools', 'echo', ...args],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    started.push(server);
    assert.ok(server.stdout);
    for await (const line of createInterface({ input: server.stdout })) {
      const [word, url] = line.split(' ');
      if (word === 'listening' && url !== undefined) return url;
    }
    return assert.fail('it ended before it listened');
  }

  before(async () => {
    proxy = await startProxy({ 'tools.test': new URL(await serve()).host }, 'me:mine');
  });

  after(async () => {
    await proxy.close();
    for (const server of started) {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill();
      await ended;
    }
  });

  const set = (key: string, value: unknown): Thenable<void> =>
    vscode.workspace.getConfiguration('http').update(key, value, vscode.ConfigurationTarget.Global);

  const far =
    'version: 1\nservers:\n  far:\n    transport: streamable_http\n    url: http://tools.test/mcp\n';

  it('http.proxy leads to a server known only to the proxy, with its credentials', async () => {
    await set('proxy', proxy.url.replace('//', '//me:mine@'));
    await writeConfig(far);
    await untilTools(['mcp_far_echo']);
    assert.match(await invoke('mcp_far_echo', { text: 'through' }), /through/);
    assert.ok(proxy.seen.length >= 3);
    assert.deepEqual(
      new Set(proxy.seen),
      new Set(['POST http://tools.test/mcp', 'GET http://tools.test/mcp']),
    );
  });

  it('Certificates in NODE_EXTRA_CA_CERTS are trusted, and no others', async () => {
    const configOf = (url: string): string =>
      `version: 1\nservers:\n  near:\n    transport: streamable_http\n    url: ${url}\n`;
    await writeConfig(configOf(await serve('--tls', 'trusted')));
    await untilTools(['mcp_near_echo']);
    assert.match(await invoke('mcp_near_echo', { text: 'encrypted' }), /encrypted/);
    await writeConfig(configOf(await serve('--tls', 'self-signed')));
    await until(
      problems,
      (shown) => shown.some(({ code }) => code === 'http-tls'),
      'that nobody signed it',
    );
  });

  for (const [key, value] of [
    ['noProxy', ['tools.test']],
    ['proxySupport', 'off'],
  ] as const) {
    it(`http.${key} names hosts without the proxy`, async () => {
      await writeConfig('version: 1\nservers: {}\n');
      await untilTools([]);
      await set(key, value);
      const before = proxy.seen.length;
      await writeConfig(far);
      const [problem] = await until(
        problems,
        (shown) => shown.some(({ code }) => code === 'http-unreachable'),
        'that it cannot be reached',
      );
      assert.match(problem?.message ?? '', /tools\.test\/mcp cannot be reached/);
      assert.equal(proxy.seen.length, before);
      await set(key, undefined);
      await writeConfig(`${far}    truely-stateless: true\n`);
      await untilProblems([]);
      await untilTools(['mcp_far_echo']);
    });
  }
});
