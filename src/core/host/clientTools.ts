/** Says which tools of a toolset a kind of client gets, and under which names (N7, G3a). Everything here is pure. */
import { assertNever } from '../base/assertNever.js';
import type { ClientKind } from '../protocol/client.js';
import { toolsForAgentHost, toolsForEditor, type ServedTool, type Toolset } from '../tools/catalogue.js';
import { adminId, releaseTool } from './admin.js';

/** Returns the name under which a kind of client sees a tool (G3a). */
export function nameFor(tool: ServedTool, clientKind: ClientKind = 'plain'): string {
  return clientKind === 'plain' ? tool.published : tool.editorName;
}

/** Returns the tools that a kind of client gets (N7). */
export function toolsFor(toolset: Toolset, clientKind: ClientKind = 'plain'): readonly ServedTool[] {
  switch (clientKind) {
    case 'plain':
      return toolset.tools;
    case 'editor':
      return toolsForEditor(toolset);
    case 'agentHost':
      // Each toolset is a session of its own there, so that of `mcp_admin` holds no instance that it could release.
      return toolsForAgentHost(toolset).filter(({ original }) => toolset.id !== adminId || original !== releaseTool);
    default:
      return assertNever(clientKind);
  }
}

/** Toolsets are never changed, so what is found once holds as long as they do. */
const namedTools = new WeakMap<Toolset, ReadonlyMap<ClientKind, ReadonlyMap<string, ServedTool>>>();

/** Returns the tool that a kind of client gets under this name, in a time that the length of the list does not lengthen (P3). */
export function toolNamed(toolset: Toolset, name: string, clientKind: ClientKind = 'plain'): ServedTool | undefined {
  const known = namedTools.get(toolset)?.get(clientKind);
  if (known) return known.get(name);
  const tools = byName(toolsFor(toolset, clientKind), clientKind);
  namedTools.set(toolset, new Map(namedTools.get(toolset)).set(clientKind, tools));
  return tools.get(name);
}

/** The first of a name counts. */
function byName(tools: readonly ServedTool[], clientKind: ClientKind): ReadonlyMap<string, ServedTool> {
  return new Map(tools.toReversed().map((tool) => [nameFor(tool, clientKind), tool]));
}
