import assert from 'node:assert/strict';
import { readChallenge } from '../../../../../src/core/connections/http/oauth/access.js';

const metadata = 'https://a.example/.well-known/oauth-protected-resource/mcp';

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
