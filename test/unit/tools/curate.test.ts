import assert from 'node:assert/strict';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import type { OfferedTool } from '../../../src/core/tools/catalogue.js';
import { curate, type Curation, type CurationRules } from '../../../src/core/tools/curate.js';
import { transformName } from '../../../src/core/tools/names.js';
import { fakePlaces } from '../../support/places.js';

const tool = (name: string, more: Partial<OfferedTool> = {}): OfferedTool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});
const rules = (more: Partial<CurationRules> = {}): CurationRules => ({
  id: 's',
  tools: { whitelist: [], blacklist: [] },
  transform: [],
  prompts: { filter: { whitelist: [], blacklist: [] }, transform: [] },
  resources: { whitelist: [], blacklist: [] },
  places: fakePlaces('s'),
  ...more,
});
const offer = (...names: string[]) => ({ tools: names.map((name) => tool(name)), malformed: [] });

type Curated = Extract<Curation, { kind: 'curated' }>;
function curated(curation: Curation): Curated {
  assert.equal(curation.kind, 'curated');
  return curation as Curated;
}
const published = (curation: Curation): string[] =>
  curated(curation).tools.map((each) => each.published);
const codes = (curation: Curation): string[] => curation.problems.map((problem) => problem.code);

describe('filter (N2)', () => {
  const names = ['read', 'write', 'write_unsafe', 'list'];
  const rows: { whitelist: string[]; blacklist: string[]; in: string[] }[] = [
    // Without a blacklist.
    { whitelist: [], blacklist: [], in: names },
    { whitelist: ['read'], blacklist: [], in: ['read'] },
    { whitelist: ['write*', 'list'], blacklist: [], in: ['write', 'write_unsafe', 'list'] },
    { whitelist: ['nothing'], blacklist: [], in: [] },
    // With a blacklist: the whitelist only overrides it.
    { whitelist: [], blacklist: ['*_unsafe'], in: ['read', 'write', 'list'] },
    { whitelist: ['read'], blacklist: ['write*'], in: ['read', 'list'] },
    { whitelist: ['write_unsafe'], blacklist: ['write*'], in: ['read', 'write_unsafe', 'list'] },
    { whitelist: ['*'], blacklist: ['*'], in: names },
    { whitelist: [], blacklist: ['*'], in: [] },
    { whitelist: ['read'], blacklist: ['*'], in: ['read'] },
  ];
  for (const row of rows) {
    it(`whitelist [${row.whitelist.join()}] blacklist [${row.blacklist.join()}] lets in ${row.in.join() || 'nothing'}`, () => {
      const filter = { whitelist: row.whitelist, blacklist: row.blacklist };
      const result = curated(curate(rules({ tools: filter }), offer(...names), 'information'));
      assert.deepEqual(published(result), row.in);
      assert.deepEqual(
        result.excluded.map((each) => each.original),
        names.filter((name) => !row.in.includes(name)),
      );
    });
  }

  it('tools, tools for apps and tools left out are in the order of the server, whatever their names (N6)', () => {
    const forApps = { _meta: { ui: { visibility: ['app'] } } };
    const tools = [
      tool('z'),
      tool('q', forApps),
      tool('no_b'),
      tool('b'),
      tool('no_a'),
      tool('a', forApps),
      tool('a_2'),
    ];
    const changes = {
      tools: { whitelist: [], blacklist: ['no_*'] },
      transform: [{ kind: 'suffix', add: '_s' }],
    } as const;
    const result = curated(curate(rules(changes), { tools, malformed: [] }, 'off'));
    assert.deepEqual(published(result), ['z_s', 'b_s', 'a_2_s']);
    assert.deepEqual(
      [result.appTools, result.excluded].map((list) => list.map(({ original }) => original)),
      [
        ['q', 'a'],
        ['no_b', 'no_a'],
      ],
    );
  });

  it('a published tool has the keys of the server’s tool in their order (N6)', () => {
    const given = {
      inputSchema: {
        properties: { path: true, content: { type: 'string' } },
        type: 'object',
        required: ['path'],
      },
      outputSchema: { type: 'object', $id: 'x', properties: { b: false, a: {} } },
      name: 'write',
      description: 'Writes.',
    } as unknown as OfferedTool;
    const [made] = curated(curate(rules(), { tools: [given], malformed: [] }, 'off')).tools;
    assert.equal(
      JSON.stringify(made?.tool),
      '{"inputSchema":{"properties":{"path":{},"content":{"type":"string"}},"type":"object","required":["path"]},' +
        '"outputSchema":{"type":"object","properties":{"b":{"not":{}},"a":{}}},"name":"write","description":"Writes."}',
    );
  });

  it('a list with too much work for its patterns is not published: tools, prompts and resources (N4a)', () => {
    const patterns = Array.from({ length: 1_000 }, (_, index) => `*a*b*${index}`);
    const filter = { whitelist: [], blacklist: patterns };
    const texts = Array.from({ length: 3_000 }, (_, index) => `${'ab'.repeat(30)}${index}x`);
    const listed = {
      ...offer(...texts),
      prompts: { prompts: texts.map((name) => ({ name })), malformed: [] },
      resources: {
        resources: texts.map((uri) => ({ uri, name: 'x' })),
        templates: [],
        malformed: [],
      },
    };
    const all = rules({ tools: filter, prompts: { filter, transform: [] }, resources: filter });
    const result = curated(curate(all, listed, 'information'));
    assert.deepEqual([result.tools, result.prompts, result.resources.resources], [[], [], []]);
    assert.deepEqual(codes(result), ['list-too-long', 'list-too-long', 'list-too-long']);
    const fewer = { ...listed, tools: listed.tools.slice(0, 200) };
    assert.equal(curated(curate(all, fewer, 'information')).tools.length, 200);
  });

  it('publishes no resource if one pattern and one URI would take too long (N4a)', () => {
    const filter = { whitelist: [`*${'a'.repeat(1_000)}b*`], blacklist: [] };
    const listed = (uri: string) => ({
      ...offer('read'),
      resources: { resources: [{ uri, name: 'x' }], templates: [], malformed: [] },
    });
    const long = curated(
      curate(rules({ resources: filter }), listed(`file:///${'a'.repeat(8_000)}`), 'off'),
    );
    assert.deepEqual([codes(long), published(long)], [['list-too-long'], ['read']]);
    assert.deepEqual(
      codes(curate(rules({ resources: filter }), listed(`file:///${'a'.repeat(900)}`), 'off')),
      ['pattern-matches-nothing'],
    );
  });

  it('a pattern without a match has a warning at its item', () => {
    const filter = { whitelist: ['read', 'raed'], blacklist: ['none_*'] };
    const result = curate(rules({ tools: filter }), offer('read', 'list'), 'off');
    assert.deepEqual(
      result.problems.map(({ code, severity, place }) => [code, severity, place.file]),
      [
        ['pattern-matches-nothing', 'warning', '/ws/s/tools/whitelist/1'],
        ['pattern-matches-nothing', 'warning', '/ws/s/tools/blacklist/0'],
      ],
    );
  });

  it('blank patterns count as no patterns, with a warning on each (N1)', () => {
    const names = ['read', 'write'];
    const ways = [
      { whitelist: [''], blacklist: [], in: names },
      { whitelist: ['read'], blacklist: [''], in: ['read'] },
      { whitelist: ['  ', 'read'], blacklist: ['\t'], in: ['read'] },
      { whitelist: [''], blacklist: ['', 'read'], in: ['write'] },
    ];
    for (const { whitelist, blacklist, in: wanted } of ways) {
      const result = curate(rules({ tools: { whitelist, blacklist } }), offer(...names), 'off');
      assert.deepEqual(published(result), wanted, JSON.stringify({ whitelist, blacklist }));
      assert.deepEqual(
        new Set(codes(result)),
        new Set(),
        'the config file says it, not the listing',
      );
    }
  });

  it('a blacklist pattern with only whitelisted matches has a warning (N2)', () => {
    const filter = {
      whitelist: ['browser_*', 'page_*'],
      blacklist: ['*_unsafe', 'p*', 'none', 'read'],
    };
    const result = curate(
      rules({ tools: filter }),
      offer('browser_click', 'browser_eval_unsafe', 'page_x', 'print', 'read'),
      'off',
    );
    assert.deepEqual(
      result.problems.map(({ code, severity, place }) => [code, severity, place.file]),
      [
        ['pattern-overruled', 'warning', '/ws/s/tools/blacklist/0'],
        ['pattern-matches-nothing', 'warning', '/ws/s/tools/blacklist/2'],
      ],
    );
    assert.match(
      result.problems[0]?.message ?? '',
      /"\*_unsafe".*"browser_\*".*browser_eval_unsafe/,
    );
  });

  it('each list has one report of its filtered tools, with the severity of the setting', () => {
    const filter = { whitelist: ['read'], blacklist: [] };
    const say = (report: 'information' | 'warning' | 'off') =>
      curate(rules({ tools: filter }), offer(...names), report).problems.map((problem) => [
        problem.severity,
        problem.place.file,
        problem.message,
      ]);
    const message = 'The whitelist keeps out 3 tools of "s": write, write_unsafe, list.';
    assert.deepEqual(say('information'), [['information', '/ws/s/tools/whitelist/key', message]]);
    assert.deepEqual(say('warning'), [['warning', '/ws/s/tools/whitelist/key', message]]);
    assert.deepEqual(say('off'), []);
  });

  it('patterns match original names, not transformed ones', () => {
    const result = curate(
      rules({
        tools: { whitelist: ['x_*'], blacklist: [] },
        transform: [{ kind: 'prefix', add: 'x_' }],
      }),
      offer('read'),
      'off',
    );
    assert.deepEqual(published(result), []);
  });
});

describe('transforms (N3)', () => {
  for (const { of, gives, transform } of [
    { of: 'a', gives: 'x_a', transform: [{ kind: 'prefix', add: 'x_' }] },
    { of: 'x_a', gives: 'x_x_a', transform: [{ kind: 'prefix', add: 'x_' }] },
    {
      of: 'stock_a',
      gives: 'my_a',
      transform: [{ kind: 'replacePrefix', remove: 'stock_', add: 'my_' }],
    },
    {
      of: 'a',
      gives: 'my_a',
      transform: [{ kind: 'replacePrefix', remove: 'stock_', add: 'my_' }],
    },
    {
      of: 'stock_stock_a',
      gives: 'stock_a',
      transform: [{ kind: 'replacePrefix', remove: 'stock_', add: '' }],
    },
    { of: 'a', gives: 'a_v2', transform: [{ kind: 'suffix', add: '_v2' }] },
    { of: 'a.b.c', gives: 'a_b_c', transform: [{ kind: 'replace', pairs: [['.', '_']] }] },
    {
      of: 'a.b$&c',
      gives: 'a_-xc_e',
      transform: [
        {
          kind: 'replace',
          pairs: [
            ['.', '_'],
            ['b', '-'],
            ['$&', 'x'],
          ],
        },
        { kind: 'suffix', add: '.e' },
        { kind: 'replace', pairs: [['.', '_']] },
      ],
    },
    {
      of: 'a',
      gives: 'q_a_s_t',
      transform: [
        { kind: 'prefix', add: 'p_' },
        { kind: 'suffix', add: '_s' },
        { kind: 'replacePrefix', remove: 'p_', add: 'q_' },
        { kind: 'suffix', add: '_t' },
      ],
    },
  ] satisfies { of: string; gives: string; transform: CurationRules['transform'] }[]) {
    it(`"${of}" becomes "${gives}" by ${JSON.stringify(transform)}`, () => {
      assert.deepEqual(published(curate(rules({ transform }), offer(of), 'off')), [gives]);
    });
  }
});

describe('names (N4)', () => {
  for (const name of ['', 'a b', 'a.b', 'a/b', 'é', 'x'.repeat(65)]) {
    it(`only the tool "${name.slice(0, 20)}" (${name.length}) is dropped`, () => {
      const result = curate(rules(), offer('ok', name), 'off');
      assert.deepEqual(published(result), ['ok']);
      assert.deepEqual(codes(result), ['tool-name-invalid']);
      assert.match(result.problems[0]?.message ?? '', new RegExp(`length ${name.length}`));
    });
  }

  for (const [what, names, transform, gives, problems] of [
    ['a dot', ['ok', 'a.b'], [{ kind: 'replace', pairs: [['.', '_']] }], ['ok', 'a_b'], []],
    [
      'a long name',
      ['x'.repeat(128)],
      [
        { kind: 'replace', pairs: [['xx', '']] },
        { kind: 'suffix', add: 'y' },
      ],
      ['y'],
      [],
    ],
    [
      'a long prefix',
      [`${'x'.repeat(60)}_open`],
      [{ kind: 'replacePrefix', remove: 'x'.repeat(60), add: 'x' }],
      ['x_open'],
      [],
    ],
    [
      'a dot, and gives another unusable character',
      ['a.b'],
      [{ kind: 'replace', pairs: [['.', ' ']] }],
      [],
      ['published-name-invalid'],
    ],
    ['nothing', ['a.b', 'ok'], [{ kind: 'prefix', add: 'p_' }], ['p_ok'], ['tool-name-invalid']],
    [
      'a dot, and gives a name twice',
      ['a.b', 'a_b'],
      [{ kind: 'replace', pairs: [['.', '_']] }],
      [],
      ['name-twice-in-server'],
    ],
  ] satisfies [string, string[], CurationRules['transform'], string[], string[]][]) {
    it(`only the published name counts, and a step mends ${what}`, () => {
      const result = curate(rules({ transform }), offer(...names), 'off');
      assert.deepEqual(result.kind === 'curated' ? published(result) : [], gives);
      assert.deepEqual(codes(result), problems);
      if (result.kind === 'curated')
        for (const { original, tool } of result.tools)
          assert.ok(names.includes(original) && tool.name === original);
    });
  }

  it('replacements cannot make a name endlessly long (S2)', () => {
    const grow = { kind: 'replace', pairs: [['x', 'x'.repeat(1024)]] } as const;
    const name = transformName(
      'x'.repeat(1024),
      Array.from({ length: 20 }, () => grow),
    );
    assert.ok(name.length <= 1024 * 1024);
  });

  it('a name of 64 characters is published, and a longer one from a transform is dropped', () => {
    const long = 'x'.repeat(64);
    assert.deepEqual(published(curate(rules(), offer(long), 'off')), [long]);
    const result = curate(
      rules({ transform: [{ kind: 'suffix', add: 's' }] }),
      offer(long, 'a'),
      'off',
    );
    assert.deepEqual(published(result), ['as']);
    assert.deepEqual(
      result.problems.map(({ code, place }) => [code, place.file]),
      [['published-name-invalid', '/ws/s/transform/key']],
    );
  });

  it('the update is refused if two tools end up with one name', () => {
    const transform = [{ kind: 'replacePrefix', remove: 'a_', add: '' }] as const;
    const result = curate(rules({ transform }), offer('a_x', 'x', 'y'), 'information');
    assert.equal(result.kind, 'refused');
    assert.deepEqual(codes(result), ['name-twice-in-server']);
    assert.match(result.problems[0]?.message ?? '', /"a_x" and "x".*"x"/);
  });

  it('the first of two tools with one name stays, with a warning (N5a)', () => {
    const listed = {
      tools: [tool('a', { description: 'one' }), tool('b'), tool('a', { description: 'two' })],
      malformed: [],
    };
    const transform = [{ kind: 'prefix', add: 'p_' }] as const;
    const result = curated(curate(rules({ transform }), listed, 'off'));
    assert.deepEqual(published(result), ['p_a', 'p_b']);
    assert.equal(result.tools[0]?.tool.description, 'one');
    assert.deepEqual(
      result.problems.map(({ code, severity, place }) => [code, severity, place.file]),
      [['tool-listed-twice', 'warning', '/ws/s']],
    );
    assert.deepEqual(result.excluded, [{ original: 'a', reason: { kind: 'listedTwice' } }]);
  });

  it('a filtered name listed three times has one report, by the list', () => {
    const filter = { whitelist: [], blacklist: ['a'] };
    const result = curated(
      curate(rules({ tools: filter }), offer('a', 'b', 'a', 'a'), 'information'),
    );
    assert.deepEqual(published(result), ['b']);
    assert.deepEqual(
      result.problems.map(({ message }) => message),
      ['The blacklist keeps out 1 tool of "s": a.'],
    );
  });

  it('a tool left out does not hold its name', () => {
    const transform = [{ kind: 'replacePrefix', remove: 'a_', add: '' }] as const;
    const filter = { whitelist: [], blacklist: ['a_*'] };
    assert.deepEqual(
      published(curate(rules({ transform, tools: filter }), offer('a_x', 'x'), 'off')),
      ['x'],
    );
  });
});

describe('problems', () => {
  it('at most 500 problems of tools are reported, and the last one has the number of the rest (S2a)', () => {
    const invalid = Array.from({ length: 700 }, (_, index) => `not valid ${index}`);
    const { problems, excluded } = curated(curate(rules(), offer('a', 'a', ...invalid), 'off'));
    assert.equal(excluded.length, 701);
    const messages = problems.map(({ message }) => message);
    assert.equal(messages.length, 501);
    assert.match(messages[498] ?? '', /"not valid 498"(?!.*The same is true of)/);
    assert.match(messages[499] ?? '', /"not valid 499".* The same is true of 200 more\.$/);
    assert.match(messages[500] ?? '', /"a" (?!.*The same is true of)/);
  });

  it('at most 500 pairs of equal names are reported (S2a)', () => {
    const transform = [{ kind: 'replacePrefix', remove: 'a_', add: '' }] as const;
    const names = Array.from({ length: 600 }, (_, index) => [`${index}`, `a_${index}`]).flat();
    const { kind, problems } = curate(rules({ transform }), offer(...names), 'off');
    assert.equal(kind, 'refused');
    assert.equal(problems.length, 500);
    assert.match(problems.at(-1)?.message ?? '', / The same is true of 100 more\.$/);
  });
});

describe('schemas (N7)', () => {
  const everyKeyword = {
    type: 'object',
    properties: {
      a: { type: ['string', 'null'], minLength: 1, pattern: '^x', format: 'date', default: null },
      b: { type: 'array', items: { type: 'integer', multipleOf: 2 }, uniqueItems: true },
      c: { oneOf: [{ const: 1 }, { enum: ['x', 2] }], not: { type: 'boolean' } },
      d: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
    },
    required: ['a'],
    additionalProperties: { type: 'number', exclusiveMinimum: 0 },
    patternProperties: { '^y': { type: 'string' } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    'x-vendor': [1],
  };

  it('a schema passes through with every keyword', () => {
    const given = tool('t', { inputSchema: everyKeyword as OfferedTool['inputSchema'] });
    const result = curated(curate(rules(), { tools: [given], malformed: [] }, 'off'));
    assert.deepEqual(result.tools[0]?.tool, given);
    assert.deepEqual(result.problems, []);
  });

  const withProperty = (a: unknown): unknown => ({ type: 'object', properties: { a } });
  const offering = (schema: unknown) => {
    const odd = tool('odd', { inputSchema: schema as OfferedTool['inputSchema'] });
    return { tools: [tool('good'), odd], malformed: [] };
  };

  for (const [what, schema] of [
    ['not an object', 'string'],
    ['null', null],
    ['an array at the top', { type: 'array', items: {} }],
    ['no type at the top', {}],
    ['properties that are no object', { type: 'object', properties: [] }],
    ['a property that is no schema', withProperty(7)],
    ['required that is no list', { type: 'object', required: 'a' }],
  ] as const) {
    it(`a tool is dropped for a schema with ${what}`, () => {
      const result = curate(rules(), offering(schema), 'off');
      assert.deepEqual(published(result), ['good']);
      assert.deepEqual(codes(result), ['schema-unusable']);
    });
  }

  it('a tool with an output schema that no client could compile is published without it, and a problem says why', () => {
    const outputSchema = withProperty({ pattern: '(?i)^a' }) as OfferedTool['outputSchema'];
    const result = curated(
      curate(rules(), { tools: [tool('odd', { outputSchema })], malformed: [] }, 'off'),
    );
    assert.deepEqual(result.tools[0]?.tool, tool('odd'));
    assert.deepEqual(codes(result), ['output-schema-left-out']);
    assert.match(
      result.problems[0]?.message ?? '',
      /"odd" of "s".*outputSchema\.properties\.a\.pattern is "\(\?i\)\^a"/,
    );
  });

  for (const [what, schema] of [
    ['an unknown type', withProperty({ type: 'strin' })],
    ['an array without items', withProperty({ anyOf: [{ type: 'array' }] })],
    [
      'an array without items in a list of types',
      withProperty({ type: ['array', 'null'], items: { type: 'array' } }),
    ],
  ] as const) {
    it(`only the editor does not get the tool with ${what} in its schema`, () => {
      const result = curated(curate(rules(), offering(schema), 'off'));
      assert.deepEqual(
        result.tools.map((each) => [each.published, each.editorRefuses !== undefined]),
        [
          ['good', false],
          ['odd', true],
        ],
      );
      const isForModels = what !== 'an unknown type';
      const ofModels = isForModels ? [] : ['schema-refused-by-models'];
      assert.deepEqual(codes(result), ['editor-schema-refused', ...ofModels]);
      assert.equal(result.excluded.length, 0);
    });
  }

  for (const [what, part] of [
    ['prefixItems', { type: 'array', prefixItems: [{ type: 'string' }] }],
    ['contains', { type: 'array', contains: { type: 'string' } }],
    ['$ref in an array', { type: 'array', $ref: '#' }],
    ['items that are a boolean', { type: 'array', items: true }],
    ['additionalProperties of arrays', { type: 'object', additionalProperties: { type: 'array' } }],
    ['a boolean schema', { type: 'object', properties: { b: true }, additionalProperties: false }],
    ['booleans in compositions', { anyOf: [true, { not: false }], if: true, then: false }],
  ] as const) {
    it(`a schema with ${what} has no problem`, () => {
      const result = curated(curate(rules(), offering(withProperty(part)), 'off'));
      assert.deepEqual(codes(result), []);
      const odd = result.tools.find(({ original }) => original === 'odd');
      assert.equal(odd?.editorRefuses, undefined);
      assert.deepEqual(odd?.tool.inputSchema, withProperty(part));
    });
  }

  it('a boolean property becomes the equivalent object, because strict clients need it', () => {
    const schema = {
      type: 'object',
      properties: { any: true, never: false, a: { type: 'string' } },
    };
    const odd = tool('odd', { inputSchema: schema as unknown as OfferedTool['inputSchema'] });
    const result = curated(
      curate(rules(), { tools: [{ ...odd, outputSchema: odd.inputSchema }], malformed: [] }, 'off'),
    );
    const written = {
      type: 'object',
      properties: { any: {}, never: { not: {} }, a: { type: 'string' } },
    };
    assert.deepEqual(result.tools[0]?.tool, {
      ...odd,
      inputSchema: written,
      outputSchema: written,
    });
    assert.ok(ToolSchema.safeParse(result.tools[0]?.tool).success);
    assert.deepEqual(codes(result), []);
  });

  it('a wrong wish for headers is removed, because clients over HTTP would leave out the tool (N7a)', () => {
    const text = { type: 'string' };
    const inHeader = { ...text, 'x-mcp-header': 'Name' };
    const data = { default: { 'x-mcp-header': 'data' } };
    const right = { type: 'object', properties: { a: inHeader } };
    const wrong = {
      type: 'object',
      properties: { a: { ...inHeader, ...data }, list: { anyOf: [inHeader] } },
    };
    const tools = [right, wrong].map((schema, index) =>
      tool(`t${index}`, { inputSchema: schema as unknown as OfferedTool['inputSchema'] }),
    );
    const result = curated(curate(rules(), { tools, malformed: [] }, 'off'));
    assert.deepEqual(
      result.tools.map((one) => one.tool.inputSchema),
      [right, { type: 'object', properties: { a: { ...text, ...data }, list: { anyOf: [text] } } }],
    );
    assert.deepEqual(codes(result), []);
  });

  it('the check of a schema ends, even if the schema contains itself', () => {
    const loop: Record<string, unknown> = { type: 'object' };
    loop['properties'] = { self: loop };
    const result = curate(
      rules(),
      { tools: [tool('t', { inputSchema: loop as OfferedTool['inputSchema'] })], malformed: [] },
      'off',
    );
    assert.deepEqual(published(result), ['t']);
  });
});

describe('a server that declares nothing', () => {
  const none = { tools: [], malformed: [], declaresNone: true };

  it('a server without tools, prompts and resources in its capabilities is a problem', () => {
    const { problems } = curate(rules(), none, 'off');
    assert.deepEqual(
      problems.map(({ code, severity }) => [code, severity]),
      [['list-incomplete', 'warning']],
    );
    assert.match(problems[0]?.message ?? '', /declares no tools, prompts or resources/);
  });

  it('a server of prompts only is no problem, whatever it declares', () => {
    const prompts = { prompts: [{ name: 'ask' }], malformed: [] };
    for (const one of [none, { tools: [], malformed: [] }])
      assert.deepEqual(curate(rules(), { ...one, prompts }, 'off').problems, []);
  });

  it('a server that lists nothing is a problem', () => {
    const empty = { prompts: [], malformed: [] };
    for (const one of [
      { tools: [], malformed: [] },
      { ...none, prompts: empty },
      { tools: [], malformed: [], resources: { resources: [], templates: [], malformed: [] } },
    ]) {
      const { problems } = curate(rules(), one, 'off');
      assert.deepEqual(
        problems.map(({ code, severity }) => [code, severity]),
        [['list-empty', 'warning']],
      );
    }
  });

  it('a list that lacks some of its tools is a problem, and its tools are published (X3)', () => {
    const listed = { tools: [tool('t')], malformed: [], incomplete: 'It has no end.' };
    const curated = curate(rules(), listed, 'off');
    assert.deepEqual(published(curated), ['t']);
    assert.deepEqual(
      curated.problems.map(({ code, severity }) => [code, severity]),
      [['list-incomplete', 'warning']],
    );
    assert.match(curated.problems[0]?.message ?? '', /may lack some: It has no end\./);
  });
});
