import assert from 'node:assert/strict';
import { asText, clipped, escapeRegExp, messageOf } from '../../../src/core/base/text.js';

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

describe('what was to be a text', () => {
  it('is one, or it is said what it is, also where it has none of its own (S2)', () => {
    const given: unknown[] = [
      'x',
      '',
      5,
      true,
      null,
      undefined,
      {},
      { toString: 1 },
      [],
      [{ toString: 1 }],
      new TypeError('no'),
    ];
    assert.deepEqual(given.map(asText), [
      ...['x', '', '5', 'true', 'null', 'undefined', 'an object', 'an object', 'a list', 'a list', 'TypeError: no'],
    ]);
    assert.deepEqual([new TypeError('no'), 'no', { toString: 1 }].map(messageOf), ['no', 'no', 'an object']);
  });
});
