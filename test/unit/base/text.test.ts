import assert from 'node:assert/strict';
import { clipped, escapeRegExp } from '../../../src/core/base/text.js';

describe('texts', () => {
  it('are clipped to a length that includes the ellipsis, and never within a character', () => {
    assert.equal(clipped('abc', 3), 'abc');
    assert.equal(clipped('abcd', 3), 'ab…');
    assert.equal(clipped('a😀bcd', 3), 'a…');
  });

  it('match themselves alone as a pattern', () => {
    const text = '.*+?^${}()|[]\\';
    assert.ok(new RegExp(`^${escapeRegExp(text)}$`).test(text));
  });
});
