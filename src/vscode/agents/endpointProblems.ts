/** Reports why agents do not find the toolsets of a window (G2, G6). Pure. */
import { isObject } from '../../core/base/isObject.js';
import type { Place, Problem } from '../../core/base/problem.js';
import type { AgentEndpointState } from '../engine/agentEndpoint.js';
import type { EditorEndpoint } from '../engine/editorEndpoint.js';

const extensionId = 'minds.mcp-toolsets';

/** @param asked the port in the settings of the workspace, without the person's consent */
export function endpointProblems(state: AgentEndpointState, place: Place | undefined, asked?: number): Problem[] {
  if (!place) return [];
  if (asked !== undefined) {
    return [
      {
        code: 'endpoint-port-unconfirmed',
        severity: 'information',
        message: `The settings of this workspace ask to serve its toolsets to agents outside the editor on port ${asked}. You did not choose this port, so nothing listens on it.`,
        fix: 'Run "MCP Toolsets: Set Up Another Agent…" to choose the port, or remove "mcpToolsets.endpoint.port" from the settings of the workspace.',
        place,
      },
    ];
  }
  if (state.kind === 'portTaken') {
    return [
      {
        code: 'endpoint-port-taken',
        severity: 'warning',
        message: `Agents outside the editor cannot use the toolsets of this window, because another program has port ${state.port}: perhaps another window or \`mcp-toolsets serve\`.`,
        fix: 'End the other program, and this window takes the port. Or set "mcpToolsets.endpoint.port" of this workspace to another port, and change the address in your clients.',
        place,
      },
    ];
  }
  if (state.kind === 'failed') {
    return [
      {
        code: 'endpoint-failed',
        severity: 'warning',
        message: `Agents outside the editor cannot use the toolsets of this window: ${state.reason}.`,
        fix: 'Let only yourself read and write the token file, or choose a port above 1023. MCP Toolsets then tries again.',
        place,
      },
    ];
  }
  return [];
}

interface AgentsWindow {
  /** True if the window has seen an agent-host session, so the person uses them. */
  readonly isOfInterest: boolean;
  readonly support: unknown;
}

/** Reports that the editor does not run this extension in the Agents window. */
export function agentsWindowProblems({ isOfInterest, support }: AgentsWindow, place: Place | undefined): Problem[] {
  if (!place || !isOfInterest || !isObject(support) || support[extensionId] === true) return [];
  return [
    {
      code: 'agents-window-off',
      severity: 'information',
      message:
        'Sessions in the Agents window of the editor do not see the toolsets, because that window runs only the extensions that you allow.',
      fix: `If you use that window, set "extensions.supportAgentsWindow" to { "${extensionId}": true } in your user settings.`,
      place,
    },
  ];
}

/** Reports that the port has changed. Agent-host sessions outlive the window and look at the former port. */
export function editorEndpointProblems(
  state: EditorEndpoint['state'] | undefined,
  place: Place | undefined,
): Problem[] {
  if (!place || state?.kind !== 'listening' || !state.instead) return [];
  const { port, by } = state.instead;
  const who = by === 'window' ? 'another window of this folder' : 'another program';
  return [
    {
      code: 'editor-port-taken',
      severity: 'information',
      message: `Agent sessions of the editor now find the toolsets of this window on port ${state.port}, because ${who} has port ${port}.`,
      fix:
        by === 'window'
          ? 'To continue sessions that began in one of the two windows, close the other window and reload this one.'
          : 'If an earlier session does not find its tools, start a new session. The token is new too, because the other program may have received the old one.',
      place,
    },
  ];
}
