/** Decides which toolsets are announced to the editor (G5). Everything here is pure. */
import type { ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import { toolsForEditor, type Toolset } from '../../core/tools/catalogue.js';

/**
 * Returns the toolsets that have tools and the servers that are about to have some. The editor needs half a second to take
 * over a definition, and that time passes while the server starts. The labels are in file order; built-in toolsets come last.
 */
export function labelsOf({ servers }: StatusSnapshot, toolsets: readonly Toolset[]): string[] {
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
