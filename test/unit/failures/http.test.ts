import assert from 'node:assert/strict';
import { httpFailure } from '../../../src/core/failures/http.js';

describe('failures over HTTP', () => {
  it('a TLS failure names its cause', () => {
    const http = { transport: 'streamable_http', url: 'https://a/', headers: new Map(), sessionId: '' } as const;
    const failure = (code: string) =>
      httpFailure(http, { kind: 'unreachable', code, detail: 'says so', url: 'https://a/' });
    assert.match(failure('ERR_TLS_CERT_ALTNAME_INVALID').message, /for another host name/);
    assert.match(failure('CERT_NOT_YET_VALID').message, /not valid yet/);
    assert.match(failure('UNABLE_TO_VERIFY_LEAF_SIGNATURE').message, /not signed by an authority/);
    assert.equal(failure('ERR_SSL_SOMETHING').code, 'http-tls');
    assert.equal(failure('EHOSTUNREACH').code, 'http-unreachable');
  });
});
