/** Computes the lenses above each server in the config file (E2). Pure. */
import { said, translated } from '../../core/base/language.js';
import { Icon, inert, inertLines, type Inert } from '../../core/base/inert.js';
import type { Span } from '../../core/yaml/textPositions.js';
import { serversIn } from '../../core/authoring/outline.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { present, previousLine, toolCount } from '../views/phrases.js';
import {
  actions,
  isForEveryone,
  signInActions,
  stateViews,
  stateWord,
} from '../views/serverStates.js';

interface LensModel {
  readonly span: Span;
  readonly title: Inert;
  readonly tooltip: Inert;
  readonly command: string;
  readonly server: string;
}

const showSidebar = 'mcpToolsets.servers.focus';

/** A save by hand, which counts at once (R1a). */
const saveByHand = 'workbench.action.files.save';

type Lens = readonly [shown: boolean, title: Inert, tooltip: Inert, command: string];

export function lenses(text: string, servers: readonly ServerStatus[]): LensModel[] {
  return serversIn(text).flatMap(({ id, keySpan: span }) => {
    const server = servers.find((one) => one.id === id);
    if (!server) return [];
    const all = server.waits ? waitingLenses(server) : lensesOf(server);
    return all
      .filter(([shown]) => shown)
      .map(([, title, tooltip, command]) => ({
        span,
        title,
        tooltip,
        command,
        server: id,
      }));
  });
}

function waitingLenses({ id }: ServerStatus): Lens[] {
  const tooltip = inert`The launch of ${id} applies when you leave its entry or save`;
  return [
    [true, inert`Waits while you type…`, tooltip, showSidebar],
    [true, inert`Apply Now`, inert`Apply the launch of ${id} as it is now`, saveByHand],
  ];
}

function lensesOf(server: ServerStatus): Lens[] {
  const { id, state, previous, approval } = server;
  const { kind } = state;
  const possible = actions(state);
  const canSignIn = signInActions(server).includes('signInable');
  const restarts = possible.includes('restartable');
  const starts = !restarts && possible.includes('startable');
  const isUntried = ['disabled', 'invalid', 'pending', 'remembered'].includes(kind);
  const hasTried = previous !== undefined || !isUntried;
  return [
    [true, stateTitle(server), stateTooltip(server), showSidebar],
    [
      kind === 'invalid',
      inert`Show Problems`,
      inert`Show what is wrong with ${id}`,
      'workbench.actions.view.problems',
    ],
    [
      approval.kind === 'pending',
      inert`Approve…`,
      inert`See what ${id} would start`,
      'mcpToolsets.approve',
    ],
    [
      canSignIn,
      inert`Sign In…`,
      inert`Open the page of ${id} in your browser`,
      'mcpToolsets.signIn',
    ],
    [restarts, inert`Restart`, inert`Restart ${id}`, 'mcpToolsets.restart'],
    [starts, inert`Start`, inert`Start ${id}`, 'mcpToolsets.start'],
    [
      kind === 'disabled',
      inert`Enable`,
      inert`Write enabled: true`,
      isForEveryone(server) ? 'mcpToolsets.enable' : 'mcpToolsets.enableForMe',
    ],
    [hasTried, inert`Show Log`, inert`Show the log of ${id}`, 'mcpToolsets.showServerLog'],
    [possible.includes('stoppable'), inert`Stop`, inert`Stop ${id}`, 'mcpToolsets.stop'],
  ];
}

function stateTitle(server: ServerStatus): Inert {
  const { state, tools, offered, previous } = server;
  const word = stateWord(state);
  const { icon, still = icon.id } = stateViews[state.kind];
  const words = present([
    `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    (tools.length > 0 || state.kind === 'running') && toolCount(tools.length, offered),
    previous && said`previous definition`,
  ]);
  // The editor drops an ordinary space after an icon.
  return inert`${new Icon(previous && state.kind !== 'failed' ? 'warning' : still)}\u00a0${words.join(' · ')}`;
}

function stateTooltip({ state, previous }: ServerStatus): Inert {
  if (previous) return inertLines(previousLine(previous, Date.now()));
  if (state.kind === 'failed')
    return inertLines(`${translated(state.reason)}\n${translated(state.fix)}`);
  if (state.kind === 'signInNeeded') return inert`${translated(state.why)}`;
  return inert`Show the sidebar`;
}
