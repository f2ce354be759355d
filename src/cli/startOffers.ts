/**
 * What `serve` and `connect` know of what servers offer (S3): what each launch listed first since the command was typed is
 * what counts, and what changes or comes later is told, and kept from agents if the person said so. Starting the command
 * again accepts it, as it does with what the files say.
 */
import { OfferLedger } from '../core/approval/offerLedger.js';

export function startOffers(holdsBack: boolean): OfferLedger {
  return new OfferLedger({
    storage: { get: () => undefined, update: () => Promise.resolve() },
    holdsBack: () => holdsBack,
    onStoreFailure: () => undefined,
  });
}
