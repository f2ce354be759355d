/**
 * Makes a schema of a server that refers to nothing outside itself, for the editor's JSON support, which fetches what a
 * schema names. Everything here is pure.
 */
import { isObject } from '../base/isObject.js';

/** A reference within the document, which no base can turn into another address because bases go too. */
const isLocal = (value: string): boolean => value.startsWith('#');

/** The drafts that the editor has with it. They say how to read a schema; others are fetched for their vocabulary. */
const isKnownDraft = (value: string): boolean =>
  /^https?:\/\/json-schema\.org\/(draft-0[47]|draft\/20(19-09|20-12))\/schema#?$/.test(value);

/** By keyword, what may stay. Markdown of the editor's own keywords could hold pictures and links that act (S1a). */
const mayStay: Readonly<Record<string, (value: string) => boolean>> = {
  $ref: isLocal,
  $dynamicRef: isLocal,
  $recursiveRef: isLocal,
  $id: isLocal,
  id: isLocal,
  $schema: isKnownDraft,
  markdownDescription: () => false,
};

/** Their values are no schemas, so that an `id` there is a value. The other keywords go there too: a reference may lead there. */
const valueKeywords = new Set(['default', 'const', 'enum', 'examples']);

/**
 * Returns the same schema without references that leave it, at any depth. What stands beside such a reference stays. A
 * property may be called like a keyword: a keyword has a text, and a property a schema.
 */
export function withLocalReferences(schema: unknown, isValue = false): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withLocalReferences(part, isValue));
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => {
    if (key === 'markdownEnumDescriptions') return !Array.isArray(value);
    if (typeof value !== 'string' || !Object.hasOwn(mayStay, key) || (key === 'id' && isValue)) return true;
    return mayStay[key]?.(value);
  });
  return Object.fromEntries(
    kept.map(([key, value]) => [key, withLocalReferences(value, isValue || valueKeywords.has(key))]),
  );
}
