/**
 * One server's offer through its filter, transforms and name rules (N1–N4, N7). Pure: the same offer and
 * definition give the same result. What other toolsets hold is not known here; `registry` decides that.
 */
import type { Problem } from '../base/problem.js';
import type { NameFilter, ServerPlaces, Transform } from '../config/model.js';
import { assertNever } from '../base/assertNever.js';
import type { ExcludedTool, OfferedTool, PublishedPrompt, PublishedResources, PublishedTool } from './catalogue.js';
import { compileFilter, judge, type CompiledFilter } from './patterns.js';
import { isValidName, transformName } from './names.js';
import { curateOthers, type OtherOffer, type OtherRules } from './others.js';
import {
  filteredTools,
  nameTwiceInServer,
  patternMatchesNothing,
  publishedNameInvalid,
  schemaUnusable,
  toolMalformed,
  toolNameInvalid,
} from './problems.js';
import { unusableSchema } from './schemas.js';

interface Offer extends OtherOffer {
  readonly tools: readonly OfferedTool[];
  readonly malformed: readonly { readonly name: string; readonly detail: string }[];
}

export interface CurationRules extends OtherRules {
  readonly tools: NameFilter;
  readonly transform: readonly Transform[];
}

/** Whether and how loudly to say what the lists keep out (`mcpToolsets.problems.filteredTools`). */
export type FilteredToolsReport = 'information' | 'warning' | 'off';

export type Curation =
  | {
      readonly kind: 'curated';
      readonly tools: readonly PublishedTool[];
      readonly excluded: readonly ExcludedTool[];
      readonly prompts: readonly PublishedPrompt[];
      readonly resources: PublishedResources;
      readonly problems: readonly Problem[];
    }
  /** Two tools with one name: the server's update is refused whole (N5). */
  | { readonly kind: 'refused'; readonly problems: readonly [Problem, ...Problem[]] };

export function curate(rules: CurationRules, offer: Offer, report: FilteredToolsReport): Curation {
  const at = { server: rules.id, places: rules.places };
  const filter = compileFilter(rules.tools);
  const tools: PublishedTool[] = [];
  const excluded: ExcludedTool[] = [];
  const problems: Problem[] = deadPatterns(at, filter, offer);
  const kept: Record<'whitelist' | 'blacklist', string[]> = { whitelist: [], blacklist: [] };
  const originalOf = new Map<string, string>();
  const twice: Problem[] = [];

  for (const entry of offer.malformed) problems.push(toolMalformed(at, entry.name, entry.detail));
  for (const tool of offer.tools) {
    const original = tool.name;
    const verdict = judge(filter, original);
    switch (verdict.kind) {
      case 'in':
        break;
      case 'blacklisted':
        kept.blacklist.push(original);
        excluded.push({ original, reason: { kind: 'blacklist', pattern: verdict.pattern } });
        continue;
      case 'notWhitelisted':
        kept.whitelist.push(original);
        excluded.push({ original, reason: { kind: 'whitelist' } });
        continue;
      default:
        assertNever(verdict);
    }
    if (!isValidName(original)) {
      problems.push(toolNameInvalid(at, original));
      excluded.push({ original, reason: { kind: 'originalNameInvalid' } });
      continue;
    }
    const published = transformName(original, rules.transform);
    if (!isValidName(published)) {
      problems.push(publishedNameInvalid(at, original, published));
      excluded.push({ original, reason: { kind: 'publishedNameInvalid', published } });
      continue;
    }
    const detail = unusableSchema(tool);
    if (detail !== undefined) {
      problems.push(schemaUnusable(at, original, detail));
      excluded.push({ original, reason: { kind: 'schema', detail } });
      continue;
    }
    const earlier = originalOf.get(published);
    if (earlier !== undefined) {
      twice.push(nameTwiceInServer(at, published, [earlier, original]));
      continue;
    }
    originalOf.set(published, original);
    tools.push({ original, published, tool });
  }
  const [first, ...others] = twice;
  if (first) return { kind: 'refused', problems: [first, ...others] };
  if (report !== 'off') {
    for (const list of ['whitelist', 'blacklist'] as const) {
      if (kept[list].length > 0) problems.push(filteredTools(at, list, kept[list], report));
    }
  }
  const { prompts, resources, problems: besides } = curateOthers(rules, offer, report);
  return { kind: 'curated', tools, excluded, prompts, resources, problems: [...problems, ...besides] };
}

function deadPatterns(at: { server: string; places: ServerPlaces }, filter: CompiledFilter, offer: Offer): Problem[] {
  return (['whitelist', 'blacklist'] as const).flatMap((list) =>
    filter[list].flatMap((pattern, index) =>
      offer.tools.some((tool) => pattern.matches(tool.name))
        ? []
        : [patternMatchesNothing(at, list, index, pattern.text)],
    ),
  );
}
