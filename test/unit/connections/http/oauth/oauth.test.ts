/** Spec X7, what is pure of it: challenges of servers, scopes, what is kept. */
import assert from 'node:assert/strict';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { systemClock } from '../../../../../src/core/base/clock.js';
import { readChallenge } from '../../../../../src/core/connections/http/oauth/access.js';
import {
  coversScopes,
  granted,
  grantKey,
  isStale,
  joinedScopes,
  nothingKept,
  parseKept,
  secretsOfKept,
} from '../../../../../src/core/connections/http/oauth/grant.js';
import { discover } from '../../../../../src/core/connections/http/oauth/discovery.js';
import { revoke } from '../../../../../src/core/connections/http/oauth/renewal.js';
import { loadOAuthSdk } from '../../../../../src/core/connections/http/oauth/sdk.js';

const metadata = 'https://a.example/.well-known/oauth-protected-resource/mcp';

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
      /and the file says https:\/\/other\.example/,
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
      assert.match(why, /no sign-in there/);
    });
  }

  for (const endpoint of ['http://auth.example/revoke', 'http://127.0.0.1:6379/revoke', 'ftp://auth.example/revoke']) {
    it(`sends no token to ${endpoint} to revoke it`, async () => {
      const sent: string[] = [];
      const fetchFn: FetchLike = (target) => {
        sent.push(String(target));
        return Promise.resolve(new Response(''));
      };
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ['code'],
      };
      const tokens = { access_token: 'access', token_type: 'Bearer', refresh_token: 'refresh' };
      const grantAt = (revocation_endpoint: string) =>
        granted(
          { issuer, metadata: { ...metadata, revocation_endpoint }, resource: undefined, scopes: undefined },
          tokens,
          'x',
          systemClock.now(),
        );
      const sdk = await loadOAuthSdk();
      const client = { client_id: 'c' };
      await assert.rejects(revoke(sdk, grantAt(endpoint), client, fetchFn), /not encrypted|of this machine/);
      assert.deepEqual(sent, []);
      await revoke(sdk, grantAt(`${issuer}/revoke`), client, fetchFn);
      assert.equal(sent.length, 2);
    });
  }
});

describe('oauth challenge', () => {
  type Text = string | undefined;
  const cases: [header: Text, bearer: boolean, metadata?: Text, scope?: Text, error?: Text][] = [
    [undefined, false],
    ['Basic realm="x"', false],
    ['Bearer', true],
    ['bearer realm="x"', true],
    [`Bearer resource_metadata="${metadata}"`, true, metadata],
    [`Bearer resource_metadata=${metadata}`, true, metadata],
    [`Bearer realm="a, b", scope="x y" ,error=insufficient_scope`, true, undefined, 'x y', 'insufficient_scope'],
    [`Basic realm="bearer", Bearer scope="x"`, true, undefined, 'x'],
    [
      `Negotiate, Bearer error="invalid_token", error_description="say \\"please\\", scope=no"`,
      true,
      undefined,
      undefined,
      'invalid_token',
    ],
    ['Bearer resource_metadata="file:///etc/passwd"', true],
    ['Bearer resource_metadata="nonsense", scope=""', true],
    ['BearerToken scope="x"', false],
  ];
  for (const [header, isBearer, url, scope, error] of cases) {
    it(header ?? '(none)', () => {
      const found = readChallenge(header);
      assert.deepEqual(
        [found.isBearer, found.metadataUrl?.href, found.scope, found.error],
        [isBearer, url, scope, error],
      );
    });
  }
});

describe('oauth grant', () => {
  const authority = { issuer: 'https://a.example', metadata: undefined, resource: undefined, scopes: undefined };
  const tokens = { access_token: 'access', token_type: 'Bearer', refresh_token: 'refresh', expires_in: 3600 };

  it('joins and compares scopes', () => {
    assert.equal(joinedScopes('a b', undefined, 'b  c', ''), 'a b c');
    assert.equal(joinedScopes(undefined, ' '), undefined);
    assert.equal(coversScopes('a b', 'b'), true);
    assert.equal(coversScopes('a', 'a b'), false);
    assert.equal(coversScopes(undefined, undefined), true);
  });

  it('is stale half a minute before its token ends, and never where none is said', () => {
    const grant = granted(authority, tokens, 'x', 1000);
    assert.equal(isStale(grant, 1000 + 3_569_000), false);
    assert.equal(isStale(grant, 1000 + 3_570_000), true);
    assert.equal(isStale(granted(authority, { ...tokens, expires_in: 10 }, 'x', 0), 5000), true);
    assert.equal(isStale(granted(authority, { access_token: 'access', token_type: 'Bearer' }, 'x', 0), 1e12), false);
    assert.equal(grant.scope, 'x');
    assert.equal(granted(authority, { ...tokens, scope: 'y' }, 'x', 0).scope, 'y');
  });

  it('is read back as it was written; what is not understood is nothing', () => {
    const client = { client_id: 'c', client_secret: 'secret' };
    const registration = {
      issuer: 'https://a.example',
      client,
      redirect: { url: 'http://127.0.0.1:1/callback', port: 1 },
      scope: 'x',
    };
    const kept = { registration, grant: granted(authority, tokens, 'x', 0) };
    assert.deepEqual(parseKept(JSON.stringify(kept)), JSON.parse(JSON.stringify(kept)));
    for (const text of [
      undefined,
      '',
      '{',
      'null',
      '[]',
      '{"grant":{}}',
      '{"grant":{"tokens":{}}}',
      '{"registration":5}',
    ]) {
      assert.deepEqual(parseKept(text), nothingKept, text);
    }
    assert.deepEqual(secretsOfKept(kept), ['access', 'refresh', 'secret']);
  });

  it('is kept under a name that does not tell the address', () => {
    const launch = {
      transport: 'streamable_http',
      url: 'https://a.example/mcp?key=hidden',
      headers: new Map(),
      sessionId: '',
    } as const;
    assert.match(grantKey(launch), /^mcpToolsets\.oauth\.[0-9a-f]{32}$/);
    assert.notEqual(grantKey(launch), grantKey({ ...launch, url: 'https://a.example/mcp' }));
    assert.equal(
      grantKey({ ...launch, url: 'https://A.example:443/mcp' }),
      grantKey({ ...launch, url: 'https://a.example/mcp' }),
    );
  });
});
