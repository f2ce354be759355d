/** Decides over all toolsets about published names and the editor's tools (N5, G3a). Pure. */
import { groupedBy } from '../base/groupedBy.js';
import type { Place, Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import type { ServerPlaces } from '../config/model.js';
import type {
  ExclusionReason,
  OfferedPrompt,
  PublishedTool,
  ServedTool,
  Toolset,
} from './catalogue.js';
import { uriOf } from './catalogue.js';
import type { PermissionVerdict, ToolNames } from './permissions.js';
import { editorId, editorNames, longestEditorId, agentHostName } from './editorNames.js';
import { noClaims, type Claim, type Claims } from './claims.js';
import * as problems from './problems.js';

/**
 * The limit of the editor and of providers in one request, for models without a search among tools.
 */
const mostTools = 128;

export interface Candidate extends Omit<Toolset, 'tools' | 'appTools' | 'release'> {
  readonly tools: readonly PublishedTool[];
  readonly appTools?: readonly PublishedTool[];
  readonly places: ServerPlaces;
}

type Judge = (tool: ToolNames) => PermissionVerdict;

/** An unchanged list keeps its result. A key for each tool would cost more than the tools. */
const servedLists = new WeakMap<readonly PublishedTool[], readonly ServedTool[]>();

function servedOf(
  tools: readonly PublishedTool[],
  { id, shortName }: Candidate,
): readonly ServedTool[] {
  const published = tools.map((tool) => tool.published);
  const names = editorNames(id, published);
  const known = servedLists.get(tools);
  const isKnown = (tool: ServedTool, index: number): boolean =>
    tool.editorName === names[index] && tool.editorId === editorId(shortName, tool.editorName);
  if (known?.every(isKnown)) return known;
  const made = tools.map(
    ({ original, published, tool, override, editorRefuses }, index): ServedTool => {
      const editorName = names[index] ?? published;
      // Written out, because a copy by `...` takes ten times as long.
      const own = {
        original,
        published,
        tool,
        editorName,
        editorId: editorId(shortName, editorName),
      };
      return override || editorRefuses
        ? { ...own, ...(override && { override }), ...(editorRefuses && { editorRefuses }) }
        : own;
    },
  );
  servedLists.set(tools, made);
  return made;
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
  const holders = new Map<string, string>();
  const hosted = new Map<string, string>();
  const found: Problem[] = [];
  const placeOf = (server: string): Place | undefined =>
    candidates.find(({ id }) => id === server)?.places.key;
  const claimsOn = (published: string): Claim[] => [
    ...claims
      .of('tool', published)
      .filter(({ original }) => judge({ original, published }).permission !== 'deny'),
    ...claims.of('app', published),
  ];
  const toolsets = candidates.map((candidate): Toolset => {
    const { places, tools: offered, appTools: ofApps = [], ...rest } = candidate;
    const at = { server: candidate.id, places };
    const excluded = [...candidate.excluded];
    const reservedNames: string[] = [];
    const taken: {
      readonly published: string;
      readonly holder: string;
      readonly isNew: boolean;
    }[] = [];
    const asked = new Set<string>();
    const claimed = offered.filter(({ published, original }) => {
      const leaveOut = (reason: ExclusionReason): false => {
        excluded.push({ original, reason });
        return false;
      };
      const { permission, pattern = published } = judge({ original, published });
      if (permission === 'deny') return leaveOut({ kind: 'denied', pattern, published });
      if (permission === 'ask') asked.add(published);
      const claimed = claimsOn(published);
      const holder = claimed[0]?.server ?? holders.get(published) ?? candidate.id;
      if (reserved.has(published)) {
        reservedNames.push(published);
        return leaveOut({ kind: 'nameReserved', published });
      }
      if (holder !== candidate.id) {
        const own = claimed.find(({ server }) => server === candidate.id);
        const isNew = claimed[0] !== undefined && own?.isFirm !== true;
        taken.push({ published, holder, isNew });
        return leaveOut({ kind: 'nameTaken', published, holder, ...(isNew && { isNew }) });
      }
      holders.set(published, candidate.id);
      return true;
    });
    // One prefix solves all of them, so they are one problem.
    if (reservedNames.length > 0) found.push(problems.nameReserved(at, reservedNames));
    for (const same of groupedBy(taken, ({ holder, isNew }) => `${holder} ${isNew}`).values()) {
      const [{ holder, isNew }] = same;
      const names = same.map(({ published }) => published);
      found.push(problems.nameTaken(at, names, { holder, isNew, place: placeOf(holder) }));
    }
    const tooLong: problems.UnusableName[] = [];
    const unhosted: (problems.UnusableName & { readonly holder: string | undefined })[] = [];
    const all = claimed.length === offered.length ? offered : claimed;
    const tools = servedOf(all, candidate).map((served): ServedTool => {
      const made: ServedTool = asked.has(served.published) ? { ...served, isAsked: true } : served;
      const { published, editorName, editorId: id } = made;
      if (made.editorRefuses) return made;
      if (id.length > longestEditorId) {
        tooLong.push({ published, name: id });
        return { ...made, editorRefuses: { kind: 'idTooLong' } };
      }
      const inHost = agentHostName(candidate.id, editorName);
      const rightful = claims.of('agentHost', inHost)[0]?.server ?? hosted.get(inHost);
      const holder = rightful === candidate.id ? undefined : rightful;
      if (holder === undefined && inHost.length <= longestEditorId) {
        hosted.set(inHost, candidate.id);
        return made;
      }
      unhosted.push({ published, name: inHost, holder });
      return { ...made, noAgentHostName: true };
    });
    if (tooLong.length > 0) found.push(problems.editorIdTooLong(at, tooLong));
    for (const [holder, unusable] of groupedBy(unhosted, (one) => one.holder)) {
      found.push(problems.agentHostNameUnusable(at, unusable, holder));
    }
    const appTools = ofApps
      .filter((tool) => judge(tool).permission !== 'deny')
      .map((tool) => ({
        ...tool,
        editorName: tool.original,
        editorId: editorId(candidate.shortName, tool.original),
      }));
    return { ...rest, tools, ...(appTools.length > 0 && { appTools }), excluded };
  });
  const { contested } = joined(candidates, claims);
  for (const same of groupedBy(
    contested,
    ({ toolset, holder }) => `${toolset.id} ${holder}`,
  ).values()) {
    const [{ toolset, holder }] = same;
    const names = same.map(({ name }) => name);
    found.push(problems.heldElsewhere(atOf(toolset), holder, placeOf(holder), names));
  }
  return {
    toolsets,
    problems: [...problems.fewOfEach(found), ...crowd(candidates, toolsets, reserved.size)],
  };
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
  const contested: { readonly toolset: One; readonly holder: string; readonly name: string }[] = [];
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
