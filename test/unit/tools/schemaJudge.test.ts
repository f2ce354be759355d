/** Values judged by schemas of servers (O4), in counted steps (S2h). */
import assert from 'node:assert/strict';
import { Validator } from '@cfworker/json-schema';
import { mostParts, Steps } from '../../../src/core/base/steps.js';
import { SchemaJudge } from '../../../src/core/tools/schemaJudge.js';

type Schema = Record<string, unknown>;

function judged(schema: unknown, value: unknown, root: Schema = {}) {
  const steps = new Steps(mostParts);
  return { accepts: new SchemaJudge(root, steps).accepts(schema, value), areSpent: steps.areSpent };
}

/** A generator of the same numbers for one seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('values judged by schemas of servers (O4, S2h)', () => {
  it('20,000 generated values are judged as another validator judges them (O4)', function () {
    this.timeout(0);
    const next = numbers(Number(process.env['MCP_TOOLSETS_JUDGE_SEED'] ?? 1));
    const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
    const some = <T>(make: () => T): T[] =>
      Array.from({ length: 1 + Math.floor(next() * 2) }, make);
    const leaf = (): unknown => pick<unknown>(['x', 'yy', '😀', 1, 2.5, -3, true, null]);
    const value = (depth: number): unknown =>
      depth === 0 || next() < 0.4
        ? leaf()
        : next() < 0.5
          ? some(() => value(depth - 1))
          : Object.fromEntries(some(() => [pick(['a', 'b', '__proto__']), value(depth - 1)]));
    const names = ['p', 'q', 'r'];
    const type = (): string =>
      pick(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']);
    const schema = (depth: number): unknown => {
      const inner = (): unknown => schema(depth - 1);
      const keywords: Record<string, () => unknown> = {
        type: () => (next() < 0.7 ? type() : some(type)),
        const: () => value(1),
        enum: () => some(() => value(1)),
        minimum: () => pick([0, 2]),
        exclusiveMaximum: () => pick([1, 3]),
        multipleOf: () => pick([1, 3]),
        minLength: () => pick([1, 2]),
        maxLength: () => 1,
        minItems: () => 2,
        maxItems: () => 1,
        minProperties: () => 2,
        maxProperties: () => 1,
        required: () => some(() => pick(['a', 'b'])),
        ...(depth > 0 && {
          not: inner,
          allOf: () => some(inner),
          anyOf: () => some(inner),
          oneOf: () => some(inner),
          if: inner,
          then: inner,
          else: inner,
          properties: () => ({ a: inner(), b: inner() }),
          additionalProperties: inner,
          propertyNames: inner,
          dependentRequired: () => ({ a: ['b'] }),
          dependentSchemas: () => ({ b: inner() }),
          prefixItems: () => some(inner),
          items: inner,
          contains: inner,
          $ref: () => `#/$defs/${pick(names)}`,
        }),
      };
      if (next() < 0.1) return pick<unknown>([true, false, {}]);
      return Object.fromEntries(
        some(() => pick(Object.entries(keywords))).map(([key, make]) => [key, make()]),
      );
    };
    const counts = { valid: 0, invalid: 0 };
    for (let run = 0; run < 20_000; run++) {
      // A definition refers to no other, because the other validator would not end.
      const $defs = Object.fromEntries(names.map((name) => [name, schema(0)]));
      const given = schema(2);
      const one = value(2);
      const whole = typeof given === 'object' && given !== null ? { ...given, $defs } : given;
      // The other validator keeps marks in the schema.
      const copy = JSON.parse(JSON.stringify(whole)) as Schema;
      const isValid = new Validator(copy, '2020-12', true).validate(one).valid;
      const found = judged(given, one, { $defs });
      assert.deepEqual(
        found,
        { accepts: isValid, areSpent: false },
        JSON.stringify({ run, whole, one }),
      );
      counts[isValid ? 'valid' : 'invalid'] += 1;
    }
    assert.ok(counts.valid > 4_000 && counts.invalid > 4_000, JSON.stringify(counts));
  });

  for (const [what, schema, value] of [
    ['a pattern', { pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`],
    ['a negated pattern', { not: { pattern: 'a' } }, 'a'],
    ['one of two patterns', { oneOf: [{ pattern: 'a' }, { pattern: 'b' }] }, 'c'],
    ['a format', { format: 'email' }, 'x'],
    [
      'names by patterns',
      { patternProperties: { '^(a+)+$': false }, additionalProperties: false },
      { aaa: 1 },
    ],
    ['a reference to nothing', { $ref: '#/$defs/none' }, 1],
    ['a reference to another document', { $ref: 'https://example.com/s' }, 1],
    ['a reference to an anchor', { $ref: '#there' }, 1],
    [
      'a list that may not repeat a value, and what follows from it',
      { not: { uniqueItems: true } },
      [1],
    ],
    [
      'a key of the validator',
      { __absolute_ref__: '#/$defs/none', __absolute_recursive_ref__: 1 },
      1,
    ],
    [
      'a keyword of another type',
      { minLength: '5', enum: {}, required: 'a', properties: [] },
      { a: 'x' },
    ],
  ] as const) {
    it(`${what} does not refuse a value (O4)`, () => {
      assert.deepEqual(judged(schema, value), { accepts: true, areSpent: false });
    });
  }

  it('a recursive schema is judged as deep as the value goes (S2h)', () => {
    const root = {
      $defs: { node: { properties: { next: { $ref: '#/$defs/node' }, end: { type: 'string' } } } },
    };
    const nested = (end: unknown): unknown => {
      let value: unknown = { end };
      for (let depth = 0; depth < 50; depth++) value = { next: value };
      return value;
    };
    assert.deepEqual(judged(root.$defs.node, nested('x'), root), {
      accepts: true,
      areSpent: false,
    });
    assert.deepEqual(judged(root.$defs.node, nested(1), root), { accepts: false, areSpent: false });
  });

  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    it(`references below \`${keyword}\` are judged up to 10,000 parts, and no further (S2h)`, () => {
      const tree = (levels: number): Schema => {
        const level = (at: number): Schema => ({ $ref: `#/$defs/a${at + 1}` });
        const parts = Array.from({ length: levels }, (_, at) => [
          `a${at}`,
          { [keyword]: [level(at), level(at)] },
        ]);
        return { ...(Object.fromEntries(parts) as Schema), [`a${levels}`]: { type: 'string' } };
      };
      const [small, large] = [tree(8), tree(60)];
      assert.deepEqual(judged(small['a0'], 1, { $defs: small }), {
        accepts: false,
        areSpent: false,
      });
      assert.deepEqual(judged(large['a0'], 1, { $defs: large }), { accepts: true, areSpent: true });
    });
  }

  it('each part costs its length and the length of the value too (S2h)', () => {
    const parts = (count: number): Schema => ({
      allOf: Array.from({ length: count }, () => ({ minLength: 1 })),
    });
    assert.equal(judged(parts(1000), 'x').areSpent, false);
    assert.equal(judged(parts(1000), 'x'.repeat(10_000)).areSpent, true);
    assert.equal(judged(parts(10_000), 'x').areSpent, true);
    const chain = Array.from({ length: 12_000 }, (_, at) => [
      `a${at}`,
      { $ref: `#/$defs/a${at + 1}` },
    ]);
    const $defs = Object.fromEntries(chain) as Schema;
    assert.deepEqual(judged($defs['a0'], 1, { $defs }), { accepts: true, areSpent: true });
    const circle = { $defs: { a: { $ref: '#/$defs/a' } } };
    assert.deepEqual(judged(circle.$defs.a, 1, circle), { accepts: true, areSpent: true });
  });

  it('nested addresses of parts take no time (S2h)', () => {
    let schema: Schema = { type: 'string' };
    for (let depth = 0; depth < 60; depth++)
      schema = { $id: `https://example.com/${depth}`, contains: schema, id: {} };
    assert.deepEqual(judged(schema, 'x'), { accepts: true, areSpent: false });
  });
});
