/** Decides over all toolsets about published names and the editor's tools (N5, N6, G3a), as a pure function. */
import type { Problem } from '../base/problem.js';
import type { ServerPlaces } from '../config/model.js';
import type {
  ExclusionReason,
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  PublishedTool,
  ServedTool,
  Toolset,
} from './catalogue.js';
import type { PermissionVerdict, ToolNames } from './permissions.js';
import { editorId, editorNames, longestEditorId, agentHostName } from './editorNames.js';
import * as problems from './problems.js';

/** The limit of the editor and of providers in one request, for models without a search among tools. */
const mostTools = 128;

export interface Candidate extends Omit<Toolset, 'tools' | 'appTools' | 'release'> {
  readonly tools: readonly PublishedTool[];
  readonly appTools?: readonly PublishedTool[];
  readonly places: ServerPlaces;
}

type Judge = (tool: ToolNames) => PermissionVerdict;

interface Publication {
  readonly toolsets: readonly Toolset[];
  readonly problems: readonly Problem[];
}

/** An unchanged list keeps its result. A key for each tool would cost more than the tools. */
const servedLists = new WeakMap<readonly PublishedTool[], readonly ServedTool[]>();

function servedOf(tools: readonly PublishedTool[], { id, shortName }: Candidate): readonly ServedTool[] {
  const names = editorNames(
    id,
    tools.map((tool) => tool.published),
  );
  const known = servedLists.get(tools);
  const isKnown = (tool: ServedTool, index: number): boolean =>
    tool.editorName === names[index] && tool.editorId === editorId(shortName, tool.editorName);
  if (known?.every(isKnown)) return known;
  const made = tools.map(({ original, published, tool, override, editorRefuses }, index): ServedTool => {
    const editorName = names[index] ?? published;
    // Written out, because a copy by `...` takes ten times as long.
    const own = { original, published, tool, editorName, editorId: editorId(shortName, editorName) };
    return override || editorRefuses
      ? { ...own, ...(override && { override }), ...(editorRefuses && { editorRefuses }) }
      : own;
  });
  servedLists.set(tools, made);
  return made;
}

/** @param candidates in file order, higher source first: the earlier one keeps a contested name */
export function publish(
  candidates: readonly Candidate[],
  reserved: Pick<ReadonlySet<string>, 'has' | 'size'>,
  judge: Judge = () => ({ permission: 'allow' }),
): Publication {
  const holders = new Map<string, Candidate>();
  const hosted = new Map<string, string>();
  const found: Problem[] = [];
  const toolsets = candidates.map((candidate): Toolset => {
    const { places, tools: offered, appTools: ofApps = [], ...rest } = candidate;
    const at = { server: candidate.id, places };
    const excluded = [...candidate.excluded];
    const reservedNames: string[] = [];
    const taken = new Map<Candidate, string[]>();
    const asked = new Set<string>();
    const claimed = offered.filter(({ published, original }) => {
      const leaveOut = (reason: ExclusionReason): false => {
        excluded.push({ original, reason });
        return false;
      };
      const { permission, pattern = published } = judge({ original, published });
      if (permission === 'deny') return leaveOut({ kind: 'denied', pattern, published });
      if (permission === 'ask') asked.add(published);
      const holder = holders.get(published);
      if (reserved.has(published)) {
        reservedNames.push(published);
        return leaveOut({ kind: 'nameReserved', published });
      }
      if (holder) {
        listed(taken, holder).push(published);
        return leaveOut({ kind: 'nameTaken', published, holder: holder.id });
      }
      holders.set(published, candidate);
      return true;
    });
    // One prefix solves all of them, so they are one problem.
    if (reservedNames.length > 0) found.push(problems.nameReserved(at, reservedNames));
    for (const [holder, names] of taken) found.push(problems.nameTaken(at, names, holder.id, holder.places.key));
    const tooLong: problems.UnusableName[] = [];
    const unhosted = new Map<string | undefined, problems.UnusableName[]>();
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
      const holder = hosted.get(inHost);
      if (holder === undefined && inHost.length <= longestEditorId) {
        hosted.set(inHost, candidate.id);
        return made;
      }
      listed(unhosted, holder).push({ published, name: inHost });
      return { ...made, noAgentHostName: true };
    });
    if (tooLong.length > 0) found.push(problems.editorIdTooLong(at, tooLong));
    for (const [holder, unusable] of unhosted) found.push(problems.agentHostNameUnusable(at, unusable, holder));
    const appTools = ofApps
      .filter((tool) => judge(tool).permission !== 'deny')
      .map((tool) => ({ ...tool, editorName: tool.original, editorId: editorId(candidate.shortName, tool.original) }));
    return { ...rest, tools, ...(appTools.length > 0 && { appTools }), excluded };
  });
  for (const { id, holder, names } of joined(candidates).contested) {
    const [later, earlier] = [id, holder].map((one) => candidates.find((candidate) => candidate.id === one));
    if (!later || !earlier) continue;
    found.push(problems.heldElsewhere({ server: id, places: later.places }, holder, earlier.places.key, names));
  }
  return { toolsets, problems: [...problems.fewOfEach(found), ...crowd(candidates, toolsets, reserved.size)] };
}

function listed<Key, Item>(lists: Map<Key, Item[]>, key: Key): Item[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** The problem is at the server beyond the limit, because the earlier servers fit. */
function crowd(candidates: readonly Candidate[], toolsets: readonly Toolset[], builtIn: number): Problem[] {
  const total = toolsets.reduce((sum, { tools }) => sum + tools.length, builtIn);
  if (total <= mostTools) return [];
  let count = builtIn;
  const index = toolsets.findIndex(({ tools }) => (count += tools.length) > mostTools);
  const candidate = candidates[index];
  return candidate ? [problems.tooManyTools({ server: candidate.id, places: candidate.places }, total, mostTools)] : [];
}

type Part = Pick<Toolset, 'id' | 'prompts' | 'resources'>;

/** Names missing from the toolset `id` in the joined lists, because `holder` has them. */
interface Contested {
  readonly id: string;
  readonly holder: string;
  readonly names: readonly string[];
}

interface Together {
  readonly prompts: readonly OfferedPrompt[];
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  readonly contested: readonly Contested[];
}

/** Joins the prompts and resources of all toolsets (G6). The earlier toolset keeps a name that is in several. */
export function joined(toolsets: readonly Part[]): Together {
  const contested = new Map<string, Contested & { names: string[] }>();
  const firsts = <T>(entriesOf: (toolset: Part) => readonly T[], nameOf: (entry: T) => string): T[] => {
    const held = new Map<string, { readonly id: string; readonly entry: T }>();
    for (const toolset of toolsets) {
      for (const entry of entriesOf(toolset)) {
        const name = nameOf(entry);
        const holder = held.get(name);
        if (!holder) held.set(name, { id: toolset.id, entry });
        else if (holder.id !== toolset.id) {
          const pair = JSON.stringify([toolset.id, holder.id]);
          const known = contested.get(pair) ?? { id: toolset.id, holder: holder.id, names: [] };
          known.names.push(name);
          contested.set(pair, known);
        }
      }
    }
    return [...held.values()].map(({ entry }) => entry);
  };
  const prompts = firsts(
    (toolset) => toolset.prompts.map(({ prompt, published }) => ({ ...prompt, name: published })),
    ({ name }) => name,
  );
  const resources = firsts(
    (toolset) => toolset.resources.resources,
    ({ uri }) => uri,
  );
  const templates = firsts(
    (toolset) => toolset.resources.templates,
    ({ uriTemplate }) => uriTemplate,
  );
  return { prompts, resources, templates, contested: [...contested.values()] };
}
