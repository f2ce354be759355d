import assert from 'node:assert/strict';
import { noLists } from '../../../src/core/tools/catalogue.js';
import { Claims, type Baselines } from '../../../src/core/tools/claims.js';
import { isMadeFrom } from '../../../src/core/tools/uris.js';

type Rest = Partial<Omit<Baselines, 'rules'>> & { rules?: Partial<Baselines['rules']> };

function baselines(id: string, rest: Rest): Baselines {
  const prompts = { filter: noLists, transform: [] };
  const rules = { id, tools: noLists, transform: [], prompts, resources: noLists, ...rest.rules };
  return { offers: [], count: 1, hasApps: false, ...rest, rules };
}
const tools = (...names: string[]): Baselines['offers'] =>
  names.map((name) => ({ kind: 'tool', original: name }));
const resources = (...names: string[]): Baselines['offers'] =>
  names.map((name) => ({ kind: 'resource', original: name }));
const servers = (claims: ReturnType<Claims['of']>): string =>
  claims.map(({ server }) => server).join();

describe('names and URIs in baselines (N5b, N5c, N5d)', () => {
  it('servers claim a name in the order of the file', () => {
    const claims = new Claims([
      baselines('a', { offers: tools('x') }),
      baselines('b', { offers: tools('x', 'y') }),
    ]);
    assert.deepEqual(
      [servers(claims.of('tool', 'x')), servers(claims.of('tool', 'y'))],
      ['a,b', 'b'],
    );
    assert.equal(servers(claims.of('prompt', 'x')), '');
  });

  it('names follow the lists and transforms of the file, also of prompts and URIs', () => {
    const add = (prefix: string) => [{ kind: 'prefix', remove: '', add: prefix }] as const;
    const rules = {
      tools: { whitelist: [], blacklist: ['y'] },
      transform: add('a_'),
      prompts: { filter: { whitelist: ['p'], blacklist: [] }, transform: add('my_') },
      resources: { whitelist: [], blacklist: ['note://private/*'] },
    };
    const offers = [
      ...tools('x', 'y'),
      ...['p', 'q'].map((name) => ({ kind: 'prompt', original: name })),
      ...resources('note://1', 'note://private/1'),
    ];
    const claims = new Claims([baselines('a', { rules, offers })]);
    const claimed = (space: 'tool' | 'prompt' | 'resource', ...names: string[]): string[] =>
      names.filter((name) => claims.of(space, name).length > 0);
    assert.deepEqual(claimed('tool', 'x', 'a_x', 'y', 'a_y'), ['a_x']);
    assert.deepEqual(claimed('prompt', 'p', 'my_p', 'my_q'), ['my_p']);
    assert.deepEqual(claimed('resource', 'note://1', 'note://private/1'), ['note://1']);
  });

  it('a name in each baseline of a server comes before a name that only some baselines of an earlier one have', () => {
    const some = baselines('a', { offers: tools('x', 'own', 'own'), count: 2 });
    const claims = new Claims([some, baselines('b', { offers: tools('x') })]);
    assert.equal(servers(claims.of('tool', 'x')), 'b,a');
    assert.equal(claims.of('tool', 'own')[0]?.isFirm, true);
  });

  it('apps claim the original names of the tools of their server (G8a)', () => {
    const rules = { transform: [{ kind: 'prefix', remove: '', add: 'a_' }] } as const;
    const claims = (hasApps: boolean): Claims =>
      new Claims([baselines('a', { rules, offers: tools('x'), hasApps })]);
    assert.deepEqual(
      [claims(true), claims(false)].map((each) => servers(each.of('app', 'x'))),
      ['a', ''],
    );
  });

  it('a resource counts before a template, and templates count for each URI that they may make', () => {
    const claims = new Claims([
      baselines('a', { offers: resources('note://{x}', 'file:///{+path}') }),
      baselines('b', { offers: resources('note://1', 'note://{x}/raw') }),
    ]);
    const of = (uri: string): string => servers(claims.ofUri(uri));
    assert.deepEqual(['note://1', 'NOTE://2', 'note://2/raw', 'file:///a/b', 'other://1'].map(of), [
      ...['b', 'a', 'a,b', 'a', ''],
    ]);
  });

  it('comparisons take bounded steps: a server with long templates loses only its own URIs (S2)', () => {
    const long = Array.from({ length: 2_000 }, (_, index) => `{a}b${'a'.repeat(8_000)}{${index}}`);
    const claims = new Claims([
      baselines('a', { offers: resources(...long) }),
      baselines('b', { offers: resources('note://{x}') }),
    ]);
    const uri = `note://${'a'.repeat(8_000)}`;
    assert.equal(servers(claims.ofUri(uri)), 'b');
    const ofList = claims.forList();
    assert.equal(
      servers(ofList(uri)),
      '',
      'too many URIs of a list are compared when they are read',
    );
    assert.equal(isMadeFrom(long, uri, true), true);
    assert.equal(isMadeFrom(long, uri), false);
  });
});
