/** Decides which toolsets the editor is offered (G3b, G5). Pure. */
import type { ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import { toolsForEditor, type Toolset } from '../../core/tools/catalogue.js';
import type { EditorEndpoint } from '../engine/editorEndpoint.js';
import type { WindowState } from '../engine/engineSlot.js';

/** The state of a server does not matter: with each change of definitions, the editor's agent host ends all sessions. */
export function labelsOf({ servers }: StatusSnapshot, toolsets: readonly Toolset[]): string[] {
  const configured = new Set(servers.map(({ id }) => id));
  const builtIn = toolsets.filter((toolset) => !configured.has(toolset.id) && toolsForEditor(toolset).length > 0);
  return [...servers.filter(({ state }) => state.kind !== 'disabled'), ...builtIn].map(({ id }) => id);
}

/** True while the toolsets or their address are unknown. */
export function isBeginning(phase: WindowState['phase'], endpoint: EditorEndpoint['state'] | undefined): boolean {
  if (phase === 'reading') return endpoint === undefined || endpoint.kind === 'starting';
  // A window that serves without an engine has unreadable files or a defect, so nothing follows.
  return phase === 'serving' && endpoint?.kind === 'starting';
}

export function isStarting({ state }: ServerStatus): boolean {
  return state.kind === 'starting' || state.kind === 'reconnecting';
}
