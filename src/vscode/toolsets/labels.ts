/** Decides which toolsets are announced to the editor (G3b, G5). Everything here is pure. */
import type { ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import { toolsForEditor, type Toolset } from '../../core/tools/catalogue.js';

/**
 * Returns the toolsets of all servers that are not switched off, whatever state they are in. A definition that comes or goes
 * makes the editor's agent host end all sessions, so one must not do so because a server starts, fails or waits for a person.
 * The labels are in file order; built-in toolsets come last.
 */
export function labelsOf({ servers }: StatusSnapshot, toolsets: readonly Toolset[]): string[] {
  const configured = new Set(servers.map(({ id }) => id));
  const builtIn = toolsets.filter((toolset) => !configured.has(toolset.id) && toolsForEditor(toolset).length > 0);
  return [...servers.filter(({ state }) => state.kind !== 'disabled'), ...builtIn].map(({ id }) => id);
}

export function isStarting({ state }: ServerStatus): boolean {
  return state.kind === 'starting' || state.kind === 'reconnecting';
}
