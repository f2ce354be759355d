/** Edits one argument of a schema (O6). The result takes a call without it exactly if the schema takes the call with it. */
import { Validator, type Schema as JsonSchema } from '@cfworker/json-schema';
import { isObject } from '../base/isObject.js';
import { unlessThrown } from '../base/unlessThrown.js';

type Schema = Readonly<Record<string, unknown>>;

type FixedSchema = { readonly schema: Schema; readonly isKnown: boolean; readonly isRefused: boolean };

const references = ['$ref', '$dynamicRef', '$recursiveRef'];
const dependents = ['dependencies', 'dependentRequired', 'dependentSchemas'];
/** Keywords for whole calls. If one names the argument, its meaning without the argument is not clear. */
const wholeKeywords = [...references, ...dependents, 'not', 'if', 'then', 'else', 'const', 'enum'];
const lists = ['allOf', 'anyOf', 'oneOf'];

/** Returns undefined if another part names the argument. */
export function withFixed(schema: Schema, name: string, value: unknown): FixedSchema | undefined {
  if (isReferredTo(schema, name)) return undefined;
  let isKnown = false;
  /** @param takesAll true if the value counts as valid everywhere */
  const edit = (part: Schema, takesAll: boolean): Edited => {
    if (isNamedBy(part, wholeKeywords, name, schema)) return 'unusable';
    const { properties, additionalProperties, patternProperties, propertyNames, unevaluatedProperties } = part;
    const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own !== undefined) isKnown = true;
    if (patternProperties !== undefined && own === undefined && additionalProperties !== undefined) return 'unusable';
    if (unevaluatedProperties !== undefined && own === undefined) return 'unusable';
    const judge = own ?? additionalProperties;
    if (!takesAll && !(accepts(propertyNames, name, schema) && accepts(judge, value, schema))) return 'impossible';
    let edited = without(part, name);
    for (const key of lists) {
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
  return typeof edited === 'string' ? undefined : { schema: edited, isKnown, isRefused };
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
  return left.length > 0 ? { ...schema, required: left } : rest;
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
    if (isNamedBy(part, ['anyOf', 'oneOf', ...wholeKeywords], name, root)) {
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

/** Keywords that are, or may be, about every argument. */
const ofAllNames = [
  ...['additionalProperties', 'unevaluatedProperties', 'patternProperties', 'minProperties', 'maxProperties'],
  ...['propertyNames', 'const', 'enum', '$dynamicRef', '$recursiveRef'],
];

/** A deeper part counts as one that names everything, because the walk must end. */
const deepest = 64;

function isNamedBy(schema: Schema, keywords: readonly string[], name: string, root: Schema): boolean {
  const own = keywords.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]]));
  return isNamed(Object.fromEntries(own), name, root, 0, new Set());
}

/** True if a schema for the same object says something about the argument. Schemas of other arguments do not count. */
function isNamed(schema: unknown, name: string, root: Schema, depth: number, followed: Set<string>): boolean {
  if (!isObject(schema)) return false;
  if (depth > deepest) return true;
  const isNamedIn = (part: unknown): boolean => isNamed(part, name, root, depth + 1, followed);
  const has = (names: unknown): boolean => Array.isArray(names) && names.includes(name);
  const { properties, required, $ref } = schema;
  if (has(required) || (isObject(properties) && Object.hasOwn(properties, name))) return true;
  if (ofAllNames.some((key) => schema[key] !== undefined)) return true;
  for (const key of dependents) {
    const dependent = schema[key];
    if (!isObject(dependent)) continue;
    if (Object.hasOwn(dependent, name)) return true;
    if (Object.values(dependent).some((one) => has(one) || isNamedIn(one))) return true;
  }
  if (typeof $ref === 'string' && !followed.has($ref)) {
    followed.add($ref);
    if (!$ref.startsWith('#') || isNamedIn(targetOf($ref, root))) return true;
  }
  return [...lists, 'not', 'if', 'then', 'else'].flatMap((key) => schema[key]).some(isNamedIn);
}

export function targetOf(reference: unknown, root: unknown): unknown {
  return stepsOf(reference)?.reduce<unknown>((part, step) => {
    const isInside = (isObject(part) || Array.isArray(part)) && Object.hasOwn(part, step);
    return isInside ? (part as Schema)[step] : undefined;
  }, root);
}

/** Reads a pointer (RFC 6901) as Ajv does, which decodes each step separately. */
function stepsOf(reference: unknown): string[] | undefined {
  if (reference === '#') return [];
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  const steps = reference.slice(2).split('/');
  try {
    return steps.map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return undefined;
  }
}

/** True if a reference may lead to the argument itself, to the whole schema, or into a list whose indexes may change. */
function isReferredTo(schema: Schema, name: string): boolean {
  const leads = (value: unknown, key: string, depth: number): boolean => {
    if (depth > deepest) return true;
    if (typeof value === 'string' && references.includes(key)) {
      const [first, second] = stepsOf(value) ?? [];
      if (key !== '$ref' || first === undefined || lists.includes(first)) return true;
      return first === 'properties' && (second === undefined || second === name);
    }
    if (Array.isArray(value)) return value.some((one) => leads(one, '', depth + 1));
    return isObject(value) && Object.entries(value).some(([inner, one]) => leads(one, inner, depth + 1));
  };
  return leads(schema, '', 0);
}

/** A longer schema or value is not judged, in characters of JSON. */
const longest = 20_000;
const isReferring = /"\$ref":/;
/** Patterns of servers are not run: some take forever. Without its patterns, a schema takes more, or with these less. */
const patterns = /"pattern(?:Properties)?":/;
const unsureBesidePatterns =
  /"(?:not|oneOf|if|contains|const|enum|patternProperties|unevaluated(?:Properties|Items))":/;

/** True if the value is valid, or if that cannot be found out. */
export function accepts(schema: unknown, value: unknown, { $defs, definitions }: Schema): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return true;
  const own = JSON.stringify(schema);
  const given = isReferring.test(own) ? JSON.stringify({ $defs, definitions, ...schema }) : own;
  if (given.length + JSON.stringify(value).length > longest) return true;
  if (patterns.test(given) && unsureBesidePatterns.test(given)) return true;
  const whole: unknown = JSON.parse(given, (key, part: unknown) =>
    key === 'pattern' && typeof part === 'string' ? undefined : part,
  );
  // A schema that refers to nothing, or to itself, makes it throw.
  return unlessThrown(() => new Validator(whole as JsonSchema, '2020-12', true).validate(value).valid) ?? true;
}
