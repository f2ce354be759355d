/**
 * Changes one top-level argument of a schema (O6), for draft-07 and 2020-12. The result takes a call without the argument
 * exactly if the schema takes the call with it. Parts that do not name the argument stay as they are.
 */
import { Validator, type Schema as JsonSchema } from '@cfworker/json-schema';
import { isObject } from '../base/isObject.js';

type Schema = Readonly<Record<string, unknown>>;

type FixedSchema =
  | { readonly kind: 'changed'; readonly schema: Schema; readonly isKnown: boolean; readonly isRefused: boolean }
  | { readonly kind: 'unusable' };

/** Keywords for whole calls. If one names the argument, its meaning without the argument is not clear. */
const wholeKeywords = [
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'not',
  'if',
  'then',
  'else',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'const',
  'enum',
];

export function withFixed(schema: Schema, name: string, value: unknown): FixedSchema {
  if (isReferredTo(schema, name)) return { kind: 'unusable' };
  let isKnown = false;
  /** @param takesAll true if the value counts as valid everywhere */
  const edit = (part: Schema, takesAll: boolean): Edited => {
    if (wholeKeywords.some((key) => isNamed(part[key], name, schema))) return 'unusable';
    const { properties, additionalProperties, patternProperties } = part;
    const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own !== undefined) isKnown = true;
    if (patternProperties !== undefined && own === undefined && additionalProperties !== undefined) return 'unusable';
    const judge = own ?? additionalProperties;
    if (!takesAll && judge !== undefined && !accepts(judge, value, schema)) return 'impossible';
    let edited = without(part, name);
    for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
      const parts = part[key];
      if (!Array.isArray(parts)) continue;
      const changed = parts.map((one) => (isObject(one) ? edit(one, takesAll) : (one as boolean)));
      if (changed.includes('unusable')) return 'unusable';
      const kept = changed.filter((one) => one !== 'impossible');
      if (key === 'allOf' ? kept.length < changed.length : kept.length === 0 && parts.length > 0) return 'impossible';
      edited = { ...edited, [key]: kept };
    }
    return edited;
  };
  const strict = edit(schema, false);
  // If the server will refuse the value, agents still do not see the argument.
  const isRefused = strict === 'impossible';
  const edited = isRefused ? edit(schema, true) : strict;
  return typeof edited === 'string' ? { kind: 'unusable' } : { kind: 'changed', schema: edited, isKnown, isRefused };
}

type Edited = Schema | 'impossible' | 'unusable';

function without(schema: Schema, name: string): Schema {
  const edited: Record<string, unknown> = { ...schema };
  const { properties, minProperties, maxProperties } = schema;
  if (isObject(properties)) {
    edited['properties'] = Object.fromEntries(Object.entries(properties).filter(([key]) => key !== name));
  }
  if (typeof minProperties === 'number') edited['minProperties'] = Math.max(0, minProperties - 1);
  if (typeof maxProperties === 'number') edited['maxProperties'] = Math.max(0, maxProperties - 1);
  return withoutRequired(edited, name);
}

function withoutRequired(schema: Schema, name: string): Schema {
  const { required, ...rest } = schema;
  if (!Array.isArray(required) || !required.includes(name)) return schema;
  const left = (required as unknown[]).filter((one) => one !== name);
  return left.length > 0 ? { ...rest, required: left } : rest;
}

/** Returns undefined if another part names the argument. @param isOptional true if a call may leave it out now */
export function withChanged(
  schema: Schema,
  name: string,
  change: (property: unknown) => unknown,
  isOptional: boolean,
): Schema | undefined {
  if (isReferredTo(schema, name)) return undefined;
  const root = schema;
  let [isChanged, isElsewhere] = [false, false];
  const of = (part: Schema): Schema | undefined => {
    const { properties, allOf } = part;
    const others = ['anyOf', 'oneOf', ...wholeKeywords];
    if (others.some((key) => isNamed(part[key], name, root))) {
      if (isOptional) return undefined;
      isElsewhere = true;
    }
    let edited = part;
    if (isObject(properties) && Object.hasOwn(properties, name)) {
      isChanged = true;
      const entries = Object.entries(properties).map(([key, value]) => [key, key === name ? change(value) : value]);
      edited = { ...edited, properties: Object.fromEntries(entries) as unknown };
    }
    if (isOptional) {
      const { maxProperties } = edited;
      // The call may have one more, and may also have it already.
      if (typeof maxProperties === 'number') edited = { ...edited, maxProperties: Math.max(0, maxProperties - 1) };
      edited = withoutRequired(edited, name);
    }
    if (!Array.isArray(allOf)) return edited;
    const parts = allOf.map((one) => (isObject(one) ? of(one) : (one as boolean)));
    return parts.includes(undefined) ? undefined : { ...edited, allOf: parts };
  };
  const changed = of(schema);
  return isElsewhere && !isChanged ? undefined : changed;
}

const ofAllNames = new Set([
  'additionalProperties',
  'unevaluatedProperties',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
]);

/** A deeper part counts as one that names everything, because the walk must end. */
const deepest = 64;

/** True if a name or a text below is the argument, or if a reference leads to such a part. */
function isNamed(part: unknown, name: string, root: Schema, depth = 0, followed = new Set<string>()): boolean {
  if (depth > deepest) return true;
  if (typeof part === 'string') {
    if (part === name) return true;
    if (!part.startsWith('#') || followed.has(part)) return false;
    followed.add(part);
    return isNamed(targetOf(part, root), name, root, depth + 1, followed);
  }
  if (Array.isArray(part)) return part.some((one) => isNamed(one, name, root, depth + 1, followed));
  if (!isObject(part)) return false;
  return Object.entries(part).some(
    ([key, value]) => key === name || ofAllNames.has(key) || isNamed(value, name, root, depth + 1, followed),
  );
}

function targetOf(reference: string, root: Schema): unknown {
  let found: unknown = root;
  for (const step of stepsOf(reference)) {
    if (!isObject(found) && !Array.isArray(found)) return undefined;
    found = Object.hasOwn(found, step) ? (found as Readonly<Record<string, unknown>>)[step] : undefined;
  }
  return found;
}

function stepsOf(reference: string): string[] {
  const pointer = decoded(reference.slice(1));
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** True if a reference leads to the argument itself, to the whole schema, or into a list whose indexes may change. */
function isReferredTo(schema: Schema, name: string): boolean {
  const leads = (value: unknown, key: string, depth: number): boolean => {
    if (depth > deepest) return true;
    if (typeof value === 'string' && key === '$ref' && value.startsWith('#')) {
      const [first, second] = stepsOf(value);
      if (first === undefined || ['allOf', 'anyOf', 'oneOf'].includes(first)) return true;
      return first === 'properties' && (second === undefined || second === name);
    }
    if (Array.isArray(value)) return value.some((one) => leads(one, '', depth + 1));
    return isObject(value) && Object.entries(value).some(([inner, one]) => leads(one, inner, depth + 1));
  };
  return leads(schema, '', 0);
}

/** A longer schema or value is not judged, in characters of JSON. */
const longest = 20_000;

/** True if the value is valid, or if that cannot be found out. Patterns of servers are not run: some take forever. */
function accepts(schema: unknown, value: unknown, root: Readonly<Record<string, unknown>>): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return true;
  const { $defs, definitions } = root;
  const whole = withoutPatterns({
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
    ...schema,
  });
  if (JSON.stringify([whole, value]).length > longest) return true;
  try {
    return new Validator(whole as JsonSchema, '2020-12', true).validate(value).valid;
  } catch {
    // It refers to nothing, or to itself.
    return true;
  }
}

function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      !(key === 'pattern' && typeof value === 'string') && key !== 'patternProperties' && key !== '$schema',
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutPatterns(value)]));
}
