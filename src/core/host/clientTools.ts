/** The tools of a toolset for a kind of client, and their names (N7, G3a). Everything is pure. */
import { assertNever } from '../base/assertNever.js';
import type { ClientKind } from '../protocol/client.js';
import { toolsForAgentHost, toolsForEditor, type ServedTool, type Toolset } from '../tools/catalogue.js';
import { adminId, releaseTool } from './admin.js';

/** Returns the tool's name for a kind of client (G3a). */
export function nameFor(tool: ServedTool, clientKind: ClientKind = 'plain'): string {
  return clientKind === 'plain' ? tool.published : tool.editorName;
}

export function toolsFor(toolset: Toolset, clientKind: ClientKind = 'plain'): readonly ServedTool[] {
  switch (clientKind) {
    case 'plain':
      return toolset.tools;
    case 'editor':
      return toolsForEditor(toolset);
    case 'agentHost':
      // Each toolset is a separate session there, so the one of `mcp_admin` holds no instance to release.
      return toolsForAgentHost(toolset).filter(({ original }) => toolset.id !== adminId || original !== releaseTool);
    default:
      return assertNever(clientKind);
  }
}

/** A toolset never changes, so an entry holds as long as its toolset. */
const namedTools = new WeakMap<Toolset, ReadonlyMap<ClientKind, ReadonlyMap<string, ServedTool>>>();

/** Returns the tool of this name for a kind of client, in constant time (P3). */
export function toolNamed(toolset: Toolset, name: string, clientKind: ClientKind = 'plain'): ServedTool | undefined {
  const known = namedTools.get(toolset)?.get(clientKind);
  if (known) return known.get(name);
  const tools = byName(toolsFor(toolset, clientKind), clientKind);
  namedTools.set(toolset, new Map(namedTools.get(toolset)).set(clientKind, tools));
  return tools.get(name);
}

/** The first of equal names counts. */
function byName(tools: readonly ServedTool[], clientKind: ClientKind): ReadonlyMap<string, ServedTool> {
  return new Map(tools.toReversed().map((tool) => [nameFor(tool, clientKind), tool]));
}
