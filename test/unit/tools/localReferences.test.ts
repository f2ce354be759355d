/**
 * The permitted references of a server's schema for the editor (E3b): only to itself, because the
 * editor fetches others.
 */
import assert from 'node:assert/strict';
import { boundedSchema, withLocalReferences } from '../../../src/core/tools/localReferences.js';
import { Random } from '../stress/random.js';

const elsewhere = [
  'https://x.example/s.json',
  'http://127.0.0.1:1/s#/a',
  'file:///s',
  '//x.example/s',
  's.json',
  './s#a',
  '',
];
const known = 'http://json-schema.org/draft-07/schema#';

describe('the references of a schema (E3b)', () => {
  for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef', '$id', 'id', '$schema']) {
    it(`${keyword} with an outside target is removed at any depth, and its neighbours stay`, () => {
      for (const to of [...elsewhere, ' #/a', 'https://json-schema.org/draft-07/schema/../../x']) {
        const part = { [keyword]: to, type: 'string', minLength: 2 };
        const left = { type: 'string', minLength: 2 };
        const within = (inner: object): object => ({
          ...inner,
          properties: { a: inner, $ref: { items: [inner, { not: inner }] } },
          $defs: {
            b: {
              allOf: [inner],
              patternProperties: { '^x': inner },
              dependentSchemas: { c: inner },
            },
          },
          if: { additionalProperties: inner },
        });
        assert.deepEqual(withLocalReferences(within(part)), within(left), to);
      }
    });
  }

  it('references within the document, known drafts, and properties with such names stay', () => {
    const schema = {
      $schema: known,
      $id: '#root',
      $anchor: 'top',
      properties: {
        $ref: { $ref: '#/$defs/a' },
        $schema: { type: 'string' },
        id: { type: 'string', default: 'one' },
        $id: { $dynamicRef: '#node' },
        markdownDescription: { $recursiveRef: '#' },
        markdownEnumDescriptions: { type: 'array' },
        __proto__x: true,
      },
      required: ['$ref', 'id'],
      $defs: { a: { $anchor: 'a', $dynamicAnchor: 'node', const: { id: 'https://x.example/1' } } },
      examples: [{ id: 'two' }],
    };
    assert.deepEqual(withLocalReferences(schema), schema);
    for (const plain of [true, false, null, 1, 'https://x.example'])
      assert.equal(withLocalReferences(plain), plain);
    const odd = JSON.parse(
      '{"properties": {"__proto__": {"type": "string", "$ref": "x"}}}',
    ) as unknown;
    assert.equal(
      JSON.stringify(withLocalReferences(odd)),
      '{"properties":{"__proto__":{"type":"string"}}}',
    );
  });

  it('no reference within the document leads outside by another keyword', () => {
    const [to = ''] = elsewhere;
    for (const keyword of [
      'default',
      'const',
      'examples',
      'enum',
      'x-own',
      'properties',
      'required',
    ]) {
      const held = withLocalReferences({
        $ref: `#/${keyword}`,
        [keyword]: [{ $ref: to, $id: to, $schema: to }],
      });
      assert.deepEqual(held, { $ref: `#/${keyword}`, [keyword]: [{}] });
    }
  });

  it('no Markdown of the editor’s own keywords is left (S1d)', () => {
    const schema = {
      type: 'string',
      enum: ['a'],
      markdownDescription: '![](https://x.example/a.png)',
      markdownEnumDescriptions: ['[run](command:x)'],
      defaultSnippets: [{ body: 'a', markdownDescription: '![](https://x.example/a.png)' }],
    };
    assert.deepEqual(withLocalReferences(schema), {
      type: 'string',
      enum: ['a'],
      defaultSnippets: [{ body: 'a' }],
    });
  });

  it('generated schemas lose only outside references, and nothing the second time', () => {
    const random = new Random(Number(process.env['SEED'] ?? Date.now()) >>> 0);
    const keywords = ['$ref', '$dynamicRef', '$recursiveRef', '$id', '$schema'];
    const names = [
      ...keywords,
      'id',
      'properties',
      '$defs',
      'items',
      'allOf',
      'default',
      'const',
      'type',
      'a',
    ];
    let left = 0;
    const make = (depth: number): unknown => {
      const text = (): string => random.pick([...elsewhere, '#', '#/a/b', '#a', 'string', known]);
      if (depth === 0 || random.chance(0.2)) return random.pick([true, null, 7, text()]);
      if (random.chance(0.25)) return Array.from({ length: random.int(4) }, () => make(depth - 1));
      return Object.fromEntries(
        Array.from({ length: random.int(6) }, () => [
          random.pick(names),
          random.chance(0.4) ? text() : make(depth - 1),
        ]),
      );
    };
    /** Without every judged keyword. */
    const rest = (_: string, value: unknown): unknown =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value).filter(
              ([key, of]) => typeof of !== 'string' || ![...keywords, 'id'].includes(key),
            ),
          )
        : value;
    for (let count = 0; count < 2_000; count++) {
      const schema = make(6);
      const local = withLocalReferences(schema);
      const seed = `seed ${random.seed}: ${JSON.stringify(schema)}`;
      JSON.stringify(local, (key, value: unknown) => {
        if (typeof value !== 'string' || !keywords.includes(key)) return value;
        left += 1;
        assert.ok(value.startsWith('#') || (key === '$schema' && value === known), seed);
        return value;
      });
      assert.equal(JSON.stringify(local, rest), JSON.stringify(schema, rest), seed);
      assert.deepEqual(withLocalReferences(local), local, seed);
    }
    assert.ok(left > 100, 'some references are local');
  });
});

describe('the schema of a document in the editor', () => {
  it('patterns of the server are removed, and what depends on the names that they match (S2h)', () => {
    const part = {
      type: 'object',
      pattern: '^(a+)+$',
      patternProperties: { '^(a+)+$': {} },
      additionalProperties: false,
    };
    const kept = { properties: { pattern: { type: 'string' } }, items: { type: 'object' } };
    assert.deepEqual(boundedSchema({ ...kept, items: part }), kept);
  });

  it('a schema that is too long with its references is left out (S2h)', () => {
    const levels = (count: number): object => {
      const level = (at: number): object => ({
        allOf: [{ $ref: `#/$defs/a${at + 1}` }, { $ref: `#/$defs/a${at + 1}` }],
      });
      const $defs = Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`a${at}`, level(at)]),
      );
      return { properties: { a: { $ref: '#/$defs/a0' } }, $defs };
    };
    assert.deepEqual(boundedSchema(levels(5)), levels(5));
    assert.deepEqual(boundedSchema(levels(40)), {});
    const circle = { properties: { a: { $ref: '#' } } };
    assert.deepEqual(boundedSchema(circle), circle);
  });
});
