import assert from 'node:assert/strict';
import {
  coversScopes,
  granted,
  grantKey,
  isStale,
  joinedScopes,
  parseKept,
  secretsOfKept,
} from '../../../../../src/core/connections/http/oauth/grant.js';
import { literal } from '../../../../../src/core/config/model.js';

describe('OAuth grants', () => {
  const authority = {
    issuer: 'https://a.example',
    metadata: undefined,
    resource: undefined,
    scopes: undefined,
  };
  const client = { client_id: 'c', client_secret: 'secret' };
  const asked = { authority, client, scope: 'x' };
  const tokens = {
    access_token: 'access',
    token_type: 'Bearer',
    refresh_token: 'refresh',
    expires_in: 3600,
  };

  it('scopes are joined and compared', () => {
    assert.equal(joinedScopes('a b', undefined, 'b  c', ''), 'a b c');
    assert.equal(joinedScopes(undefined, ' '), undefined);
    assert.equal(coversScopes('a b', 'b'), true);
    assert.equal(coversScopes('a', 'a b'), false);
    assert.equal(coversScopes(undefined, undefined), true);
  });

  it('a grant is stale half a minute before its token expires, and never without an expiry', () => {
    const grant = granted(asked, tokens, 1000);
    assert.equal(isStale(grant, 1000 + 3_569_000), false);
    assert.equal(isStale(grant, 1000 + 3_570_000), true);
    assert.equal(isStale(granted(asked, { ...tokens, expires_in: 10 }, 0), 5000), true);
    assert.equal(
      isStale(granted(asked, { access_token: 'access', token_type: 'Bearer' }, 0), 1e12),
      false,
    );
    assert.equal(grant.scope, 'x');
    assert.equal(granted(asked, { ...tokens, scope: 'y' }, 0).scope, 'y');
  });

  it('a grant is read back as written, and an unreadable text gives nothing', () => {
    const registration = {
      issuer: 'https://a.example',
      client,
      redirect: { url: 'http://127.0.0.1:1/callback', port: 1 },
      scope: 'x',
    };
    const kept = { registration, grant: granted(asked, tokens, 0) };
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
      assert.deepEqual(parseKept(text), { registration: undefined, grant: undefined }, text);
    }
    assert.deepEqual(secretsOfKept(kept), ['access', 'refresh', 'secret']);
    const anew = { ...registration, client: { client_id: 'd', client_secret: 'other secret' } };
    assert.deepEqual(secretsOfKept({ ...kept, registration: anew }), [
      'access',
      'refresh',
      'secret',
      'other secret',
    ]);
  });

  it('a grant has the client stored by an earlier version, if it is of the same issuer (X7a)', () => {
    const grant = { ...granted(asked, tokens, 0), client: undefined };
    const stored = (issuer: string): string =>
      JSON.stringify({ registration: { issuer, client, redirect: undefined, scope: 'x' }, grant });
    assert.deepEqual(parseKept(stored(authority.issuer)).grant?.client, client);
    assert.equal(parseKept(stored('https://other.example')).grant?.client, undefined);
  });

  it('a grant is kept under a name without the address', () => {
    const launch = {
      transport: 'streamable_http',
      url: literal('https://a.example/mcp?key=hidden'),
      headers: new Map(),
      sessionId: '',
    } as const;
    assert.match(grantKey(launch), /^mcpToolsets\.oauth\.[0-9a-f]{32}$/);
    assert.notEqual(
      grantKey(launch),
      grantKey({ ...launch, url: literal('https://a.example/mcp') }),
    );
    assert.equal(
      grantKey({ ...launch, url: literal('https://A.example:443/mcp') }),
      grantKey({ ...launch, url: literal('https://a.example/mcp') }),
    );
  });
});
