/**
 * Makes the JSON schema (draft 7) of the config file. It ships as `media/mcp.schema.json` for
 * editors with `yaml-language-server`. Its source is the documentation of keys, also used by
 * completion and hover. The validator checks everything beyond a schema, such as a duration's
 * bounds or a missing folder.
 *
 * Invariant: a file without problems is valid. A value of a type that the validator refuses is
 * invalid.
 */
import { isObject } from '../../src/core/base/isObject.js';
import {
  keys,
  requiredKeys,
  type KeyDoc,
  type ValueShape,
  type KeyLevel,
} from '../../src/core/config/keys.js';

type JsonSchema = { readonly [key: string]: unknown };

export function configSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'MCP Toolsets: .minds/mcp.yaml',
    ...level('root', { patternProperties: { '^x-': true } }),
  };
}

/** The schema of a layer (C7): each value may be a part of the joined one, or null. */
export function layerSchema(): JsonSchema {
  const { properties, ...head } = configSchema();
  const { servers, ...others } = properties as Record<string, JsonSchema>;
  return {
    ...head,
    title: 'MCP Toolsets: .minds/mcp.local.yaml',
    properties: { ...others, servers: partOf(servers ?? {}) },
  };
}

/** Lists replace lists, so their items are whole. */
function partOf(schema: JsonSchema): JsonSchema {
  const isRule = (one: unknown): boolean =>
    Array.isArray(one) && one.some((branch) => isObject(branch) && 'required' in branch);
  const parts = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'required' || key === 'minProperties' || isRule(value)) return [];
    if (key === 'properties' || key === 'patternProperties') {
      const members = Object.entries(value as Record<string, JsonSchema>);
      return [[key, Object.fromEntries(members.map(([name, one]) => [name, orNull(one)]))]];
    }
    if (key === 'additionalProperties' && typeof value === 'object')
      return [[key, orNull(value as JsonSchema)]];
    if (key === 'anyOf') return [[key, (value as JsonSchema[]).map(partOf)]];
    return [[key, value]];
  });
  return Object.fromEntries(parts);
}

function orNull(schema: JsonSchema): JsonSchema {
  const { description, markdownDescription, ...value } = partOf(schema);
  const texts = description === undefined ? {} : { description, markdownDescription };
  return { ...texts, anyOf: [value, { type: 'null' }] };
}

/** Texts, and values that people write without quotes. The validator takes them as written. */
const writtenText = { type: ['string', 'number', 'boolean'] };

function level(name: KeyLevel, more: JsonSchema = {}): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(keys[name]).map(([key, doc]) => [key, documented(doc)]),
  );
  const required = requiredKeys(name);
  return {
    type: 'object',
    // Readers of YAML resolve merge keys, and some show them to the schema.
    properties: { ...properties, '<<': {} },
    additionalProperties: false,
    ...(required.length > 0 ? { required } : {}),
    ...more,
  };
}

function documented(doc: KeyDoc): JsonSchema {
  const { summary, details, value } = doc;
  return {
    description: details === undefined ? summary : `${summary}\n\n${details}`,
    markdownDescription: details === undefined ? summary : `${summary}\n\n${details}`,
    ...defaultOf(doc),
    ...shape(value),
  };
}

function defaultOf({ byDefault, value }: KeyDoc): JsonSchema {
  if (byDefault === undefined || (value.kind !== 'truth' && value.kind !== 'duration')) return {};
  return { default: value.kind === 'truth' ? byDefault === 'true' : byDefault };
}

function shape(value: ValueShape): JsonSchema {
  switch (value.kind) {
    case 'one':
      return { const: 1 };
    case 'truth':
      return { type: 'boolean' };
    case 'zeroOrOne':
      return { enum: [0, 1] };
    case 'choice':
      return {
        enum: value.values.map((one) => one.value),
        markdownEnumDescriptions: value.values.map((one) => one.summary),
      };
    case 'text':
      return text(value.of);
    case 'duration':
      return {
        anyOf: [
          { type: 'number', minimum: 1 },
          {
            type: 'string',
            pattern: '^\\d+(\\.\\d+)? ?(ms|s|m)$',
            examples: ['250ms', '30s', '10m'],
          },
        ],
      };
    case 'texts':
      return { type: ['array', 'null'], items: writtenText };
    case 'table':
      return value.orText
        ? { anyOf: [{ type: 'string' }, orNothing(level(value.level ?? 'root'))] }
        : orNothing(level(value.level ?? 'root'));
    case 'tables':
      return orNothing({
        type: 'object',
        additionalProperties: orNothing(level(value.each?.level ?? 'root')),
      });
    case 'any':
      return {};
    case 'servers':
      return orNothing({
        type: 'object',
        patternProperties: { '^[a-zA-Z0-9_-]{1,64}$': server },
        properties: { '<<': {} },
        additionalProperties: false,
      });
    case 'arguments':
      return { type: ['array', 'null'], items: { anyOf: [writtenText, reference] } };
    case 'values':
      return orNothing({
        type: 'object',
        additionalProperties: { anyOf: [writtenText, reference] },
      });
    case 'value':
      return {
        anyOf: [
          value.of === 'url'
            ? { type: 'string', pattern: '^\\s*[hH][tT][tT][pP][sS]?:' }
            : writtenText,
          reference,
        ],
      };
    case 'port':
      return { type: 'integer', minimum: 1, maximum: 65_535 };
    case 'size':
      return { type: 'integer', minimum: 1 };
    case 'sections':
      return { type: ['object', 'array', 'null'] };
    case 'transforms':
      return {
        type: ['array', 'null'],
        items: level('transformItem', { minProperties: 1, maxProperties: 1 }),
      };
    case 'replacements':
      return {
        type: 'object',
        propertyNames: { minLength: 1 },
        additionalProperties: { type: 'string' },
        minProperties: 1,
        maxProperties: 20,
      };
    case 'prefix':
      return { anyOf: [{ type: 'string' }, level('replacePrefix')] };
  }
}

function text(of: Extract<ValueShape, { kind: 'text' }>['of']): JsonSchema {
  switch (of) {
    case 'command':
    case 'file':
      return { type: 'string', pattern: '\\S' };
    case 'variable':
      return { type: 'string', minLength: 1 };
    case 'session':
    case 'client':
      return { type: 'string', pattern: '^[\\x21-\\x7e]*$' };
    case 'secretName':
      return { type: 'string', pattern: '^[A-Za-z_][\\w.-]{0,63}$' };
    default:
      return { type: 'string' };
  }
}

const reference = level('reference', {
  oneOf: [{ required: ['env'] }, { required: ['secret'] }, { required: ['command'] }],
});

const server = level('server', {
  // Each branch below has its own.
  required: [],
  anyOf: [
    ...['stdio', 'streamable_http'].map((transport) => ({
      properties: { transport: { const: transport } },
      required: requiredKeys('server', transport),
    })),
    // Switches off the same server of another file.
    { properties: { enabled: { const: false } }, required: ['enabled'], maxProperties: 1 },
  ],
});

/** Also allows no value, if everything in it is commented out. */
function orNothing(schema: JsonSchema): JsonSchema {
  return { ...schema, type: ['object', 'null'] };
}
