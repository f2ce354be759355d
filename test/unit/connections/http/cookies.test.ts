import assert from 'node:assert/strict';
import { Cookies } from '../../../../src/core/connections/http/cookies.js';

describe('cookies of a server (X2a)', () => {
  const here = new URL('https://a.test/mcp');

  it('cookies go back to their exact origin only, after the configured ones', () => {
    const cookies = new Cookies(here.origin);
    assert.equal(cookies.headerFor(here, 'own=1'), 'own=1');
    cookies.take(here, ['lb=1; Path=/; HttpOnly', 'other=x; Path=/api', 'lb=2']);
    assert.equal(cookies.headerFor(here, undefined), 'lb=2');
    assert.equal(cookies.headerFor(here, 'own=1'), 'own=1; lb=2');
    for (const elsewhere of [
      'http://a.test/mcp',
      'https://a.test:8443/mcp',
      'https://b.test/mcp',
    ]) {
      cookies.take(new URL(elsewhere), ['bad=1']);
      assert.equal(cookies.headerFor(new URL(elsewhere), undefined), undefined);
    }
    assert.equal(cookies.headerFor(new URL('https://a.test/api/x'), undefined), 'other=x; lb=2');
  });

  it('a cookie that has ended is forgotten, and odd or too many ones are not kept', () => {
    const cookies = new Cookies(here.origin);
    cookies.take(here, [
      'a=1',
      'b=2',
      'c=3',
      'no value',
      '=x',
      `long=${'x'.repeat(5000)}`,
      'line=\r\nx: y',
    ]);
    assert.equal(cookies.headerFor(here, undefined), 'a=1; b=2; c=3');
    cookies.take(here, ['a=; Max-Age=0', 'b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT']);
    assert.equal(cookies.headerFor(here, undefined), 'c=3');
    cookies.take(
      here,
      Array.from({ length: 100 }, (_, n) => `n${n}=1`),
    );
    assert.equal(cookies.headerFor(here, undefined)?.split('; ').length, 50);
  });
});
