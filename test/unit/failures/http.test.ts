import assert from 'node:assert/strict';
import { literal } from '../../../src/core/config/model.js';
import type { Value, ReferenceSource } from '../../../src/core/config/model.js';
import { httpFailure } from '../../../src/core/failures/http.js';
import { describeReason, type AnswerFault } from '../../../src/core/failures/transportFailure.js';

describe('failures over HTTP', () => {
  it('a TLS failure names its cause', () => {
    const http = {
      transport: 'streamable_http',
      url: literal('https://a/'),
      headers: new Map(),
      sessionId: '',
    } as const;
    const failure = (code: string) =>
      httpFailure(http, { kind: 'unreachable', code, detail: 'says so', url: 'https://a/' });
    assert.match(failure('ERR_TLS_CERT_ALTNAME_INVALID').message, /for another host name/);
    assert.match(failure('CERT_NOT_YET_VALID').message, /not valid yet/);
    assert.match(failure('UNABLE_TO_VERIFY_LEAF_SIGNATURE').message, /not signed by an authority/);
    assert.equal(failure('ERR_SSL_SOMETHING').code, 'http-tls');
    assert.equal(failure('EHOSTUNREACH').code, 'http-unreachable');
  });
});

describe('advice about failures over HTTP (X3a)', () => {
  const url = 'https://a/mcp';
  const http = {
    transport: 'streamable_http',
    url: literal(url),
    headers: new Map(),
    sessionId: '',
  } as const;
  const blamed = /address is not|Correct url|because it crashed/;

  it('an answer in the wrong wrapping is not blamed on the address', () => {
    for (const [contentType, body, words, fault] of [
      [
        'application/json',
        'event: message data: {"jsonrpc":"2.0","id":0,"result":{}}',
        /is an event stream/,
      ],
      ['text/plain', 'data: {"jsonrpc":"2.0"}', /is an event stream/],
      [
        'text/event-stream',
        '{"jsonrpc":"2.0","id":0,"result":{}}',
        /its Content-Type says that it is an event stream/,
      ],
      ['application/json', '{"jsonrpc":"2.0","id":null,"result":{}}', /its `id` is another one/],
      [
        'application/json',
        '{"id":0,"result":{"protocolVersion":"2025-06-18"}}',
        /lacks the `jsonrpc/,
      ],
      [
        'application/json',
        '{"data":{"jsonrpc":"2.0","id":0,"result":{}}}',
        /in the field `data` of another object/,
      ],
      [
        'application/json',
        '{"statusCode":200,"body":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":0,\\"result\\":{}}"}',
        /in the field `body` of another object/,
      ],
      [
        'application/json',
        '"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":0,\\"result\\":{}}"',
        /was encoded twice/,
      ],
      ['text/html', '{"jsonrpc":"2.0","id":0,"result":{}}', /its Content-Type is text\/html\./],
      [
        'application/json',
        '{"jsonrpc":"2.0","id":0,"result":{"a":NaN}}',
        /not valid JSON/,
        'notJson',
      ],
      ['application/json', '{"jsonrpc":"2.0","id":0,"result":{"a":', /not valid JSON/, 'notJson'],
      ['application/json', '{"jsonrpc":"2.0","id":0,"result":{}}', /in UTF-16/, 'utf16'],
      ['application/json', 'compressed with zstd', /is compressed with zstd/, 'compression'],
    ] as [string, string, RegExp, AnswerFault?][]) {
      const { message, fix, code } = httpFailure(http, {
        kind: 'notMcp',
        contentType,
        body,
        url,
        ...(fault && { fault }),
      });
      assert.equal(code, 'http-not-mcp');
      assert.match(message, words);
      assert.doesNotMatch(message + fix, blamed);
    }
    for (const body of ['{"hello":1}', 'hello', '[]', '', 'event: '.repeat(42)]) {
      assert.match(
        httpFailure(http, { kind: 'notMcp', contentType: 'application/json', body, url }).message,
        blamed,
      );
    }
  });

  it('an answer that cannot be decoded, and a port with another protocol, are no crash', () => {
    const broken = { kind: 'broken', detail: 'd', url } as const;
    assert.match(
      httpFailure(http, { ...broken, code: 'Z_DATA_ERROR' }).message,
      /Content-Encoding/,
    );
    assert.match(
      httpFailure(http, { ...broken, code: 'HPE_INVALID_CONSTANT' }).message,
      /does not speak HTTP\/1\.1/,
    );
    assert.match(httpFailure(http, broken).message, /because the server crashed/);
    const refusal = { kind: 'status', status: 403, contentType: '', url } as const;
    const alpn = 'Unknown ALPN Protocol, expected `h2` to be available.';
    assert.match(httpFailure(http, { ...refusal, body: alpn }).message, /speaks only HTTP\/2/);
    const plain = 'The plain HTTP request was sent to HTTPS port';
    assert.match(httpFailure(http, { ...refusal, status: 400, body: plain }).fix, /Write https:/);
  });

  it('a refused credential is renewed where it comes from, and an unexpanded reference is named', () => {
    const refusal = { kind: 'status', status: 401, contentType: '', body: '', url } as const;
    const adviceFor = (value: Value) =>
      httpFailure({ ...http, headers: new Map([['Authorization', value]]) }, refusal);
    const copied = (source: ReferenceSource): Value => ({
      kind: 'reference',
      source,
      prefix: 'Bearer ',
      suffix: '',
      fallback: undefined,
      value: 'x',
    });
    assert.match(adviceFor(copied({ kind: 'env', name: 'ACME' })).fix, /set the variable ACME\./);
    assert.match(
      adviceFor(copied({ kind: 'secret', name: 'acme' })).fix,
      /store it as the secret acme\./,
    );
    assert.match(adviceFor(literal('Bearer old')).fix, /write it in the header/);
    for (const written of ['${ACME}', '$ACME', '${env:ACME}', '{env:ACME}', '%ACME%']) {
      const { message, fix } = adviceFor(literal(`Bearer ${written}`));
      assert.ok(message.includes(`\`${written}\` as it is written`), message);
      assert.match(fix, /env: ACME \}/);
    }
  });

  it('a server that names the host of its requests is not a matter of rights', () => {
    const refusal = { kind: 'status', status: 403, contentType: '', url } as const;
    const { message, fix } = httpFailure(http, {
      ...refusal,
      body: 'Access is only allowed at localhost:39003',
    });
    assert.match(message, /takes requests for localhost:39003 only\./);
    assert.equal(fix, 'Write that host in url.');
  });

  it('a redirect that was refused for safety is no advice', () => {
    const redirect = { kind: 'redirect', detail: 'it redirects', url } as const;
    const slash = httpFailure(http, {
      ...redirect,
      remedy: { kind: 'write', url: 'https://a/mcp/' },
    });
    assert.deepEqual(
      [slash.fix, slash.instead],
      ['Write https://a/mcp/ as url.', 'https://a/mcp/'],
    );
    const encrypted = httpFailure(http, {
      ...redirect,
      url: 'http://a/mcp',
      remedy: { kind: 'write', url },
    });
    assert.match(encrypted.message, /wants an encrypted connection/);
    for (const kind of ['signInPage', 'unsafe', 'circle', 'otherEndpoint'] as const) {
      assert.doesNotMatch(
        httpFailure(http, { ...redirect, remedy: { kind } }).fix,
        /redirects to as url/,
      );
    }
    assert.match(httpFailure(http, redirect).fix, /redirects to as url/);
  });

  it('a proxy that cannot be used is blamed in place of the server', () => {
    const refused = { kind: 'unreachable', code: 'ECONNREFUSED', detail: 'refused', url } as const;
    for (const proxy of [
      { kind: 'used', host: 'proxy:1' },
      { kind: 'unusable', why: 'is not an address' },
    ] as const) {
      const { message, fix, path } = httpFailure(http, { ...refused, proxy });
      assert.match(message, /^did not connect: the proxy/);
      assert.match(fix, /HTTP_PROXY/);
      assert.deepEqual(path, []);
    }
    const tls = {
      ...refused,
      code: 'CERT_HAS_EXPIRED',
      proxy: { kind: 'used', host: 'proxy:1' },
    } as const;
    assert.equal(httpFailure(http, tls).code, 'http-tls');
  });

  it('a proxy that speaks in place of the server is named (X3d)', () => {
    const proxy = { kind: 'used', host: 'proxy:1' } as const;
    const trust = 'Set NODE_EXTRA_CA_CERTS.';
    const unreachable = { kind: 'unreachable', detail: 'd', url, proxy, trust } as const;
    const plain = httpFailure(http, { ...unreachable, code: 'EPROTO' });
    assert.match(plain.message, /the proxy proxy:1 does not speak TLS/);
    assert.match(plain.fix, /^Write http:\/\/ in its address in HTTP_PROXY/);
    const unknown = httpFailure(http, { ...unreachable, code: 'SELF_SIGNED_CERT_IN_CHAIN' });
    assert.match(unknown.message, /the certificate of the proxy proxy:1/);
    assert.equal(unknown.fix, trust);
    assert.deepEqual([plain.path, unknown.path], [[], []]);
    const passed = httpFailure(http, { ...unreachable, code: 'EPROTO', isPassed: true });
    assert.match(passed.fix, /in url/);
    const refusal = { kind: 'status', contentType: '', body: '', url, proxy } as const;
    const forbidden = httpFailure(http, { ...refusal, status: 403 });
    assert.match(forbidden.message, /HTTP 403: the proxy proxy:1 answered/);
    assert.match(forbidden.fix, /NO_PROXY/);
    assert.match(httpFailure(http, { ...refusal, status: 407 }).fix, /HTTPS_PROXY/);
    assert.match(httpFailure(http, { ...refusal, status: 401 }).fix, /^Ask who runs the proxy/);
  });

  it('advice about an authority names only what counts in the same program (X3d)', () => {
    const unknown = {
      kind: 'unreachable',
      code: 'SELF_SIGNED_CERT_IN_CHAIN',
      detail: 'd',
      url,
    } as const;
    assert.match(httpFailure(http, unknown).fix, /trusted certificates of the system/);
    const trust = 'Set NODE_EXTRA_CA_CERTS.';
    assert.equal(httpFailure(http, { ...unknown, trust }).fix, trust);
  });

  it('a server that wants a client certificate is recognised, whoever says it (X3d)', () => {
    const wanted = /wants a certificate of the client/;
    for (const reason of [
      { kind: 'unreachable', code: 'EPROTO', detail: 'sslv3 alert handshake failure', url },
      {
        kind: 'broken',
        code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
        detail: 'tlsv13 alert certificate required',
        url,
      },
      {
        kind: 'status',
        status: 400,
        contentType: 'text/html',
        body: '400 No required SSL certificate was sent',
        url,
      },
    ] as const) {
      const { code, message, fix } = httpFailure(http, reason);
      assert.equal(code, 'http-tls');
      assert.match(message, wanted);
      assert.match(fix, /as url\.$/);
    }
  });

  it('a failure names the message that was refused, unless that is initialize', () => {
    const refusal = { kind: 'status', status: 401, contentType: '', body: '', url } as const;
    const { message, fix, code } = httpFailure(http, refusal, 'tools/list');
    assert.match(message, /^answered tools\/list with HTTP 401: the server requires credentials/);
    assert.match(fix, /^Add a header/);
    assert.equal(code, 'http-unauthorized');
    const redirect = {
      kind: 'redirect',
      detail: 'it redirects',
      url,
      remedy: { kind: 'signInPage' },
    } as const;
    assert.match(
      httpFailure(http, redirect, 'tools/list').message,
      /^answered initialize, but did not take tools\/list: /,
    );
  });

  it('signing in is advised only to a person whom it can help', () => {
    const signIn = { kind: 'signIn', why: 'Why.', url } as const;
    assert.match(httpFailure(http, signIn).fix, /Sign In to Server/);
    assert.equal(
      httpFailure(http, { ...signIn, fix: 'Write another url.' }).fix,
      'Write another url.',
    );
  });

  it('the failure of a request names the command for signing in once', () => {
    const command = '`mcp-toolsets login NAME`';
    const lacks = `Sign in again to grant them, outside the editor with ${command}.`;
    for (const why of ['It has ended', lacks]) {
      const text = describeReason({ kind: 'signIn', why, url });
      assert.equal(text.split(command).length, 2, text);
    }
    const program = describeReason({ kind: 'signIn', why: 'Why.', fix: 'Add scopes.', url });
    assert.equal(program, `${url} gives no access. Why. Add scopes.`);
  });
});
