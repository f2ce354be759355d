/**
 * The code of an app contains original names, so a renamed tool is listed once more for apps (G8).
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { appOf, isForApps, metaForApps } from '../apps/toolMeta.js';
import { perObject } from '../base/perObject.js';
import type { ClientKind } from '../protocol/client.js';
import { toolsForAgentHost, toolsForEditor } from '../tools/catalogue.js';
import type { Catalogue, ServedTool, Toolset } from '../tools/catalogue.js';
import { adminId, releaseTool } from './admin.js';

export function nameFor(tool: ServedTool, clientKind: ClientKind = 'plain'): string {
  return clientKind === 'plain' ? tool.published : tool.editorName;
}

export function toolsFor(
  toolset: Toolset,
  clientKind: ClientKind = 'plain',
): readonly ServedTool[] {
  if (clientKind === 'plain') return toolset.tools;
  if (clientKind === 'editor') return toolsForEditor(toolset);
  // Each toolset is a separate session there, so the session of `mcp_admin` holds no instance to
  // release.
  return toolsForAgentHost(toolset).filter(
    ({ original }) => toolset.id !== adminId || original !== releaseTool,
  );
}

/** A toolset never changes, so an entry holds as long as its toolset. */
const namedTools = perObject(
  (_: Toolset) => new Map<ClientKind, ReadonlyMap<string, ServedTool>>(),
);

export function toolNamed(
  toolset: Toolset,
  name: string,
  clientKind: ClientKind = 'plain',
): ServedTool | undefined {
  const kinds = namedTools(toolset);
  const known = kinds.get(clientKind);
  if (known) return known.get(name);
  // The first of equal names counts.
  const last = toolsFor(toolset, clientKind).toReversed();
  const tools = new Map(last.map((tool) => [nameFor(tool, clientKind), tool]));
  kinds.set(clientKind, tools);
  return tools.get(name);
}

/**
 * Finds the tool for an app, first by the original name. Returns undefined if no published tool has
 * an app.
 */
export function toolForApp(
  toolset: Toolset,
  name: string,
  clientKind?: ClientKind,
): ServedTool | undefined {
  const tools = callable(toolset, clientKind);
  return (
    tools.find(({ original }) => original === name) ??
    tools.find((tool) => nameFor(tool, clientKind) === name)
  );
}

/** Without names that are listed already. */
export function entriesForApps(toolset: Toolset, clientKind?: ClientKind): Tool[] {
  const listed = new Set(toolsFor(toolset, clientKind).map((tool) => nameFor(tool, clientKind)));
  return callable(toolset, clientKind)
    .filter(({ original }) => !listed.has(original))
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
    entriesForApps(toolset).map((tool) => ({ toolset, tool })),
  );
  const rightful = all.filter(({ toolset, tool }) => mayUse(tool.name, toolset.id));
  const published = new Set(toolsets.flatMap(({ tools }) => tools.map((tool) => tool.published)));
  const count = new Map<string, number>();
  for (const { tool } of rightful) count.set(tool.name, (count.get(tool.name) ?? 0) + 1);
  return rightful.filter(({ tool }) => count.get(tool.name) === 1 && !published.has(tool.name));
}

function callable(toolset: Toolset, clientKind: ClientKind | undefined): readonly ServedTool[] {
  const tools = toolsFor(toolset, clientKind);
  if (!tools.some(({ tool }) => appOf(tool) !== undefined)) return [];
  const isPlain = !clientKind || clientKind === 'plain';
  const own = (toolset.appTools ?? []).filter(({ editorRefuses }) => isPlain || !editorRefuses);
  return [...own, ...tools.filter(({ tool }) => isForApps(tool))];
}
