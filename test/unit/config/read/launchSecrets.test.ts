/** The secrets of a launch (E4). */
import assert from 'node:assert/strict';
import { literal } from '../../../../src/core/config/model.js';
import type { Value, Launch, Reference } from '../../../../src/core/config/model.js';
import { secretsOf } from '../../../../src/core/config/read/launchSecrets.js';

const http = (url: string, headers: Record<string, Value> = {}, sessionId = ''): Launch => ({
  transport: 'streamable_http',
  url: literal(url),
  headers: new Map(Object.entries(headers)),
  sessionId,
});

describe('secrets of a launch', () => {
  it('the secrets of a launch include the values of its env', () => {
    const host: Value = {
      kind: 'reference',
      source: { kind: 'env', name: 'T' },
      prefix: '',
      suffix: '',
      fallback: undefined,
      value: 'from-host',
    };
    const env = new Map([
      ['A', literal('written out')],
      ['B', host],
    ]);
    const found = secretsOf({
      transport: 'stdio',
      command: 'c',
      args: [literal('shown')],
      cwd: '/',
      env,
    });
    assert.deepEqual([...new Set(found)], ['written out', 'from-host']);
  });

  it('the secrets of a launch include references in arguments and address, with and without prefix and suffix', () => {
    const reference = (prefix: string, value: string, suffix: string): Reference => ({
      kind: 'reference',
      source: { kind: 'env', name: 'T' },
      prefix,
      suffix,
      fallback: undefined,
      value: prefix + value + suffix,
    });
    const token = reference('--token=', 'in-argument', ';');
    const args = [literal('-y'), token];
    const found = secretsOf({ transport: 'stdio', command: 'c', args, cwd: '/', env: new Map() });
    assert.deepEqual(found, ['--token=in-argument;', 'in-argument']);
    const ofAddress = (url: Reference): string[] =>
      secretsOf({ transport: 'streamable_http', url, headers: new Map(), sessionId: '' });
    assert.ok(
      ofAddress(reference('https://example.com/', 'in-address', '/mcp')).includes('in-address'),
    );
    // Failures name the address as it is connected to.
    const written = ofAddress(reference('https://example.com/v/', 'in "address"/é', '/mcp'));
    assert.ok(written.includes('in%20%22address%22/%C3%A9'), written.join());
    assert.ok(!ofAddress(reference('https://example.com/v?x=', 'in-query', '')).includes('/v'));
  });

  it('the secrets of a launch include the values of its headers, with and without the scheme', () => {
    const found = secretsOf(
      http('https://example.com/mcp', {
        Authorization: {
          kind: 'reference',
          source: { kind: 'env', name: 'T' },
          prefix: 'Bearer ',
          suffix: '',
          fallback: undefined,
          value: 'Bearer abc-def',
        },
        'X-Token': literal('Token ghi-jkl'),
        'X-Basic': literal(`Basic ${Buffer.from('user:pass:word').toString('base64')}`),
        Cookie: literal('a=first=1; b=second'),
        'X-Mode': literal('ci'),
      }),
    );
    for (const secret of [
      'Bearer abc-def',
      'abc-def',
      'ghi-jkl',
      'user:pass:word',
      'pass:word',
      'first=1',
      'second',
    ]) {
      assert.ok(found.includes(secret), secret);
    }
  });

  it('the secrets of a launch include the password, the secret parameters and the session of its address', () => {
    const found = secretsOf(
      http('https://user:p%40ss@example.com/mcp?api_key=k1&mode=plain&Token=t1', {}, 's1'),
    );
    for (const secret of ['p@ss', 'p%40ss', 'k1', 't1', 's1'])
      assert.ok(found.includes(secret), secret);
    assert.ok(!found.includes('plain') && !found.includes('user'));
    assert.deepEqual(secretsOf(http('not an address')), ['']);
  });
});
