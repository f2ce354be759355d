/** Gives equal tools equal bytes (N6): keys in one order, and the names in `required` and dependencies of schemas. */
import { isObject, isTexts } from '../base/isObject.js';
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
  const given: Readonly<Record<string, unknown>> = tool;
  const keys = Object.keys(given).filter((key) => given[key] !== undefined);
  return inOrder(keys, (key) => ordered(given[key], partOf(key), 0)) as OfferedTool;
}

/** By default, texts are sorted by code units. */
function inOrder(keys: string[], valueOf: (key: string) => unknown): object {
  return Object.fromEntries(keys.sort().map((key) => [key, valueOf(key)]));
}

function ordered(value: unknown, part: Part, depth: number): unknown {
  if (depth > deepest) return value;
  if (Array.isArray(value)) return value.map((item) => ordered(item, part, depth + 1));
  if (!isObject(value)) return value;
  return inOrder(Object.keys(value), (key) => {
    const inner = value[key];
    const isSet = part === 'names' || (part === 'schema' && key === 'required');
    return isSet && isTexts(inner) ? [...inner].sort() : ordered(inner, partBelow(part, key), depth + 1);
  });
}

function partBelow(part: Part, key: string): Part {
  if (part !== 'schema') return part === 'names' ? 'schema' : 'data';
  return valueKeywords.has(key) ? 'data' : schemaMaps.includes(key) ? 'names' : 'schema';
}
