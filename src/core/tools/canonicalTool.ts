/** Gives equal tools equal bytes (N6): keys in one order, and the names in `required` and dependencies of schemas. */
import { byCodeUnits } from '../base/canonicalJson.js';
import { isObject } from '../base/isObject.js';
import { schemaMaps } from '../protocol/shapes.js';
import type { OfferedTool } from './catalogue.js';

/** Their values are data, except for properties of these names. */
export const valueKeywords = new Set(['default', 'const', 'enum', 'examples']);
/** No message nests deeper, and the walk must end. */
const deepest = 256;

/** `names`: a map from free names to schemas. */
type Part = 'schema' | 'names' | 'data';

export function canonicalTool(tool: OfferedTool): OfferedTool {
  const partOf = (key: string): Part => (key === 'inputSchema' || key === 'outputSchema' ? 'schema' : 'data');
  const entries = sorted(tool).map(([key, value]) => [key, ordered(value, partOf(key), 0)]);
  return Object.fromEntries(entries) as OfferedTool;
}

function ordered(value: unknown, part: Part, depth: number): unknown {
  if (depth > deepest) return value;
  if (Array.isArray(value)) return value.map((item) => ordered(item, part, depth + 1));
  if (!isObject(value)) return value;
  const entries = sorted(value).map(([key, inner]) => {
    const isSet = part === 'names' || (part === 'schema' && key === 'required');
    if (isSet && isOfNames(inner)) return [key, [...inner].sort(byCodeUnits)];
    return [key, ordered(inner, partBelow(part, key), depth + 1)];
  });
  return Object.fromEntries(entries);
}

function partBelow(part: Part, key: string): Part {
  if (part !== 'schema') return part === 'names' ? 'schema' : 'data';
  return valueKeywords.has(key) ? 'data' : schemaMaps.includes(key) ? 'names' : 'schema';
}

function isOfNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function sorted(value: object): [string, unknown][] {
  return (Object.entries(value) as [string, unknown][]).sort(([a], [b]) => byCodeUnits(a, b));
}
