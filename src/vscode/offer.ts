/** Which servers the editor is told of (spec G5). Pure. */
import type { ServerStatus, StatusSnapshot } from '../core/reconcile/status.js';

/**
 * Those with tools, and those that are about to have some: the editor takes half a second to take over a definition, and
 * that passes while the server starts. In file order.
 */
export function offeredLabels({ servers }: StatusSnapshot): string[] {
  return servers.filter((server) => server.tools.length > 0 || isStarting(server)).map(({ id }) => id);
}

export function isStarting({ state }: ServerStatus): boolean {
  return state.kind === 'starting' || state.kind === 'reconnecting';
}
