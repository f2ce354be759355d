import assert from 'node:assert/strict';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { discover } from '../../../../../src/core/connections/http/oauth/discovery.js';
import { loadOAuthSdk } from '../../../../../src/core/connections/http/oauth/sdk.js';

describe('oauth discovery (X7)', () => {
  const server = new URL('https://mcp.example/mcp');
  const issuer = 'https://auth.example';

  /** Who is asked, and what for, where the server's metadata names this authorization server. */
  async function asked(named: string, byPerson: boolean, wanted?: string): Promise<{ urls: string[]; why: string }> {
    const urls: string[] = [];
    const fetchFn: FetchLike = (target) => {
      urls.push(String(target));
      const isResource = String(target).includes('protected-resource');
      const json = isResource ? { resource: server.href, authorization_servers: [named] } : undefined;
      return Promise.resolve(json ? Response.json(json) : new Response('', { status: 404 }));
    };
    const sdk = await loadOAuthSdk();
    const discovery = { sdk, server, metadataUrl: undefined, issuer: wanted, byPerson, fetchFn };
    const why = await discover(discovery).then(
      () => '',
      (error: Error) => error.message,
    );
    return { urls: urls.filter((url) => new URL(url).origin !== server.origin), why };
  }

  it('asks nobody else before a person acts, but for the issuer of the file', async () => {
    assert.deepEqual(await asked(issuer, false), { urls: [], why: '' });
    assert.match((await asked(issuer, true)).urls[0] ?? '', /^https:\/\/auth\.example\/\.well-known/);
    assert.match((await asked(issuer, false, `${issuer}/`)).urls[0] ?? '', /^https:\/\/auth\.example\/\.well-known/);
    assert.match(
      (await asked(issuer, true, 'https://other.example')).why,
      /but the config file names https:\/\/other\.example/,
    );
  });

  for (const named of [
    'http://auth.example',
    'http://169.254.169.254/',
    'http://127.0.0.1:6379/',
    'https://localhost',
  ]) {
    it(`never asks ${named} for a server elsewhere`, async () => {
      const { urls, why } = await asked(named, true);
      assert.deepEqual(urls, []);
      assert.match(why, /no sign-in begins/);
    });
  }
});
