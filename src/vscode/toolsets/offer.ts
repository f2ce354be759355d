/** Which toolsets the editor is told of (G5). Pure. */
import type { ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import { toolsForEditor, type Toolset } from '../../core/tools/catalogue.js';

/**
 * Those with tools, and servers that are about to have some: the editor takes half a second to take over a definition,
 * and that passes while the server starts. In file order; what is built in comes last.
 */
export function offeredLabels({ servers }: StatusSnapshot, toolsets: readonly Toolset[]): string[] {
  const withTools = toolsets.filter((toolset) => toolsForEditor(toolset).length > 0).map(({ id }) => id);
  const configured = new Set(servers.map(({ id }) => id));
  return [
    ...servers.filter((server) => withTools.includes(server.id) || isStarting(server)).map(({ id }) => id),
    ...withTools.filter((id) => !configured.has(id)),
  ];
}

export function isStarting({ state }: ServerStatus): boolean {
  return state.kind === 'starting' || state.kind === 'reconnecting';
}
