import assert from 'node:assert/strict';
import { excerpt } from '../../../src/core/results/delivery.js';

describe('results: excerpts', () => {
  for (const [name, text, head, tail] of [
    ['of plain characters', 'abcdefghijkl', 'abcde', 'ijkl'],
    ['a character of two bytes is not cut', 'abcdäefghiäjkl', 'abcd', 'jkl'],
    ['one that fits stays', 'abcäefghäjk', 'abcä', 'äjk'],
    ['of four bytes', 'abc🙂defg🙂x', 'abc', 'x'],
    ['that fits', 'a🙂bcd🙂', 'a🙂', '🙂'],
    ['of three bytes', 'abc漢defg漢x', 'abc', '漢x'],
    ['at half a pair', 'abcd🙂efgh🙂xyz', 'abcd', 'xyz'],
    ['a lone half is the replacement of it', 'abcdefgh\ud83d', 'abcde', 'h\ufffd'],
  ] as const) {
    it(name, () => assert.deepEqual(excerpt(text, { head: 5, tail: 4 }), { head, tail }));
  }
});
