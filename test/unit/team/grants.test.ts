import assert from 'node:assert/strict';
import fc from 'fast-check';
import { grantedOf, grantOf, type ConfiguredToolset } from '../../../src/core/team/grants.js';
import { grantProblems } from '../../../src/core/team/team.js';
import { team, told } from './teams.js';

describe('grants', () => {
  const configured: readonly ConfiguredToolset[] = [
    { id: 'browser', down: undefined },
    { id: 'shop', down: 'disabled' },
    { id: 'files', down: undefined },
  ];
  const granted = (...written: string[]) => grantedOf(written.map(grantOf), configured);

  it('`*` grants every toolset, and `!id` removes one, anywhere in the list', () => {
    assert.deepEqual(granted('*').toolsets, ['browser', 'files']);
    assert.deepEqual(granted('*', '!files').toolsets, ['browser']);
    assert.deepEqual(granted('!files', '*').toolsets, ['browser']);
    assert.deepEqual(granted('files', '!files').toolsets, []);
    assert.deepEqual(granted('!files').toolsets, []);
    assert.deepEqual(granted().toolsets, []);
    assert.deepEqual(grantedOf(undefined, configured).toolsets, ['browser', 'files']);
  });

  it('a configured toolset without tools is deferred, and an unconfigured one is unknown', () => {
    const { toolsets, deferred, unknown } = granted('files', 'shop', 'shoes', '!gone');
    assert.deepEqual(toolsets, ['files']);
    assert.deepEqual(deferred, [{ id: 'shop', why: 'disabled' }]);
    assert.deepEqual(unknown, ['shoes', 'gone']);
  });

  it('only granted toolsets are returned', () => {
    const id = fc.constantFrom('browser', 'shop', 'files', 'gone');
    const written = fc.oneof(
      id,
      id.map((name) => `!${name}`),
      fc.constant('*'),
    );
    fc.assert(
      fc.property(fc.array(written, { maxLength: 6 }), (list) => {
        const { toolsets, deferred } = grantedOf(list.map(grantOf), configured);
        for (const name of [...toolsets, ...deferred.map((one) => one.id)]) {
          assert.ok(!list.includes(`!${name}`) && (list.includes('*') || list.includes(name)));
        }
      }),
    );
  });

  it('problems of grants are at the items, and those of the defaults appear once', () => {
    const text = `member_defaults: { toolsets: [filez, shop] }
members:
  alice: {}
  bob: {}
  carol: { toolsets: ['*', '!brwser'] }
`;
    assert.deepEqual(told(text, grantProblems([team(text)], configured, new Set())), [
      'toolset-unknown 1:31 filez',
      'toolset-deferred 1:38 shop',
      "toolset-unknown 5:28 '!brwser'",
    ]);
    assert.deepEqual(
      new Set(
        grantProblems([team(text)], configured, new Set()).map(
          ({ code, severity }) => `${code} ${severity}`,
        ),
      ),
      new Set(['toolset-unknown warning', 'toolset-deferred information']),
      'other programs that read the file may have the toolset',
    );
    assert.equal(
      grantProblems([team(text)], configured, new Set(['shop'])).length,
      2,
      'on its way: nothing to say',
    );
    assert.match(grantProblems([team(text)], configured, new Set())[0]?.fix ?? '', /Write `files`/);
  });
});
