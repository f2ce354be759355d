import assert from 'node:assert/strict';
import { isWithinOrigin, shown } from '../../../../src/core/connections/http/exchange.js';

describe('origins', () => {
  const within = (a: string, b: string): boolean => isWithinOrigin(new URL(a), new URL(b));

  it('are scheme, host and port, or the encrypted form of all that', () => {
    assert(within('http://a/x', 'http://a/y?z'));
    assert(within('http://a/x', 'https://a/y'));
    assert(!within('https://a/x', 'http://a/y'));
    assert(!within('http://a:8080/x', 'https://a/y'));
    assert(!within('http://a/x', 'https://a:8443/y'));
    assert(!within('http://a/x', 'http://b/y'));
    assert(!within('http://a/x', 'http://sub.a/y'));
  });

  it('are shown without secrets', () => {
    assert.equal(shown(new URL('https://user:pass@a:1/path?key=1#x')), 'https://a:1/path');
  });
});
