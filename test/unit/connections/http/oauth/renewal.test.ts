import assert from 'node:assert/strict';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { systemClock } from '../../../../../src/core/base/clock.js';
import { granted } from '../../../../../src/core/connections/http/oauth/grant.js';
import { renewed, revoke } from '../../../../../src/core/connections/http/oauth/renewal.js';
import { loadOAuthSdk } from '../../../../../src/core/connections/http/oauth/sdk.js';

const issuer = 'https://auth.example';

describe('OAuth renewals (X7b)', () => {
  for (const endpoint of [
    'http://auth.example/revoke',
    'http://127.0.0.1:6379/revoke',
    'ftp://auth.example/revoke',
  ]) {
    it(`a revocation sends no token to ${endpoint}`, async () => {
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
          {
            authority: {
              issuer,
              metadata: { ...metadata, revocation_endpoint },
              resource: undefined,
              scopes: undefined,
            },
            client: { client_id: 'c' },
            scope: 'x',
          },
          tokens,
          systemClock.now(),
        );
      await assert.rejects(revoke(grantAt(endpoint), fetchFn), /not encrypted|a local address/);
      assert.deepEqual(sent, []);
      await revoke(grantAt(`${issuer}/revoke`), fetchFn);
      assert.equal(sent.length, 2);
    });
  }

  it('a renewal sends the scope of its grant, and omits it if the server refuses it (RFC 6749)', async () => {
    const sent: (string | null)[] = [];
    const answer = (status: number, body: unknown): Promise<Response> =>
      Promise.resolve(new Response(JSON.stringify(body), { status }));
    const fetchFn: FetchLike = (_, init) => {
      const scope = new URLSearchParams(init?.body as URLSearchParams).get('scope');
      sent.push(scope);
      return scope === 'x'
        ? answer(400, { error: 'invalid_scope' })
        : answer(200, { access_token: 'b', token_type: 'Bearer' });
    };
    const grant = {
      authority: { issuer, metadata: undefined, resource: undefined, scopes: undefined },
      client: { client_id: 'c' },
      tokens: { access_token: 'a', token_type: 'Bearer', refresh_token: 'refresh' },
      expiresAt: 1,
    };
    for (const scope of ['x', 'y z', undefined]) {
      const renewal = await renewed(loadOAuthSdk(), { ...grant, scope }, fetchFn, systemClock);
      assert.equal(renewal.kind, 'renewed');
    }
    assert.deepEqual(sent, ['x', null, 'y z', null]);
  });
});
