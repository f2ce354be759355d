/** Passes one server's list through its filters, transforms and name rules (N1–N4, N7). Pure. */
import { english } from '../base/language.js';
import { appOf, isForAppAlone } from '../apps/toolMeta.js';
import type { Problem } from '../base/problem.js';
import { perObject } from '../base/perObject.js';
import { problemOf } from '../base/problemOf.js';
import { clipped, shortList, andList } from '../base/text.js';
import { atOnce, type Sliced } from '../base/turns.js';
import type { ServerDefinition, ToolOverride } from '../config/model.js';
import {
  noLists,
  type ExcludedTool,
  type ExclusionReason,
  type OfferedTool,
  type PublishedTool,
  type ToolListing,
} from './catalogue.js';
import { isValidName, longestMatched, transformName } from './names.js';
import {
  compileFilter,
  isTooMuchToMatch,
  patternsOf,
  sift,
  type FilterVerdict,
} from './patterns.js';
import {
  curatePromptsAndResources,
  type CuratedPromptsAndResources,
  type PromptAndResourceRules,
} from './promptsAndResources.js';
import * as problems from './problems.js';
import { apisRefusing, modelForm, type Place } from './modelForm.js';
import { overridden } from './override.js';
import { lookedAt } from './schemas.js';

export type CurationRules = PromptAndResourceRules &
  Pick<ServerDefinition, 'tools' | 'transform' | 'overrides'>;

export type Curation =
  | (CuratedPromptsAndResources & {
      readonly kind: 'curated';
      readonly tools: readonly PublishedTool[];
      /**
       * Models and counts do not include them. Each keeps its name, because its app calls it by
       * that name (G8).
       */
      readonly appTools: readonly PublishedTool[];
      readonly excluded: readonly ExcludedTool[];
    })
  /** The transforms give two tools one name: the server's update is refused as a whole (N5). */
  | { readonly kind: 'refused'; readonly problems: readonly [Problem, ...Problem[]] };

export function curate(
  rules: CurationRules,
  listed: ToolListing,
  report: problems.FilteredToolsReport,
): Curation {
  return atOnce(curateInSlices(rules, listed, report));
}

export function* curateInSlices(
  rules: CurationRules,
  listed: ToolListing,
  report: problems.FilteredToolsReport,
): Sliced<Curation> {
  const at = { server: rules.id, places: rules.places };
  const filter = compileFilter(rules.tools);
  const names = listed.tools.flatMap(({ name }) => (name.length > longestMatched ? [] : [name]));
  if (isTooMuchToMatch(patternsOf(filter), names)) {
    const unfiltered = { ...rules, tools: noLists };
    const rest = yield* curateInSlices(unfiltered, { ...listed, tools: [] }, report);
    const tooLong = problemOf('list-too-long', at, { of: 'tools' });
    const others = rest.problems.filter(({ code }) => code !== 'list-empty');
    return { ...rest, problems: [tooLong, ...others] };
  }
  const { verdicts, idle } = yield* sift(filter, names, listed.tools);
  const curated = new CuratedTools(rules, verdicts);
  yield* curated.addAll(listed.tools);
  const [first, ...more] = problems.fewOfEach(curated.sameName);
  if (first) return { kind: 'refused', problems: [first, ...more] };
  const { tools, appTools, excluded, keptOut } = curated;
  const apps = new Set(tools.flatMap(({ tool }) => appOf(tool) ?? []));
  const besides = yield* curatePromptsAndResources(rules, listed, report, apps);
  const found = [
    ...idle.map((pattern) => problems.patternWithoutEffect(at, 'tools', pattern)),
    ...listingProblems(at, listed),
    ...curated.found,
    ...unknownOverrides(at, rules, listed.tools),
    ...[...curated.listedTwice].map((name) => problemOf('tool-listed-twice', at, { name })),
    ...problems.keptOut(at, 'tools', keptOut, report),
    ...besides.problems,
  ];
  return {
    ...besides,
    kind: 'curated',
    tools,
    appTools,
    excluded,
    problems: problems.fewOfEach(found),
  };
}

function listingProblems(at: problems.At, listed: ToolListing): Problem[] {
  const found = listed.malformed.map(({ name, detail }) =>
    problemOf('tool-malformed', at, { name: problems.shown(name), detail }),
  );
  if (listed.failure) {
    const { message, fix } = listed.failure;
    const said = english`${message} Its prompts and resources are published.`;
    found.unshift(problemOf('list-failed', at, { said, fix }));
  }
  const { incomplete, prompts, resources } = listed;
  if (incomplete !== undefined)
    found.unshift(problemOf('list-incomplete:pages', at, { detail: incomplete }));
  if (listed.declaresNone === true && !prompts && !resources)
    found.unshift(problemOf('list-incomplete:nothing', at, {}));
  else if (found.length === 0 && isEmpty(listed)) found.push(problemOf('list-empty', at, {}));
  return found;
}

function isEmpty({ tools, prompts, resources }: ToolListing): boolean {
  const lists = [tools, prompts?.prompts, resources?.resources, resources?.templates];
  return lists.every((list) => !list || list.length === 0);
}

function unknownOverrides(
  at: problems.At,
  { overrides, places }: CurationRules,
  tools: readonly OfferedTool[],
): Problem[] {
  const known = new Set(tools.map(({ name }) => name));
  const unknown = [...(overrides?.keys() ?? [])].filter((name) => !known.has(name));
  return unknown.map((name) => {
    const place = places.keyAt(['tools', 'override', name]);
    return problemOf('override-unknown:noTool', at, { name: problems.shown(name), place });
  });
}

class CuratedTools {
  readonly tools: PublishedTool[] = [];
  readonly appTools: PublishedTool[] = [];
  readonly excluded: ExcludedTool[] = [];
  readonly found: Problem[] = [];
  readonly keptOut: problems.NamesKeptOut = { whitelist: [], blacklist: [] };
  readonly listedTwice = new Set<string>();
  /** The tools whose published name an earlier one has. */
  readonly sameName: Problem[] = [];
  private readonly at: problems.At;
  private readonly seen = new Set<string>();
  private readonly originalOf = new Map<string, string>();

  constructor(
    private readonly rules: CurationRules,
    private readonly verdicts: ReadonlyMap<string, FilterVerdict>,
  ) {
    this.at = { server: rules.id, places: rules.places };
  }

  *addAll(listed: readonly OfferedTool[]): Sliced<void> {
    for (const tool of listed) {
      yield;
      const { name } = tool;
      if (name.length > longestMatched) {
        this.found.push(problems.toolNameInvalid(this.at, name));
        this.exclude(clipped(name, 100), { kind: 'originalNameInvalid' });
      } else if (!this.seen.has(name)) {
        this.seen.add(name);
        this.add(tool);
      } else if (this.originalOf.get(transformName(name, this.rules.transform)) === name) {
        this.listedTwice.add(name);
        this.exclude(name, { kind: 'listedTwice' });
      }
    }
  }

  private add(tool: OfferedTool): void {
    const { at } = this;
    const { name } = tool;
    const isForApp = isForAppAlone(tool);
    const verdict = this.verdicts.get(name);
    if (verdict?.kind === 'blacklisted') {
      this.keptOut.blacklist.push(name);
      return this.leaveOut(tool, { kind: 'blacklist', pattern: verdict.pattern });
    }
    if (verdict?.kind === 'notWhitelisted' && !isForApp) {
      this.keptOut.whitelist.push(name);
      return this.leaveOut(tool, { kind: 'whitelist' });
    }
    const { transform } = this.rules;
    const published = isForApp ? name : transformName(name, transform);
    if (isValidName(published)) return this.publish(tool, published, isForApp);
    // Without a step against it, the name of the server is the cause.
    const isOfServer = !isValidName(name) && !transform.some(({ kind }) => kind === 'replace');
    if (isForApp || isOfServer) {
      const problem = problems.toolNameInvalid(at, name);
      return this.leaveOut(tool, { kind: 'originalNameInvalid' }, problem);
    }
    const problem = problems.publishedNameInvalid(at, name, published);
    this.leaveOut(tool, { kind: 'publishedNameInvalid', published }, problem);
  }

  private publish(tool: OfferedTool, published: string, isForApp: boolean): void {
    const { at, found } = this;
    const { name } = tool;
    const { unusable: detail, refused, outputLeftOut, drafts, readable } = lookedAt(tool);
    if (detail !== undefined) {
      const problem = problemOf('schema-unusable', at, { tool: name, detail });
      return this.leaveOut(tool, { kind: 'schema', detail }, problem);
    }
    if (!isForApp && this.isTaken(published, name)) return;
    const override = this.rules.overrides?.get(name);
    const changed = override && changedBy(override)(readable);
    for (const fault of changed?.faults ?? []) found.push(problems.overrideFault(at, name, fault));
    const unusable = changed?.faults.find(({ kind }) => kind === 'unusable');
    if (unusable) return this.leaveOut(tool, { kind: 'override', argument: unusable.argument });
    if (refused !== undefined)
      found.push(problemOf('editor-schema-refused', at, { tool: name, detail: refused }));
    if (outputLeftOut !== undefined)
      found.push(problemOf('output-schema-left-out', at, { name, detail: outputLeftOut }));
    const usable = changed?.tool ?? readable;
    const shown = isForApp ? { tool: usable } : this.forModels(usable, drafts);
    if (!isForApp) this.originalOf.set(published, name);
    (isForApp ? this.appTools : this.tools).push({
      original: name,
      published,
      ...shown,
      ...(changed && { override: changed.applied }),
      ...(refused !== undefined && { editorRefuses: { kind: 'schema', detail: refused } }),
    });
  }

  /** No model gets a tool that is only for apps. */
  private forModels(
    usable: OfferedTool,
    drafts: readonly Place[],
  ): Pick<PublishedTool, 'tool' | 'refusedBy'> {
    const { tool, places: others } = modelForm(usable);
    const places = [...drafts, ...others];
    const report = (code: `schema-refused-by-models${'' | ':mended'}`, isMended: boolean) => {
      const found = places.filter((place) => place.isMended === isMended);
      const apis = apisRefusing(found);
      if (found.length === 0) return apis;
      const texts = found.map(({ text }, index) => (index < 3 ? text() : ''));
      const detail = shortList(texts, 3);
      const given = { tool: tool.name, apis: andList(apis), detail };
      this.found.push(problemOf(code, this.at, given));
      return apis;
    };
    report('schema-refused-by-models:mended', true);
    const refusedBy = report('schema-refused-by-models', false);
    return refusedBy.length > 0 ? { tool, refusedBy } : { tool };
  }

  private isTaken(published: string, tool: string): boolean {
    const first = this.originalOf.get(published);
    if (first === undefined) return false;
    const place = this.rules.places.keyAt(['transform']);
    this.sameName.push(
      problemOf('name-twice-in-server', this.at, {
        first,
        tool,
        published,
        place,
      }),
    );
    return true;
  }

  private leaveOut(tool: OfferedTool, reason: ExclusionReason, problem?: Problem): void {
    if (problem) this.found.push(problem);
    // A tool only for apps is in no list for people, so it is not listed as left out either.
    if (!isForAppAlone(tool)) this.exclude(tool.name, reason);
  }

  private exclude(original: string, reason: ExclusionReason): void {
    this.excluded.push({ original, reason });
  }
}

/**
 * A server's tool stays the same object until its next list, and its override until the next edit.
 */
const changedBy = perObject((override: ToolOverride) =>
  perObject((tool: OfferedTool) => overridden(tool, override)),
);
