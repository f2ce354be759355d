/**
 * Gives equal tools equal bytes (N6), because agents pay for every change of a list: keys in one order, and the names in
 * `required`. A schema keeps its meaning, and every other list keeps its order.
 */
import { isObject } from '../base/isObject.js';
import type { OfferedTool } from './catalogue.js';

export function canonicalTool(tool: OfferedTool): OfferedTool {
  return ordered(tool) as OfferedTool;
}

/** Compares by code units, so the order is the same in every locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** No message nests deeper, and the walk must end. */
const deepest = 256;

function ordered(value: unknown, key = '', depth = 0): unknown {
  if (depth > deepest) return value;
  if (Array.isArray(value)) {
    const isOfNames = key === 'required' && value.every((name) => typeof name === 'string');
    return isOfNames ? [...(value as string[])].sort(byCodeUnits) : value.map((item) => ordered(item, '', depth + 1));
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => byCodeUnits(a, b));
  return Object.fromEntries(entries.map(([name, inner]) => [name, ordered(inner, name, depth + 1)]));
}
