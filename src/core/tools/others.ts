/**
 * One server's prompts and resources through their filters and transforms (C1, G4, N1–N3), as `curate` does it with
 * tools. Names of prompts are not held to the rule for tools, as no model provider ever sees them; of two prompts with
 * one name the second is left out. Resources are matched by their URI and keep it. Pure.
 */
import type { Problem } from '../base/problem.js';
import type { NameFilter, PromptSelection, ServerPlaces } from '../config/model.js';
import type {
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  PublishedPrompt,
  PublishedResources,
} from './catalogue.js';
import type { FilteredToolsReport } from './curate.js';
import { compileFilter, judge, type CompiledFilter, compilePattern } from './patterns.js';
import { transformName } from './names.js';
import { entryMalformed, filteredTools, listIncomplete, patternMatchesNothing, promptTwice } from './problems.js';

interface Malformed {
  readonly name: string;
  readonly detail: string;
}

export interface OtherOffer {
  readonly prompts?:
    | {
        readonly prompts: readonly OfferedPrompt[];
        readonly malformed: readonly Malformed[];
        readonly failure?: string;
      }
    | undefined;
  readonly resources?:
    | {
        readonly resources: readonly OfferedResource[];
        readonly templates: readonly OfferedTemplate[];
        readonly malformed: readonly Malformed[];
        readonly failure?: string;
      }
    | undefined;
}

export interface OtherRules {
  readonly id: string;
  readonly prompts: PromptSelection;
  readonly resources: NameFilter;
  readonly places: ServerPlaces;
}

export interface CuratedOthers {
  readonly prompts: readonly PublishedPrompt[];
  readonly resources: PublishedResources;
  readonly problems: readonly Problem[];
}

export function curateOthers(rules: OtherRules, offer: OtherOffer, report: FilteredToolsReport): CuratedOthers {
  const problems: Problem[] = [];
  return {
    prompts: publishPrompts(rules, offer.prompts, report, problems),
    resources: publishResources(rules, offer.resources, report, problems),
    problems,
  };
}

function publishPrompts(
  rules: OtherRules,
  offer: OtherOffer['prompts'],
  report: FilteredToolsReport,
  problems: Problem[],
): PublishedPrompt[] {
  if (!offer) return [];
  const at = { server: rules.id, places: rules.places };
  const kept = sift(rules, 'prompts', rules.prompts.filter, offer.prompts, ({ name }) => name, offer, report, problems);
  const published: PublishedPrompt[] = [];
  const originalOf = new Map<string, string>();
  for (const prompt of kept) {
    const name = transformName(prompt.name, rules.prompts.transform);
    const earlier = originalOf.get(name);
    if (earlier !== undefined) {
      problems.push(promptTwice(at, name, [earlier, prompt.name]));
      continue;
    }
    originalOf.set(name, prompt.name);
    published.push({ original: prompt.name, published: name, prompt });
  }
  return published;
}

function publishResources(
  rules: OtherRules,
  offer: OtherOffer['resources'],
  report: FilteredToolsReport,
  problems: Problem[],
): PublishedResources {
  const filter = rules.resources;
  if (!offer) return { resources: [], templates: [], filter };
  const uriOf = (entry: OfferedResource | OfferedTemplate): string =>
    'uri' in entry ? String(entry.uri) : entry.uriTemplate;
  const all: (OfferedResource | OfferedTemplate)[] = [...offer.resources, ...offer.templates];
  const kept = new Set(sift(rules, 'resources', filter, all, uriOf, offer, report, problems));
  return {
    resources: offer.resources.filter((entry) => kept.has(entry)),
    templates: offer.templates.filter((entry) => kept.has(entry)),
    filter,
  };
}

function sift<Entry>(
  { id, places }: OtherRules,
  of: 'prompts' | 'resources',
  rules: NameFilter,
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
  { malformed, failure }: { readonly malformed: readonly Malformed[]; readonly failure?: string },
  report: FilteredToolsReport,
  problems: Problem[],
): Entry[] {
  const at = { server: id, places };
  const filter = compileFilter(rules);
  if (failure !== undefined) problems.push(listIncomplete(at, of, failure));
  for (const { name, detail } of malformed) problems.push(entryMalformed(at, of, name, detail));
  // What could not be listed may well match.
  if (failure === undefined) problems.push(...deadPatterns(at, of, filter, entries.map(nameOf)));
  const out: Record<'whitelist' | 'blacklist', string[]> = { whitelist: [], blacklist: [] };
  const kept = entries.filter((entry) => {
    const name = nameOf(entry);
    const verdict = judge(filter, name);
    if (verdict.kind !== 'in') out[verdict.kind === 'blacklisted' ? 'blacklist' : 'whitelist'].push(name);
    return verdict.kind === 'in';
  });
  for (const list of ['whitelist', 'blacklist'] as const) {
    if (report !== 'off' && out[list].length > 0) problems.push(filteredTools(at, list, out[list], report, of));
  }
  return kept;
}

function deadPatterns(
  at: { server: string; places: ServerPlaces },
  of: 'prompts' | 'resources',
  filter: CompiledFilter,
  names: readonly string[],
): Problem[] {
  return (['whitelist', 'blacklist'] as const).flatMap((list) =>
    filter[list].flatMap((pattern, index) =>
      names.some((name) => pattern.matches(name)) ? [] : [patternMatchesNothing(at, list, index, pattern.text, of)],
    ),
  );
}

/** Whether a URI may be read: it is in by the filter, or made from a template that is. What is out is nowhere (N2). */
export function admitsResource({ templates, filter }: PublishedResources, uri: string): boolean {
  const verdict = judge(compileFilter(filter), uri);
  if (verdict.kind !== 'notWhitelisted') return verdict.kind === 'in';
  return templates.some(({ uriTemplate }) => compilePattern(uriTemplate.replace(/\{[^}]*\}/g, '*')).matches(uri));
}
