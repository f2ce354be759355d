import assert from 'node:assert/strict';
import { asText, clipped, escapeRegExp, messageOf } from '../../../src/core/base/text.js';

describe('texts', () => {
  it('a clipped text has the given length with its ellipsis, and is never cut within a character', () => {
    assert.equal(clipped('abc', 3), 'abc');
    assert.equal(clipped('abcd', 3), 'ab…');
    assert.equal(clipped('a😀bcd', 3), 'a…');
  });

  it('an escaped text matches only itself as a pattern', () => {
    const text = '.*+?^${}()|[]\\';
    assert.ok(new RegExp(`^${escapeRegExp(text)}$`).test(text));
  });
});

describe('a value as a text', () => {
  it('each value has a text, even an object without one', () => {
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
      ...[
        'x',
        '',
        '5',
        'true',
        'null',
        'undefined',
        'an object',
        'an object',
        'a list',
        'a list',
        'TypeError: no',
      ],
    ]);
    assert.deepEqual([new TypeError('no'), 'no', { toString: 1 }].map(messageOf), [
      'no',
      'no',
      'an object',
    ]);
  });
});
