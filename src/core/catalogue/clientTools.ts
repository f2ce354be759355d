/**
 * The code of an app contains original names, so a renamed tool is listed once more for apps (G8).
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { appOf, isForApps, metaForApps } from '../apps/toolMeta.js';
import { perObject } from '../base/perObject.js';
import { policies, type ClientPolicy } from '../protocol/clientPolicy.js';
import { toolsForAgentHost, toolsForEditor } from '../tools/catalogue.js';
import { isValidName } from '../tools/names.js';
import type { Catalogue, ServedTool, Toolset } from '../tools/catalogue.js';
import { adminId, releaseTool } from './admin.js';

export function nameFor({ published, editorName }: ServedTool, { names }: ClientPolicy): string {
  return names === 'published' ? published : editorName;
}

export function toolsFor(toolset: Toolset, { names }: ClientPolicy): readonly ServedTool[] {
  switch (names) {
    case 'published':
      return toolset.tools;
    case 'editor':
      return toolsForEditor(toolset);
    case 'agentHost':
      // Each toolset is a separate session there, so the session of `mcp_admin` holds no instance
      // to release.
      return toolsForAgentHost(toolset).filter(
        ({ original }) => toolset.id !== adminId || original !== releaseTool,
      );
  }
}

/** A toolset never changes, so an entry holds as long as its toolset. */
const namedTools = perObject(
  (_: Toolset) => new Map<ClientPolicy['names'], ReadonlyMap<string, ServedTool>>(),
);

export function toolNamed(
  toolset: Toolset,
  name: string,
  policy: ClientPolicy,
): ServedTool | undefined {
  const byNames = namedTools(toolset);
  const known = byNames.get(policy.names);
  if (known) return known.get(name);
  // The first of equal names counts.
  const last = toolsFor(toolset, policy).toReversed();
  const tools = new Map(last.map((tool) => [nameFor(tool, policy), tool]));
  byNames.set(policy.names, tools);
  return tools.get(name);
}

/**
 * Finds the tool for an app, first by the original name. Returns undefined if no published tool has
 * an app.
 */
export function toolForApp(
  toolset: Toolset,
  name: string,
  policy: ClientPolicy,
): ServedTool | undefined {
  const tools = callable(toolset, policy);
  return (
    tools.find(({ original }) => original === name) ??
    tools.find((tool) => nameFor(tool, policy) === name)
  );
}

/** Without names that are listed already. */
export function entriesForApps(toolset: Toolset, policy: ClientPolicy): Tool[] {
  const listed = new Set(toolsFor(toolset, policy).map((tool) => nameFor(tool, policy)));
  return callable(toolset, policy)
    .filter(({ original }) => !listed.has(original) && isValidName(original))
    .map(({ tool }) => ({ ...tool, _meta: metaForApps(tool) }));
}

/**
 * Leaves out ambiguous names, because an app may call only tools of the server it comes from. A new
 * tool does not make a name ambiguous that another server has in its baseline (N5b).
 */
export function entriesForAppsOfAll({
  toolsets,
  claims,
}: Catalogue): { toolset: Toolset; tool: Tool }[] {
  const mayUse = (name: string, id: string): boolean => {
    const claimed = claims.of('app', name);
    return claimed.length === 0 || claimed.some(({ server }) => server === id);
  };
  const all = toolsets.flatMap((toolset) =>
    entriesForApps(toolset, policies.agent).map((tool) => ({ toolset, tool })),
  );
  const rightful = all.filter(({ toolset, tool }) => mayUse(tool.name, toolset.id));
  const published = new Set(toolsets.flatMap(({ tools }) => tools.map((tool) => tool.published)));
  const count = new Map<string, number>();
  for (const { tool } of rightful) count.set(tool.name, (count.get(tool.name) ?? 0) + 1);
  return rightful.filter(({ tool }) => count.get(tool.name) === 1 && !published.has(tool.name));
}

function callable(toolset: Toolset, policy: ClientPolicy): readonly ServedTool[] {
  const tools = toolsFor(toolset, policy);
  if (!tools.some(({ tool }) => appOf(tool) !== undefined)) return [];
  const hasAll = policy.names === 'published';
  const own = (toolset.appTools ?? []).filter(({ editorRefuses }) => hasAll || !editorRefuses);
  return [...own, ...tools.filter(({ tool }) => isForApps(tool))];
}
