import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  compilePermissions,
  permissionOf,
  toolPermissions,
  withPermission,
} from '../../../src/core/tools/permissions.js';

const of = (name: string, ...settings: unknown[]): string => {
  const { permission, pattern } = permissionOf(
    { original: name, published: name },
    compilePermissions(settings),
  );
  return pattern === undefined ? permission : `${permission} by ${pattern}`;
};

describe('tool permissions (S4)', () => {
  it('a tool without a matching pattern is allowed', () => {
    assert.equal(of('echo'), 'allow');
    assert.equal(of('echo', {}), 'allow');
    assert.equal(of('echo', { ECHO: 'deny', 'ech?': 'deny', '': 'deny' }), 'allow');
  });

  it('the pattern with the most literal characters decides about a permission', () => {
    const setting = { '*': 'deny', 'files_*': 'ask', files_read: 'allow' };
    assert.equal(of('files_read', setting), 'allow by files_read');
    assert.equal(of('files_write', setting), 'ask by files_*');
    assert.equal(of('echo', setting), 'deny by *');
  });

  it('the stricter of two equal patterns decides', () => {
    assert.equal(of('ab', { 'a*': 'ask', '*b': 'deny' }), 'deny by *b');
    assert.equal(of('ab', { '*b': 'deny', 'a*': 'ask' }), 'deny by *b');
  });

  it('the strictest of several settings counts, so a workspace cannot loosen a person’s setting', () => {
    assert.equal(of('echo', { '*': 'ask' }, { echo: 'allow' }), 'ask by *');
    assert.equal(of('echo', { echo: 'allow' }, { '*': 'deny' }), 'deny by *');
  });

  it('an unknown value of a setting counts as `ask`', () => {
    assert.equal(of('echo', { echo: 'never' }), 'ask by echo');
    assert.equal(of('echo', { echo: { toString: 1 } }), 'ask by echo');
    for (const nonsense of [undefined, null, 'deny', 3, ['deny']])
      assert.equal(of('echo', nonsense), 'allow');
  });

  it('the stricter permission of the original and the published name counts, for any rename (S4)', () => {
    const verdict = (original: string, published: string, ...settings: unknown[]): string =>
      permissionOf({ original, published }, compilePermissions(settings)).permission;
    const setting = {
      'delete_*': 'deny',
      'pay_*': 'ask',
      a_very_long_name_that_is_harmless: 'allow',
    };
    assert.equal(verdict('delete_all', 'a_very_long_name_that_is_harmless', setting), 'deny');
    assert.equal(verdict('read', 'delete_read', setting), 'deny');
    assert.equal(verdict('pay_all', 'read', setting), 'ask');
    assert.equal(verdict('read', 'view', setting), 'allow');
    assert.equal(verdict('delete_all', 'shop_read', { '*': 'deny', shop_read: 'allow' }), 'deny');
    assert.equal(
      verdict('delete_all', 'shop_read', { shop_read: 'allow' }, { delete_all: 'deny' }),
      'deny',
    );
  });

  it('permissions do not depend on the order of the patterns', () => {
    const entry = fc.tuple(fc.stringMatching(/^[ab*]{0,4}$/), fc.constantFrom(...toolPermissions));
    fc.assert(
      fc.property(
        fc.uniqueArray(entry, { selector: ([pattern]) => pattern }),
        fc.stringMatching(/^[ab]{1,4}$/),
        (entries, name) => {
          const permission = (order: typeof entries): string =>
            permissionOf(
              { original: name, published: name },
              compilePermissions([Object.fromEntries(order)]),
            ).permission;
          assert.equal(permission(entries), permission([...entries].reverse()));
        },
      ),
    );
  });
});

describe('a person’s permission for a tool (S4)', () => {
  const read = { original: 'read', published: 'files_read' };

  it('a person’s permission is written under the published name', () => {
    assert.deepEqual(withPermission({ '*': 'ask' }, read, 'deny'), {
      '*': 'ask',
      files_read: 'deny',
    });
    assert.deepEqual(withPermission(undefined, read, 'ask'), { files_read: 'ask' });
  });

  it('a person’s permission is written under both names if it allows the tool, or if the original name has a stricter one', () => {
    assert.deepEqual(withPermission({}, read, 'allow'), { files_read: 'allow', read: 'allow' });
    assert.deepEqual(withPermission({ read: 'deny' }, read, 'ask'), {
      read: 'ask',
      files_read: 'ask',
    });
  });

  it('a person’s permission counts, unless a pattern with as many literal characters is stricter', () => {
    const name = fc.stringMatching(/^[ab]{1,3}$/);
    const permission = fc.constantFrom(...toolPermissions);
    const setting = fc.dictionary(fc.stringMatching(/^[ab*]{1,4}$/), permission);
    fc.assert(
      fc.property(setting, name, name, permission, (before, original, published, wanted) => {
        const names = { original, published };
        const verdict = permissionOf(
          names,
          compilePermissions([withPermission(before, names, wanted)]),
        );
        const by = verdict.pattern?.replaceAll('*', '');
        assert.ok(verdict.permission === wanted || by === original || by === published);
      }),
    );
  });
});
