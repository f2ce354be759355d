/** Words for states, tools and reasons, the same in every view. Pure; does not import `vscode`. */
import { assertNever } from '../core/base/assertNever.js';
import type { InstanceStatus, ServerState, ServerStatus, StatusSnapshot } from '../core/reconcile/status.js';
import type { ExclusionReason } from '../core/tools/catalogue.js';

/** `12 of 34 tools`; `12 tools` where nothing is kept out. */
export function toolCount(published: number, offered: number): string {
  if (published === offered) return published === 1 ? '1 tool' : `${published} tools`;
  return `${published} of ${offered} tools`;
}

export function stateWord(state: ServerState): string {
  switch (state.kind) {
    case 'disabled':
    case 'starting':
    case 'running':
    case 'idle':
    case 'failed':
    case 'stopped':
      return state.kind;
    case 'pending':
      return 'waits for approval';
    case 'invalid':
      return 'entry with errors';
    case 'reconnecting':
      return `reconnecting, attempt ${state.attempt}`;
    default:
      return assertNever(state);
  }
}

/** Why agents do not see a tool, as a phrase. */
export function exclusionPhrase(reason: ExclusionReason): string {
  switch (reason.kind) {
    case 'blacklist':
      return `blacklist: ${reason.pattern}`;
    case 'whitelist':
      return 'not in the whitelist';
    case 'originalNameInvalid':
      return 'its name breaks the rule for tool names';
    case 'publishedNameInvalid':
      return `would be “${reason.published}”, which breaks the rule for tool names`;
    case 'schema':
      return `its schema cannot be used: ${reason.detail}`;
    case 'nameTaken':
      return `“${reason.published}” belongs to ${reason.holder}`;
    case 'nameReserved':
      return `“${reason.published}” belongs to a built-in tool`;
    case 'editorIdTooLong':
      return `too long for the editor: ${reason.editorId}`;
    default:
      return assertNever(reason);
  }
}

export function instancePhrase(use: InstanceStatus['use']): string {
  switch (use.kind) {
    case 'warm':
      return 'ready for the next conversation';
    case 'shared':
      return 'shared by all conversations';
    case 'leased':
      return `conversation ${use.dialog.slice(0, 8)}`;
    case 'draining':
      return 'finishing its last calls';
    default:
      return assertNever(use);
  }
}

/** A time of today as `10:32:05`, one of another day with its date. */
export function timeOf(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  return date.toDateString() === new Date(now).toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}

/** Whether agents can use the tools of a server now. */
export function serves(server: ServerStatus): boolean {
  return server.state.kind === 'running' || server.state.kind === 'idle';
}

/** Whether a person should look at it. */
export function isBroken(server: ServerStatus): boolean {
  if (server.state.kind === 'failed' || server.state.kind === 'invalid') return true;
  return server.previous !== undefined && server.approval.kind !== 'pending';
}

export interface StatusSummary {
  /** `MCP 3/4`: servers that serve, of those that should. */
  readonly text: string;
  readonly tooltip: string;
  readonly severity: 'ok' | 'busy' | 'pending' | 'error';
  /** Servers and files that a person should look at. */
  readonly broken: number;
  /** Servers that wait for approval. */
  readonly pending: number;
}

export function summary(snapshot: StatusSnapshot): StatusSummary {
  const wanted = snapshot.servers.filter(({ state }) => state.kind !== 'disabled');
  const broken = wanted.filter(isBroken);
  const busy = wanted.some(({ state }) => state.kind === 'starting' || state.kind === 'reconnecting');
  const lines = [
    ...snapshot.refused.map(() => 'The config file has an error; what stood there before still runs.'),
    ...wanted.map(
      (server) =>
        `${server.id}: ${stateWord(server.state)}` +
        (server.tools.length > 0 ? `, ${toolCount(server.tools.length, server.offered)}` : '') +
        (server.previous ? ', serves its previous definition' : '') +
        (server.approval.kind === 'pending' && server.state.kind !== 'pending' ? ', waits for approval' : ''),
    ),
  ];
  const pending = wanted.filter(({ approval }) => approval.kind === 'pending').length;
  const failures = broken.length + snapshot.refused.length;
  return {
    text: `MCP ${wanted.filter(serves).length}/${wanted.length}${pending > 0 ? `, ${pending} to approve` : ''}`,
    tooltip: lines.length > 0 ? lines.join('\n') : 'No servers are configured.',
    severity: failures > 0 ? 'error' : pending > 0 ? 'pending' : busy ? 'busy' : 'ok',
    broken: failures,
    pending,
  };
}
