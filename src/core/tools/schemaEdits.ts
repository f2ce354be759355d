/**
 * Edits one argument of a schema (O6). The result takes a call without it exactly if the schema
 * takes the call with it.
 */
import { asList, isObject, mapped, without } from '../base/isObject.js';
import { mostParts, Steps } from '../base/steps.js';
import { SchemaJudge, stepsOf, targetOf, type Schema } from './schemaJudge.js';

type FixedSchema = {
  readonly schema: Schema;
  readonly isKnown: boolean;
  readonly isRefused: boolean;
};

const references = ['$ref', '$dynamicRef', '$recursiveRef'];
const dependents = ['dependencies', 'dependentRequired', 'dependentSchemas'];
/**
 * Keywords for whole calls. If one names the argument, its meaning without the argument is not
 * clear.
 */
const wholeKeywords = [...references, ...dependents, 'not', 'if', 'then', 'else', 'const', 'enum'];
const lists = ['allOf', 'anyOf', 'oneOf'];

/**
 * What is known of the schema that a server gave a tool. All edits share its steps, and are of no
 * use without any.
 */
export interface GivenSchema {
  readonly root: Schema;
  readonly steps: Steps;
  readonly judge: SchemaJudge;
  /** Undefined if the schema is too deep. */
  readonly references: readonly Reference[] | undefined;
}

type Reference = { readonly keyword: string; readonly steps: readonly string[] };

export function givenSchema(root: Schema): GivenSchema {
  const steps = new Steps(mostParts);
  return {
    root,
    steps,
    judge: new SchemaJudge(root, steps),
    references: referencesIn(root, steps),
  };
}

/** Returns undefined if another part names the argument. */
export function withFixed(
  given: GivenSchema,
  schema: Schema,
  name: string,
  value: unknown,
): FixedSchema | undefined {
  if (isReferredTo(given, name)) return undefined;
  const { steps, judge } = given;
  let isKnown = false;
  /** Edits a list of schemas. A call must fit all of `allOf`, and otherwise one of the list. */
  const editList = (
    key: string,
    parts: readonly unknown[],
    takesAll: boolean,
  ): readonly unknown[] | Exclude<Edited, Schema> => {
    const changed = parts.map((one) => (isObject(one) ? edit(one, takesAll) : (one as boolean)));
    if (changed.includes('unusable')) return 'unusable';
    const kept = changed.filter((one) => one !== 'impossible');
    const fewest = key === 'allOf' ? parts.length : Math.min(1, parts.length);
    return kept.length < fewest ? 'impossible' : kept;
  };
  /** @param takesAll true if the value counts as valid everywhere */
  const edit = (part: Schema, takesAll: boolean): Edited => {
    if (!steps.takeFor(sizeOf(part)) || isNamedBy(given, part, wholeKeywords, name))
      return 'unusable';
    const { properties, additionalProperties, propertyNames } = part;
    const own =
      isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own !== undefined || isRequiredBy(part, name)) isKnown = true;
    if (own === undefined && mayNameOthers(part)) return 'unusable';
    const taking = own ?? additionalProperties;
    if (!takesAll && !(judge.accepts(propertyNames, name) && judge.accepts(taking, value)))
      return 'impossible';
    let edited = withoutArgument(part, name);
    for (const key of lists) {
      const parts = part[key];
      if (!Array.isArray(parts)) continue;
      const kept = editList(key, parts, takesAll);
      if (typeof kept === 'string') return kept;
      edited = { ...edited, [key]: kept };
    }
    return edited;
  };
  const strict = edit(schema, false);
  // If the server will refuse the value, agents still do not see the argument.
  const isRefused = strict === 'impossible';
  const edited = isRefused ? edit(schema, true) : strict;
  return typeof edited === 'string'
    ? undefined
    : {
        schema: edited,
        isKnown,
        isRefused,
      };
}

type Edited = Schema | 'impossible' | 'unusable';

/** True if the part has a schema for arguments that it does not name, and which ones is not clear. */
function mayNameOthers(part: Schema): boolean {
  const { additionalProperties, patternProperties, unevaluatedProperties } = part;
  if (unevaluatedProperties !== undefined) return true;
  return patternProperties !== undefined && additionalProperties !== undefined;
}

/** Each edit of a part copies these. */
function sizeOf({ properties, required }: Schema): number {
  const named = isObject(properties) ? Object.keys(properties).length : 0;
  return named + asList(required).length;
}

function withoutArgument(schema: Schema, name: string): Schema {
  const edited: Record<string, unknown> = { ...schema };
  const { properties, minProperties, maxProperties } = schema;
  if (isObject(properties)) edited['properties'] = without(properties, name);
  if (typeof minProperties === 'number') edited['minProperties'] = Math.max(0, minProperties - 1);
  if (typeof maxProperties === 'number') edited['maxProperties'] = Math.max(0, maxProperties - 1);
  return withoutRequired(edited, name);
}

export function isRequiredBy(schema: Schema, name: string): boolean {
  return asList(schema['required']).includes(name);
}

function withoutRequired(schema: Schema, name: string): Schema {
  const { required } = schema;
  if (!Array.isArray(required) || !required.includes(name)) return schema;
  const left = (required as unknown[]).filter((one) => one !== name);
  return left.length > 0 ? { ...schema, required: left } : without(schema, 'required');
}

/**
 * Returns undefined if another part names the argument. @param isOptional true if a call may leave
 * it out now
 */
export function withChanged(
  given: GivenSchema,
  schema: Schema,
  name: string,
  change: (property: unknown) => unknown,
  isOptional: boolean,
): Omit<FixedSchema, 'isRefused'> | undefined {
  if (isReferredTo(given, name)) return undefined;
  let isChanged = false;
  let isElsewhere = false;
  let isRequired = false;
  const of = (part: Schema): Schema | undefined => {
    const { properties, allOf } = part;
    if (!given.steps.takeFor(sizeOf(part))) return undefined;
    if (isNamedBy(given, part, ['anyOf', 'oneOf', ...wholeKeywords], name)) {
      if (isOptional) return undefined;
      isElsewhere = true;
    }
    let edited = part;
    isRequired ||= isRequiredBy(part, name);
    if (isObject(properties) && Object.hasOwn(properties, name)) {
      isChanged = true;
      const other = mapped(properties, (value, key) => (key === name ? change(value) : value));
      edited = { ...edited, properties: other };
    }
    if (isOptional) {
      const { maxProperties } = edited;
      // The call may have one more, and may also have it already.
      if (typeof maxProperties === 'number')
        edited = { ...edited, maxProperties: Math.max(0, maxProperties - 1) };
      edited = withoutRequired(edited, name);
    }
    if (!Array.isArray(allOf)) return edited;
    const parts = allOf.map((one) => (isObject(one) ? of(one) : (one as boolean)));
    return parts.includes(undefined) ? undefined : { ...edited, allOf: parts };
  };
  const changed = of(schema);
  if (!changed || (isElsewhere && !isChanged)) return undefined;
  return { schema: changed, isKnown: isChanged || isRequired };
}

/** Keywords that are, or may be, about every argument. */
const ofAllNames = [
  'additionalProperties',
  'unevaluatedProperties',
  'patternProperties',
  'minProperties',
  'maxProperties',
  'propertyNames',
  'const',
  'enum',
  '$dynamicRef',
  '$recursiveRef',
];

/** A deeper part counts as one that names everything, because the walk must end. */
const deepest = 64;

/**
 * True if one of these keywords says something about the argument. Schemas of other arguments do
 * not count.
 */
function isNamedBy(
  { root, steps }: GivenSchema,
  schema: Schema,
  keywords: readonly string[],
  name: string,
): boolean {
  const followed = new Set<string>();
  const has = (names: unknown) =>
    Array.isArray(names) && steps.takeFor(names.length) && names.includes(name);
  const isNamed = (part: unknown, depth: number): boolean => {
    if (!isObject(part)) return false;
    if (depth > deepest || !steps.take()) return true;
    const isNamedIn = (inner: unknown) => isNamed(inner, depth + 1);
    const isDependent = (key: string) => {
      const dependent = part[key];
      if (!isObject(dependent)) return false;
      if (Object.hasOwn(dependent, name)) return true;
      const dependencies = Object.values(dependent);
      steps.takeFor(dependencies.length);
      return dependencies.some((one) => has(one) || isNamedIn(one));
    };
    const isReferredTo = (reference: unknown) => {
      if (typeof reference !== 'string' || followed.has(reference)) return false;
      followed.add(reference);
      return !reference.startsWith('#') || isNamedIn(targetOf(reference, root));
    };
    const { properties, required, $ref } = part;
    if (has(required) || (isObject(properties) && Object.hasOwn(properties, name))) return true;
    if (ofAllNames.some((key) => part[key] !== undefined)) return true;
    if (dependents.some(isDependent) || isReferredTo($ref)) return true;
    return [...lists, 'not', 'if', 'then', 'else'].flatMap((key) => part[key]).some(isNamedIn);
  };
  const own = keywords.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]]));
  return isNamed(Object.fromEntries(own), 0);
}

function referencesIn(schema: Schema, steps: Steps): readonly Reference[] | undefined {
  const found: Reference[] = [];
  let isWhole = true;
  const look = (value: unknown, key: string, depth: number): void => {
    if (typeof value === 'string' && references.includes(key))
      found.push({ keyword: key, steps: stepsOf(value) ?? [] });
    if (typeof value !== 'object' || value === null) return;
    const inner = Object.entries(value);
    isWhole = depth <= deepest && steps.takeFor(inner.length) && isWhole;
    if (!isWhole) return;
    for (const [below, one] of inner) look(one, Array.isArray(value) ? '' : below, depth + 1);
  };
  look(schema, '', 0);
  return isWhole ? found : undefined;
}

/**
 * True if a reference may lead to the argument itself, to the whole schema, or into a list whose
 * indexes may change.
 */
function isReferredTo({ references: found, steps }: GivenSchema, name: string): boolean {
  if (!found || !steps.takeFor(found.length)) return true;
  return found.some(({ keyword, steps: [first, second] }) => {
    if (keyword !== '$ref' || first === undefined || lists.includes(first)) return true;
    return first === 'properties' && (second === undefined || second === name);
  });
}
