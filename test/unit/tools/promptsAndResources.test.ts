import assert from 'node:assert/strict';
import { atOnce } from '../../../src/core/base/turns.js';
import type { NameFilter, ResourceSelection } from '../../../src/core/config/model.js';
import {
  admitsResource,
  contentsRefused,
  curatePromptsAndResources,
  type CuratedPromptsAndResources,
} from '../../../src/core/tools/promptsAndResources.js';
import type { ToolListing } from '../../../src/core/tools/catalogue.js';
import { fakePlaces } from '../../support/places.js';

const all: NameFilter = { whitelist: [], blacklist: [] };
const offer: Pick<ToolListing, 'prompts' | 'resources'> = {
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
  rules: { prompts?: Partial<NameFilter>; resources?: Partial<ResourceSelection>; prefix?: string },
  offered = offer,
): CuratedPromptsAndResources {
  const transform =
    rules.prefix === undefined
      ? []
      : [{ kind: 'replacePrefix' as const, remove: 'x_', add: rules.prefix }];
  const prompts = { filter: { ...all, ...rules.prompts }, transform };
  const own = {
    id: 's',
    prompts,
    resources: { ...all, ...rules.resources },
    places: fakePlaces('s'),
  };
  return atOnce(curatePromptsAndResources(own, offered, 'information'));
}
const codes = ({ problems }: CuratedPromptsAndResources): string[] =>
  problems.map(({ code }) => code);

describe('filters and transforms of prompts and resources (N1, N3)', () => {
  it('without rules, all prompts and resources are published unchanged, even with names invalid for tools', () => {
    const { prompts, resources, problems } = curated({});
    assert.deepEqual(
      prompts.map(({ published }) => published),
      ['a.b c', 'x_one', 'two'],
    );
    assert.deepEqual(
      [resources.resources.length, resources.templates.length, problems.length],
      [2, 1, 0],
    );
  });

  it('prompts and resources have the filters, transforms and warnings of tools', () => {
    const result = curated({ prompts: { whitelist: ['x_*', 'gone*'] }, prefix: 'my_' });
    assert.deepEqual(
      result.prompts.map(({ original, published }) => [original, published]),
      [['x_one', 'my_one']],
    );
    assert.deepEqual(codes(result), ['pattern-matches-nothing', 'filtered-tools']);
  });

  it('the second of two prompts with one name is left out, with a problem', () => {
    const prompts = { prompts: [{ name: 'x_one' }, { name: 'one' }], malformed: [] };
    const result = curated({ prefix: 'my_' }, { prompts });
    assert.deepEqual(
      result.prompts.map(({ original }) => original),
      ['x_one'],
    );
    assert.deepEqual(codes(result), ['entry-left-out']);
  });

  it('a failed list is a problem, and its patterns have no warning', () => {
    const prompts = {
      prompts: [],
      malformed: [{ name: 'entry 1', detail: 'has no name' }],
      failure: 'It failed.',
    };
    assert.deepEqual(codes(curated({ prompts: { whitelist: ['a*'] } }, { prompts })), [
      'list-incomplete',
      'entry-left-out',
    ]);
  });

  it('resources with a permitted media type are published, and those without a type', () => {
    const resources = [
      { uri: 'x:1', name: '1', mimeType: 'Text/Markdown; charset=utf-8' },
      { uri: 'x:2', name: '2', mimeType: 'image/png' },
      { uri: 'x:3', name: '3' },
    ];
    const offered = { resources: { resources, templates: [], malformed: [] } };
    const published = curated({ resources: { mimeTypes: ['text/markdown'] } }, offered).resources;
    assert.deepEqual(
      published.resources.map(({ uri }) => uri),
      ['x:1', 'x:3'],
    );
    assert.match(
      contentsRefused(published, [{ uri: 'x:3', mimeType: 'text/html', text: '' }]) ?? '',
      /text\/html/,
    );
    assert.equal(
      contentsRefused(published, [{ uri: 'x:3', mimeType: 'text/markdown', text: '' }]),
      undefined,
    );
  });

  it('contents are passed on up to the limit of bytes, text and blobs together', () => {
    const { resources } = curated({ resources: { maxBytes: 6 } });
    const read = (text: string) => contentsRefused(resources, [{ text }, { blob: 'AAAA' }]);
    assert.equal(read('abc'), undefined);
    assert.match(read('äö') ?? '', /7 bytes.*6/);
  });

  for (const [what, filter, uri, admitted] of [
    ['anything where there is no rule', {}, 'x://y', true],
    ['what is kept out', { blacklist: ['file:///b'] }, 'file:///b', false],
    ['what is not in a whitelist', { whitelist: ['file:///a'] }, 'file:///b', false],
    ['what is made from a template that is in', { whitelist: ['db://*'] }, 'db://users/rows', true],
    [
      'the same where the template itself is named',
      { whitelist: ['db://{table}/rows'] },
      'db://users/rows',
      true,
    ],
    [
      'another address where only the template is named',
      { whitelist: ['db://{table}/rows'] },
      'db://users',
      false,
    ],
    [
      'what leaves the whitelisted folder',
      { whitelist: ['file:///pub/*'] },
      'file:///pub/../secret',
      false,
    ],
    [
      'the same with an encoded way up',
      { whitelist: ['file:///pub/*'] },
      'file:///pub/%2e%2E/secret',
      false,
    ],
    [
      'the same with encoded slashes',
      { whitelist: ['file:///pub/*'] },
      'file:///pub/..%2fsecret',
      false,
    ],
    [
      'the same with backslashes',
      { whitelist: ['file:///pub/*'] },
      'file:///pub/..\\secret',
      false,
    ],
    [
      'the same behind a question mark',
      { whitelist: ['file:///pub/*'] },
      'file:///pub/x?/../../secret',
      false,
    ],
    [
      'what comes back into the folder',
      { whitelist: ['file:///pub/*'] },
      'file:///pub/x/../a%20b',
      true,
    ],
    [
      'a name in a whitelist that is written encoded',
      { whitelist: ['file:///a%20b*'] },
      'file:///a%20b.txt',
      true,
    ],
    [
      'a letter of a blacklisted name encoded',
      { blacklist: ['file:///secret'] },
      'file:///%73ecret',
      false,
    ],
    [
      'a letter of it encoded twice',
      { blacklist: ['file:///secret*'] },
      'file:///%2573ecret',
      false,
    ],
    [
      'a blacklisted name behind another slash',
      { blacklist: ['file:///secret'] },
      'file:////secret',
      false,
    ],
    [
      'a blacklisted name behind a way that leads nowhere',
      { blacklist: ['file:///secret'] },
      'file:///./secret',
      false,
    ],
    [
      'a blacklisted name with a slash at its end',
      { blacklist: ['note://secret'] },
      'note://secret/',
      false,
    ],
    [
      'a blacklisted name behind an authority',
      { blacklist: ['note://secret'] },
      'note://x/../secret',
      false,
    ],
    [
      'a blacklisted name of this machine',
      { blacklist: ['file:///secret'] },
      'FILE://LOCALHOST/secret',
      false,
    ],
    [
      'a blacklisted name that is written encoded',
      { blacklist: ['file:///a%20b'] },
      'file:///a b',
      false,
    ],
    [
      'a blacklisted name in another form of Unicode',
      { blacklist: ['file:///caf\u00e9'] },
      'file:///cafe\u0301',
      false,
    ],
    ['a name with a line break', { blacklist: ['file:///secret'] }, 'file:///sec\nret', false],
    ['what is no UTF-8 where a list is', { blacklist: ['file:///secret'] }, 'file:///%ff', false],
    ['the same where no list is', {}, 'file:///%ff', true],
    [
      'what is made from a template by going up',
      { whitelist: ['db://*'] },
      'db://users/../../etc/rows',
      true,
    ],
    [
      'what leaves a template that is in',
      { whitelist: ['db://{table}/rows'] },
      'db://users/../other',
      false,
    ],
    ['a text that is no URI', { whitelist: ['notes*'] }, 'notes today', true],
  ] as const) {
    it(`the filter of URIs ${admitted ? 'admits' : 'refuses'} ${what} (N2a)`, () => {
      assert.equal(admitsResource(curated({ resources: filter }).resources, uri), admitted);
    });
  }
});
