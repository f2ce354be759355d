import assert from 'node:assert/strict';
import type { NameFilter } from '../../../src/core/config/model.js';
import {
  admitsResource,
  curatePromptsAndResources,
  type CuratedPromptsAndResources,
  type PromptsAndResources,
} from '../../../src/core/tools/promptsAndResources.js';
import { fakePlaces } from '../../support/places.js';

const all: NameFilter = { whitelist: [], blacklist: [] };
const offer: PromptsAndResources = {
  prompts: { prompts: [{ name: 'a.b c' }, { name: 'x_one' }, { name: 'two' }], malformed: [] },
  resources: {
    resources: [
      { uri: 'file:///a', name: 'a' },
      { uri: 'file:///b', name: 'b' },
    ],
    templates: [{ uriTemplate: 'db://{table}/rows', name: 'rows' }],
    malformed: [],
  },
};

function curated(
  rules: { prompts?: Partial<NameFilter>; resources?: Partial<NameFilter>; prefix?: string },
  offered = offer,
): CuratedPromptsAndResources {
  const transform =
    rules.prefix === undefined ? [] : [{ kind: 'replacePrefix' as const, remove: 'x_', add: rules.prefix }];
  const prompts = { filter: { ...all, ...rules.prompts }, transform };
  const own = { id: 's', prompts, resources: { ...all, ...rules.resources }, places: fakePlaces('s') };
  return curatePromptsAndResources(own, offered, 'information');
}
const codes = ({ problems }: CuratedPromptsAndResources): string[] => problems.map(({ code }) => code);

describe('prompts and resources of a server (C1, N1–N3)', () => {
  it('without rules all are published as they are, names that no tool may have included', () => {
    const { prompts, resources, problems } = curated({});
    assert.deepEqual(
      prompts.map(({ published }) => published),
      ['a.b c', 'x_one', 'two'],
    );
    assert.deepEqual([resources.resources.length, resources.templates.length, problems.length], [2, 1, 0]);
  });

  it('filters, transforms and dead patterns are those of tools', () => {
    const result = curated({ prompts: { whitelist: ['x_*', 'gone*'] }, prefix: 'my_' });
    assert.deepEqual(
      result.prompts.map(({ original, published }) => [original, published]),
      [['x_one', 'my_one']],
    );
    assert.deepEqual(codes(result), ['pattern-matches-nothing', 'filtered-tools']);
  });

  it('of two prompts with one name the second is left out, with a problem', () => {
    const prompts = { prompts: [{ name: 'x_one' }, { name: 'one' }], malformed: [] };
    const result = curated({ prefix: 'my_' }, { prompts });
    assert.deepEqual(
      result.prompts.map(({ original }) => original),
      ['x_one'],
    );
    assert.deepEqual(codes(result), ['entry-left-out']);
  });

  it('what could not be listed is a problem, and its patterns are not called dead', () => {
    const prompts = { prompts: [], malformed: [{ name: '(entry 1)', detail: 'has no name' }], failure: 'It failed.' };
    assert.deepEqual(codes(curated({ prompts: { whitelist: ['a*'] } }, { prompts })), [
      'list-incomplete',
      'entry-left-out',
    ]);
  });

  for (const [what, filter, uri, admitted] of [
    ['anything where there is no rule', {}, 'x://y', true],
    ['what is kept out', { blacklist: ['file:///b'] }, 'file:///b', false],
    ['what is not in a whitelist', { whitelist: ['file:///a'] }, 'file:///b', false],
    ['what is made from a template that is in', { whitelist: ['db://*'] }, 'db://users/rows', true],
    ['the same where the template itself is named', { whitelist: ['db://{table}/rows'] }, 'db://users/rows', true],
    ['another address where only the template is named', { whitelist: ['db://{table}/rows'] }, 'db://users', false],
  ] as const) {
    it(`${admitted ? 'admits' : 'refuses'} ${what}`, () => {
      assert.equal(admitsResource(curated({ resources: filter }).resources, uri), admitted);
    });
  }
});
