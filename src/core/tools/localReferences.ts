/** Makes a self-contained schema for the editor, because it fetches the schemas that another one names. */
import { isObject } from '../base/isObject.js';
import { valueKeywords } from './seenTool.js';

/** Keywords with an address. No base can turn `#` into another address, because bases are removed too. */
const references = ['$ref', '$dynamicRef', '$recursiveRef', '$id', 'id'];

/** The drafts in the editor. They define the reading of a schema. Other drafts are fetched for their vocabulary. */
const knownDraft = /^https?:\/\/json-schema\.org\/(draft-0[47]|draft\/20(19-09|20-12))\/schema#?$/;

/** In a value, an `id` is data. Other keywords are cleaned there too, because a reference may lead there. */
export function withLocalReferences(schema: unknown, isValue = false): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withLocalReferences(part, isValue));
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => {
    // Markdown of the editor's keywords could hold active pictures and links (S1a).
    if (key === 'markdownEnumDescriptions') return !Array.isArray(value);
    if (typeof value !== 'string') return true;
    if (key === '$schema') return knownDraft.test(value);
    const mustBeLocal = references.includes(key) && !(key === 'id' && isValue);
    return key !== 'markdownDescription' && (!mustBeLocal || value.startsWith('#'));
  });
  const isValueAt = (key: string): boolean => isValue || valueKeywords.has(key);
  return Object.fromEntries(kept.map(([key, value]) => [key, withLocalReferences(value, isValueAt(key))]));
}
