import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formOf, type Field } from '../../../src/webview/schemaForm.js';

/** Returns the form’s field for a property of this schema. */
function fieldFor(property: unknown, more: object = {}): Field {
  const form = formOf({ type: 'object', properties: { p: property }, ...more });
  assert.equal(form.kind, 'group');
  const [member] = form.kind === 'group' ? form.members : [];
  assert.ok(member);
  return member.field;
}

/** Returns the number of fields before a person adds any. */
function shownAtOnce(field: Field): number {
  if (field.kind === 'group')
    return field.members.reduce((sum, member) => sum + shownAtOnce(member.field), 0);
  return field.kind === 'list' ? field.least * shownAtOnce(field.item) : 1;
}

describe('formOf', () => {
  const kinds: [string, unknown, Field['kind']][] = [
    ['a text', { type: 'string' }, 'text'],
    ['a number', { type: 'number' }, 'number'],
    ['a whole number', { type: 'integer' }, 'number'],
    ['a boolean', { type: 'boolean' }, 'flag'],
    ['an enum', { enum: ['a', 1, null] }, 'choice'],
    ['a constant', { const: 'a' }, 'choice'],
    ['constants with titles', { oneOf: [{ const: 1, title: 'one' }] }, 'choice'],
    [
      'constants with titles, or null',
      { anyOf: [{ const: 1, title: 'one' }, { type: 'null' }] },
      'choice',
    ],
    ['a constant or a schema', { anyOf: [{ const: 1 }, { type: 'string' }] }, 'json'],
    ['an object', { type: 'object', properties: { a: {} } }, 'group'],
    ['an object without a type', { properties: { a: {} } }, 'group'],
    ['a free map', { type: 'object', additionalProperties: { type: 'string' } }, 'json'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'list'],
    ['a tuple', { type: 'array', prefixItems: [{}], items: {} }, 'json'],
    ['a list of anything', { type: 'array' }, 'json'],
    ['what may be null, and may be left out', { type: ['string', 'null'] }, 'text'],
    ['what may be null, as a union', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'number'],
    ['a union', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'json'],
    ['several types', { type: ['integer', 'string'] }, 'json'],
    ['anything', {}, 'json'],
    ['true', true, 'json'],
    ['a schema that is none', 'text', 'json'],
    ['a reference to nowhere', { $ref: '#/$defs/none' }, 'json'],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema' }, 'json'],
  ];
  for (const [what, schema, kind] of kinds) {
    it(`has a field of ${kind} for ${what}`, () => assert.equal(fieldFor(schema).kind, kind));
  }

  it('has the input of a format, unless a pattern or the default wants another text', () => {
    const format = (schema: object): unknown => {
      const field = fieldFor({ type: 'string', ...schema });
      return field.kind === 'text' && field.format;
    };
    assert.equal(format({ format: 'date-time' }), 'date-time');
    assert.equal(format({ format: 'date', default: '2026-01-31' }), 'date');
    assert.equal(format({ format: 'date', default: 'today' }), undefined);
    assert.equal(format({ format: 'date', pattern: '^2' }), undefined);
    assert.equal(format({ format: 'hostname' }), undefined);
  });

  it('offers the titles of constants', () => {
    const field = fieldFor({ oneOf: [{ const: 'a', title: 'First' }, { const: 'b' }] });
    assert.deepEqual(field.kind === 'choice' && field.options.map(({ label }) => label), [
      'First',
      'b',
    ]);
  });

  it('follows references, and keeps the keys beside them', () => {
    const field = fieldFor(
      { $ref: '#/$defs/a~1b', description: 'own' },
      { $defs: { 'a/b': { type: 'boolean' } } },
    );
    assert.deepEqual([field.kind, field.description], ['flag', 'own']);
  });

  it('reads a reference that is not encoded', () => {
    const $defs = { '50%': { type: 'integer' }, 'a b': { type: 'boolean' } };
    assert.equal(fieldFor({ $ref: '#/$defs/50%' }, { $defs }).kind, 'number');
    assert.equal(fieldFor({ $ref: '#/$defs/a%20b' }, { $defs }).kind, 'flag');
  });

  it('has JSON for a required value that may be null, so that a person can send null', () => {
    const required = (schema: unknown): Field => fieldFor(schema, { required: ['p'] });
    const text = required({ type: ['string', 'null'], default: null });
    assert.deepEqual(text.kind === 'json' && [text.accepts, text.initial], [
      'a text in quotes, or null',
      null,
    ]);
    const count = required({ anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] });
    assert.deepEqual(count.kind, 'json');
    const list = fieldFor({ type: 'array', items: { type: ['integer', 'null'] } });
    assert.equal(list.kind === 'list' && list.item.kind, 'json');
    assert.equal(required({ enum: ['a', null] }).kind, 'choice');
    assert.equal(
      fieldFor({ anyOf: [{ type: 'string' }, { type: 'null' }], default: null }).initial,
      null,
    );
  });

  it('has as many fields as a page can show, and JSON for the rest (S2)', () => {
    const list = (minItems: number, items: unknown): unknown => ({
      type: 'array',
      minItems,
      items,
    });
    assert.equal(fieldFor(list(300_000, { type: 'string' })).kind, 'json');
    assert.equal(fieldFor(list(50, { type: 'string' })).kind, 'list');
    const nested = list(30, list(30, list(30, { type: 'string' })));
    const choices = { enum: Array.from({ length: 300_000 }, (_, index) => index) };
    const places = Array.from({ length: 12 }, (_, index) => [`p${index}`, { $ref: '#/$defs/f' }]);
    const filter = {
      type: 'object',
      properties: Object.fromEntries([...places, ['n', { type: 'integer' }]]),
    };
    for (const schema of [nested, list(100, choices), filter]) {
      const form = formOf({
        type: 'object',
        properties: { p: schema, q: { $ref: '#/$defs/f' }, last: { type: 'string' } },
        $defs: { f: filter },
      });
      assert.ok(shownAtOnce(form) <= 1_000, String(shownAtOnce(form)));
      assert.equal(form.kind === 'group' && form.members.at(-1)?.field.kind, 'text');
    }
  });

  it('reads a long part only so often, whatever refers to it (S2h)', () => {
    const long = { enum: Array.from({ length: 100_000 }, (_, at) => at) };
    const places = Array.from({ length: 900 }, (_, at) => [`p${at}`, { $ref: '#/$defs/long' }]);
    const properties = { ...(Object.fromEntries(places) as object), last: { type: 'string' } };
    const form = formOf({ type: 'object', properties, $defs: { long } });
    assert.equal(form.kind === 'group' && form.members.at(-1)?.field.kind, 'text');
  });

  it('ends for a schema without an end', () => {
    const nested = formOf({ type: 'object', properties: { child: { $ref: '#' } } });
    assert.equal(nested.kind, 'group');
    assert.equal(fieldFor({ $ref: '#/properties/p' }).kind, 'json');
    assert.equal(fieldFor({ anyOf: [{ $ref: '#/properties/p' }] }).kind, 'json');
  });

  it('knows required values, defaults, limits and labels', () => {
    const schema = {
      type: 'object',
      properties: {
        size: { enum: ['s', 'l'], default: 'l', title: 'Size' },
        count: { type: 'integer', minimum: 1, maximum: 9 },
        name: { type: 'string', minLength: 2, pattern: '^a' },
      },
      required: ['size'],
    };
    const form = formOf(schema);
    assert.ok(form.kind === 'group');
    assert.deepEqual(
      form.members.map(({ name, required }) => [name, required]),
      [
        ['size', true],
        ['count', false],
        ['name', false],
      ],
    );
    const [size, count, name] = form.members.map(({ field }) => field);
    assert.ok(size?.kind === 'choice' && count?.kind === 'number' && name?.kind === 'text');
    assert.deepEqual(
      [size.initial, size.title, size.options.map(({ label }) => label)],
      ['l', 'Size', ['s', 'l']],
    );
    assert.deepEqual([count.minimum, count.maximum, count.integer], [1, 9, true]);
    assert.deepEqual([name.least, name.pattern], [2, '^a']);
  });

  it('asks for a required value without a described property', () => {
    const members = (schema: object): unknown => {
      const form = formOf({ type: 'object', ...schema });
      assert.ok(form.kind === 'group');
      return form.members.map(({ name, required, field }) => [name, required, field.kind]);
    };
    assert.deepEqual(members({ required: ['q'] }), [['q', true, 'json']]);
    assert.deepEqual(
      members({ properties: { a: { type: 'string' } }, required: ['q', 'a', 5, 'q'] }),
      [
        ['a', true, 'text'],
        ['q', true, 'json'],
      ],
    );
    const free = { type: 'object', required: ['q'], additionalProperties: true };
    assert.deepEqual([fieldFor(free).kind, formOf(free).kind], ['json', 'json']);
    const numbers = {
      properties: { a: {} },
      required: ['q'],
      additionalProperties: { type: 'number' },
    };
    assert.deepEqual(members(numbers), [
      ['a', false, 'json'],
      ['q', true, 'number'],
    ]);
  });

  it('asks for nothing if a tool takes nothing, and for JSON if it takes any value', () => {
    assert.deepEqual(formOf({ type: 'object' }).kind, 'group');
    assert.deepEqual(formOf({ type: 'object', additionalProperties: true }).kind, 'json');
  });

  it('has a form for any input', () => {
    const value = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('string', 'object', 'array', 5, null, true, '#', '#/properties/a'),
        fc.array(tie('schema'), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom(
            'type',
            'properties',
            'items',
            'anyOf',
            'oneOf',
            'enum',
            'required',
            '$ref',
            'a',
            'default',
          ),
          tie('schema'),
          { maxKeys: 5 },
        ),
      ),
    })).schema;
    fc.assert(fc.property(value, (schema) => assert.ok(formOf(schema).kind)));
  });
});
