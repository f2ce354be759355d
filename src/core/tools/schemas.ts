/**
 * Finds schemas unusable for every client, and schemas refused only by the editor (N7). A passed schema keeps every
 * keyword. The top level must be `type: object` for every client, because the protocol's type demands it. The editor
 * drops a tool with a `type` unknown to JSON Schema. GitHub Copilot rejects the whole request with an `array` of
 * undescribed content.
 */
import { isObject } from '../base/isObject.js';
import { clipped } from '../base/text.js';
import { perObject } from '../base/perObject.js';
import { mirroredParams, withoutMirroring } from '../protocol/mirroredParams.js';
import { canonicalTool } from './canonicalTool.js';
import type { OfferedTool } from './catalogue.js';

const jsonTypes = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
const arrayKeywords = ['items', 'prefixItems', 'contains', '$ref', '$dynamicRef'];
/** The value of these keywords is a schema. A list or a map of schemas follows below. */
const schemaKeywords = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];
const schemaListKeywords = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const schemaMapKeywords = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
/** A deeper schema is taken as it is, because the walk must end. */
const deepest = 64;

function unusableSchema(tool: OfferedTool): string | undefined {
  const input = unusableTopLevel(tool.inputSchema, 'inputSchema');
  if (input !== undefined) return input;
  return tool.outputSchema === undefined ? undefined : unusableTopLevel(tool.outputSchema, 'outputSchema');
}

interface Looked {
  readonly unusable: string | undefined;
  readonly refused: string | undefined;
  /** As strict clients can read it, in the order of N6. */
  readonly readable: OfferedTool;
}

/** Checks a tool's schemas. Each edit, and each list of a server, curates the same tools again. */
export const lookedAt = perObject((tool: OfferedTool): Looked => {
  const unusable = unusableSchema(tool);
  if (unusable !== undefined) return { unusable, refused: undefined, readable: tool };
  // The editor gets no output schemas.
  const refused = refusedPart(tool.inputSchema, 'inputSchema', 0);
  return { unusable, refused, readable: canonicalTool(withReadableSchemas(tool)) };
});

/**
 * Returns the tool for strict clients. `true` and `false` are JSON Schema, but the protocol's type wants properties as
 * objects, and a client with that check loses the whole list. The objects have the same meaning. A wrong wish for
 * parameters in headers is removed, because clients over HTTP would lose the tool. Servers that read headers have lost
 * the tool already (X8).
 */
function withReadableSchemas(tool: OfferedTool): OfferedTool {
  const { inputSchema, outputSchema } = tool;
  const mirrorsRightly = mirroredParams(inputSchema).kind === 'right';
  const input = withoutBooleanProperties(
    mirrorsRightly ? inputSchema : (withoutMirroring(inputSchema) as typeof inputSchema),
  );
  const output = outputSchema && withoutBooleanProperties(outputSchema);
  const isSame = input === inputSchema && output === outputSchema;
  return isSame ? tool : { ...tool, inputSchema: input, ...(output && { outputSchema: output }) };
}

function withoutBooleanProperties<Schema extends { readonly properties?: object | undefined }>(schema: Schema): Schema {
  const properties = Object.entries(schema.properties ?? {}) as [string, unknown][];
  if (!properties.some(([, value]) => typeof value === 'boolean')) return schema;
  const asObject = (value: unknown): unknown => (value === true ? {} : value === false ? { not: {} } : value);
  return { ...schema, properties: Object.fromEntries(properties.map(([name, value]) => [name, asObject(value)])) };
}

function unusableTopLevel(schema: unknown, where: string): string | undefined {
  if (!isObject(schema)) return `${where} is ${describe(schema)}, not an object`;
  if (schema['type'] !== 'object') return `${where}.type is ${describe(schema['type'])}, not "object"`;
  const properties = schema['properties'];
  if (properties !== undefined) {
    if (!isObject(properties)) return `${where}.properties is ${describe(properties)}, not an object`;
    for (const [name, value] of Object.entries(properties)) {
      if (!isObject(value) && typeof value !== 'boolean') {
        return `${where}.properties.${name} is ${describe(value)}, not a schema`;
      }
    }
  }
  const required = schema['required'];
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === 'string'))) {
    return `${where}.required is not a list of names`;
  }
  return undefined;
}

function refusedPart(schema: unknown, where: string, depth: number, mayBeBare = false): string | undefined {
  if (!isObject(schema) || depth > deepest) return undefined;
  const type = schema['type'];
  for (const name of Array.isArray(type) ? (type as unknown[]) : type === undefined ? [] : [type]) {
    if (typeof name !== 'string' || !jsonTypes.has(name)) return `${where}.type is ${describe(name)}, not a JSON type`;
  }
  if (type === 'array' && !mayBeBare && arrayKeywords.every((key) => schema[key] === undefined)) {
    return `${where} is an array without "items"`;
  }
  for (const [place, part] of partsBelow(schema)) {
    const reason = refusedPart(part, `${where}.${place}`, depth + 1, place === 'additionalProperties');
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function partsBelow(schema: Readonly<Record<string, unknown>>): (readonly [place: string, part: unknown])[] {
  const listed = schemaListKeywords.flatMap((key) => {
    const list = schema[key];
    return Array.isArray(list) ? (list as unknown[]).map((part, index) => [`${key}[${index}]`, part] as const) : [];
  });
  const mapped = schemaMapKeywords.flatMap((key) => {
    const map = schema[key];
    return isObject(map) ? Object.entries(map).map(([name, part]) => [`${key}.${name}`, part] as const) : [];
  });
  return [...schemaKeywords.map((key) => [key, schema[key]] as const), ...listed, ...mapped];
}

function describe(value: unknown): string {
  return value === undefined ? 'missing' : clipped(JSON.stringify(value), 40);
}
