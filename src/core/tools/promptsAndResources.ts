/**
 * Passes one server's prompts and resources through their filters and transforms (C1, G4, N1–N3), as `curate` does with
 * tools. Names of prompts may break the rule for tools, because no model provider sees them. The second of two prompts
 * with one name is left out. Resources are matched by the canonical form of their URI, and keep the URI.
 */
import { appTooLarge, bytesIn } from '../apps/appResource.js';
import { isObject } from '../base/isObject.js';
import type { Problem } from '../base/problem.js';
import { asText } from '../base/text.js';
import type { Sliced } from '../base/turns.js';
import type { PromptSelection, ResourceSelection, ServerPlaces } from '../config/model.js';
import type {
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  PublishedPrompt,
  PublishedResources,
  PromptListing,
  ResourceListing,
  ToolListing,
} from './catalogue.js';
import { longestMatched, transformName } from './names.js';
import { type CompiledFilter, compileFilter, isTooMuchToMatch, judge, patternsOf, sift } from './patterns.js';
import { compileUriFilter, isMadeFrom, longestUri } from './uris.js';
import * as problems from './problems.js';

export interface PromptAndResourceRules {
  readonly id: string;
  readonly prompts: PromptSelection;
  readonly resources: ResourceSelection;
  readonly places: ServerPlaces;
}

export interface CuratedPromptsAndResources {
  readonly prompts: readonly PublishedPrompt[];
  readonly resources: PublishedResources;
  readonly problems: readonly Problem[];
}

interface Context {
  readonly at: problems.At;
  readonly report: problems.FilteredToolsReport;
  readonly found: Problem[];
}

export function* curatePromptsAndResources(
  { id: server, places, prompts, resources }: PromptAndResourceRules,
  listed: Pick<ToolListing, 'prompts' | 'resources'>,
  report: problems.FilteredToolsReport,
  apps: ReadonlySet<string> = new Set(),
): Sliced<CuratedPromptsAndResources> {
  const context: Context = { at: { server, places }, report, found: [] };
  return {
    prompts: listed.prompts ? yield* publishPrompts(context, prompts, listed.prompts) : [],
    resources: yield* publishResources(context, resources, listed.resources, apps),
    problems: context.found,
  };
}

function* publishPrompts(
  context: Context,
  { filter, transform }: PromptSelection,
  listed: PromptListing,
): Sliced<PublishedPrompt[]> {
  const nameOf = ({ name }: OfferedPrompt): string => name;
  const published: PublishedPrompt[] = [];
  const originalOf = new Map<string, string>();
  for (const prompt of yield* keptEntries(context, 'prompts', compileFilter(filter), listed.prompts, nameOf, listed)) {
    const name = transformName(prompt.name, transform);
    const earlier = originalOf.get(name);
    if (earlier !== undefined) {
      context.found.push(problems.promptTwice(context.at, name, earlier, prompt.name));
      continue;
    }
    originalOf.set(name, prompt.name);
    published.push({ original: prompt.name, published: name, prompt });
  }
  return published;
}

function* publishResources(
  context: Context,
  filter: ResourceSelection,
  listed: ResourceListing | undefined,
  apps: ReadonlySet<string>,
): Sliced<PublishedResources> {
  const withApps = apps.size > 0 ? { apps: [...apps] } : {};
  if (!listed) return { resources: [], templates: [], filter, ...withApps };
  const uriOf = (entry: OfferedResource | OfferedTemplate): string =>
    'uri' in entry ? String(entry.uri) : entry.uriTemplate;
  const all: (OfferedResource | OfferedTemplate)[] = [...listed.resources, ...listed.templates];
  const kept = new Set(yield* keptEntries(context, 'resources', compileUriFilter(filter), all, uriOf, listed, apps));
  return {
    resources: listed.resources.filter(
      (entry) => kept.has(entry) && (apps.has(String(entry.uri)) || admitsType(filter, entry.mimeType)),
    ),
    templates: listed.templates.filter((entry) => kept.has(entry) && admitsType(filter, entry.mimeType)),
    filter,
    ...withApps,
  };
}

/** @param spared entries outside the reach of a whitelist */
function* keptEntries<Entry>(
  { at, report, found }: Context,
  of: 'prompts' | 'resources',
  filter: CompiledFilter,
  all: readonly Entry[],
  nameOf: (entry: Entry) => string,
  listed: Pick<PromptListing, 'malformed' | 'failure'>,
  spared?: ReadonlySet<string>,
): Sliced<Entry[]> {
  const { malformed, failure } = listed;
  if (failure !== undefined) found.push(problems.listIncomplete(at, of, failure));
  for (const { name, detail } of malformed) found.push(problems.entryMalformed(at, of, name, detail));
  const most = of === 'prompts' ? longestMatched : longestUri;
  const entries = all.filter((entry) => {
    const name = nameOf(entry);
    if (name.length > most)
      found.push(problems.entryMalformed(at, of, name, `is named by more than ${most} characters`));
    return name.length <= most;
  });
  const names = entries.map(nameOf);
  if (isTooMuchToMatch(patternsOf(filter), names)) {
    found.push(problems.listTooLong(at, of));
    return [];
  }
  const { verdicts, idle } = yield* sift(filter, names, listed);
  // The pattern may match an unlisted entry.
  if (failure === undefined) for (const pattern of idle) found.push(problems.patternWithoutEffect(at, of, pattern));
  const out: problems.NamesKeptOut = { whitelist: [], blacklist: [] };
  const kept = entries.filter((entry) => {
    const name = nameOf(entry);
    const kind = verdicts.get(name)?.kind;
    if (kind === 'notWhitelisted' && spared?.has(name)) return true;
    if (kind !== 'in') out[kind === 'blacklisted' ? 'blacklist' : 'whitelist'].push(name);
    return kind === 'in';
  });
  for (const problem of problems.keptOut(at, of, out, report)) found.push(problem);
  return kept;
}

function admitsType({ mimeTypes }: ResourceSelection, type: unknown): boolean {
  if (!mimeTypes || typeof type !== 'string') return true;
  return mimeTypes.includes((type.split(';', 1)[0] ?? '').trim().toLowerCase());
}

export function contentsRefused(
  { filter, apps }: PublishedResources,
  contents: unknown,
  uri?: string,
): string | undefined {
  if (!Array.isArray(contents)) return undefined;
  // `resources` limits models' reads, and no model reads an app.
  if (uri !== undefined && apps?.includes(uri)) {
    const why = appTooLarge(contents);
    return why && `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
  }
  const parts = (contents as unknown[]).filter(isObject);
  const foreign = parts.find(({ mimeType }) => !admitsType(filter, mimeType));
  if (foreign) return `Its media type ${asText(foreign['mimeType'])} is not among \`resources.mimeTypes\`.`;
  const bytes = bytesIn(parts);
  if (filter.maxBytes === undefined || bytes <= filter.maxBytes) return undefined;
  return `It has ${Math.ceil(bytes)} bytes, and \`resources.maxBytes\` is ${filter.maxBytes}.`;
}

/**
 * True if a URI may be read: the filter lets it in, or a template of the filter fits it. A filtered resource is out
 * everywhere (N2). A whitelist does not apply to the apps of published tools (G8).
 */
export function admitsResource({ templates, filter, apps }: PublishedResources, uri: string): boolean {
  const lists = compileUriFilter(filter);
  if (isTooMuchToMatch(patternsOf(lists), [uri])) return false;
  const verdict = judge(lists, uri);
  if (verdict.kind !== 'notWhitelisted') return verdict.kind === 'in';
  if (apps?.includes(uri)) return true;
  return isMadeFrom(templates, uri);
}
