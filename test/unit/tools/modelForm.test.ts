import assert from 'node:assert/strict';
import type { OfferedTool } from '../../../src/core/tools/catalogue.js';
import { curate } from '../../../src/core/tools/curate.js';
import { fakePlaces } from '../../support/places.js';

const text = { type: 'string' };
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

function published(schema: unknown, more: object = {}) {
  const tool = { name: 't', description: 'Does it.', inputSchema: schema } as OfferedTool;
  const none = { whitelist: [], blacklist: [] };
  const curation = curate(
    {
      id: 's',
      tools: none,
      transform: [],
      prompts: { filter: none, transform: [] },
      resources: none,
      places: fakePlaces('s'),
      ...more,
    },
    { tools: [tool], malformed: [] },
    'off',
  );
  assert.equal(curation.kind, 'curated');
  const [shown] = curation.tools;
  return {
    tool: shown?.tool,
    schema: shown?.tool.inputSchema as Record<string, unknown> | undefined,
    refusedBy: shown?.refusedBy,
    said: curation.problems.map(({ code, severity, message }) => `${severity} ${code}: ${message}`),
  };
}

describe('schemas that the API of a model refuses (N7d)', () => {
  for (const [what, schema, properties, required, words] of [
    [
      'anyOf of required',
      object(
        { a: text, b: text },
        { required: ['c'], anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      ),
      { a: text, b: text },
      ['c'],
      'Arguments: at least one of (a), (b).',
    ],
    [
      'oneOf of objects',
      {
        type: 'object',
        oneOf: [
          object({ kind: { const: 'x' }, a: text }, { required: ['kind', 'a'] }),
          object({ kind: { const: 'y' }, a: { type: 'number' } }, { required: ['kind'] }),
        ],
      },
      {
        kind: { anyOf: [{ const: 'x' }, { const: 'y' }] },
        a: { anyOf: [text, { type: 'number' }] },
      },
      ['kind'],
      'Arguments: exactly one of (kind: "x", a), (kind: "y", a?).',
    ],
    [
      'a union without a type, by references',
      {
        anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }],
        $defs: {
          A: object({ a: text }, { required: ['a'] }),
          B: object({ a: text, b: text }, { required: ['a', 'b'] }),
        },
      },
      { a: text, b: text },
      ['a'],
      'Arguments: at least one of (a), (a, b).',
    ],
    [
      'allOf of objects',
      {
        type: 'object',
        allOf: [object({ a: text }, { required: ['a'] }), object({ b: text }, { required: ['b'] })],
      },
      { a: text, b: text },
      ['a', 'b'],
      'Arguments: all of (a), (b).',
    ],
    [
      'allOf with a condition',
      object(
        { a: text, b: text },
        { allOf: [{ if: object({ a: { const: 1 } }), then: { required: ['b'] } }] },
      ),
      { a: text, b: text },
      undefined,
      'Arguments: all of ({"if":{"type":"object","properties":{"a":{"const":1}}},"then":{"required":["b"]}}).',
    ],
    [
      'a union in a union',
      object(
        {},
        {
          oneOf: [
            {
              anyOf: [
                object({ a: text }, { required: ['a'] }),
                object({ a: text, b: text }, { required: ['a'] }),
              ],
            },
            object({ a: text, c: text }, { required: ['a'] }),
          ],
        },
      ),
      { a: text, b: text, c: text },
      undefined,
      /^Arguments: exactly one of \(\{"anyOf":.*\}\), \(a, c\?\)\.$/,
    ],
    [
      'not',
      object({ a: text, b: text }, { not: { required: ['a', 'b'] } }),
      { a: text, b: text },
      undefined,
      'Arguments: not (a, b).',
    ],
  ] as const) {
    it(`${what} at the top becomes one object, and the description has the alternatives`, () => {
      const { tool, schema: shown, said, refusedBy } = published(schema);
      assert.equal(shown?.['type'], 'object');
      assert.deepEqual(shown['properties'], properties);
      assert.deepEqual(shown['required'], required);
      for (const key of ['anyOf', 'oneOf', 'allOf', 'not']) assert.ok(!(key in shown), key);
      const [own, line] = tool?.description?.split('\n\n') ?? [];
      assert.equal(own, 'Does it.');
      if (typeof words === 'string') assert.equal(line, words);
      else assert.match(line ?? '', words);
      assert.equal(said.length, 1);
      assert.match(
        said[0] ?? '',
        /^warning schema-refused-by-models: Models of .*OpenAI would .*"t" of "s": inputSchema has "\w+" at its top\./,
      );
      assert.equal(refusedBy, undefined);
    });
  }

  for (const [what, given, gives, place] of [
    [
      'an exclusive limit of draft 4',
      { minimum: 0, exclusiveMinimum: true },
      { exclusiveMinimum: 0 },
      'exclusiveMinimum is true',
    ],
    [
      'an upper limit of draft 4',
      { maximum: 9, exclusiveMaximum: true },
      { exclusiveMaximum: 9 },
      'exclusiveMaximum is true',
    ],
    [
      'a limit of draft 4 that is not exclusive',
      { minimum: 1, exclusiveMinimum: false },
      { minimum: 1 },
      'exclusiveMinimum is false',
    ],
    [
      'an exclusive limit without a limit',
      { exclusiveMaximum: true },
      {},
      'exclusiveMaximum is true',
    ],
    [
      'a list of items',
      { type: 'array', items: [text], additionalItems: false },
      { type: 'array', prefixItems: [text], items: false },
      'items is [{"type":"string"}]',
    ],
    [
      'a reference to nowhere',
      { $ref: '#/$defs/None', title: 'T' },
      { title: 'T' },
      '$ref is "#/$defs/None"',
    ],
    [
      'a reference to another file',
      { type: 'array', $ref: 'other.json' },
      { type: 'array', items: {} },
      '$ref is "other.json"',
    ],
  ] as const) {
    it(`${what} is published in the form of the present draft, at any depth`, () => {
      for (const [within, at] of [
        [(part: unknown) => object({ x: part }), 'properties.x'],
        [
          (part: unknown) => object({ x: { type: 'array', items: object({ y: part }) } }),
          'properties.x.items.properties.y',
        ],
        [(part: unknown) => object({ x: { anyOf: [part, text] } }), 'properties.x.anyOf[0]'],
      ] as const) {
        const { schema, said, refusedBy } = published(within(given));
        assert.deepEqual(schema, within(gives));
        assert.ok(said[0]?.includes(`inputSchema.${at}.${place}`), said[0]);
        assert.equal(said.length, 1);
        assert.equal(refusedBy, undefined);
      }
    });
  }

  it('`required` of draft 3 becomes a list of its object', () => {
    const schema = object(
      { a: { ...text, required: true }, b: { ...text, required: false }, c: text },
      { required: ['c'] },
    );
    const { schema: shown, said } = published(schema);
    assert.deepEqual(shown, object({ a: text, b: text, c: text }, { required: ['c', 'a'] }));
    assert.match(
      said.join(),
      /properties\.a\.required is true, inputSchema\.properties\.b\.required is false\. Agents get/,
    );
  });

  for (const name of ['filter[state]', '$top', 'created<', 'a b', 'ü', '', 'part_of_'.repeat(9)]) {
    it(`the property ${JSON.stringify(name)} is said and kept, and the tool too`, () => {
      const schema = object({ [name]: text });
      const { schema: shown, said, refusedBy } = published(schema);
      assert.deepEqual(shown, schema);
      assert.match(
        said[0] ?? '',
        /^warning schema-refused-by-models: Models of Anthropic refuse every request with the tool "t" of "s"/,
      );
      assert.deepEqual(refusedBy, ['Anthropic']);
    });
  }

  it('names of inner properties, data, and keywords that every API takes are no problem', () => {
    const schema = object(
      {
        'a.b-c_D': object({ 'x[y]': text }),
        id: { type: 'string', default: { exclusiveMinimum: true, $ref: '#/nowhere' } },
        self: { $ref: '#' },
        one: { $ref: '#/$defs/One' },
        anchored: { $ref: '#here' },
        odd: { pattern: '(?i)a', format: 'date', nullable: true },
      },
      { $defs: { One: { $anchor: 'here' } }, if: {}, then: {}, additionalProperties: false },
    );
    const { tool, said } = published(schema);
    assert.deepEqual(said, []);
    assert.deepEqual(tool?.inputSchema, schema);
    assert.equal(tool?.description, 'Does it.');
  });

  it('a fault that has no form with the same meaning stays, and the problem says so', () => {
    const { said, refusedBy, schema } = published(object({ x: { minimum: '1' } }));
    assert.deepEqual(schema, object({ x: { minimum: '1' } }));
    assert.match(said[0] ?? '', /refuse every request .*properties\.x\.minimum is "1"\.$/);
    assert.deepEqual(refusedBy, ['Anthropic']);
    const intoUnion = {
      ...object({ x: { $ref: '#/anyOf/0/properties/a' } }),
      anyOf: [object({ a: text })],
    };
    const kept = published(intoUnion);
    assert.deepEqual(kept.schema, intoUnion);
    assert.deepEqual(kept.refusedBy, ['Anthropic', 'OpenAI']);
  });

  it('an override still sees the schema that its server gave (O6)', () => {
    const schema = {
      type: 'object',
      oneOf: [
        object({ mode: { const: 'a' }, x: text }, { required: ['mode', 'x'] }),
        object({ mode: { const: 'b' }, y: text }, { required: ['mode', 'y'] }),
      ],
    };
    const overrides = new Map([
      ['t', { arguments: new Map([['mode', { fixed: { value: 'b' } }]]) }],
    ]);
    const { schema: shown } = published(schema, { overrides });
    assert.deepEqual(shown, object({ y: text }, { required: ['y'] }));
  });

  it('a union with many references to itself is published in one pass (S2h)', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `D${index}`,
        {
          type: 'object',
          anyOf: Array.from({ length: 20 }, () => ({ $ref: `#/$defs/D${(index + 1) % 200}` })),
        },
      ]),
    );
    const { refusedBy, schema } = published({
      type: 'object',
      allOf: [{ $ref: '#/$defs/D0' }],
      $defs,
    });
    assert.equal(refusedBy, undefined);
    assert.deepEqual(schema?.['properties'], {});
  });
});
