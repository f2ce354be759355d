/** Reports why agents do not find the toolsets of a window (G2, G6). Pure. */
import { english } from '../../core/base/language.js';
import { isObject } from '../../core/base/isObject.js';
import type { Problem } from '../../core/base/problem.js';
import type { WindowEngine } from '../engine/engine.js';

const extensionId = 'minds.mcp-toolsets';

type State = WindowEngine['endpoint']['state'] | undefined;

/** A problem of the window, which appears at the first config file. */
type WindowProblem = Omit<Problem, 'place'>;

export function agentEndpointProblem(state: State, asked?: number): WindowProblem | undefined {
  if (asked !== undefined) {
    return {
      code: 'endpoint-port-unconfirmed',
      severity: 'information',
      message: english`The settings of this workspace ask to serve its toolsets to agents outside the editor on port ${asked}. You did not choose this port, so nothing listens on it. They are in \`.vscode/settings.json\` or the workspace file.`,
      fix: english`Run "MCP Toolsets: Set Up Another Agent…" to choose the port, or remove "mcpToolsets.endpoint.port" from the settings of the workspace.`,
    };
  }
  if (state?.kind === 'portTaken') {
    return {
      code: 'endpoint-port-taken',
      severity: 'warning',
      message: english`Agents outside the editor cannot use the toolsets of this window, because another program has port ${state.port}: perhaps another window or \`mcp-toolsets serve\`.`,
      fix: english`End the other program, and this window takes the port. Then remove the token file, because that program may know the token. Or set "mcpToolsets.endpoint.port" of this workspace to another port, and change the address in your clients.`,
    };
  }
  if (state?.kind === 'listening' && state.unnoted !== undefined) {
    return {
      code: 'endpoint-failed',
      severity: 'warning',
      message: english`Agents that start \`connect\` do not find this window, so they get servers of their own: ${state.unnoted}.`,
      fix: english`Make that place one that you can write, and reload the window.`,
    };
  }
  if (state?.kind !== 'failed') return undefined;
  return {
    code: 'endpoint-failed',
    severity: 'warning',
    message: english`Agents outside the editor cannot use the toolsets of this window: ${state.reason}.`,
    fix: english`Let only yourself read and write the token file, or choose a port above 1023. MCP Toolsets then tries again.`,
  };
}

/**
 * The Agents window lacks this extension. @param isOfInterest the window has seen an agent-host
 * session
 */
export function agentsWindowProblem(
  isOfInterest: boolean,
  support: unknown,
): WindowProblem | undefined {
  if (!isOfInterest || !isObject(support) || support[extensionId] === true) return undefined;
  return {
    code: 'agents-window-off',
    severity: 'information',
    message: english`Sessions in the Agents window of the editor do not see the toolsets, because that window runs only the extensions that you allow.`,
    fix: english`If you use that window, set "extensions.supportAgentsWindow" to { "${extensionId}": true } in your user settings.`,
  };
}

/**
 * Reports that the port has changed. Agent-host sessions outlive the window and look at the former
 * port.
 */
export function editorEndpointProblem(state: State): WindowProblem | undefined {
  if (state?.kind !== 'listening' || !state.instead) return undefined;
  const { port, by } = state.instead;
  const who = by === 'window' ? english`another window of this folder` : english`another program`;
  return {
    code: 'editor-port-taken',
    severity: 'information',
    message: english`Agent sessions of the editor now find the toolsets of this window on port ${state.port}, because ${who} has port ${port}.`,
    fix:
      by === 'window'
        ? english`To continue sessions that began in one of the two windows, close the other window and reload this one.`
        : english`If an earlier session does not find its tools, start a new session. The token is new too, because the other program may have received the old one.`,
  };
}
