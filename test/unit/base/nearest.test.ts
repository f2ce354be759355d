import assert from 'node:assert/strict';
import { distance } from '../../../src/core/base/nearest.js';

describe('the distance of two names', () => {
  it('the distance counts insertions, deletions, substitutions and exchanges', () => {
    const pairs: readonly [string, string, number][] = [
      ['', '', 0],
      ['', 'abc', 3],
      ['abc', 'abd', 1],
      ['abc', 'acb', 1],
      ['abc', 'ab', 1],
      ['abc', 'xabc', 1],
      ['kitten', 'sitting', 3],
    ];
    for (const [a, b, expected] of pairs) {
      assert.equal(distance(a, b), expected, `${a} ${b}`);
      assert.equal(distance(b, a), expected, `${b} ${a}`);
    }
  });
});
