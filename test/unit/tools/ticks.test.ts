import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NameFilter } from '../../../src/core/config/model.js';
import { compileFilter, judge } from '../../../src/core/tools/patterns.js';
import { withTicks } from '../../../src/core/tools/ticks.js';

const names = ['open', 'close', 'read_file', 'read_dir', 'write_file', 'odd*', 'files.list'];

function published(filter: NameFilter, of: readonly string[] = names): string[] {
  return of.filter((name) => judge(compileFilter(filter), name).kind === 'in');
}

function after(
  whitelist: string[],
  blacklist: string[],
  ...ticks: [string, boolean][]
): [string, string] {
  const next = withTicks({ whitelist, blacklist }, names, new Map(ticks));
  return [next.whitelist.join(' '), next.blacklist.join(' ')];
}

describe('ticks of tools (N2)', () => {
  const cases: [string, [string[], string[], ...[string, boolean][]], [string, string]][] = [
    [
      'nothing changes if all is as it is ticked',
      [['open'], [], ['open', true], ['close', false]],
      ['open', ''],
    ],
    ['without lists, the blacklist gets the tool', [[], [], ['open', false]], ['', 'open']],
    [
      'a tool leaves the blacklist that names it',
      [[], ['open', 'close'], ['open', true]],
      ['', 'close'],
    ],
    [
      'a pattern of the blacklist gets an exception',
      [[], ['read_*'], ['read_dir', true]],
      ['read_dir', 'read_*'],
    ],
    ['a tool joins the whitelist', [['open'], [], ['close', true]], ['open close', '']],
    [
      'a tool leaves the whitelist that names it',
      [['open', 'close'], [], ['close', false]],
      ['open', ''],
    ],
    [
      'the last tool of a whitelist leaves all of them out',
      [['open'], [], ['open', false]],
      ['', '*'],
    ],
    ['a tool of many comes back', [[], ['*'], ['open', true]], ['open', '*']],
    [
      'a pattern of the whitelist becomes the others',
      [['*_file'], [], ['read_file', false]],
      ['write_file', ''],
    ],
    ['a whitelist of everything becomes a blacklist', [['*'], [], ['open', false]], ['', 'open']],
    [
      'an exception that is unticked goes',
      [['read_dir'], ['read_*'], ['read_dir', false]],
      ['', 'read_*'],
    ],
    [
      'both lists go with the last of the blacklist',
      [['open'], ['close'], ['close', true]],
      ['', ''],
    ],
    [
      'a whitelist is not emptied on the way',
      [['open'], [], ['open', false], ['close', true]],
      ['close', ''],
    ],
    ['blank patterns stay and mean nothing', [[''], [' '], ['open', false]], ['', '  open']],
  ];
  for (const [what, given, expected] of cases)
    it(what, () => assert.deepEqual(after(...given), expected));

  it('exactly the ticked tools are published, for any lists', () => {
    const name = fc.stringMatching(/^[ab]{1,3}$/);
    const pattern = fc.oneof(name, fc.stringMatching(/^[ab*]{0,3}$/), fc.constant(' '));
    const list = fc.array(pattern, { maxLength: 3 });
    fc.assert(
      fc.property(
        list,
        list,
        fc.uniqueArray(name),
        fc.func(fc.boolean()),
        fc.func(fc.boolean()),
        (w, b, all, of, to) => {
          const filter = { whitelist: w, blacklist: b };
          const ticks = new Map(all.filter((one) => of(one)).map((one) => [one, to(one)] as const));
          const before = published(filter, all);
          const wanted = all.filter((one) => ticks.get(one) ?? before.includes(one));
          assert.deepEqual(published(withTicks(filter, all, ticks), all), wanted);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('ticks keep the rule for future tools', () => {
    const later = 'listed_later';
    const lists = fc.array(fc.constantFrom(...names, 'read_*', '*_file'), { maxLength: 3 });
    const changes = fc.array(fc.tuple(fc.constantFrom(...names.slice(0, 5)), fc.boolean()));
    fc.assert(
      fc.property(lists, lists, changes, (whitelist, blacklist, ticks) => {
        const filter = { whitelist, blacklist };
        const next = withTicks(filter, names, new Map(ticks));
        assert.deepEqual(published(next, [later]), published(filter, [later]));
      }),
      { numRuns: 3_000 },
    );
  });
});
