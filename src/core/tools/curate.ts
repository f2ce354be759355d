/** Passes one server's list through its filters, transforms and name rules (N1–N4, N7). Pure. */
import { appOf, isForAppAlone } from '../apps/toolMeta.js';
import type { Problem } from '../base/problem.js';
import { perObject } from '../base/perObject.js';
import { problemOf } from '../base/problemOf.js';
import { clipped } from '../base/text.js';
import { atOnce, type Sliced } from '../base/turns.js';
import type { ServerDefinition, ToolOverride } from '../config/model.js';
import { noLists } from './catalogue.js';
import type {
  ExcludedTool,
  ExclusionReason,
  OfferedTool,
  PublishedTool,
  ToolListing,
} from './catalogue.js';
import { isValidName, longestMatched, transformName } from './names.js';
import { compileFilter, isTooMuchToMatch, patternsOf, sift } from './patterns.js';
import { curatePromptsAndResources } from './promptsAndResources.js';
import type { CuratedPromptsAndResources, PromptAndResourceRules } from './promptsAndResources.js';
import * as problems from './problems.js';
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
  const tools: PublishedTool[] = [];
  const appTools: PublishedTool[] = [];
  const excluded: ExcludedTool[] = [];
  const names = listed.tools.flatMap(({ name }) => (name.length > longestMatched ? [] : [name]));
  if (isTooMuchToMatch(patternsOf(filter), names)) {
    const rest = yield* curateInSlices(
      { ...rules, tools: noLists },
      { ...listed, tools: [] },
      report,
    );
    return {
      ...rest,
      problems: [problemOf('list-too-long', at, { of: 'tools' }), ...rest.problems],
    };
  }
  const { verdicts, idle } = yield* sift(filter, names, listed.tools);
  const found = idle.map((pattern): Problem => problems.patternWithoutEffect(at, 'tools', pattern));
  const out: problems.NamesKeptOut = { whitelist: [], blacklist: [] };
  const originalOf = new Map<string, string>();
  const twice: Problem[] = [];
  const listedTwice = new Set<string>();
  const seen = new Set<string>();

  if (listed.declaresNone === true && !listed.prompts && !listed.resources) {
    found.push(problemOf('list-incomplete:nothing', at, {}));
  }
  if (listed.failure) {
    const { message, fix } = listed.failure;
    found.push(
      problemOf('list-failed', at, {
        said: `${message} Its prompts and resources are published.`,
        fix,
      }),
    );
  }
  for (const { name, detail } of listed.malformed) {
    found.push(problemOf('tool-malformed', at, { name: problems.shown(name), detail }));
  }
  const take = (tool: OfferedTool): void => {
    const original = tool.name;
    const forAppAlone = isForAppAlone(tool);
    const leaveOut = (reason: ExclusionReason, problem?: Problem): void => {
      if (problem) found.push(problem);
      // A tool only for apps is in no list for people, so it is not listed as left out either.
      if (!forAppAlone) excluded.push({ original, reason });
    };
    const verdict = verdicts.get(original);
    if (verdict?.kind === 'blacklisted') {
      out.blacklist.push(original);
      return leaveOut({ kind: 'blacklist', pattern: verdict.pattern });
    }
    if (verdict?.kind === 'notWhitelisted' && !forAppAlone) {
      out.whitelist.push(original);
      return leaveOut({ kind: 'whitelist' });
    }
    if (!isValidName(original))
      return leaveOut({ kind: 'originalNameInvalid' }, problems.toolNameInvalid(at, original));
    const published = forAppAlone ? original : transformName(original, rules.transform);
    if (!isValidName(published)) {
      const problem = problems.publishedNameInvalid(at, original, published);
      return leaveOut({ kind: 'publishedNameInvalid', published }, problem);
    }
    const { unusable: detail, refused, outputLeftOut, readable } = lookedAt(tool);
    if (detail !== undefined) {
      const problem = problemOf('schema-unusable', at, { tool: original, detail });
      return leaveOut({ kind: 'schema', detail }, problem);
    }
    const earlier = originalOf.get(published);
    if (earlier !== undefined && !forAppAlone) {
      const place = rules.places.keyAt(['transform']);
      twice.push(
        problemOf('name-twice-in-server', at, { first: earlier, tool: original, published, place }),
      );
      return;
    }
    const override = rules.overrides?.get(original);
    const changed = override && changedBy(override)(readable);
    for (const fault of changed?.faults ?? [])
      found.push(problems.overrideFault(at, original, fault));
    const unusable = changed?.faults.find(({ kind }) => kind === 'unusable');
    if (unusable) return leaveOut({ kind: 'override', argument: unusable.argument });
    if (refused !== undefined) {
      found.push(problemOf('editor-schema-refused', at, { tool: original, detail: refused }));
    }
    if (outputLeftOut !== undefined) {
      found.push(
        problemOf('output-schema-left-out', at, { name: original, detail: outputLeftOut }),
      );
    }
    if (!forAppAlone) originalOf.set(published, original);
    (forAppAlone ? appTools : tools).push({
      original,
      published,
      tool: changed?.tool ?? readable,
      ...(changed && { override: changed.applied }),
      ...(refused !== undefined && { editorRefuses: { kind: 'schema', detail: refused } }),
    });
  };
  for (const tool of listed.tools) {
    yield;
    const original = tool.name;
    if (original.length > longestMatched) {
      found.push(problems.toolNameInvalid(at, original));
      excluded.push({ original: clipped(original, 100), reason: { kind: 'originalNameInvalid' } });
    } else if (!seen.has(original)) {
      seen.add(original);
      take(tool);
    } else if (originalOf.get(transformName(original, rules.transform)) === original) {
      listedTwice.add(original);
      excluded.push({ original, reason: { kind: 'listedTwice' } });
    }
  }
  for (const name of rules.overrides?.keys() ?? []) {
    if (listed.tools.some((tool) => tool.name === name)) continue;
    const place = rules.places.keyAt(['tools', 'override', name]);
    found.push(problemOf('override-unknown:noTool', at, { name: problems.shown(name), place }));
  }
  const [first, ...more] = problems.fewOfEach(twice);
  if (first) return { kind: 'refused', problems: [first, ...more] };
  for (const name of listedTwice) found.push(problemOf('tool-listed-twice', at, { name }));
  const apps = new Set(tools.flatMap(({ tool }) => appOf(tool) ?? []));
  const { problems: besides, ...curated } = yield* curatePromptsAndResources(
    rules,
    listed,
    report,
    apps,
  );
  return {
    kind: 'curated',
    tools,
    appTools,
    excluded,
    ...curated,
    problems: problems.fewOfEach([
      ...found,
      ...problems.keptOut(at, 'tools', out, report),
      ...besides,
    ]),
  };
}

/**
 * A server's tool stays the same object until its next list, and its override until the next edit.
 */
const changedBy = perObject((override: ToolOverride) =>
  perObject((tool: OfferedTool) => overridden(tool, override)),
);
