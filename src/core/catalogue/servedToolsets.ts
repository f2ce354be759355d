import type { Prompt, Tool } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../base/isObject.js';
import { asText } from '../base/text.js';
import { emptyToolset, type ServedToolset } from '../gateway/backend.js';
import { everyToolset } from '../gateway/routes.js';
import { policies, type ClientPolicy } from '../protocol/clientPolicy.js';
import type { ToolsetRequest } from '../protocol/request.js';
import { knowsTasks, needsTask, tasksExtension } from '../protocol/versions.js';
import { uriOf, type Catalogue, type ServedTool, type Toolset } from '../tools/catalogue.js';
import { agentHostName, longestEditorId } from '../tools/editorNames.js';
import type { ServerFeatures } from '../tools/features.js';
import { admitsResource } from '../tools/promptsAndResources.js';
import { joined } from '../tools/registry.js';
import type { ToldPart } from '../tools/textLimits.js';
import { isMadeFrom } from '../tools/uris.js';
import type { ServerStatus } from '../reconcile/status.js';
import { adminId, releaseNameFor, releaseTool, whyNothing } from './admin.js';
import { leaseInstructions, releaseByEnding, releaseByName } from './leaseNotes.js';
import { entriesForApps, entriesForAppsOfAll, nameFor, toolsFor } from './clientTools.js';

type Toolsets = Catalogue['toolsets'];

/**
 * Returns the tool at the server's own endpoint, or the tool of `mcp_admin` if the client's
 * conversation reaches it.
 */
export function releaseAdvice(
  toolset: Toolset,
  toolsets: Toolsets,
  { policy, sees }: { policy: ClientPolicy; sees: string },
): string | undefined {
  if (policy.release === 'ofToolset' && sees !== everyToolset) {
    const release = ownRelease(toolset, policy);
    return release && releaseByEnding(release.published);
  }
  const name = releaseNameFor(policy);
  const admin = toolsets.find(({ id }) => id === adminId);
  if (!admin?.tools.some((tool) => tool.published === releaseTool)) return undefined;
  return policy.names === 'editor'
    ? releaseByName(name, toolset.id)
    : releaseByEnding(name, { serverId: toolset.id });
}

function ownRelease({ id, release, tools }: Toolset, policy: ClientPolicy): ServedTool | undefined {
  if (policy.release !== 'ofToolset') return undefined;
  if (policy.names === 'published') return release;
  if (!release) return undefined;
  const { published } = release;
  const fits = agentHostName(id, published).length <= longestEditorId;
  const isTaken = tools.some(({ editorName }) => editorName === published);
  return fits && !isTaken ? release : undefined;
}

export function servedAlone(
  toolset: Toolset,
  toolsets: Toolsets,
  policy: ClientPolicy,
): ServedToolset {
  const { id, shortName, features, resources } = toolset;
  const release = ownRelease(toolset, policy);
  const tools = [...toolsFor(toolset, policy), ...(release ? [release] : [])];
  const promised = policy.marksQuestions ? tools.filter(({ isAsked }) => isAsked) : [];
  return {
    id,
    serverName: policy.names === 'published' ? id : shortName,
    instructions: instructionsOf(toolset, releaseAdvice(toolset, toolsets, { policy, sees: id })),
    tools: tools.map((tool) => servedTool(tool, policy)),
    appTools: entriesForApps(toolset, policy),
    promised: new Set(promised.map((tool) => nameFor(tool, policy))),
    prompts: toolset.prompts.map(({ prompt, published }): Prompt => ({
      ...prompt,
      name: published,
    })),
    resources: resources.resources,
    templates: resources.templates,
    features,
    isLeased: toolset.leased,
    canGain: id !== adminId,
  };
}

export function servedEmpty(
  server: Pick<ServerStatus, 'id' | 'state' | 'origin' | 'approval' | 'trulyStateless'>,
  shortName: string,
  policy: ClientPolicy,
): ServedToolset {
  const { id, trulyStateless } = server;
  const serverName = policy.names === 'published' ? id : shortName;
  return {
    ...emptyToolset,
    id,
    serverName,
    instructions: whyNothing(server),
    isLeased: trulyStateless !== true,
  };
}

/** The id of a task names its toolset. No other extension does, so they are left out. */
function featuresOfAll(toolsets: Toolsets): ServerFeatures {
  const all = toolsets.map(({ features }) => features);
  return {
    prompts: all.some(({ prompts }) => prompts),
    resources: all.some(({ resources }) => resources),
    subscribe: all.some(({ subscribe }) => subscribe),
    completions: all.some(({ completions }) => completions),
    logging: all.some(({ logging }) => logging),
    extensions: all.some(knowsTasks) ? { [tasksExtension]: {} } : {},
  };
}

/** Returns the instructions of all toolsets together, the manuals first. */
export function toldTogether(toolsets: Toolsets): ToldPart[] {
  const about = (id: string, told: string | undefined): ToldPart[] =>
    told === undefined ? [] : [{ id, text: `About the toolset "${id}":\n${told}` }];
  const manuals = toolsets.flatMap(({ id, manual }) => about(id, manual));
  const others = toolsets.flatMap(({ manual: _, ...toolset }) => {
    const sight = { policy: policies.agent, sees: everyToolset };
    const advice = releaseAdvice(toolset, toolsets, sight);
    return about(toolset.id, instructionsOf(toolset, advice));
  });
  return [...manuals, ...others];
}

export function servedTogether(
  catalogue: Catalogue,
  missing: readonly string[] = [],
): ServedToolset {
  const { toolsets, claims } = catalogue;
  const { prompts, resources, templates } = joined(toolsets, claims);
  const lists = { prompts, resources, templates };
  const told = toldTogether(toolsets).map(({ text }) => text);
  return {
    id: everyToolset,
    serverName: 'mcp-toolsets',
    instructions:
      [...told, ...missing].join('\n\n') || (toolsets.length === 0 ? nothingConfigured : undefined),
    tools: toolsets.flatMap((toolset) =>
      toolset.tools.map((tool) => servedTool(tool, policies.agent)),
    ),
    promised: new Set(),
    appTools: entriesForAppsOfAll(catalogue).map(({ tool }) => tool),
    ...lists,
    features: featuresOfAll(toolsets),
    isLeased: toolsets.some(({ leased }) => leased),
    canGain: true,
  };
}

const nothingConfigured =
  'No MCP server serves here. A person lists servers in .minds/mcp.yaml of the project, for example with the command "MCP Toolsets: Create Config File" of the editor, and approves them. Their tools appear then.';

/** Finds the toolset of a published tool, or else of a tool for apps. */
export function holderOfTool(catalogue: Catalogue, name: string): Toolset | undefined {
  const holder = catalogue.toolsets.find(({ tools }) =>
    tools.some((tool) => tool.published === name),
  );
  return holder ?? entriesForAppsOfAll(catalogue).find(({ tool }) => tool.name === name)?.toolset;
}

/** Returns the published name of a prompt, or the URI of a resource or a template, in a request. */
export function namedIn({
  method,
  params: { name, uri, ref },
}: Pick<ToolsetRequest, 'method' | 'params'>) {
  if (method === 'prompts/get') return { kind: 'prompt', name };
  if (method !== 'completion/complete' || !isObject(ref)) {
    return { kind: 'resource', name: uri };
  }
  if (ref['type'] === 'ref/prompt') {
    return { kind: 'prompt', name: ref['name'] };
  }
  return { kind: 'resource', name: ref['uri'] };
}

/**
 * Nobody else answers for a URI in a baseline, or for one made from a template in a baseline (N5c).
 * Any other URI in no list most likely belongs to the toolset with that app or a fitting template,
 * so that comes first.
 */
export function holdersOf(
  catalogue: Catalogue,
  request: Pick<ToolsetRequest, 'method' | 'params'>,
): readonly Toolset[] {
  const { kind, name: wanted } = namedIn(request);
  if (kind === 'prompt') return holdersOfPrompt(catalogue, wanted);
  if (typeof wanted !== 'string') return [];
  const { toolsets, claims } = catalogue;
  const [rightful] = claims.of('resource', wanted);
  const found = rightful ? [rightful] : claims.ofUri(wanted);
  const claimants = new Set(found.map(({ server }) => server));
  if (claimants.size > 0) {
    return toolsets.filter(({ id }) => claimants.has(id));
  }
  const listed = toolsets.find(({ resources: { resources, templates } }) =>
    [...resources, ...templates].some((one) => uriOf(one) === wanted),
  );
  if (listed) return [listed];
  const isUnlikely = ({ resources: { apps, templates } }: Toolset): boolean =>
    !apps.includes(wanted) && !isMadeFrom(templates.map(uriOf), wanted);
  return toolsets
    .filter(({ features, resources }) => features.resources && admitsResource(resources, wanted))
    .sort((a, b) => Number(isUnlikely(a)) - Number(isUnlikely(b)));
}

function holdersOfPrompt({ toolsets, claims }: Catalogue, name: unknown): readonly Toolset[] {
  const [claim] = claims.of('prompt', asText(name));
  const own = toolsets.filter(({ id }) => !claim || claim.server === id);
  return own
    .filter(({ prompts }) => prompts.some(({ published }) => published === name))
    .slice(0, 1);
}

/** The manual comes first, because agents cut long instructions at the end (H1e). */
function instructionsOf(toolset: Toolset, advice: string | undefined): string | undefined {
  const { id, manual, instructions, leased } = toolset;
  const parts = [manual, instructions, leased ? leaseInstructions(id, advice) : undefined];
  return parts.filter((part) => part).join('\n\n') || undefined;
}

/**
 * The editor receives readable text, not always the structured content that an output schema
 * promises.
 */
function servedTool(tool: ServedTool, policy: ClientPolicy): Tool {
  const served: Tool = { ...tool.tool, name: nameFor(tool, policy) };
  if (policy.results === 'readable') delete served.outputSchema;
  // The editor asks about every tool without this hint. Ours stays, because the editor may be set
  // to ask nothing.
  if (policy.marksQuestions && tool.isAsked) {
    served.annotations = { ...served.annotations, readOnlyHint: true };
  }
  // Here it is called like any other.
  if (needsTask(served)) delete served.execution;
  return served;
}
