import { read } from '../../../support/markdown.js';
import assert from 'node:assert/strict';
import { promptNodes, resourceNodes } from '../../../../src/vscode/views/promptRows.js';
import { status } from './statuses.js';

describe('sidebar: prompts and resources (E3)', () => {
  it('show names, what they take, and where they come from', () => {
    const prompts = [
      {
        original: 'greet',
        published: 'my_greet',
        prompt: { name: 'greet', arguments: [{ name: 'who', required: true }, { name: 'how' }] },
      },
    ];
    const [row] = promptNodes('s', status('s', { prompts }));
    assert.deepEqual([row?.label, row?.description, row?.name], ['my_greet', 'greet', 'my_greet']);
    assert.match(read(row?.tooltip ?? ''), /Takes who, \[how\]/);
  });

  it('two resources with one address have ids of their own', () => {
    const twice = [1, 2].map(() => ({ uri: 'note://a', name: 'a' }));
    const resources = {
      resources: twice,
      templates: [{ uriTemplate: 'note://{x}', name: 'x', title: 'Notes' }],
      filter: { whitelist: [], blacklist: [] },
    };
    const rows = resourceNodes('s', status('s', { resources }));
    assert.equal(new Set(rows.map(({ id }) => id)).size, 3);
    assert.deepEqual(rows.at(-1)?.label, 'Notes');
  });
});
