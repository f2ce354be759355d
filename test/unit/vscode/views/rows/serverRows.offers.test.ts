import { read } from '../../../../support/markdown.js';
import assert from 'node:assert/strict';
import {
  changedNodes,
  promptNodes,
  resourceNodes,
} from '../../../../../src/vscode/views/rows/serverRows.js';
import { status } from '../statuses.js';

const parent = { id: 's', server: 's' };

describe('sidebar: prompts and resources (E3)', () => {
  it('prompts and resources show names, arguments and addresses', () => {
    const prompts = [
      {
        original: 'greet',
        published: 'my_greet',
        prompt: { name: 'greet', arguments: [{ name: 'who', required: true }, { name: 'how' }] },
      },
    ];
    const [row] = promptNodes(parent, status('s', { prompts }));
    assert.deepEqual([row?.label, row?.description, row?.name], ['my_greet', 'greet', 'my_greet']);
    assert.match(read(row?.tooltip ?? ''), /Takes who, \[how\]/);
  });

  it('prompts are marked if they changed since the approval, and have a row if they are held back (S3)', () => {
    const prompts = [{ original: 'p', published: 'my_p', prompt: { name: 'p' } }];
    const change = {
      launch: '1',
      kind: 'prompt',
      original: 'p',
      parts: ['new'],
      held: false,
    } as const;
    const told = {
      launch: '1',
      kind: 'instructions',
      original: '',
      parts: ['text'],
      held: false,
    } as const;
    const marked = status('s', { prompts, changedOffers: [change, told] });
    const [row] = promptNodes(parent, marked);
    assert.deepEqual(
      [row?.description, row?.spoken, row?.context, row?.changed],
      [
        'p · new since approval',
        'my_p, prompt, originally p, new since approval',
        'prompt changed',
        change,
      ],
    );
    const rows = (held: boolean): unknown[] =>
      changedNodes(
        parent,
        status('s', { changedOffers: [change, told].map((one) => ({ ...one, held })) }),
      ).map(({ label, description, context, name }) => [label, description, context, name]);
    assert.deepEqual(rows(false), [
      ['Instructions', 'text changed', 'instructions changed', undefined],
    ]);
    assert.deepEqual(rows(true), [
      ['p', 'held back: new since approval', 'prompt changed', 'p'],
      ['Instructions', 'held back: text changed', 'instructions changed', undefined],
    ]);
  });

  it('resources and templates are marked if they changed since the approval, and have a row if they are held back (S3)', () => {
    const resources = {
      resources: [{ uri: 'note://a', name: 'a' }],
      templates: [{ uriTemplate: 'note://{x}', name: 'x' }],
      filter: { whitelist: [], blacklist: [] },
      apps: [],
    };
    const change = (original: string, held: boolean) =>
      ({ launch: '1', kind: 'resource', original, parts: ['name', 'media type'], held }) as const;
    const marked = status('s', {
      resources,
      changedOffers: ['note://a', 'note://{x}'].map((uri) => change(uri, false)),
    });
    assert.deepEqual(
      resourceNodes(parent, marked).map(({ description, context }) => [description, context]),
      [
        ['note://a · name and media type changed', 'resource changed'],
        ['note://{x} · name and media type changed', 'resource changed'],
      ],
    );
    assert.deepEqual(changedNodes(parent, marked), []);
    const [row] = changedNodes(parent, status('s', { changedOffers: [change('note://b', true)] }));
    assert.deepEqual(
      [row?.label, row?.description, row?.spoken, row?.context],
      [
        'note://b',
        'held back: name and media type changed',
        'note://b, resource, held back: name and media type changed',
        'resource changed',
      ],
    );
  });

  it('two resources with one address have different ids', () => {
    const twice = [1, 2].map(() => ({ uri: 'note://a', name: 'a' }));
    const resources = {
      resources: twice,
      templates: [{ uriTemplate: 'note://{x}', name: 'x', title: 'Notes' }],
      filter: { whitelist: [], blacklist: [] },
      apps: [],
    };
    const rows = resourceNodes(parent, status('s', { resources }));
    assert.equal(new Set(rows.map(({ id }) => id)).size, 3);
    assert.deepEqual(rows.at(-1)?.label, 'Notes');
  });
});
