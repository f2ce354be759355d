/**
 * Makes a form of a JSON Schema as plain values. A part beyond the form becomes a field of JSON.
 * Pure.
 */
import { english } from '../core/base/language.js';
import { asFields, asList, isObject, type Fields } from '../core/base/isObject.js';
import { perObject } from '../core/base/perObject.js';
import { decoded } from '../core/base/text.js';
import { enteredText, formatOf, type Format } from './formats.js';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

interface Described {
  readonly title: string;
  readonly description: string;
  readonly initial: Json | undefined;
}

type FieldParts =
  | {
      readonly kind: 'text';
      readonly least: number;
      readonly most: number | undefined;
      readonly pattern: string;
      readonly format: Format | undefined;
    }
  | {
      readonly kind: 'number';
      readonly integer: boolean;
      readonly minimum: number | undefined;
      readonly maximum: number | undefined;
    }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  | { readonly kind: 'group'; readonly members: readonly Member[] }
  | {
      readonly kind: 'list';
      readonly item: Field;
      readonly least: number;
      readonly most: number | undefined;
    }
  | { readonly kind: 'json'; readonly accepts: string };

export type Field = Described & FieldParts;

export interface Option {
  readonly label: string;
  readonly value: Json;
}

export interface Member {
  readonly name: string;
  readonly required: boolean;
  readonly field: Field;
}

type Schema = Fields;

/** The deepest nesting of a form. Deeper parts become fields of JSON. */
const deepest = 5;

/** The most elements of a page in a form. The rest become fields of JSON. */
const mostElements = 10_000;
/**
 * The most keys, list items and characters that a form reads, because references repeat long parts
 * (S2h).
 */
const mostEntries = 500_000;
/** The approximate elements of a field: label, description and input. */
const elementsOfField = 10;

interface Draft {
  readonly root: unknown;
  left: number;
  entriesLeft: number;
}

interface Standing {
  readonly depth: number;
  /**
   * How often the page has the field, because of the least number of items in the lists around it.
   */
  readonly copies: number;
  readonly needed: boolean;
}

export function formOf(inputSchema: unknown): Field {
  const draft = {
    root: inputSchema,
    left: mostElements,
    entriesLeft: mostEntries,
  };
  return fieldOf(inputSchema, draft, {
    depth: 0,
    copies: 1,
    needed: true,
  });
}

function fieldOf(given: unknown, draft: Draft, standing: Standing): Field {
  const schema = resolved(given, draft);
  if (!schema)
    return {
      kind: 'json',
      accepts: english`any value`,
      ...undescribed,
    };
  const { title, description, default: initial } = schema;
  const described = {
    title: text(title),
    description: text(description),
    initial: initial as Json | undefined,
  };
  const options = optionsOf(schema);
  if (options) {
    return hasRoom(draft, options.length * standing.copies)
      ? {
          kind: 'choice',
          options,
          ...described,
        }
      : {
          kind: 'json',
          accepts: english`one of the values that the schema lists`,
          ...described,
        };
  }
  if (standing.depth > deepest)
    return {
      kind: 'json',
      accepts: anyAllowed,
      ...described,
    };
  const inner = onlyVariant(schema);
  if (standing.needed && allowsNull(schema)) {
    const type = typeOf(resolved(inner, draft) ?? schema) ?? '';
    const allowed = phrases.get(type) ?? english`another value that the schema allows`;
    return {
      kind: 'json',
      accepts: english`${allowed}, or null`,
      ...described,
    };
  }
  if (inner === undefined) return { ...valueField(schema, draft, standing), ...described };
  const field = fieldOf(inner, draft, { ...standing, depth: standing.depth + 1 });
  return {
    ...field,
    title: described.title || field.title,
    description: described.description || field.description,
    initial: described.initial === undefined ? field.initial : described.initial,
  };
}

const undescribed: Described = {
  title: '',
  description: '',
  initial: undefined,
};

/** The field of a schema with one type. */
function valueField(schema: Schema, draft: Draft, standing: Standing): FieldParts {
  const type = unionsOf(schema).length > 0 ? undefined : typeOf(schema);
  switch (type) {
    case 'string':
      return {
        kind: 'text',
        least: count(schema['minLength']) ?? 0,
        most: count(schema['maxLength']),
        pattern: text(schema['pattern']),
        format: formatFor(schema),
      };
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        integer: type === 'integer',
        minimum: count(schema['minimum']),
        maximum: count(schema['maximum']),
      };
    case 'boolean':
      return { kind: 'flag' };
    case 'object':
      return groupField(schema, draft, standing);
    case 'array':
      return listField(schema, draft, standing);
    default:
      return { kind: 'json', accepts: anyAllowed };
  }
}

function groupField(schema: Schema, draft: Draft, { depth, copies }: Standing): FieldParts {
  const properties = new Map(Object.entries(asFields(schema['properties'])));
  // The root is the arguments, and a tool without arguments has an empty form.
  const hasFields = properties.size > 0 || (depth === 0 && !isOpen(schema));
  const required = new Set(asList(schema['required']).filter((one) => typeof one === 'string'));
  for (const name of required)
    if (!properties.has(name)) properties.set(name, schema['additionalProperties']);
  if (!hasRoom(draft, properties.size * elementsOfField * copies) || !hasFields)
    return { kind: 'json', accepts: english`an object` };
  const members = [...properties].map(([name, property]): Member => {
    const needed = required.has(name);
    const field = fieldOf(property, draft, {
      depth: depth + 1,
      copies,
      needed,
    });
    return {
      name,
      required: needed,
      field,
    };
  });
  return { kind: 'group', members };
}

function listField(schema: Schema, draft: Draft, { depth, copies }: Standing): FieldParts {
  const { items, prefixItems, minItems, maxItems } = schema;
  const least = count(minItems) ?? 0;
  const all = copies * Math.max(1, least);
  if (!isObject(items) || prefixItems !== undefined || !hasRoom(draft, all * elementsOfField))
    return { kind: 'json', accepts: english`a list` };
  const item = fieldOf(items, draft, {
    depth: depth + 1,
    copies: all,
    needed: true,
  });
  return {
    kind: 'list',
    item,
    least,
    most: count(maxItems),
  };
}

const anyAllowed = english`any value that the schema allows`;

const phrases: ReadonlyMap<string, string> = new Map([
  ['string', english`a text in quotes`],
  ['integer', english`a whole number`],
  ['number', english`a number`],
  ['boolean', english`true, false`],
  ['object', english`an object`],
  ['array', english`a list`],
]);

function formatFor({ format, pattern, default: initial }: Schema): Format | undefined {
  const known = formatOf(format);
  if (known === undefined || pattern !== undefined) return undefined;
  return typeof initial !== 'string' || enteredText(known, initial) !== undefined
    ? known
    : undefined;
}

function hasRoom(draft: Draft, elements: number): boolean {
  if (elements > draft.left) return false;
  draft.left -= elements;
  return true;
}

function isOpen(schema: Schema): boolean {
  const { additionalProperties, patternProperties } = schema;
  return (
    isObject(additionalProperties) || additionalProperties === true || isObject(patternProperties)
  );
}

function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null');
    return types.length === 1 ? text(types[0]) : undefined;
  }
  if (isObject(schema['properties'])) return 'object';
  return isObject(schema['items']) ? 'array' : undefined;
}

function optionsOf(schema: Schema): Option[] | undefined {
  if ('const' in schema) return [option(schema['const'] as Json)];
  if (Array.isArray(schema['enum'])) {
    const names = schema['enumNames'];
    return schema['enum'].map((value, index) =>
      option(value as Json, Array.isArray(names) ? names[index] : undefined),
    );
  }
  const variants = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(variants) || variants.length === 0) return undefined;
  const options = variants.map((variant) => {
    if (!isObject(variant)) return undefined;
    if (isNull(variant)) return option(null, variant['title']);
    return 'const' in variant ? option(variant['const'] as Json, variant['title']) : undefined;
  });
  // A null and one other schema are not a choice.
  const isChoice = variants.some((variant) => isObject(variant) && 'const' in variant);
  return isChoice && options.every((one) => one !== undefined) ? options : undefined;
}

function option(value: Json, title?: unknown): Option {
  return {
    label: text(title) || (typeof value === 'object' && value ? jsonOf(value) : String(value)),
    value,
  };
}

/** Fields with the same reference share their options. */
const jsonOf = perObject((value: object) => JSON.stringify(value));

function unionsOf(
  schema: Schema,
  keys: readonly string[] = ['anyOf', 'oneOf', 'allOf'],
): unknown[][] {
  return schema['properties'] === undefined
    ? keys.map((key) => schema[key]).filter((all) => Array.isArray(all))
    : [];
}

const isNull = (schema: unknown): boolean => asFields(schema)['type'] === 'null';

/** Returns the only schema of an `allOf` or of a union, apart from null. */
function onlyVariant(schema: Schema): unknown {
  const others = unionsOf(schema).map((variants) => variants.filter((variant) => !isNull(variant)));
  return others.find((rest) => rest.length === 1)?.[0];
}

function allowsNull(schema: Schema): boolean {
  const { type } = schema;
  return Array.isArray(type)
    ? type.includes('null')
    : unionsOf(schema, ['anyOf', 'oneOf']).flat().some(isNull);
}

/**
 * Follows references within the schema. Returns undefined for a missing target, a circle, and a
 * form that is too long.
 */
function resolved(given: unknown, draft: Draft): Schema | undefined {
  let schema = given;
  for (let times = 0; times < 20; times++) {
    if (!isObject(schema)) return undefined;
    const size = sizeOf(schema);
    if (size > draft.entriesLeft) return undefined;
    draft.entriesLeft -= size;
    const { $ref: reference, ...own } = schema;
    if (typeof reference !== 'string') return schema;
    const target = at(draft.root, reference);
    if (!isObject(target)) return undefined;
    schema = { ...target, ...own };
  }
  return undefined;
}

function sizeOf(schema: Schema): number {
  const sizes = Object.values(schema).map((value) => {
    return typeof value === 'string' || Array.isArray(value) ? value.length : 1;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

function at(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  const path = decoded(reference.slice(1)).split('/').slice(1);
  return path.reduce<unknown>((value, step) => {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? (value as Record<string, unknown>)[key]
      : undefined;
  }, root);
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
