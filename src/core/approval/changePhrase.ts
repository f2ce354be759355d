import { english } from '../base/language.js';
import { andList } from '../base/text.js';
import type { ChangedOffer } from './offerPrints.js';

/** Completes “The tool …”. */
export function changePhrase(parts: ChangedOffer['parts']): string {
  if (parts.includes('lock')) return english`the lock file cannot be read`;
  return parts.includes('new') ? english`new since approval` : english`${andList(parts)} changed`;
}
