import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { noResources } from '../../../src/core/tools/catalogue.js';
import { toolsAlone } from '../../../src/core/tools/features.js';
import { editorNames, ShortNames } from '../../../src/core/tools/editorNames.js';
import { toolsForAgentHost, toolsForEditor } from '../../../src/core/tools/catalogue.js';
import { publish, type Candidate } from '../../../src/core/tools/registry.js';
import { fakePlaces } from '../../support/places.js';

function candidate(id: string, names: string[], shortName = id): Candidate {
  return {
    id,
    shortName,
    tools: names.map((name) => ({
      original: name,
      published: name,
      tool: { name, inputSchema: { type: 'object' } },
    })),
    excluded: [],
    prompts: [],
    resources: noResources,
    features: toolsAlone,
    instructions: undefined,
    leased: true,
    places: fakePlaces(id),
  };
}
const none: ReadonlySet<string> = new Set();

describe('registry: published names are unique, in the order of the file (N5, N6)', () => {
  it('a contested name goes to the first in file order, and the other gets a problem with both names', () => {
    const { toolsets, problems } = publish(
      [candidate('a', ['x', 'y']), candidate('b', ['y', 'z'])],
      none,
    );
    assert.deepEqual(
      toolsets.map(({ id, tools }) => [id, tools.map(({ published }) => published)]),
      [
        ['a', ['x', 'y']],
        ['b', ['z']],
      ],
    );
    assert.deepEqual(toolsets[1]?.excluded, [
      { original: 'y', reason: { kind: 'nameTaken', published: 'y', holder: 'a' } },
    ]);
    assert.deepEqual(
      problems.map(({ code, server, place, related }) => [
        code,
        server,
        place.file,
        related?.[0]?.place.file,
      ]),
      [['name-taken', 'b', '/ws/b', '/ws/a']],
    );
  });

  it('each pair of servers has one problem, for any number of shared names', () => {
    const [a, b] = [candidate('a', ['p', 'q', 'r']), candidate('b', ['s'])];
    const { problems } = publish(
      [a, b, candidate('c', ['p', 'q', 'r', 's', 'mcp_status', 'mcp_reload'])],
      {
        has: (name) => name.startsWith('mcp_'),
        size: 2,
      },
    );
    assert.deepEqual(
      problems.map(({ code, server }) => [code, server]),
      [
        ['name-reserved', 'c'],
        ['name-taken', 'c'],
        ['name-taken', 'c'],
      ],
    );
    const [reserved, ofA, ofB] = problems.map(({ message }) => message);
    assert.match(reserved ?? '', /the tools "mcp_status", "mcp_reload", because the names belong/);
    assert.match(
      ofA ?? '',
      /the tools "p", "q", "r", because "a", which comes first, .* tools of these names/,
    );
    assert.match(ofB ?? '', /the tool "s", because "b", which comes first, .* a tool of that name/);
  });

  it('too many tools for some models are reported at the server beyond the limit', () => {
    const names = (prefix: string, count: number): string[] =>
      Array.from({ length: count }, (_, n) => `${prefix}${n}`);
    const [a, b, c] = [
      candidate('a', names('a', 100)),
      candidate('b', names('b', 28)),
      candidate('c', ['c']),
    ];
    assert.deepEqual(publish([a, b], none).problems, []);
    const [problem, ...more] = publish([a, b, c], none).problems;
    assert.deepEqual([problem?.code, problem?.server, more], ['too-many-tools', 'c', []]);
    assert.match(problem?.message ?? '', /129 tools/);
    const [earlier] = publish([a, b], new Set(['mcp_status'])).problems;
    assert.deepEqual(
      [earlier?.code, earlier?.server],
      ['too-many-tools', 'b'],
      'built-in tools count',
    );
  });

  it('a later server with prompts or URIs of an earlier one has one problem with both names (G6)', () => {
    const prompt = (name: string): Candidate['prompts'][number] => ({
      original: name,
      published: name,
      prompt: { name },
    });
    const uri = (name: string): { name: string; uri: string } => ({ name, uri: `note://${name}` });
    const a: Candidate = {
      ...candidate('a', []),
      prompts: [prompt('greet')],
      resources: { ...noResources, resources: [uri('1'), uri('2'), uri('3')] },
    };
    const b: Candidate = {
      ...candidate('b', []),
      prompts: [prompt('greet'), prompt('own')],
      resources: { ...noResources, resources: [uri('1'), uri('2'), uri('3')] },
    };
    const { problems } = publish([a, b], none);
    assert.deepEqual(
      problems.map(({ code, server, related }) => [code, server, related?.[0]?.place.file]),
      [['entry-left-out', 'b', '/ws/a']],
    );
    assert.match(problems[0]?.message ?? '', /^"b" and "a" both have .*greet.* and 1 more/);
    const own = { ...b, prompts: [prompt('greet'), prompt('greet')], resources: noResources };
    assert.deepEqual(
      publish([own], none).problems,
      [],
      'one server twice is reported when its list is read',
    );
  });

  it('built-in tools keep their names', () => {
    const { toolsets, problems } = publish(
      [candidate('a', ['mcp_status', 'x'])],
      new Set(['mcp_status']),
    );
    assert.deepEqual(
      toolsets[0]?.tools.map(({ published }) => published),
      ['x'],
    );
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['name-reserved'],
    );
  });

  it('published tools keep the server’s own order', () => {
    const { toolsets } = publish([candidate('a', ['z', 'a', 'm'])], none);
    assert.deepEqual(
      toolsets[0]?.tools.map(({ published }) => published),
      ['z', 'a', 'm'],
    );
  });
});

describe('names in the editor (G3a)', () => {
  it('the editor gets the rest of each name if all begin with the toolset’s id (G3h)', () => {
    assert.deepEqual(editorNames('p', ['p_a', 'p_b']), ['a', 'b']);
    assert.deepEqual(editorNames('p', ['p_a', 'b']), ['p_a', 'b']);
    assert.deepEqual(editorNames('p', ['p_', 'p_b']), ['p_', 'p_b']);
    assert.deepEqual(editorNames('p', ['pa']), ['pa']);
  });

  it('editor ids are unambiguous for any names of toolsets', () => {
    const { toolsets } = publish([candidate('a', ['b_c']), candidate('a_b', ['c'], 'a-b')], none);
    assert.deepEqual(
      toolsets.flatMap(({ tools }) => tools.map(({ editorId }) => editorId)),
      ['mcp_a_b_c', 'mcp_a-b_c'],
    );
  });

  it('only the editor does not get a tool with too long an id, and the problem is at the transforms (N7b)', () => {
    const long = 'x'.repeat(59);
    const { toolsets, problems } = publish([candidate('a', [long, 'x'.repeat(58)])], none);
    assert.deepEqual(
      toolsets[0]?.tools.map(({ editorId, editorRefuses }) => [
        editorId.length,
        editorRefuses?.kind,
      ]),
      [
        [65, 'idTooLong'],
        [64, undefined],
      ],
    );
    assert.deepEqual(toolsets[0]?.excluded, []);
    assert.deepEqual(
      problems.map(({ code, place }) => [code, place.file]),
      [['editor-id-too-long', '/ws/a/transform/key']],
    );
  });

  it('only agent-host sessions do not get a tool with a cut or equal name there (G3a)', () => {
    const id = 'a-toolset-with-a-long-id';
    const long = 'x'.repeat(64 - id.length);
    const { toolsets, problems } = publish(
      [
        candidate('a', ['b-c']),
        candidate('a-b', ['c', 'd']),
        candidate(id, [long, long.slice(1)], 'a-toolset-wit'),
      ],
      none,
    );
    assert.deepEqual(
      toolsets.map((toolset) => [
        toolsForEditor(toolset).length,
        toolsForAgentHost(toolset).length,
      ]),
      [
        [1, 1],
        [2, 1],
        [2, 1],
      ],
    );
    assert.deepEqual(
      problems.map(({ code, server, severity }) => [code, server, severity]),
      [
        ['agent-host-name', 'a-b', 'hint'],
        ['agent-host-name', id, 'hint'],
      ],
    );
    assert.match(problems[0]?.message ?? '', /"a-b-c", which is the name of a tool of "a" there/);
  });

  it('the first toolset in the file keeps a name, even if the editor does not get the tool', () => {
    const long = 'x'.repeat(56);
    const { toolsets } = publish([candidate('abcdef', [long]), candidate('b', [long])], none);
    assert.deepEqual(
      toolsets.map(({ tools }) => tools.length),
      [1, 0],
    );
  });

  const shortNames = (ids: readonly string[]): ReadonlyMap<string, string> =>
    new ShortNames().of(ids);

  it('short plain ids stay, others are mapped, and no two are the same', () => {
    assert.deepEqual(
      Object.fromEntries(shortNames(['playwright', 'My_Server', 'averyveryverylongtoolsetname'])),
      {
        playwright: 'playwright',
        My_Server: 'my-server',
        averyveryverylongtoolsetname: 'averyveryvery',
      },
    );
    const names = shortNames(['a-b', 'a_b', 'A_B', 'admin']);
    assert.equal(names.get('a-b'), 'a-b');
    assert.equal(new Set(names.values()).size, 4);
    assert.notEqual(names.get('admin'), 'admin');
  });

  it('an id keeps its published short name through other changes', () => {
    const names = new ShortNames();
    const [prs, issues] = ['github-company-prs', 'github-company-issues'];
    const first = names.of([prs]).get(prs);
    const both = names.of([prs, issues]);
    assert.equal(both.get(prs), first);
    assert.notEqual(both.get(issues), first);
    assert.equal(names.of([issues]).get(issues), both.get(issues));
    assert.deepEqual(names.of(['github-compan', issues, prs]).get(prs), first);
    for (let at = 0; at < 2_000; at++) names.of([issues, `one-of-many-${at}`]);
    assert.deepEqual([...names.of([issues])], [[issues, both.get(issues)]]);
  });

  it('short names are found even if others have all candidates', () => {
    const id = 'averyveryverylongtoolsetname';
    const hash = createHash('sha256').update(id).digest('hex');
    const others = Array.from(
      { length: 9 },
      (_, at) => `${id.slice(0, 8 - at)}-${hash.slice(0, 4 + at)}`,
    );
    const names = shortNames([id, id.slice(0, 13), ...others]);
    assert.equal(new Set(names.values()).size, 11);
  });

  it('every set of ids gets unique short names, within the rule, and independently of their order', () => {
    const id = fc
      .array(fc.constantFrom(...'aAbB_-1'), { minLength: 1, maxLength: 20 })
      .map((c) => c.join(''));
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 12 }), (ids) => {
        const names = shortNames(ids);
        assert.equal(new Set(names.values()).size, ids.length);
        for (const name of names.values()) assert.match(name, /^[a-z0-9-]{1,13}$/);
        const reversed = shortNames([...ids].reverse());
        for (const each of ids) assert.equal(names.get(each), reversed.get(each));
      }),
    );
  });
});
