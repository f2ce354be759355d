/**
 * Judges values by the schema of a server (O4, O6), in counted steps (S2h). Patterns and formats
 * are never run.
 */
import { validate, type Schema as JsonSchema } from '@cfworker/json-schema';
import { isObject, type Fields } from '../base/isObject.js';
import { perObject } from '../base/perObject.js';
import type { Steps } from '../base/steps.js';
import { unlessThrown } from '../base/unlessThrown.js';

/** A schema of JSON Schema that is an object. */
export type Schema = Fields;

/**
 * Some patterns and formats take forever. Without these keywords, a schema takes more, or with the
 * others less.
 */
const notRun = /"(?:pattern|patternProperties|format|uniqueItems)":/;
const unsureBesides =
  /"(?:not|oneOf|if|contains|const|enum|patternProperties|unevaluated(?:Properties|Items))":/;

/** The validator reads this key of each part when it judges the part. Schemas do not have it. */
const countedKey = '__absolute_recursive_ref__';
/** So many characters of a part, or of the value, make each judgement take one step more. */
const charactersOfStep = 500;

export class SchemaJudge {
  private readonly counting: object;
  private stepsForValue = 0;

  constructor(
    private readonly root: Schema,
    private readonly steps: Steps,
  ) {
    const count = (part: object): undefined => {
      if (!steps.take(1 + this.stepsForValue + this.stepsFor(part)))
        throw new Error('too many steps');
    };
    this.counting = Object.create(Object.prototype, {
      [countedKey]: {
        get(this: object) {
          return count(this);
        },
      },
    }) as object;
  }

  /** True if the value is valid, or if that is not judged. */
  accepts(schema: unknown, value: unknown): boolean {
    if (!isObject(schema)) return schema !== false;
    let isRun = true;
    let isSure = true;
    const judged = (part: unknown): unknown => {
      if (!isObject(part)) return part;
      const { copy, text } = this.copyOf(part);
      isRun &&= !notRun.test(text);
      isSure &&= !unsureBesides.test(text);
      return copy;
    };
    this.stepsForValue = JSON.stringify(value).length / charactersOfStep;
    // The look-up of the validator takes exponential time for nested addresses.
    const lookup = new Proxy({}, { get: (_, reference) => judged(targetOf(reference, this.root)) });
    try {
      const { valid } = validate(value, judged(schema) as JsonSchema, '2020-12', lookup);
      return valid || !(isRun || isSure);
    } catch (error) {
      // A reference to nothing throws too. It leaves the other values to be judged.
      if (error instanceof RangeError) this.steps.take(Infinity);
      return true;
    }
  }

  private readonly stepsFor = perObject(
    (part: object) => JSON.stringify(part).length / charactersOfStep,
  );

  private readonly copyOf = perObject((part: Schema) => {
    const text = JSON.stringify(part);
    this.steps.take(text.length / charactersOfStep);
    const copy: unknown = JSON.parse(text, (key, inner: unknown) => {
      const isLeftOut =
        ((key === 'pattern' || key === 'format') && typeof inner === 'string') ||
        (key === 'uniqueItems' && typeof inner === 'boolean') ||
        key.startsWith('__absolute_');
      if (isLeftOut) return undefined;
      return isObject(inner) ? (Object.setPrototypeOf(inner, this.counting) as unknown) : inner;
    });
    return { copy, text };
  });
}

export function targetOf(reference: unknown, root: unknown): unknown {
  return stepsOf(reference)?.reduce<unknown>((part, step) => {
    const isInside = (isObject(part) || Array.isArray(part)) && Object.hasOwn(part, step);
    return isInside ? (part as Schema)[step] : undefined;
  }, root);
}

/**
 * In characters. A longer reference leads nowhere, because each part that has it is read again and
 * again.
 */
const longestReference = 2000;

/** Reads a pointer (RFC 6901) as Ajv does, which decodes each step separately. */
export function stepsOf(reference: unknown): string[] | undefined {
  if (reference === '#') return [];
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  if (reference.length > longestReference) return undefined;
  const steps = reference.slice(2).split('/');
  return unlessThrown(() =>
    steps.map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')),
  );
}
