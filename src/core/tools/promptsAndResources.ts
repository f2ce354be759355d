/**
 * Filters and renames one server's prompts and resources (N1, N3), as `curate` does with
 * tools.
 */
import { english } from '../base/language.js';
import { appTooLarge, bytesIn } from '../apps/appResource.js';
import { isObject } from '../base/isObject.js';
import type { Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import { asText } from '../base/text.js';
import type { Sliced } from '../base/turns.js';
import type { PromptSelection, ResourceSelection, ServerDefinition } from '../config/model.js';
import {
  uriOf,
  type OfferedResource,
  type OfferedTemplate,
  type PromptListing,
  type PublishedPrompt,
  type PublishedResources,
  type ResourceListing,
  type ToolListing,
} from './catalogue.js';
import { longestMatched, transformName } from './names.js';
import {
  type CompiledFilter,
  compileFilter,
  isTooMuchToMatch,
  judge,
  patternsOf,
  sift,
} from './patterns.js';
import { compileUriFilter, isMadeFrom, isTemplate, longestUri } from './uris.js';
import * as problems from './problems.js';

export type PromptAndResourceRules = Pick<
  ServerDefinition,
  'id' | 'prompts' | 'resources' | 'places'
>;

export interface CuratedPromptsAndResources {
  readonly prompts: readonly PublishedPrompt[];
  readonly resources: PublishedResources;
  readonly problems: readonly Problem[];
}

type Context = {
  readonly at: problems.At;
  readonly report: problems.FilteredToolsReport;
  readonly found: Problem[];
};

export function* curatePromptsAndResources(
  { id: server, places, prompts, resources }: PromptAndResourceRules,
  listed: Pick<ToolListing, 'prompts' | 'resources'>,
  report: problems.FilteredToolsReport,
  apps: ReadonlySet<string> = new Set(),
): Sliced<CuratedPromptsAndResources> {
  const context: Context = {
    at: { server, places },
    report,
    found: [],
  };
  return {
    prompts: listed.prompts ? yield* publishPrompts(context, prompts, listed.prompts) : [],
    resources: yield* publishResources(context, resources, listed.resources, apps),
    problems: context.found,
  };
}

/** Names may break the rule for tools, because no model provider sees them. */
function* publishPrompts(
  context: Context,
  { filter, transform }: PromptSelection,
  listed: PromptListing,
): Sliced<PublishedPrompt[]> {
  const kept = yield* keptNames(context, {
    of: 'prompts',
    filter: compileFilter(filter),
    names: listed.prompts.map(({ name }) => name),
    listed,
  });
  const published = new Map<string, PublishedPrompt>();
  for (const prompt of listed.prompts.filter(({ name }) => kept.has(name))) {
    const name = transformName(prompt.name, transform);
    const earlier = published.get(name);
    if (earlier)
      context.found.push(problems.promptTwice(context.at, name, earlier.original, prompt.name));
    else
      published.set(name, {
        original: prompt.name,
        published: name,
        prompt,
      });
  }
  return [...published.values()];
}

function* publishResources(
  context: Context,
  filter: ResourceSelection,
  listed: ResourceListing | undefined,
  apps: ReadonlySet<string>,
): Sliced<PublishedResources> {
  if (!listed)
    return {
      resources: [],
      templates: [],
      filter,
      apps: [...apps],
    };
  const { resources, templates } = listed;
  const kept = yield* keptNames(context, {
    of: 'resources',
    filter: compileUriFilter(filter),
    names: [...resources, ...templates].map(uriOf),
    listed,
    spared: apps,
  });
  const seen = new Set<string>();
  // A second entry would be outside the review of the first one (S3).
  const isIn = (one: OfferedResource | OfferedTemplate) => {
    const uri = uriOf(one);
    const isTwice = seen.has(uri);
    if (isTwice)
      context.found.push(
        problems.entryMalformed(context.at, 'resources', uri, english`is listed twice`),
      );
    seen.add(uri);
    return !isTwice && kept.has(uri) && (apps.has(uri) || admitsType(filter, one.mimeType));
  };
  return {
    resources: resources.filter(isIn),
    templates: templates.filter(isIn),
    filter,
    apps: [...apps],
  };
}

/** The names of a list, and what decides about them. */
type NamedList = {
  readonly of: 'prompts' | 'resources';
  readonly filter: CompiledFilter;
  readonly names: readonly string[];
  readonly listed: Pick<PromptListing, 'malformed' | 'failure'>;
  /** Names outside the reach of a whitelist. */
  readonly spared?: ReadonlySet<string>;
};

function* keptNames(
  { at, report, found }: Context,
  { of, filter, names: all, listed, spared }: NamedList,
): Sliced<ReadonlySet<string>> {
  const { malformed, failure } = listed;
  if (failure !== undefined) found.push(problemOf('list-incomplete', at, { of, detail: failure }));
  const most = of === 'prompts' ? longestMatched : longestUri;
  const tooLong = all.filter(({ length }) => length > most);
  const detail = english`is named by more than ${most} characters`;
  for (const one of [...malformed, ...tooLong.map((name) => ({ name, detail }))])
    found.push(problems.entryMalformed(at, of, one.name, one.detail));
  const names = all.filter(({ length }) => length <= most);
  if (isTooMuchToMatch(patternsOf(filter), names)) {
    found.push(problemOf('list-too-long', at, { of }));
    return new Set();
  }
  const { verdicts, idle } = yield* sift(filter, names, listed);
  // The pattern may match an unlisted entry.
  if (failure === undefined)
    for (const pattern of idle) found.push(problems.patternWithoutEffect(at, of, pattern));
  const out: problems.NamesKeptOut = { whitelist: [], blacklist: [] };
  const kept = names.filter((name) => {
    const kind = verdicts.get(name)?.kind;
    if (kind === 'notWhitelisted' && spared?.has(name)) return true;
    if (kind !== 'in') out[kind === 'blacklisted' ? 'blacklist' : 'whitelist'].push(name);
    return kind === 'in';
  });
  for (const problem of problems.keptOut(at, of, out, report)) found.push(problem);
  return new Set(kept);
}

function admitsType({ mimeTypes }: ResourceSelection, type: unknown): boolean {
  if (!mimeTypes || typeof type !== 'string') return true;
  return mimeTypes.includes((type.slice(0, 1_000).split(';', 1)[0] ?? '').trim().toLowerCase());
}

export function contentsRefused(
  { filter, apps }: PublishedResources,
  contents: unknown,
  uri?: string,
): string | undefined {
  if (!Array.isArray(contents)) return undefined;
  // `resources` limits models' reads, and no model reads an app.
  if (uri !== undefined && apps.includes(uri)) {
    const why = appTooLarge(contents);
    return why && `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
  }
  const parts = (contents as unknown[]).filter(isObject);
  const foreign = parts.find(({ mimeType }) => !admitsType(filter, mimeType));
  if (foreign)
    return `Its media type ${asText(foreign['mimeType'])} is not among \`resources.mimeTypes\`.`;
  const bytes = bytesIn(parts);
  if (filter.maxBytes === undefined || bytes <= filter.maxBytes) return undefined;
  return `It has ${Math.ceil(bytes)} bytes, and \`resources.maxBytes\` is ${filter.maxBytes}.`;
}

/**
 * True if a URI may be read (N2a). A whitelist does not apply to pages of published tools (G8e).
 */
export function admitsResource(published: PublishedResources, uri: string): boolean {
  const { templates, filter, apps } = published;
  if (isHeldBack(published, uri)) return false;
  const lists = compileUriFilter(filter);
  if (isTooMuchToMatch(patternsOf(lists), [uri])) return false;
  const { kind } = judge(lists, uri);
  return (
    kind === 'in' ||
    (kind === 'notWhitelisted' && (apps.includes(uri) || isMadeFrom(templates.map(uriOf), uri)))
  );
}

/** True if the entry of the URI is held back, or if only a held-back template makes it. */
function isHeldBack({ resources, templates, held }: PublishedResources, uri: string): boolean {
  if (!held) return false;
  if (held.includes(uri)) return true;
  const isListed =
    resources.some((one) => one.uri === uri) || isMadeFrom(templates.map(uriOf), uri);
  return !isListed && isMadeFrom(held.filter(isTemplate), uri, true);
}
