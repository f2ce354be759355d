import assert from 'node:assert/strict';
import fc from 'fast-check';
import { minimatch } from 'minimatch';
import { compilePattern } from '../../../src/core/tools/patterns.js';

/** N1 in one line: `*` is any substring, everything else is itself. */
function reference(pattern: string, name: string): boolean {
  const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${pattern.split('*').map(literal).join('[^]*')}$`).test(name);
}

describe('patterns (N1)', () => {
  for (const [pattern, name, expected] of [
    ['*', '', true],
    ['browser_*', 'browser_', true],
    ['browser_*', 'browser_click', true],
    ['browser_*', 'xbrowser_click', false],
    ['*_unsafe', 'run_unsafe', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['Click', 'click', false],
    ['a?c', 'abc', false],
    ['a?c', 'a?c', true],
    ['[ab]', 'a', false],
    ['[ab]', '[ab]', true],
    ['{a,b}', 'a', false],
    ['!a', 'b', false],
    ['!a', '!a', true],
    ['#a', '#a', true],
    ['**', 'a/b.c', true],
    ['a*', 'a/b', true],
    ['.*', '.hidden', true],
    ['*', '.', true],
    ['+(a)', 'a', false],
    ['', '', true],
    ['', 'a', false],
  ] as const) {
    it(`"${pattern}" ${expected ? 'matches' : 'does not match'} "${name}"`, () => {
      assert.equal(compilePattern(pattern).matches(name), expected);
    });
  }

  it('agrees with the rule for any pattern and name', () => {
    const text = fc.array(fc.constantFrom(...'aB1*?[]{}!@()+|/\\.#,-_^$~ \n'), { maxLength: 8 }).map((c) => c.join(''));
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        assert.equal(compilePattern(pattern).matches(name), reference(pattern, name));
      }),
      { numRuns: 20_000 },
    );
  });

  it('agrees with minimatch wherever a pattern has nothing else that minimatch would understand', () => {
    const text = fc.array(fc.constantFrom(...'ab*_-'), { maxLength: 10 }).map((c) => c.join(''));
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        fc.pre(pattern !== '' && name !== '');
        const options = { dot: true, noglobstar: true, platform: 'linux' } as const;
        assert.equal(compilePattern(pattern).matches(name), minimatch(name, pattern, options));
      }),
      { numRuns: 5_000 },
    );
  });
});
