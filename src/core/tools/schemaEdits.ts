/**
 * Changes one top-level argument of a schema (O6), for draft-07 and 2020-12. The result takes a call without the argument
 * exactly if the schema takes the call with it. Parts that do not name the argument stay as they are.
 */
import { Validator, type Schema as JsonSchema } from '@cfworker/json-schema';
import { isObject } from '../base/isObject.js';
import { partBelow, type SchemaPart } from './canonicalTool.js';

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
  'const',
  'enum',
] as const;

export function withFixed(schema: Schema, name: string, value: unknown): FixedSchema {
  if (isReferredTo(schema, name)) return { kind: 'unusable' };
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

/** Keywords that are about every argument. */
const ofAllNames = [
  'additionalProperties',
  'unevaluatedProperties',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'const',
  'enum',
] as const;

/** A deeper part counts as one that names everything, because the walk must end. */
const deepest = 64;

/** True if one of these keywords of a schema names the argument. */
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
  if (schema['$dynamicRef'] !== undefined || schema['$recursiveRef'] !== undefined) return true;
  for (const key of ['dependencies', 'dependentRequired', 'dependentSchemas'] as const) {
    const dependent = schema[key];
    if (!isObject(dependent)) continue;
    if (Object.hasOwn(dependent, name) || Object.values(dependent).some((one) => has(one) || isNamedIn(one)))
      return true;
  }
  if (typeof $ref === 'string') {
    const local = localReference($ref, root);
    if (local === undefined) return true;
    if (!followed.has(local)) {
      followed.add(local);
      if (isNamedIn(targetOf(local, root))) return true;
    }
  }
  const lists = [schema['allOf'], schema['anyOf'], schema['oneOf']].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  return [...lists, schema['not'], schema['if'], schema['then'], schema['else']].some(isNamedIn);
}

/** Returns the fragment of a reference within this schema, or undefined for a reference to another one. */
function localReference(reference: string, root: Schema): string | undefined {
  if (reference.startsWith('#')) return reference;
  const { $id } = root;
  const [target = '', fragment = ''] = reference.split('#');
  if (typeof $id !== 'string') return undefined;
  return target === $id || resolved(target, $id) === resolved('', $id) ? `#${fragment}` : undefined;
}

function resolved(reference: string, base: string): string {
  try {
    return new URL(reference, base).href.replace(/#.*$/, '');
  } catch {
    return reference || base;
  }
}

/** Returns the part of a schema that a reference with `#` leads to. */
export function targetOf(reference: string, root: Schema): unknown {
  return partAt(root, stepsOf(reference));
}

export function partAt(root: unknown, steps: readonly string[]): unknown {
  let found = root;
  for (const step of steps) {
    if (!isObject(found) && !Array.isArray(found)) return undefined;
    found = Object.hasOwn(found, step) ? (found as Readonly<Record<string, unknown>>)[step] : undefined;
  }
  return found;
}

function stepsOf(reference: string): string[] {
  const pointer = reference.slice(1);
  return (decoded(pointer) ?? pointer).split('/').slice(1).map(unescaped);
}

export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Reads the escapes of a JSON pointer (RFC 6901). */
export function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** True if a reference leads to the argument itself, to the whole schema, or into a list whose indexes may change. */
function isReferredTo(schema: Schema, name: string): boolean {
  const leads = (value: unknown, key: string, depth: number): boolean => {
    if (depth > deepest) return true;
    if (typeof value === 'string' && (key === '$dynamicRef' || key === '$recursiveRef')) return true;
    if (typeof value === 'string' && key === '$ref') {
      const local = localReference(value, schema);
      if (local === undefined) return false;
      const [first, second] = stepsOf(local);
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
export function accepts(schema: unknown, value: unknown, root: Schema): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return true;
  const { $defs, definitions } = root;
  const given = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }), ...schema };
  if (JSON.stringify([given, value]).length > longest) return true;
  const whole = withoutPatterns(given, 'schema', hasPattern(given));
  try {
    return new Validator(whole as JsonSchema, '2020-12', true).validate(value).valid;
  } catch {
    // It refers to nothing, or to itself.
    return true;
  }
}

function hasPattern(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasPattern);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(
    ([key, value]) =>
      key === 'patternProperties' || (key === 'pattern' && typeof value === 'string') || hasPattern(value),
  );
}

function hasReference(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasReference);
  return isObject(schema) && Object.entries(schema).some(([key, value]) => key === '$ref' || hasReference(value));
}

/** These may refuse a value because a part of them takes it. */
const inverting = ['not', 'oneOf', 'if', 'contains'];
const beside: Readonly<Record<string, readonly string[]>> = {
  if: ['then', 'else'],
  contains: ['minContains', 'maxContains'],
  patternProperties: ['additionalProperties'],
};

/**
 * Returns a schema without patterns that takes everything that the schema takes with them.
 * @param isAnywhere true if a reference may lead to a pattern
 */
function withoutPatterns(value: unknown, kind: SchemaPart, isAnywhere: boolean): unknown {
  if (kind === 'data') return value;
  if (Array.isArray(value)) return value.map((one) => withoutPatterns(one, kind, isAnywhere));
  if (!isObject(value)) return value;
  const left = new Set<string>(kind === 'schema' ? ['pattern', 'patternProperties', '$schema'] : []);
  if (kind === 'schema') {
    const unsure = inverting.filter((key) => hasPattern(value[key]) || (isAnywhere && hasReference(value[key])));
    if (isAnywhere) unsure.push('unevaluatedProperties', 'unevaluatedItems');
    if (value['patternProperties'] !== undefined) unsure.push('patternProperties');
    for (const key of unsure) for (const one of [key, ...(beside[key] ?? [])]) left.add(one);
  }
  const kept = Object.entries(value).filter(([key]) => !left.has(key));
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutPatterns(one, partBelow(kind, key), isAnywhere)]));
}
