import assert from 'node:assert/strict';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import fc from 'fast-check';
import type { OfferedTool } from '../../../src/core/tools/catalogue.js';
import { lookedAt } from '../../../src/core/tools/schemas.js';

const odd = (outputSchema: unknown) =>
  lookedAt({ name: 'odd', inputSchema: { type: 'object' }, outputSchema } as OfferedTool);
const withProperty = (x: unknown, more: object = {}): unknown => ({
  type: 'object',
  properties: { x },
  ...more,
});
const compile = (schema: unknown) => new AjvJsonSchemaValidator().getValidator(schema as never);

describe('output schemas (N7c)', () => {
  for (const [x, reason] of [
    [
      { pattern: '(?i)^a' },
      'outputSchema.properties.x.pattern is "(?i)^a", not a pattern of JavaScript',
    ],
    [
      { patternProperties: { '(': {} } },
      /patternProperties is .*, not a map of schemas by patterns of JavaScript$/,
    ],
    [{ enum: [] }, 'outputSchema.properties.x.enum is [], not a list of values'],
    [
      { $ref: '#/$defs/none' },
      'outputSchema.properties.x.$ref is "#/$defs/none", not a part of the schema',
    ],
    [{ $ref: 'https://example.com/x' }, /\$ref is .*, not a part of the schema$/],
    [{ $ref: '#/%' }, /\$ref is .*, not a part of the schema$/],
    [{ $ref: '#/properties/x' }, 'outputSchema.properties.x.$ref leads back to itself'],
    [{ $ref: 5 }, /\$ref is 5, not a part of the schema$/],
    [{ type: 'any' }, 'outputSchema.properties.x.type is "any", not a JSON type'],
    [{ type: [] }, /not a JSON type$/],
    [{ minimum: '1' }, 'outputSchema.properties.x.minimum is "1", not a number'],
    [{ exclusiveMinimum: true }, /not a number$/],
    [{ minLength: -1 }, /not a count$/],
    [{ required: true }, 'outputSchema.properties.x.required is true, not a list of names'],
    [{ dependencies: { a: null } }, /not a map of names or schemas$/],
    [{ format: 5 }, 'outputSchema.properties.x.format is 5, not a text'],
    [{ anyOf: [] }, /not a list of schemas$/],
    [{ anyOf: [{ items: 5 }] }, 'outputSchema.properties.x.anyOf[0].items is 5, not a schema'],
    [{ additionalProperties: 'x' }, /not a schema$/],
    [{ nullable: true }, 'outputSchema.properties.x.nullable does not fit its type'],
    [{ id: 'a' }, /not known to every client$/],
    [{ $id: 'a' }, 'outputSchema has a part with $id'],
    [{ 'x-more': { $anchor: '?' } }, 'outputSchema has a part with $anchor'],
  ] as const) {
    it(`an output schema with ${JSON.stringify(x)} is left out, and the tool stays`, () => {
      const { unusable, outputLeftOut, readable } = odd(withProperty(x));
      assert.equal(unusable, undefined);
      assert.deepEqual(readable, { name: 'odd', inputSchema: { type: 'object' } });
      if (typeof reason === 'string') assert.equal(outputLeftOut, reason);
      else assert.match(outputLeftOut ?? '', reason);
    });
  }

  for (const schema of [
    [],
    5,
    {},
    { type: 'object', properties: [1] },
    { type: 'object', required: 'x' },
  ]) {
    it(`an output schema ${JSON.stringify(schema)} costs only itself`, () => {
      const { unusable, outputLeftOut, readable } = odd(schema);
      assert.equal(unusable, undefined);
      assert.ok(outputLeftOut);
      assert.ok(!('outputSchema' in readable));
    });
  }

  it('a right output schema stays, with references, conditions, formats and unknown keywords', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      title: 'Result',
      properties: {
        result: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }], default: null },
        when: { type: 'string', format: 'date-time', pattern: String.raw`^\d{4}` },
        list: {
          type: 'array',
          items: { $ref: '#/properties/when' },
          minItems: 0,
          uniqueItems: true,
        },
        pair: { prefixItems: [{ type: 'integer' }], items: false },
        old: { type: 'string', nullable: true },
        all: { $ref: '#' },
        odd: { $ref: '#/$defs/a~1b' },
        $id: { type: 'string' },
      },
      required: ['result'],
      dependentRequired: { list: ['when'] },
      dependencies: { list: ['when'], when: { minProperties: 1 } },
      if: { properties: { old: { const: 'x' } } },
      then: { required: ['when'] },
      patternProperties: { '^x-': {} },
      additionalProperties: false,
      $defs: {
        Node: { type: ['object', 'null'], properties: { next: { $ref: '#/$defs/Node' } } },
        'a/b': {},
      },
      'x-vendor': { type: 'any' },
    };
    compile(schema);
    const { outputLeftOut, readable } = odd(schema);
    assert.equal(outputLeftOut, undefined);
    assert.deepEqual(readable.outputSchema, schema);
  });

  it('an output schema has no $id, because the SDK would check one tool by the schema of another', () => {
    const schemas = ['a', 'b'].map((name) => ({ $id: 'r', type: 'object', required: [name] }));
    const validator = new AjvJsonSchemaValidator();
    const areValid = (given: readonly unknown[]) =>
      given.map(
        (each, index) =>
          validator.getValidator(each as never)({ [['a', 'b'][index] ?? '']: 1 }).valid,
      );
    assert.deepEqual(areValid(schemas), [true, false]);
    assert.deepEqual(areValid(schemas.map((each) => odd(each).readable.outputSchema)), [
      true,
      true,
    ]);
  });

  it('the SDK compiles every output schema that stays', () => {
    const names = [
      'a',
      'a b',
      'a/b',
      'a~b',
      'ä',
      'a"b',
      'A<B>',
      'a[0]',
      'a%20b',
      '$x',
      'toString',
      '__proto__',
      '',
    ];
    const keywords =
      '$id $ref $schema $async $defs type enum const minimum exclusiveMaximum multipleOf minLength maxItems minContains uniqueItems nullable format pattern required dependencies dependentRequired dependentSchemas properties patternProperties additionalProperties propertyNames items additionalItems prefixItems contains allOf anyOf oneOf not if then else id discriminator formatMinimum unevaluatedProperties x-more default title $comment definitions $dynamicRef $recursiveRef $recursiveAnchor $data'.split(
        ' ',
      );
    const leaf = fc.oneof(
      fc.constantFrom<unknown>(
        true,
        false,
        0,
        1,
        -1,
        1.5,
        'x',
        '',
        'string',
        'object',
        'null',
        'date',
        '#',
        '(',
        '^a',
        [],
      ),
      fc.constantFrom<unknown>(
        ['string'],
        ['object', 'null'],
        ['a'],
        [1],
        [[]],
        [{}],
        {},
        { a: null },
        { a: ['b'] },
        [null],
      ),
      fc.constantFrom(...names).map((name) => `#/$defs/${name}`),
      fc.constantFrom(...names).map((name) => `#/properties/${encodeURIComponent(name)}`),
      fc.constantFrom(
        '#/x-more',
        '#/not',
        '#/items',
        '#/items/0',
        '#/allOf/0',
        '#/%',
        '#/$defs',
        'a#',
        '#a',
      ),
    );
    const { schema } = fc.letrec<{ schema: unknown; fitting: unknown; value: unknown }>((tie) => {
      const map = fc.dictionary(fc.constantFrom(...names), tie('schema'), { maxKeys: 2 });
      const list = fc.array(tie('schema'), { minLength: 1, maxLength: 2 });
      const fitting = (keys: string, value: fc.Arbitrary<unknown>) =>
        fc.dictionary(fc.constantFrom(...keys.split(' ')), value, { maxKeys: 2 });
      return {
        schema: fc.oneof(
          { maxDepth: 4 },
          fc.constant({}),
          {
            arbitrary: fc.dictionary(fc.constantFrom(...keywords), tie('value'), { maxKeys: 2 }),
            weight: 1,
          },
          { arbitrary: tie('fitting'), weight: 8 },
        ),
        fitting: fc.oneof(
          fitting('properties dependencies dependentSchemas definitions $defs', map),
          fitting(
            'items not if then contains additionalProperties additionalItems propertyNames x-more',
            tie('schema'),
          ),
          fitting('items prefixItems allOf anyOf oneOf', list),
          fitting('$ref', leaf),
          fitting('minimum maxLength minItems multipleOf', fc.nat(3)),
          fitting('type format pattern nullable uniqueItems required enum const', leaf),
          fitting(
            'patternProperties',
            fc.dictionary(fc.constantFrom('^a', '(', 'b', ''), tie('schema'), { maxKeys: 2 }),
          ),
        ),
        value: fc.oneof(leaf, tie('schema'), list, map),
      };
    });
    const withDefinitions = fc
      .tuple(schema, fc.dictionary(fc.constantFrom(...names), schema, { maxKeys: 2 }), schema)
      .map(([$defs, properties, more]) => ({
        ...(more as object),
        type: 'object',
        properties,
        $defs: { a: $defs },
      }));
    let kept = 0;
    const runs = 500;
    fc.assert(
      fc.property(withDefinitions, (given) => {
        const { outputSchema } = odd(JSON.parse(JSON.stringify(given))).readable;
        if (!outputSchema) return;
        kept += 1;
        compile(outputSchema);
      }),
      { numRuns: runs },
    );
    assert.ok(kept > runs / 10, `${kept} of ${runs} stayed`);
  });
});
