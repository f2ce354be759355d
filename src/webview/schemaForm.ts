/**
 * Makes a form of a JSON Schema as plain values: which fields there are, of what kind, and what each may hold. What a form
 * cannot express (unions, tuples, free maps, recursion) becomes a field of JSON. Pure; knows neither a page nor the editor.
 *
 * Invariant: every schema has a form. A field never takes away what the schema allows but offers JSON instead.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

interface Described {
  readonly title: string;
  readonly description: string;
  /** The schema's default. */
  readonly initial: Json | undefined;
}

export type Field = Described &
  (
    | { readonly kind: 'text'; readonly least: number; readonly most: number | undefined; readonly pattern: string }
    | {
        readonly kind: 'number';
        readonly integer: boolean;
        readonly minimum: number | undefined;
        readonly maximum: number | undefined;
      }
    | { readonly kind: 'flag' }
    | { readonly kind: 'choice'; readonly options: readonly Option[] }
    | { readonly kind: 'group'; readonly members: readonly Member[] }
    | { readonly kind: 'list'; readonly item: Field; readonly least: number; readonly most: number | undefined }
    | { readonly kind: 'json'; readonly accepts: string }
  );

interface Option {
  readonly label: string;
  readonly value: Json;
}

export interface Member {
  readonly name: string;
  readonly required: boolean;
  readonly field: Field;
}

type Schema = Readonly<Record<string, unknown>>;

/** Forms that are nested deeper than this become a field of JSON. */
const deepest = 5;

export function formOf(inputSchema: unknown): Field {
  return fieldOf(inputSchema, inputSchema, 0);
}

function fieldOf(given: unknown, root: unknown, depth: number): Field {
  const schema = resolved(given, root);
  if (!schema) return { kind: 'json', accepts: 'any value', title: '', description: '', initial: undefined };
  const described: Described = {
    title: text(schema['title']),
    description: text(schema['description']),
    initial: schema['default'] as Json | undefined,
  };
  const options = optionsOf(schema);
  if (options) return { kind: 'choice', options, ...described };
  const inner = onlyVariant(schema);
  if (inner !== undefined) {
    const field = fieldOf(inner, root, depth + 1);
    return {
      ...field,
      title: described.title || field.title,
      description: described.description || field.description,
      initial: described.initial ?? field.initial,
    };
  }
  switch (depth > deepest || isUnion(schema) ? undefined : typeOf(schema)) {
    case 'string':
      return {
        kind: 'text',
        least: count(schema['minLength']) ?? 0,
        most: count(schema['maxLength']),
        pattern: text(schema['pattern']),
        ...described,
      };
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        integer: typeOf(schema) === 'integer',
        minimum: count(schema['minimum']),
        maximum: count(schema['maximum']),
        ...described,
      };
    case 'boolean':
      return { kind: 'flag', ...described };
    case 'object': {
      const members = membersOf(schema, root, depth);
      // The root stands for the arguments, and a tool without any has nothing to fill in.
      const closed = depth === 0 && !isOpen(schema);
      return members.length > 0 || closed
        ? { kind: 'group', members, ...described }
        : { kind: 'json', accepts: 'an object', ...described };
    }
    case 'array': {
      const items = schema['items'];
      if (!isSchema(items) || schema['prefixItems'] !== undefined) {
        return { kind: 'json', accepts: 'a list', ...described };
      }
      const item = fieldOf(items, root, depth + 1);
      return {
        kind: 'list',
        item,
        least: count(schema['minItems']) ?? 0,
        most: count(schema['maxItems']),
        ...described,
      };
    }
    default:
      return { kind: 'json', accepts: 'any value that the schema allows', ...described };
  }
}

function membersOf(schema: Schema, root: unknown, depth: number): Member[] {
  const properties = schema['properties'];
  if (!isSchema(properties)) return [];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, property]) => ({
    name,
    required: required.includes(name),
    field: fieldOf(property, root, depth + 1),
  }));
}

function isOpen(schema: Schema): boolean {
  const { additionalProperties, patternProperties } = schema;
  return isSchema(additionalProperties) || additionalProperties === true || isSchema(patternProperties);
}

/** Returns the one type besides null, whether it is stated or implied. */
function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null');
    return types.length === 1 ? text(types[0]) : undefined;
  }
  if (isSchema(schema['properties'])) return 'object';
  return isSchema(schema['items']) ? 'array' : undefined;
}

function optionsOf(schema: Schema): Option[] | undefined {
  if ('const' in schema) return [option(schema['const'] as Json)];
  if (Array.isArray(schema['enum'])) {
    const names = schema['enumNames'];
    return schema['enum'].map((value, index) => option(value as Json, Array.isArray(names) ? names[index] : undefined));
  }
  const variants = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(variants) || variants.length === 0) return undefined;
  return variants.every((variant) => isSchema(variant) && 'const' in variant)
    ? (variants as Schema[]).map((variant) => option(variant['const'] as Json, variant['title']))
    : undefined;
}

function option(value: Json, title?: unknown): Option {
  return { label: text(title) || (typeof value === 'string' ? value : JSON.stringify(value)), value };
}

/** Returns the only schema of an `allOf`, or of a union without its null. */
function onlyVariant(schema: Schema): unknown {
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const variants = schema[key];
    if (!Array.isArray(variants) || schema['properties'] !== undefined) continue;
    const rest = variants.filter((variant) => !(isSchema(variant) && variant['type'] === 'null'));
    if (rest.length === 1) return rest[0];
  }
  return undefined;
}

/** Returns whether a schema has several variants, of which a form would hide all but one. An object with properties has a form of those. */
function isUnion(schema: Schema): boolean {
  const unions = ['anyOf', 'oneOf', 'allOf'].some((key) => Array.isArray(schema[key]));
  return unions && schema['properties'] === undefined;
}

/** Follows references within the schema. Returns undefined if they lead nowhere or in a circle. */
function resolved(given: unknown, root: unknown): Schema | undefined {
  let schema = given;
  for (let steps = 0; steps < 20; steps++) {
    if (!isSchema(schema)) return undefined;
    const reference = schema['$ref'];
    if (typeof reference !== 'string') return schema;
    const target = at(root, reference);
    if (!isSchema(target)) return undefined;
    const own: Record<string, unknown> = { ...schema };
    delete own['$ref'];
    schema = { ...target, ...own };
  }
  return undefined;
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

/** Returns the text itself where it is not encoded: a name of a definition may have a `%`. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
