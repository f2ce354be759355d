import assert from 'node:assert/strict';
import {
  OAuthAccess,
  readChallenge,
} from '../../../../../src/core/connections/http/oauth/oauth.js';
import { FakeClock, rest } from '../../../../support/fakes/fakeClock.js';
import { whatIsLacking } from '../../../../support/core/person.js';
import { literal } from '../../../../../src/core/config/model.js';

const metadata = 'https://a.example/.well-known/oauth-protected-resource/mcp';

describe('OAuth challenges', () => {
  type Text = string | undefined;
  const cases: [header: Text, metadata?: Text, scope?: Text, error?: Text][] = [
    [undefined],
    ['Basic realm="x"'],
    ['Bearer'],
    ['bearer realm="x"'],
    [`Bearer resource_metadata="${metadata}"`, metadata],
    [`Bearer resource_metadata=${metadata}`, metadata],
    [
      `Bearer realm="a, b", scope="x y" ,error=insufficient_scope`,
      undefined,
      'x y',
      'insufficient_scope',
    ],
    [`Basic realm="bearer", Bearer scope="x"`, undefined, 'x'],
    [
      `Negotiate, Bearer error="invalid_token", error_description="say \\"please\\", scope=no"`,
      undefined,
      undefined,
      'invalid_token',
    ],
    ['Bearer resource_metadata="file:///etc/passwd"'],
    ['Bearer resource_metadata="nonsense", scope=""'],
    ['BearerToken scope="x"'],
  ];
  for (const [header, url, scope, error] of cases) {
    it(`the challenge in a WWW-Authenticate header is read: ${header ?? '(none)'}`, () => {
      const found = readChallenge(header);
      assert.deepEqual([found.metadataUrl?.href, found.scope, found.error], [url, scope, error]);
    });
  }
});

describe('OAuth access', () => {
  const kept = {
    grant: {
      authority: { issuer: 'https://a.example' },
      tokens: { access_token: 'token', token_type: 'bearer' },
    },
  };

  it('a request goes without a token if the store does not answer, and a later answer is taken (X7b)', async () => {
    const clock = new FakeClock();
    let answer = (_: string): void => {};
    const access = new OAuthAccess({
      launch: {
        transport: 'streamable_http',
        url: literal('https://a.example/mcp'),
        headers: new Map(),
        sessionId: '',
      },
      key: 'key',
      secrets: {
        get: () => new Promise((resolve) => (answer = resolve)),
        store: () => Promise.resolve(),
        delete: () => Promise.resolve(),
        onDidChange: () => ({ dispose: () => {} }),
        exclusively: (_, work) => work(),
      },
      clock,
      log: { write: () => {} },
      keepSecret: () => ({ dispose: () => {} }),
      clientVersion: '1',
      onChange: () => {},
    });
    const token = access.token();
    await rest();
    clock.advance(3_000);
    assert.equal(await token, undefined);
    answer(JSON.stringify(kept));
    await rest();
    assert.equal(await access.token(), 'token');
    assert.deepEqual(whatIsLacking(access.status), ['signedIn', undefined]);
    assert.equal(clock.pending, 0);
    access.dispose();
  });
});
