/** Makes a self-contained schema for the editor, because it fetches the schemas that another one names. */
import { isObject } from '../base/isObject.js';
import { valueKeywords } from './canonicalTool.js';

/** A reference within the document. No base can turn it into another address, because bases are removed too. */
const isLocal = (value: string): boolean => value.startsWith('#');

/** The drafts in the editor. They define the reading of a schema. Other drafts are fetched for their vocabulary. */
const isKnownDraft = (value: string): boolean =>
  /^https?:\/\/json-schema\.org\/(draft-0[47]|draft\/20(19-09|20-12))\/schema#?$/.test(value);

/** The permitted values by keyword. Markdown of the editor's keywords could hold active pictures and links (S1a). */
const mayStay: Readonly<Record<string, (value: string) => boolean>> = {
  $ref: isLocal,
  $dynamicRef: isLocal,
  $recursiveRef: isLocal,
  $id: isLocal,
  id: isLocal,
  $schema: isKnownDraft,
  markdownDescription: () => false,
};

/**
 * A property may have the name of a keyword: a keyword has a text, and a property a schema. In a value, an `id` is data;
 * other keywords are cleaned there too, because a reference may lead there.
 */
export function withLocalReferences(schema: unknown, isValue = false): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withLocalReferences(part, isValue));
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => {
    if (key === 'markdownEnumDescriptions') return !Array.isArray(value);
    if (typeof value !== 'string' || !Object.hasOwn(mayStay, key) || (key === 'id' && isValue)) return true;
    return mayStay[key]?.(value);
  });
  const isValueAt = (key: string): boolean => isValue || valueKeywords.has(key);
  return Object.fromEntries(kept.map(([key, value]) => [key, withLocalReferences(value, isValueAt(key))]));
}
