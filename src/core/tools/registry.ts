/** Decides over all toolsets about published names and the editor's tools (N5, G3a). Pure. */
import { groupedBy } from '../base/groupedBy.js';
import type { Place, Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import type { ServerPlaces } from '../config/model.js';
import {
  uriOf,
  type ExcludedTool,
  type ExclusionReason,
  type OfferedPrompt,
  type PublishedTool,
  type ServedTool,
  type Toolset,
} from './catalogue.js';
import type { ToolNames, ToolVerdict } from './permissions.js';
import { editorId, editorNames, longestEditorId, agentHostName } from './editorNames.js';
import { noClaims, type Claim, type Claims } from './claims.js';
import * as problems from './problems.js';
import { textsCut } from './textLimits.js';

/**
 * The limit of the editor and of providers in one request, for models without a search among tools.
 */
const mostTools = 128;

export interface Candidate extends Omit<Toolset, 'tools' | 'appTools' | 'release'> {
  readonly tools: readonly PublishedTool[];
  readonly appTools?: readonly PublishedTool[];
  readonly places: ServerPlaces;
}

type Judge = (tool: ToolNames) => ToolVerdict;

/** An unchanged list keeps its result. A key for each tool would cost more than the tools. */
const servedLists = new WeakMap<readonly PublishedTool[], readonly ServedTool[]>();

function servedOf(
  tools: readonly PublishedTool[],
  { id, shortName }: Candidate,
): readonly ServedTool[] {
  const published = tools.map((tool) => tool.published);
  const names = editorNames(id, published);
  const known = servedLists.get(tools);
  const isKnown = (tool: ServedTool, index: number) =>
    tool.editorName === names[index] && tool.editorId === editorId(shortName, tool.editorName);
  if (known?.every(isKnown)) return known;
  const made = tools.map(
    ({ original, published, tool, override, editorRefuses, refusedBy }, index): ServedTool => {
      const editorName = names[index] ?? published;
      // Written out, because a copy by `...` takes ten times as long.
      const id = editorId(shortName, editorName);
      const own = {
        original,
        published,
        tool,
        editorName,
        editorId: id,
      };
      if (!override && !editorRefuses && !refusedBy) return own;
      return {
        ...own,
        ...(override && { override }),
        ...(editorRefuses && { editorRefuses }),
        ...(refusedBy && { refusedBy }),
      };
    },
  );
  servedLists.set(tools, made);
  return made;
}

/** Marks a tool if clients are promised a question about each call (S4d). */
export function withVerdict(tool: ServedTool, verdict: ToolVerdict | undefined): ServedTool {
  const { permission, otherwise } = verdict ?? {};
  if (permission !== 'ask' && otherwise === undefined) return tool;
  return {
    ...tool,
    ...(permission === 'ask' && { isAsked: true }),
    ...(otherwise && { otherwise }),
  };
}

/**
 * @param candidates in file order, higher source first: the earlier one keeps a name that no claim
 * decides about
 */
export function publish(
  candidates: readonly Candidate[],
  reserved: Pick<ReadonlySet<string>, 'has' | 'size'>,
  judge: Judge = () => ({ permission: 'allow' }),
  claims: Claims = noClaims,
): { readonly toolsets: readonly Toolset[]; readonly problems: readonly Problem[] } {
  const publication = new Names(candidates, reserved, judge, claims);
  const toolsets = candidates.map((candidate) => publication.toolsetOf(candidate));
  publication.reportContested();
  const found = problems.fewOfEach(publication.found);
  return {
    toolsets,
    problems: [
      ...found,
      ...crowd(candidates, toolsets, reserved.size),
      ...candidates.flatMap((one) => textsCut(atOf(one), one)),
    ],
  };
}

type TakenName = Extract<ExclusionReason, { kind: 'nameTaken' }>;

/** The names that toolsets have so far, and the problems with them. */
class Names {
  readonly found: Problem[] = [];
  private readonly holders = new Map<string, string>();
  private readonly hosted = new Map<string, string>();

  constructor(
    private readonly candidates: readonly Candidate[],
    private readonly reserved: Pick<ReadonlySet<string>, 'has'>,
    private readonly judge: Judge,
    private readonly claims: Claims,
  ) {}

  toolsetOf(candidate: Candidate): Toolset {
    const { places, tools: offered, appTools: ofApps = [], ...rest } = candidate;
    const at = { server: candidate.id, places };
    const left: ExcludedTool[] = [];
    const verdicts = new Map<string, ToolVerdict>();
    const claimed = offered.filter((tool) => {
      const verdict = this.judge(tool);
      verdicts.set(tool.published, verdict);
      const reason = this.claim(candidate, tool, verdict);
      if (reason) left.push({ original: tool.original, reason });
      return !reason;
    });
    this.reportNames(at, left);
    const all = claimed.length === offered.length ? offered : claimed;
    const served = servedOf(all, candidate).map((tool) =>
      withVerdict(tool, verdicts.get(tool.published)),
    );
    const appTools = ofApps
      .filter((tool) => this.judge(tool).permission !== 'deny')
      .map((tool) => {
        const editorName = tool.original;
        return {
          ...tool,
          editorName,
          editorId: editorId(candidate.shortName, editorName),
        };
      });
    return {
      ...rest,
      tools: this.forEditor(at, served),
      ...(appTools.length > 0 && { appTools }),
      excluded: [...candidate.excluded, ...left],
    };
  }

  /** Gives a toolset the name of its tool, or returns why it does not get the name. */
  private claim(
    { id }: Candidate,
    { published }: PublishedTool,
    { permission, pattern = published }: ToolVerdict,
  ): ExclusionReason | undefined {
    if (permission === 'deny')
      return {
        kind: 'denied',
        pattern,
        published,
      };
    if (this.reserved.has(published)) return { kind: 'nameReserved', published };
    const claims = this.claimsOn(published);
    const [first] = claims;
    const holder = first?.server ?? this.holders.get(published) ?? id;
    if (holder === id) {
      this.holders.set(published, id);
      return undefined;
    }
    const isFirm = claims.find(({ server }) => server === id)?.isFirm === true;
    const isNew = first !== undefined && !isFirm;
    return {
      kind: 'nameTaken',
      published,
      holder,
      ...(isNew && { isNew }),
    };
  }

  private claimsOn(published: string): readonly Claim[] {
    const ofTools = this.claims.of('tool', published).filter(({ original }) => {
      return this.judge({ original, published }).permission !== 'deny';
    });
    return [...ofTools, ...this.claims.of('app', published)];
  }

  /** One prefix solves all of them, so they are one problem. */
  private reportNames(at: problems.At, left: readonly ExcludedTool[]): void {
    const reasons = left.map(({ reason }) => reason);
    const reserved = reasons.flatMap((one) => (one.kind === 'nameReserved' ? one.published : []));
    if (reserved.length > 0) this.found.push(problems.nameReserved(at, reserved));
    const taken = reasons.filter((one): one is TakenName => one.kind === 'nameTaken');
    for (const same of groupedBy(taken, (one) => `${one.holder} ${one.isNew}`).values()) {
      const [{ holder, isNew = false }] = same;
      const names = same.map(({ published }) => published);
      const place = this.placeOf(holder);
      this.found.push(problems.nameTaken(at, names, { holder, isNew, place }));
    }
  }

  /** Marks tools that the editor, or its sessions in the agent host, cannot have by their names. */
  private forEditor(at: problems.At, served: readonly ServedTool[]): readonly ServedTool[] {
    const tooLong: problems.UnusableName[] = [];
    const unhosted: (problems.UnusableName & { readonly holder: string | undefined })[] = [];
    const tools = served.map((tool): ServedTool => {
      const { published, editorName, editorId: id } = tool;
      if (tool.editorRefuses) return tool;
      if (id.length > longestEditorId) {
        tooLong.push({ published, name: id });
        return { ...tool, editorRefuses: { kind: 'idTooLong' } };
      }
      const name = agentHostName(at.server, editorName);
      const rightful = this.claims.of('agentHost', name)[0]?.server ?? this.hosted.get(name);
      const holder = rightful === at.server ? undefined : rightful;
      if (holder === undefined && name.length <= longestEditorId) {
        this.hosted.set(name, at.server);
        return tool;
      }
      unhosted.push({ published, name, holder });
      return { ...tool, noAgentHostName: true };
    });
    if (tooLong.length > 0) this.found.push(problems.editorIdTooLong(at, tooLong));
    for (const [holder, unusable] of groupedBy(unhosted, (one) => one.holder))
      this.found.push(problems.agentHostNameUnusable(at, unusable, holder));
    return tools;
  }

  reportContested(): void {
    const { contested } = joined(this.candidates, this.claims);
    const groups = groupedBy(contested, ({ toolset, holder }) => `${toolset.id} ${holder}`);
    for (const same of groups.values()) {
      const [{ toolset, holder }] = same;
      const names = same.map(({ name }) => name);
      const place = this.placeOf(holder);
      this.found.push(problems.heldElsewhere(atOf(toolset), holder, place, names));
    }
  }

  private placeOf(server: string): Place | undefined {
    return this.candidates.find(({ id }) => id === server)?.places.key;
  }
}

function atOf({ id: server, places }: Candidate): problems.At {
  return { server, places };
}

/** The problem is at the server beyond the limit, because the earlier servers fit. */
function crowd(
  candidates: readonly Candidate[],
  toolsets: readonly Toolset[],
  builtIn: number,
): Problem[] {
  const total = toolsets.reduce((sum, { tools }) => sum + tools.length, builtIn);
  if (total <= mostTools) return [];
  let count = builtIn;
  const index = toolsets.findIndex(({ tools }) => (count += tools.length) > mostTools);
  const candidate = candidates[index];
  return candidate
    ? [problemOf('too-many-tools', atOf(candidate), { total, limit: mostTools })]
    : [];
}

type Part = Pick<Toolset, 'id' | 'prompts' | 'resources'>;

/** Joins the prompts and resources of all toolsets (N5c). */
export function joined<One extends Part>(toolsets: readonly One[], claims: Claims) {
  const contested: {
    readonly toolset: One;
    readonly holder: string;
    readonly name: string;
  }[] = [];
  const winners = <T>(
    entriesOf: (toolset: Part) => readonly T[],
    nameOf: (entry: T) => string,
    claimsOn: (name: string) => readonly Claim[],
  ): T[] => {
    const held = new Map<string, { readonly holder: string; readonly entry: T }>();
    for (const toolset of toolsets) {
      for (const entry of entriesOf(toolset)) {
        const name = nameOf(entry);
        const known = held.get(name)?.holder;
        const holder = claimsOn(name)[0]?.server ?? known ?? toolset.id;
        if (holder !== toolset.id) contested.push({ toolset, holder, name });
        else if (known === undefined) held.set(name, { holder, entry });
      }
    }
    return [...held.values()].map(({ entry }) => entry);
  };
  const ofUri = claims.forList();
  const promptsOf = ({ prompts }: Part): OfferedPrompt[] =>
    prompts.map(({ prompt, published }) => ({ ...prompt, name: published }));
  return {
    prompts: winners(
      promptsOf,
      ({ name }) => name,
      (name) => claims.of('prompt', name),
    ),
    resources: winners(({ resources }) => resources.resources, uriOf, ofUri),
    templates: winners(({ resources }) => resources.templates, uriOf, ofUri),
    contested,
  };
}
