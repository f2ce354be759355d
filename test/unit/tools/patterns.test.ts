import assert from 'node:assert/strict';
import { Minimatch } from 'minimatch';
import fc from 'fast-check';
import { atOnce } from '../../../src/core/base/turns.js';
import {
  compileFilter,
  compilePattern,
  isTooMuchToMatch,
  patternsOf,
  sift,
} from '../../../src/core/tools/patterns.js';

/** A pattern (N1) in one line: `*` is any substring, everything else is itself. */
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
    ['[ab]*', 'a', false],
    ['[[:alpha:]]*', 'a', false],
    ['{a,b}', 'a', false],
    ['{a,b}*', 'a', false],
    ['!a', 'b', false],
    ['!a', '!a', true],
    ['!a*', 'b', false],
    ['#a', '#a', true],
    ['#a*', '#a', true],
    ['**', 'a/b.c', true],
    ['***/***', 'a/b.c', true],
    ['a*', 'a/b', true],
    ['a//*', 'a/b', false],
    ['C:*', 'c:/', false],
    ['*/..', 'a/b/..', true],
    ['*/b', 'a/../b', true],
    ['.*', '.hidden', true],
    ['*', '.', true],
    ['*', '..', true],
    ['+(a)', 'a', false],
    ['+(a)*', 'aa', false],
    ['\\**', '\\a', true],
    ['', '', true],
    ['', 'a', false],
  ] as const) {
    it(`"${pattern}" ${expected ? 'matches' : 'does not match'} "${name}"`, () => {
      assert.equal(compilePattern(pattern).matches(name), expected);
    });
  }

  it('a generated pattern and name match by the rule', () => {
    const text = fc
      .array(fc.constantFrom(...'aB1*?[]{}!@()+|/\\.#,-_^$~: \n', '\u00e9', '\u{1f600}'), {
        maxLength: 8,
      })
      .map((characters) => characters.join(''));
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        assert.equal(compilePattern(pattern).matches(name), reference(pattern, name));
      }),
      { numRuns: 20_000 },
    );
  });

  it('a generated pattern matches every name made from it', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab?[]{}!@()/\\.#^'), maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 }),
        text,
        (parts, last) => {
          const pattern = `${parts.map(([literal]) => literal).join('*')}*${last}`;
          const name = parts.map(([literal, between]) => literal + between).join('') + last;
          assert.ok(compilePattern(pattern).matches(name), `${pattern} ${name}`);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});

describe('sifting a list (N2)', () => {
  const names = ['read', 'write'];
  const sifted = (whitelist: string[], blacklist: string[], listed: object) =>
    atOnce(sift(compileFilter({ whitelist, blacklist }), names, listed));

  it('the result for a list is kept until its patterns change', () => {
    const listed = {};
    const first = sifted(['read'], [], listed);
    assert.equal(sifted(['read'], [], listed), first);
    assert.notEqual(sifted(['read'], [], {}), first);
    const next = sifted([], ['read'], listed);
    assert.deepEqual(
      [next.verdicts.get('read')?.kind, next.verdicts.get('write')?.kind],
      ['blacklisted', 'in'],
    );
  });

  it('a filter with the same patterns at other places has another result', () => {
    const listed = {};
    const [first] = sifted(['none'], [], listed).idle;
    const [second] = sifted(['', 'none'], [], listed).idle;
    assert.deepEqual([first?.pattern.index, second?.pattern.index], [0, 1]);
  });
});

describe('the time to match patterns (N4a)', () => {
  const uri = 'a'.repeat(8 * 1024);

  it('a pattern with too much work for a name does not match it, and a quick pattern does', () => {
    const slow = compilePattern(`*${'a'.repeat(4_000)}b*`);
    assert.ok(slow.longest < uri.length);
    assert.equal(slow.matches(`${uri}b`), false);
    const quick = compilePattern(`*${'a'.repeat(100)}*`);
    assert.ok(quick.longest >= uri.length);
    assert.equal(quick.matches(uri), true);
  });

  it('a pattern beyond minimatch’s limit does not throw', () => {
    for (const part of ['a', 'a*', '*', '?*']) {
      assert.equal(
        compilePattern(`${part.repeat(100_000)}*`).matches('b'.repeat(300_000)),
        part === '*',
      );
    }
  });

  it('a name within the bound takes less time than twice the steps in minimatch itself', () => {
    const plain = new Minimatch(`*${'a'.repeat(250)}b*`);
    const yardstick = timeOf(() => void plain.match(uri));
    for (const part of [1, 20, 100, 115]) {
      const filter = compileFilter({ whitelist: [`*${'a'.repeat(part)}b*`], blacklist: [] });
      assert.ok(!isTooMuchToMatch(patternsOf(filter), [uri]), `${part}`);
      const ms = timeOf(() => void filter.whitelist[0]?.matches(uri));
      assert.ok(ms < yardstick, `${part}: ${ms} ms, and the yardstick ${yardstick} ms`);
    }
  });
});

/**
 * Returns the processor time in milliseconds of the best of several turns, because it has the least
 * noise.
 */
function timeOf(work: () => void): number {
  const turns = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...turns);
}
