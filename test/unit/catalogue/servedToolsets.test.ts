/** All toolsets together (G2), and the toolset of a request to all. */
import assert from 'node:assert/strict';
import { policies } from '../../../src/core/protocol/clientPolicy.js';
import {
  holdersOf,
  servedAlone,
  servedTogether,
} from '../../../src/core/catalogue/servedToolsets.js';
import { noResources, type Catalogue, type Toolset } from '../../../src/core/tools/catalogue.js';
import { noClaims } from '../../../src/core/tools/claims.js';
import { toolsAlone, type ServerFeatures } from '../../../src/core/tools/features.js';

function toolset(
  id: string,
  features: Partial<ServerFeatures>,
  resources: Partial<Toolset['resources']> = {},
): Toolset {
  return {
    id,
    shortName: id,
    tools: [],
    excluded: [],
    prompts: [],
    resources: { ...noResources, ...resources },
    features: { ...toolsAlone, ...features },
    instructions: undefined,
    leased: false,
  };
}

const catalogue = (toolsets: readonly Toolset[], claims = noClaims): Catalogue => ({
  version: 1,
  toolsets,
  claims,
});

describe('the manual of the file (H1e)', () => {
  const told = { manual: 'Of the file.', instructions: 'Of the server.' };
  const a = { ...toolset('a', {}), ...told };
  const b = { ...toolset('b', {}), ...told, leased: true };

  it('The manual comes first at its own toolset, so an agent that cuts instructions keeps it', () => {
    const own = (one: Toolset) => servedAlone(one, [one], policies.agent).instructions ?? '';
    assert.equal(own(a), 'Of the file.\n\nOf the server.');
    assert.match(own(b), /^Of the file\.\n\nOf the server\.\n\nFrom its first call on/);
    assert.equal(own({ ...a, manual: undefined }), 'Of the server.');
  });

  it('The manuals of all toolsets come before the instructions of any server', () => {
    const { instructions = '' } = servedTogether(catalogue([a, b]));
    assert.deepEqual(
      instructions.split('\n\n').slice(0, 4),
      [
        ['a', 'Of the file.'],
        ['b', 'Of the file.'],
        ['a', 'Of the server.'],
        ['b', 'Of the server.'],
      ].map(([id, text]) => `About the toolset "${id}":\n${text}`),
    );
  });
});

describe('toolsets together', () => {
  it('all toolsets have the features of each, except extensions without a known toolset', () => {
    const extensions = {
      'io.modelcontextprotocol/tasks': {},
      'io.modelcontextprotocol/skills': {},
    };
    const all = [
      toolset('a', { prompts: true, completions: true }),
      toolset('b', { resources: true, subscribe: true, extensions }),
      toolset('c', { logging: true }),
    ];
    const { features } = servedTogether(catalogue(all));
    assert.deepEqual(features, {
      ...{ prompts: true, resources: true, subscribe: true, completions: true, logging: true },
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    });
    assert.deepEqual(servedTogether(catalogue([toolset('d', {})])).features, toolsAlone);
  });

  it('without a toolset, the instructions give the reasons, and without a reason how to begin', () => {
    assert.match(servedTogether(catalogue([])).instructions ?? '', /^No MCP server serves here\./);
    assert.equal(
      servedTogether(catalogue([]), ['The file is broken.', 'A waits.']).instructions,
      'The file is broken.\n\nA waits.',
    );
    assert.equal(servedTogether(catalogue([toolset('a', {})])).instructions, undefined);
  });

  it('all toolsets list a prompt or a URI of two servers once, from the server that answers it', () => {
    const greet = { original: 'greet', published: 'greet', prompt: { name: 'greet' } };
    const of = (id: string): Toolset => ({
      ...toolset(
        id,
        { prompts: true, resources: true },
        {
          resources: [{ name: id, uri: 'note://1' }],
          templates: [{ name: id, uriTemplate: 'note://{x}' }],
        },
      ),
      prompts: [greet],
    });
    const all = [of('a'), of('b')];
    const { prompts, resources, templates } = servedTogether(catalogue(all));
    assert.deepEqual(
      [
        prompts.map(({ name }) => name),
        resources.map(({ name }) => name),
        templates.map(({ name }) => name),
      ],
      [['greet'], ['a'], ['a']],
    );
    assert.equal(
      holdersOf(catalogue(all), { method: 'prompts/get', params: { name: 'greet' } })[0]?.id,
      'a',
    );
  });

  it('a resource in no list may belong to each toolset with resources, first to that of its app or template', () => {
    const template = { name: 'raw', uriTemplate: 'note://{name}/raw' };
    const all = [
      toolset('first', { resources: true }),
      toolset(
        'notes',
        { resources: true },
        { templates: [template], resources: [{ name: 'one', uri: 'note://one' }] },
      ),
      toolset('shop', { resources: true }, { apps: ['ui://shop/page'] }),
    ];
    const holders = (uri: string): string =>
      holdersOf(catalogue(all), { method: 'resources/read', params: { uri } })
        .map(({ id }) => id)
        .join();
    assert.deepEqual(['note://one', 'note://x/raw', 'ui://shop/page', 'other://x'].map(holders), [
      ...['notes', 'notes,first,shop', 'shop,first,notes', 'first,notes,shop'],
    ]);
  });
});
