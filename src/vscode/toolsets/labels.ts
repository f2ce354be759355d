/** Decides which toolsets are announced to the editor (G3b, G5). Everything here is pure. */
import type { ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import { toolsForEditor, type Toolset } from '../../core/tools/catalogue.js';
import type { EditorEndpoint } from '../engine/editorEndpoint.js';
import type { WindowState } from '../engine/engineSlot.js';

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

/** Returns whether it is still unknown which toolsets there are, or at which address. */
export function isBeginning(phase: WindowState['phase'], endpoint: EditorEndpoint['state'] | undefined): boolean {
  if (phase === 'reading') return endpoint === undefined || endpoint.kind === 'starting';
  // A window that serves and has no engine has files that cannot be read, or a defect: nothing follows.
  return phase === 'serving' && endpoint?.kind === 'starting';
}

export function isStarting({ state }: ServerStatus): boolean {
  return state.kind === 'starting' || state.kind === 'reconnecting';
}
