import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  OAuthMetadataSchema,
  OAuthProtectedResourceMetadataSchema,
  OAuthTokensSchema,
  OpenIdProviderDiscoveryMetadataSchema,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import {
  absentEndpoint,
  readableAnswer,
  whatCameForToken,
} from '../../../../../src/core/connections/http/oauth/answers.js';

const issuer = 'https://auth.example';
const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  response_types_supported: ['code'],
};
const read = async (answer: unknown): Promise<Record<string, unknown>> =>
  JSON.parse(await readableAnswer(JSON.stringify(answer))) as Record<string, unknown>;

describe('answers of authorization servers (X7)', () => {
  it('an answer that fits its schema is unchanged', async () => {
    assert.deepEqual(await read({ access_token: 'a', token_type: 'Bearer' }), {
      access_token: 'a',
      token_type: 'Bearer',
    });
  });

  for (const [text, words] of [
    ['{"access_token":"a","token_type":"Bearer"}', undefined],
    ['{"access_token":null,"token_type":"Bearer"}', 'without a token: `access_token` is null'],
    ['{"access_token":""}', 'without a token: `access_token` is empty'],
    ['{"access_token":5}', 'without a token: `access_token` is no text'],
    ['{"refresh_token":"secret"}', 'without a token: `access_token` is missing'],
    [
      '{"error":"bad_refresh_token","error_description":"It is too old"}',
      'with the error bad_refresh_token: It is too old',
    ],
    ['<html>', 'not with a JSON object'],
  ] as const) {
    it(`what came in place of a token is said in words: ${text}`, () => {
      assert.equal(whatCameForToken(text), words);
    });
  }

  it('null in an answer counts as absent at every depth', async () => {
    const tokens = {
      access_token: 'a',
      token_type: 'Bearer',
      refresh_token: null,
      scope: null,
      expires_in: null,
    };
    assert.deepEqual(await read(tokens), { access_token: 'a', token_type: 'Bearer' });
    const { scopes_supported, registration_endpoint } = await read({
      ...metadata,
      scopes_supported: ['a', null, 'b'],
      registration_endpoint: null,
    });
    assert.deepEqual([scopes_supported, registration_endpoint], [['a', 'b'], undefined]);
  });

  it('a value of a wrong type is dropped with its field or list entry', async () => {
    const { scopes_supported, revocation_endpoint, grant_types_supported } = await read({
      ...metadata,
      scopes_supported: ['a', 1, { b: 'c' }],
      revocation_endpoint: '',
      grant_types_supported: 'client_credentials',
    });
    assert.deepEqual(scopes_supported, ['a']);
    assert.deepEqual([revocation_endpoint, grant_types_supported], [undefined, undefined]);
  });

  it('a token without a type is a bearer token', async () => {
    assert.deepEqual(await read({ access_token: 'a' }), {
      access_token: 'a',
      token_type: 'Bearer',
    });
  });

  it('metadata without an authorization endpoint names one that never resolves', async () => {
    const { authorization_endpoint } = await read({ issuer, token_endpoint: `${issuer}/token` });
    assert.equal(authorization_endpoint, absentEndpoint);
  });

  it('a text that is not a known answer is unchanged', async () => {
    for (const text of ['', '<html>', '[1]', 'null', '{"a": null}'])
      assert.equal(await readableAnswer(text), text);
  });

  it('metadata and tokens with any value in any optional field are read', async () => {
    const wrong = fc.dictionary(
      fc.constantFrom(
        ...Object.keys({
          ...OAuthMetadataSchema.shape,
          ...OpenIdProviderDiscoveryMetadataSchema.shape,
        }).filter((key) => key !== 'issuer' && key !== 'token_endpoint'),
      ),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(wrong, async (fields) => {
        const answer = await read({ ...metadata, ...fields });
        for (const schema of [OAuthMetadataSchema, OpenIdProviderDiscoveryMetadataSchema])
          schema.parse(answer);
      }),
    );
    const ofTokens = fc.dictionary(
      fc.constantFrom('token_type', 'scope', 'refresh_token', 'id_token', 'expires_in'),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(ofTokens, async (fields) => {
        OAuthTokensSchema.parse(await read({ ...fields, access_token: 'a' }));
      }),
    );
    const ofResource = fc.dictionary(
      fc.constantFrom(
        ...Object.keys(OAuthProtectedResourceMetadataSchema.shape).filter(
          (key) => key !== 'resource',
        ),
      ),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(ofResource, async (fields) => {
        OAuthProtectedResourceMetadataSchema.parse(
          await read({ ...fields, resource: `${issuer}/mcp` }),
        );
      }),
    );
  });
});
