import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Team, mergedTeams } from '../../../src/core/team/team.js';
import { file, parse, team, told } from './teams.js';

const grants = (of: Team, id: string): string[] =>
  of.members
    .find((member) => member.id === id)
    ?.grants.map(({ grant }) =>
      grant.kind === 'all' ? '*' : grant.kind === 'except' ? `!${grant.id}` : grant.id,
    ) ?? [];

describe('team.yaml', () => {
  it('a team file with many mistakes has 500 problems and the number of the rest (S2a)', () => {
    const text = `members: { alice: { toolsets: [${"'!a', ".repeat(600)}'*', ''] }, bob: { toolsets: [${"'!a', ".repeat(600)}] } }`;
    const [leftOut, ...rest] = parse(text).problems;
    assert.equal(leftOut?.code, 'problems-left-out');
    assert.match(leftOut.message, /^The file has 101 more problems/);
    assert.equal(rest.length, 500);
  });

  it('a team has members with toolsets, and members without a list have the defaults', () => {
    const read = team(`
member_defaults: { toolsets: ['*', '!shop'] }
default_responder: bob
members:
  alice: { name: Alice, gofor: [tests, reviews], toolsets: [browser], model: gpt }
  bob:
  carol: { toolsets: [] }
`);
    assert.deepEqual(grants(read, 'alice'), ['browser']);
    assert.deepEqual(grants(read, 'bob'), ['*', '!shop']);
    assert.deepEqual(grants(read, 'carol'), []);
    assert.deepEqual(
      read.members.map(({ name, purpose }) => [name, purpose]),
      [
        ['Alice', 'tests; reviews'],
        ['bob', undefined],
        ['carol', undefined],
      ],
    );
    assert.equal(read.spokesperson, 'bob');
  });

  it('a missing team file gives no team, and an empty one a team without members', () => {
    assert.deepEqual(parse(undefined), { team: undefined, problems: [] });
    assert.deepEqual(parse('# nobody yet\n').team?.members, []);
    assert.deepEqual(parse('members:\n').team?.members, []);
  });

  it('a team file without valid YAML or a map of members is refused as a whole', () => {
    for (const text of ['members: [', 'members: [alice]\n', '- alice\n']) {
      const { team: read, problems } = parse(text);
      assert.equal(read, undefined);
      assert.ok(
        problems.some(({ severity }) => severity === 'error'),
        text,
      );
    }
  });

  it('one bad entry costs one entry, and its problem is at that entry', () => {
    const text = `member_default: { toolsets: [a] }
default_responder: alise
members:
  alice: { toolsets: [browser, { a: 1 }, '!shop', ''], toolset: [b] }
  b b: { toolsets: [browser] }
  carol: { toolsets: browser }
  dave: none
  alice: {}
`;
    const { team: read, problems } = parse(text);
    assert.deepEqual(told(text, problems).sort(), [
      'duplicate-key 8:3 alice',
      "grant-without-effect 4:42 '!shop'",
      'member-id-invalid 5:3 b b',
      'member-unknown 2:20 alise',
      'unknown-key 1:1 member_default',
      'wrong-type 4:32 { a: 1 }',
      "wrong-type 4:51 ''",
      'wrong-type 6:22 browser',
      'wrong-type 7:9 none',
    ]);
    assert.deepEqual(
      read?.members.map(({ id }) => id),
      ['alice', 'carol'],
    );
    assert.ok(read && grants(read, 'alice').join() === 'browser,!shop');
    assert.match(problems.find(({ code }) => code === 'member-unknown')?.fix ?? '', /`alice`/);
  });

  it('any text is read without throwing', () => {
    const words = fc.constantFrom(
      'members',
      ':',
      ' ',
      '\n',
      '  ',
      '- ',
      '*',
      '!a',
      '[',
      ']',
      '{',
      '}',
      '&a',
      '*a',
      '<<',
      "'",
      'toolsets',
      'x',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
        const { team: read, problems } = parse(parts.join(''));
        assert.ok(read || problems.some(({ severity }) => severity === 'error'));
      }),
    );
  });

  it('a member of a later folder with the id of an earlier one is left out, with a problem', () => {
    const a = team('members: { alice: {} }');
    const { teams, problems } = mergedTeams([
      a,
      { ...team('members: { alice: {}, bob: {} }'), file: '/v/.minds/team.yaml' },
    ]);
    assert.deepEqual(
      teams.map(({ members }) => members.map(({ id }) => id)),
      [['alice'], ['bob']],
    );
    assert.deepEqual(
      problems.map(({ code, related }) => [code, related?.[0]?.place.file]),
      [['member-in-other-folder', file]],
    );
  });
});
