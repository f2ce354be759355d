/** Generated overrides of generated schemas (O1). */
import assert from 'node:assert/strict';
import { Validator } from '@cfworker/json-schema';
import type { ArgumentOverride } from '../../src/core/config/model.js';
import { roundsOf } from '../unit/stress/random.js';
import { changed, type Schema } from '../unit/tools/overriding.js';

/** A generator of the same numbers for one seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('generated overrides against an independent reading (O1)', () => {
  const runs = roundsOf(100_000);

  it(`the schema of agents takes a call exactly if the schema of the server takes what is sent, in ${runs} runs`, function () {
    this.timeout(0);
    const next = numbers(Number(process.env['MCP_TOOLSETS_OVERRIDE_SEED'] ?? 1));
    const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
    const names = ['a', 'b', 'c'];
    const values = ['x', 'y', 1, true, null, ['x'], { x: 1 }];
    const property = (): unknown =>
      pick<() => unknown>([
        () => ({ type: 'string' }),
        () => ({ type: ['string', 'integer'] }),
        () => ({ enum: [pick(values), pick(values)] }),
        () => ({ const: pick(values) }),
        () => ({ type: 'array', items: { type: 'string' } }),
        () => ({ type: 'string', maxLength: 1 }),
        () => ({}),
        () => ({ not: { type: 'string' } }),
      ])();
    const part = (depth: number): Schema => {
      const own = names.filter(() => next() < 0.6);
      return {
        properties: Object.fromEntries(own.map((name) => [name, property()])),
        ...(next() < 0.4 && { required: names.filter(() => next() < 0.4) }),
        ...(next() < 0.15 && { additionalProperties: pick<unknown>([false, { type: 'string' }]) }),
        ...(next() < 0.1 && { minProperties: pick([1, 2]) }),
        ...(next() < 0.1 && { maxProperties: pick([1, 2]) }),
        ...(depth > 0 &&
          next() < 0.3 && {
            [pick(['allOf', 'anyOf', 'oneOf'])]: [part(depth - 1), part(depth - 1)],
          }),
        ...(depth > 0 && next() < 0.05 && { [pick(['not', 'if'])]: part(0) }),
      };
    };
    const isValid = (schema: Schema, value: unknown): boolean =>
      new Validator(schema, '2020-12').validate(value).valid;
    const counts = { judged: 0, left: 0, refused: 0, unusable: 0 };
    for (let run = 0; run < runs; run++) {
      const schema: Schema = { type: 'object', ...part(1) };
      const name = pick(names);
      const value = pick(values);
      const kind = pick(['fixed', 'default', 'allow'] as const);
      const allow = [pick(['x', 'y', '*'])];
      const override: ArgumentOverride = kind === 'allow' ? { allow } : { [kind]: { value } };
      const made = changed(schema, { [name]: override });
      const given = Object.fromEntries(
        names.filter(() => next() < 0.5).map((one) => [one, pick(values)]),
      );
      const sent = made.send(given);
      const about = (): string =>
        JSON.stringify({ run, schema, name, override, given, shown: made.schema, sent });
      // Read again, from the rules.
      const own = given[name];
      const texts = Array.isArray(own) ? (own as unknown[]) : [own];
      const parts = [schema, ...((schema['allOf'] ?? []) as Schema[])];
      const isIn = (part: Schema, key: string): boolean =>
        key === 'required'
          ? ((part['required'] ?? []) as string[]).includes(name)
          : name in (part['properties'] as object);
      const isUnusable = made.faults.some((fault) => fault.kind === 'unusable');
      const isKnown =
        !isUnusable && parts.some((part) => isIn(part, 'required') || isIn(part, 'properties'));
      const isRefused =
        kind === 'allow' &&
        (name in given
          ? !texts.every((one) => one === allow[0] || (allow[0] === '*' && typeof one === 'string'))
          : isKnown);
      assert.equal(sent.kind === 'refused', isRefused, about());
      if (sent.kind === 'refused') {
        counts.refused += 1;
        continue;
      }
      const branches = [
        ...parts,
        ...['anyOf', 'oneOf'].flatMap((key) => (schema[key] ?? []) as Schema[]),
      ];
      const isMeant = (kind === 'fixed' ? branches : parts).some(
        (part) => isIn(part, 'required') || isIn(part, 'properties'),
      );
      const without = Object.fromEntries(Object.entries(given).filter(([one]) => one !== name));
      const fills = kind === 'fixed' || (kind === 'default' && !(name in given));
      const completes = fills && (isMeant || isUnusable);
      const untouched = kind === 'fixed' ? without : given;
      const expected = completes ? { ...given, [name]: value } : untouched;
      assert.deepEqual(sent.arguments, expected, about());
      counts.left += 1;
      if (made.faults.some((fault) => fault.kind === 'unusable')) {
        counts.unusable += 1;
        continue;
      }
      if (made.faults.length > 0) continue;
      const seen = Object.fromEntries(
        Object.entries(given).filter(([one]) => kind !== 'fixed' || one !== name),
      );
      const [shown, real] = [isValid(made.schema, seen), isValid(schema, expected)];
      // A default may make the schema of agents a little narrower, never wider (`maxProperties`).
      if (kind === 'fixed') assert.equal(shown, real, about());
      else if (shown) assert.ok(real, about());
      counts.judged += 1;
    }
    assert.ok(
      counts.judged > runs / 8 && counts.refused > runs / 50 && counts.unusable > runs / 200,
      JSON.stringify(counts),
    );
  });
});
