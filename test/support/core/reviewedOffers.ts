/** Offers for the ledger from short lists, and changes by kind and name. */
import { reviewedInstructions } from '../../../src/core/approval/offerPrints.js';
import { byKey, reviewedIn } from '../../../src/core/reconcile/offers.js';
import type {
  OfferChanges,
  ReviewedKind,
  ReviewedOffers,
} from '../../../src/core/approval/offerPrints.js';
import type { ToolOverrides } from '../../../src/core/config/model.js';
import type {
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  OfferedTool,
} from '../../../src/core/tools/catalogue.js';

export interface ShortOffers {
  readonly tool?: readonly OfferedTool[];
  readonly prompt?: readonly OfferedPrompt[];
  readonly resource?: readonly (OfferedResource | OfferedTemplate)[];
  readonly instructions?: string | undefined;
  readonly overrides?: ToolOverrides | undefined;
}

export function offersOf({
  tool = [],
  prompt = [],
  resource = [],
  instructions,
  overrides,
}: ShortOffers): ReviewedOffers {
  const malformed = { malformed: [] };
  const resources = {
    resources: resource as readonly OfferedResource[],
    templates: [],
    ...malformed,
  };
  const listing = {
    tools: tool,
    ...malformed,
    prompts: { prompts: prompt, ...malformed },
    resources,
  };
  const told = instructions === undefined ? [] : [reviewedInstructions(instructions, instructions)];
  return byKey([...reviewedIn(listing, overrides), ...told]);
}

export function byKind(
  changes: OfferChanges,
): Record<ReviewedKind, Map<string, readonly string[]>> {
  const kinds = {
    tool: new Map(),
    prompt: new Map(),
    resource: new Map(),
    instructions: new Map(),
  };
  for (const { kind, original, parts } of changes.values()) kinds[kind].set(original, parts);
  return kinds;
}
