import type { ChangedOffer } from './offerPrints.js';

/** Completes “The tool …”. */
export function changePhrase(parts: ChangedOffer['parts']): string {
  return parts.includes('new') ? 'new since approval' : `${parts.join(' and ')} changed`;
}
