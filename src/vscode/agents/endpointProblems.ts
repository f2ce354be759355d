/** Reports what keeps agents outside the editor from the toolsets of a window (G6). Everything here is pure. */
import type { Place, Problem } from '../../core/base/problem.js';
import type { AgentEndpointState } from '../engine/agentEndpoint.js';

/** @param place The place of problems that belong to no server. */
export function endpointProblems(state: AgentEndpointState, place: Place | undefined): Problem[] {
  if (!place) return [];
  if (state.kind === 'portTaken') {
    return [
      {
        code: 'endpoint-port-taken',
        severity: 'warning',
        message: `Agents outside the editor do not find the toolsets of this window: another program, perhaps another window or \`mcp-toolsets serve\`, listens on port ${state.port}.`,
        fix: 'Set "mcpToolsets.endpoint.port" of this workspace to another port and write the entries of the agents anew, or end the other program: the port is taken as soon as it is free.',
        place,
      },
    ];
  }
  if (state.kind === 'failed') {
    return [
      {
        code: 'endpoint-failed',
        severity: 'warning',
        message: `Agents outside the editor do not find the toolsets of this window: ${state.reason}.`,
        fix: 'Make the token file one that you alone may read and write, or choose a port over 1023; it is tried again by itself.',
        place,
      },
    ];
  }
  return [];
}
