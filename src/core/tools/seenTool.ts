/**
 * Compares tools by a canonical form, and keeps the order in which a server listed the keys of a
 * tool (N6). For the form, the order of keys does not count, nor the order of the names in
 * `required` and in dependencies of schemas.
 */
import { isObject, isTexts } from '../base/isObject.js';
import { perObject } from '../base/perObject.js';
import { shortHash } from '../base/shortHash.js';
import { schemaMaps, valueKeywords } from '../protocol/shapes.js';
import type { OfferedTool } from './catalogue.js';

/** No message nests deeper, and the walk must end. */
const deepest = 256;
/**
 * In characters. To sort the keys of a larger tool would hold up the event loop (P10), so their
 * order counts.
 */
const largest = 64 * 1024;

/** `names`: a map from free names to schemas. */
type Part = 'tool' | 'schema' | 'names' | 'data';

/**
 * Returns the keys of an object, or the names of a set, in the wanted order. By default, texts are
 * sorted by code units.
 */
type Arrange = (sorted: readonly string[], own: readonly string[]) => readonly string[];

/**
 * `form` is a hash of the canonical form. `order` has the place of each key among the sorted keys
 * of its object.
 */
export type SeenTool = readonly [name: string, form: string, order: string];

export const seenTool = perObject((tool: OfferedTool): SeenTool => {
  const given = JSON.stringify(tool);
  if (given.length > largest) return [tool.name, shortHash(given), ''];
  const places: number[] = [];
  const canonical = arranged(tool, 'tool', 0, (sorted, own) => {
    const placeOf = new Map(sorted.map((key, place) => [key, place]));
    for (const key of own) places.push(placeOf.get(key) ?? 0);
    return sorted;
  });
  return [tool.name, shortHash(JSON.stringify(canonical)), places.join()];
});

/** Returns the tool itself if the order does not fit, because stored texts may be damaged. */
export function inOrder(tool: OfferedTool, order: string): OfferedTool {
  const places = order.split(',').map(Number);
  let at = 0;
  let fits = true;
  const made = arranged(tool, 'tool', 0, (sorted) => {
    const keys = places.slice(at, at + sorted.length).flatMap((place) => sorted[place] ?? []);
    at += sorted.length;
    if (new Set(keys).size === sorted.length) return keys;
    fits = false;
    return sorted;
  });
  return fits ? (made as OfferedTool) : tool;
}

/** Walks in the sorted order, so the parts of equal forms come in one order. */
function arranged(value: unknown, part: Part, depth: number, arrange: Arrange): unknown {
  if (depth > deepest) return value;
  if (Array.isArray(value)) return value.map((item) => arranged(item, part, depth + 1, arrange));
  if (!isObject(value)) return value;
  const own = Object.keys(value);
  const sorted = own.toSorted();
  const keys = arrange(sorted, own);
  const inner = new Map<string, unknown>();
  for (const key of sorted) {
    const below = value[key];
    const isSet = (part === 'names' || (part === 'schema' && key === 'required')) && isTexts(below);
    inner.set(
      key,
      isSet
        ? arrange(below.toSorted(), below)
        : arranged(below, partBelow(part, key), depth + 1, arrange),
    );
  }
  return Object.fromEntries(keys.map((key) => [key, inner.get(key)]));
}

function partBelow(part: Part, key: string): Part {
  if (part === 'tool') return key === 'inputSchema' || key === 'outputSchema' ? 'schema' : 'data';
  if (part !== 'schema') return part === 'names' ? 'schema' : 'data';
  return valueKeywords.includes(key) ? 'data' : schemaMaps.includes(key) ? 'names' : 'schema';
}
