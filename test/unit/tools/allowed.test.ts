/** Values that pass the `allow` of an argument (O3). `override.test.ts` has the calls. */
import assert from 'node:assert/strict';
import { compileAllowed, foldedName, isAllowed } from '../../../src/core/tools/allowed.js';

describe('allowed values of an argument (O3)', () => {
  const rule = { name: 'path', allow: ['/data/*', 'stdin'].map(compileAllowed) };

  for (const [value, isIn] of [
    ['/data/a', true],
    ['stdin', true],
    [['/data/a', 'stdin'], true],
    ['/data/../a', false],
    [['/data/a', '/data/../a'], false],
    [[], false],
    [[['/data/a']], false],
    [null, false],
    [undefined, false],
    [7, false],
    [{ length: 0 }, false],
  ] as const) {
    it(`${JSON.stringify(value)} ${isIn ? 'is allowed' : 'is not allowed'} (O3)`, () => {
      assert.equal(isAllowed(value, rule), isIn);
    });
  }

  it('an argument without `allow` takes every value (O3)', () => {
    for (const value of ['/etc', [], null]) assert.equal(isAllowed(value, { name: 'path' }), true);
  });

  it('names are equal in any case and normal form, and a long name stays as it is (O3b)', () => {
    for (const name of ['PATH', 'Path', 'ｐａｔｈ', 'pаth'.replace('а', 'a')])
      assert.equal(foldedName(name), 'path');
    assert.notEqual(foldedName('p\u0430th'), 'path', 'a Cyrillic letter is another one');
    const long = 'A'.repeat(2000);
    assert.equal(foldedName(long), long);
  });
});
