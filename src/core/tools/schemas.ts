/**
 * Finds schemas that no client can take (N7). A schema that passes goes through unchanged, with every keyword. A schema
 * is refused if it makes an MCP client drop the whole list, or the editor's chat the whole request: a top level that is
 * not `type: object` (the protocol's own type demands it), a `type` that JSON Schema does not know, an `array` without
 * `items` (GitHub Copilot rejects the request that carries it).
 */
import { isObject } from '../base/isObject.js';
import type { OfferedTool } from './catalogue.js';

const jsonTypes = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
/** The value of these keywords is a schema. A list or a map of schemas follows below. */
const schemaKeywords = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];
const schemaListKeywords = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const schemaMapKeywords = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
/** A schema that is deeper than this is taken as it is: nobody writes one, and walking it must end. */
const deepest = 64;

/** Returns undefined for a usable schema, and otherwise a phrase that says what is wrong and where. */
export function unusableSchema(tool: OfferedTool): string | undefined {
  const input = unusableTopLevel(tool.inputSchema, 'inputSchema') ?? unusablePart(tool.inputSchema, 'inputSchema', 0);
  if (input !== undefined) return input;
  return tool.outputSchema === undefined ? undefined : unusableTopLevel(tool.outputSchema, 'outputSchema');
}

function unusableTopLevel(schema: unknown, where: string): string | undefined {
  if (!isObject(schema)) return `${where} is ${describe(schema)}, not an object`;
  if (schema['type'] !== 'object') return `${where}.type is ${describe(schema['type'])}, not "object"`;
  const properties = schema['properties'];
  if (properties !== undefined) {
    if (!isObject(properties)) return `${where}.properties is ${describe(properties)}, not an object`;
    // The protocol's own type wants objects here. `true` is JSON Schema, but fails the whole list in strict clients.
    for (const [name, value] of Object.entries(properties)) {
      if (!isObject(value)) return `${where}.properties.${name} is ${describe(value)}, not an object`;
    }
  }
  const required = schema['required'];
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === 'string'))) {
    return `${where}.required is not a list of names`;
  }
  return undefined;
}

function unusablePart(schema: unknown, where: string, depth: number): string | undefined {
  if (!isObject(schema) || depth > deepest) return undefined;
  const type = schema['type'];
  for (const name of Array.isArray(type) ? (type as unknown[]) : type === undefined ? [] : [type]) {
    if (typeof name !== 'string' || !jsonTypes.has(name)) return `${where}.type is ${describe(name)}, not a JSON type`;
  }
  if (type === 'array' && schema['items'] === undefined) return `${where} is an array without "items"`;
  for (const key of schemaKeywords) {
    const reason = unusablePart(schema[key], `${where}.${key}`, depth + 1);
    if (reason !== undefined) return reason;
  }
  for (const key of schemaListKeywords) {
    const list = schema[key];
    if (!Array.isArray(list)) continue;
    for (const [index, item] of (list as unknown[]).entries()) {
      const reason = unusablePart(item, `${where}.${key}[${index}]`, depth + 1);
      if (reason !== undefined) return reason;
    }
  }
  for (const key of schemaMapKeywords) {
    const map = schema[key];
    if (!isObject(map)) continue;
    for (const [name, item] of Object.entries(map)) {
      const reason = unusablePart(item, `${where}.${key}.${name}`, depth + 1);
      if (reason !== undefined) return reason;
    }
  }
  return undefined;
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
