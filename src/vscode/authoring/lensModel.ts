/** Computes the lenses above each server in the config file (E2): its state, its tools and its actions. Pure. */
import { assertNever } from '../../core/base/assertNever.js';
import type { Span } from '../../core/yaml/textPositions.js';
import { serversIn } from '../../core/authoring/outline.js';
import type { ServerState, ServerStatus } from '../../core/reconcile/status.js';
import { signInActions, actions } from '../views/serverActions.js';
import { stateWord, timeOf, toolCount } from '../views/phrases.js';

interface LensModel {
  readonly span: Span;
  readonly title: string;
  readonly tooltip: string;
  readonly command: string;
  readonly server: string;
}

/** @param servers The servers that come from this file. */
export function lenses(text: string, servers: readonly ServerStatus[]): LensModel[] {
  return serversIn(text).flatMap(({ id, keySpan: span }) => {
    const server = servers.find((one) => one.id === id);
    if (!server) return [];
    const lens = (title: string, tooltip: string, command: string): LensModel => ({
      span,
      title,
      tooltip,
      command,
      server: id,
    });
    const possible = actions(server.state);
    const isOff = server.state.kind === 'disabled';
    return [
      lens(stateTitle(server), stateTooltip(server), 'mcpToolsets.servers.focus'),
      ...(server.approval.kind === 'pending'
        ? [lens('approve…', `Look at what ${id} starts`, 'mcpToolsets.approve')]
        : []),
      ...(signInActions(server).includes('signInable')
        ? [lens('sign in…', `Open the page of ${id} in your browser`, 'mcpToolsets.signIn')]
        : []),
      ...(possible.includes('restartable')
        ? [lens('restart', `Restart ${id}`, 'mcpToolsets.restart')]
        : possible.includes('startable')
          ? [lens('start', `Start ${id}`, 'mcpToolsets.start')]
          : []),
      ...(isOff ? [lens('enable', `Write enabled: true`, 'mcpToolsets.enable')] : []),
      ...(server.state.kind === 'invalid' || isOff
        ? []
        : [lens('log', `Show the log of ${id}`, 'mcpToolsets.showServerLog')]),
      ...(possible.includes('stoppable') ? [lens('stop', `Stop ${id}`, 'mcpToolsets.stop')] : []),
    ];
  });
}

function stateTitle(server: ServerStatus): string {
  const { state, tools, offered, previous } = server;
  const listed = tools.length > 0 || state.kind === 'running';
  return [
    // The editor drops an ordinary space after an icon.
    `$(${icon(state, previous !== undefined)})\u00a0${stateWord(state)}`,
    ...(listed ? [toolCount(tools.length, offered)] : []),
    ...(previous ? ['previous definition'] : []),
  ].join(' · ');
}

function stateTooltip({ state, previous }: ServerStatus): string {
  if (previous) {
    return `What the file says now does not work: ${previous.reason}\nThe previous definition serves since ${timeOf(previous.since, Date.now())}.`;
  }
  if (state.kind === 'failed') return `${state.reason}\n${state.fix}`;
  if (state.kind === 'signInNeeded') return state.why;
  return 'Show in the sidebar';
}

/** Returns the name of an icon. None of them moves, so that the line keeps still. */
function icon(state: ServerState, previous: boolean): string {
  if (previous && state.kind !== 'failed') return 'warning';
  switch (state.kind) {
    case 'disabled':
      return 'circle-slash';
    case 'invalid':
    case 'failed':
      return 'error';
    case 'pending':
      return 'shield';
    case 'signInNeeded':
      return 'key';
    case 'starting':
    case 'reconnecting':
      return 'sync';
    case 'running':
    case 'idle':
      return 'pass';
    case 'stopped':
      return 'circle-large-outline';
    default:
      return assertNever(state);
  }
}
