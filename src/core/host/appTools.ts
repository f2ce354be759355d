/**
 * The tools of a toolset as its apps know them (G8). The code of an app contains original names, but a client looks for
 * them in the list. So a renamed tool is listed once more for apps. Everything is pure.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { appOf, isForApps, metaForApps } from '../apps/toolMeta.js';
import type { ClientKind } from '../protocol/client.js';
import type { ServedTool, Toolset } from '../tools/catalogue.js';
import { nameFor, toolsFor } from './clientTools.js';

/** Finds the tool for an app, first by the original name. Returns undefined if no published tool has an app. */
export function toolForApp(toolset: Toolset, name: string, clientKind?: ClientKind): ServedTool | undefined {
  const tools = callable(toolset, clientKind);
  return tools.find(({ original }) => original === name) ?? tools.find((tool) => nameFor(tool, clientKind) === name);
}

/** Returns the entries for apps only, without names that are listed already. */
export function entriesForApps(toolset: Toolset, clientKind?: ClientKind): Tool[] {
  const listed = new Set(toolsFor(toolset, clientKind).map((tool) => nameFor(tool, clientKind)));
  return callable(toolset, clientKind)
    .filter(({ original }) => !listed.has(original))
    .map(({ tool }) => ({ ...tool, _meta: metaForApps(tool) }));
}

/**
 * Returns these entries of all toolsets together, without ambiguous names, because an app may call only tools of the server it comes from.
 */
export function entriesForAppsOfAll(toolsets: readonly Toolset[]): Tool[] {
  const all = toolsets.flatMap((toolset) => entriesForApps(toolset));
  const published = new Set(toolsets.flatMap(({ tools }) => tools.map((tool) => tool.published)));
  const count = new Map<string, number>();
  for (const { name } of all) count.set(name, (count.get(name) ?? 0) + 1);
  return all.filter(({ name }) => count.get(name) === 1 && !published.has(name));
}

function callable(toolset: Toolset, clientKind: ClientKind | undefined): readonly ServedTool[] {
  const tools = toolsFor(toolset, clientKind);
  if (!tools.some(({ tool }) => appOf(tool) !== undefined)) return [];
  const own = (toolset.appTools ?? []).filter(
    ({ editorRefuses }) => !clientKind || clientKind === 'plain' || !editorRefuses,
  );
  return [...own, ...tools.filter(({ tool }) => isForApps(tool))];
}
