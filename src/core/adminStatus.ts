/** The state of the servers as an agent reads it (`mcp_status`). Pure; the snapshot is redacted already. */
import type { ServerState, ServerStatus, StatusSnapshot } from './reconcile/status.js';

/**
 * @param dialog whose leases are marked.
 * @param only the id of the one server to tell of. Unknown: says so.
 */
export function statusText(snapshot: StatusSnapshot, dialog: string | undefined, only?: string): string {
  const servers = snapshot.servers.filter(({ id }) => only === undefined || id === only);
  if (servers.length === 0) return only === undefined ? 'No servers are configured.' : `There is no server "${only}".`;
  return servers
    .flatMap((server) => [
      serverLine(server, dialog),
      ...snapshot.problems
        .filter((problem) => problem.server === server.id && problem.severity !== 'information')
        .map((problem) => `  ${problem.severity}: ${problem.message} ${problem.fix}`),
    ])
    .join('\n');
}

function serverLine(server: ServerStatus, dialog: string | undefined): string {
  const own = server.instances.some(({ use }) => use.kind === 'leased' && use.dialog === dialog);
  return [
    `${server.id}: ${stateText(server.state)}`,
    `${server.tools.length} of ${server.offered} tools published`,
    ...(server.previous ? ['serves its previous definition'] : []),
    ...(own ? ['this conversation has an instance'] : []),
  ].join(', ');
}

function stateText(state: ServerState): string {
  if (state.kind === 'pending') return 'waits for the person to approve its start';
  return state.kind === 'reconnecting' ? `reconnecting (attempt ${state.attempt})` : state.kind;
}
