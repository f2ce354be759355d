/**
 * Makes a self-contained schema for the editor, because it fetches the schemas that another one
 * names.
 */
import { isObject, without } from '../base/isObject.js';
import { mostParts } from '../base/steps.js';
import { unlessThrown } from '../base/unlessThrown.js';
import { valueKeywords } from '../protocol/shapes.js';
import { targetOf } from './schemaJudge.js';

/**
 * Keywords with an address. No base can turn `#` into another address, because bases are removed
 * too.
 */
const references = ['$ref', '$dynamicRef', '$recursiveRef', '$id', 'id'];

/**
 * The drafts in the editor. They define the reading of a schema. Other drafts are fetched for their
 * vocabulary.
 */
const knownDraft = /^https?:\/\/json-schema\.org\/(draft-0[47]|draft\/20(19-09|20-12))\/schema#?$/;

/**
 * Returns a schema that the editor judges in bounded time (S2h), because one process judges all
 * documents of a window. It has no patterns, and no schema is left of one that is too long with its
 * references.
 */
export function boundedSchema(schema: unknown): unknown {
  const local = withLocalReferences(schema);
  const parts = unlessThrown(() => unfoldedParts(local)) ?? Infinity;
  if (parts > mostParts) return {};
  return JSON.parse(JSON.stringify(local), (key, inner: unknown) => {
    if (key === 'pattern' && typeof inner === 'string') return undefined;
    if (!isObject(inner) || !isObject(inner['patternProperties'])) return inner;
    return without(inner, ...byPatterns);
  }) as unknown;
}

const byPatterns = ['patternProperties', 'additionalProperties', 'unevaluatedProperties'];

/** A circle counts once. Throws for a chain of references that is longer than the stack. */
function unfoldedParts(root: unknown): number {
  const known = new Map<object, number>();
  const count = (part: unknown): number => {
    if (typeof part !== 'object' || part === null) return 0;
    const before = known.get(part);
    if (before !== undefined) return before;
    known.set(part, 0);
    const target = isObject(part) ? targetOf(part['$ref'], root) : undefined;
    const parts = [...Object.values(part), target].reduce(
      (sum: number, inner) => sum + count(inner),
      1,
    );
    known.set(part, parts);
    return parts;
  };
  return count(root);
}

/**
 * In a value, an `id` is data. Other keywords are cleaned there too, because a reference may lead
 * there.
 */
export function withLocalReferences(schema: unknown, isValue = false): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withLocalReferences(part, isValue));
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => {
    // Markdown of the editor's keywords could hold active pictures and links (S1d).
    if (key === 'markdownEnumDescriptions') return !Array.isArray(value);
    if (typeof value !== 'string') return true;
    if (key === '$schema') return knownDraft.test(value);
    const mustBeLocal = references.includes(key) && !(key === 'id' && isValue);
    return key !== 'markdownDescription' && (!mustBeLocal || value.startsWith('#'));
  });
  const isValueAt = (key: string) => isValue || valueKeywords.includes(key);
  return Object.fromEntries(
    kept.map(([key, value]) => [key, withLocalReferences(value, isValueAt(key))]),
  );
}
