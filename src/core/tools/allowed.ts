/**
 * Decides which values of an argument pass its `allow` (O3). Every check of a value, and every list
 * for agents, asks here.
 */
import { isTexts } from '../base/isObject.js';
import type { ArgumentRule } from './catalogue.js';
import { compilePattern, isTooMuchToMatch, type Pattern } from './patterns.js';
import { stepsUp } from './uris.js';

const separator = /[/\\]|%(?:25)*(?:2f|5c)/i;

/** A step `..` would lead out of the folder that the pattern begins with. */
export function compileAllowed(text: string): Pattern {
  const pattern = compilePattern(text);
  const plain = text.normalize('NFKC');
  const folder = plain.search(separator);
  if (folder < 0 || !plain.includes('*', folder)) return pattern;
  // A wildcard must not make a step of its neighbours.
  const own = stepsUp(text.replaceAll('*', 'x'));
  return { ...pattern, matches: (value) => pattern.matches(value) && stepsUp(value) <= own };
}

/**
 * A server may take its own default for an empty list, so an empty list is allowed only as the
 * default of the file.
 */
export function isAllowed(value: unknown, { allow, default: byDefault }: ArgumentRule): boolean {
  if (!allow) return true;
  const texts: unknown = Array.isArray(value) ? value : [value];
  if (!isTexts(texts) || isTooMuchToMatch(allow, texts)) return false;
  if (texts.length === 0) return Array.isArray(byDefault?.value) && byDefault.value.length === 0;
  return texts.every((text) => allow.some((pattern) => pattern.matches(text)));
}

/** Longer names of arguments are not folded, because that takes time. */
const longestFolded = 1000;

/** Equal for all spellings of a name in other cases and normal forms. */
export function foldedName(name: string): string {
  return name.length > longestFolded ? name : name.normalize('NFKC').toLowerCase();
}
