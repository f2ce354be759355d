import { english } from '../base/language.js';
import type { ChangedOffer } from './offerPrints.js';

/** Joins words to a list. */
export function listed(parts: readonly string[]): string {
  return parts.reduce((before, part) => english`${before} and ${part}`);
}

/** Completes “The tool …”. */
export function changePhrase(parts: ChangedOffer['parts']): string {
  if (parts.includes('lock')) return english`the lock file cannot be read`;
  return parts.includes('new') ? english`new since approval` : english`${listed(parts)} changed`;
}
