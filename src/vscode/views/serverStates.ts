/** Says what views show of the state of a server, and what a person can do then. Pure. */
import { english, said, translated } from '../../core/base/language.js';
import type { Problem } from '../../core/base/problem.js';
import type { ServerState, ServerStatus } from '../../core/reconcile/status.js';

export interface ViewIcon {
  /** A name of the editor's icon font. */
  readonly id: string;
  readonly color?: string;
}

type Action = 'startable' | 'stoppable' | 'restartable';

interface StateView {
  /** By default the name of the state. */
  readonly word?: string;
  readonly icon: ViewIcon;
  /** For places in which no icon should move. By default `icon`. */
  readonly still?: string;
  readonly actions: readonly Action[];
}

const passed = 'testing.iconPassed';
const warned = 'list.warningForeground';

export const errorIcon: ViewIcon = { id: 'error', color: 'list.errorForeground' };
export const pendingIcon: ViewIcon = { id: 'shield', color: warned };

const live: readonly Action[] = ['stoppable', 'restartable'];
const all: readonly Action[] = ['startable', ...live];

export const stateViews: Readonly<Record<ServerState['kind'], StateView>> = {
  disabled: { icon: { id: 'circle-slash', color: 'disabledForeground' }, actions: [] },
  invalid: {
    word: english`entry with errors`,
    icon: errorIcon,
    actions: [],
  },
  pending: {
    word: english`waits for approval`,
    icon: pendingIcon,
    actions: [],
  },
  waiting: {
    word: english`waits while you type…`,
    icon: { id: 'edit' },
    actions: ['startable'],
  },
  signInNeeded: {
    word: english`needs sign-in`,
    icon: { id: 'key', color: warned },
    actions: [],
  },
  starting: {
    icon: { id: 'loading~spin' },
    still: 'sync',
    actions: ['stoppable'],
  },
  running: {
    icon: { id: 'pass-filled', color: passed },
    still: 'pass',
    actions: live,
  },
  remembered: {
    word: english`not started`,
    icon: { id: 'history', color: passed },
    actions: all,
  },
  idle: { icon: { id: 'pass', color: passed }, actions: all },
  reconnecting: {
    icon: { id: 'sync~spin', color: warned },
    still: 'sync',
    actions: live,
  },
  failed: { icon: errorIcon, actions: ['startable'] },
  stopped: {
    icon: { id: 'circle-large-outline', color: 'disabledForeground' },
    actions: ['startable'],
  },
};

export function stateWord(state: ServerState | { readonly kind: 'waiting' }): string {
  if (state.kind === 'reconnecting') return said`reconnecting, attempt ${state.attempt}`;
  return translated(stateViews[state.kind].word ?? state.kind);
}

export function isPending({ approval }: ServerStatus): boolean {
  return approval.kind === 'pending';
}

export function isStarting({ state }: ServerStatus): boolean {
  return state.kind === 'starting' || state.kind === 'reconnecting';
}

export function actions({ kind }: ServerState): readonly Action[] {
  return stateViews[kind].actions;
}

/** Returns the files with the entry of a server, or a part of it. */
export function filesOf({ source, place, localPlace }: ServerStatus): readonly string[] {
  return localPlace ? [source, place.file, localPlace.file] : [source];
}

/** True if the file of the team decides whether the server is enabled. */
export function isForEveryone({ origin, local }: ServerStatus): boolean {
  return origin === 'folder' && !local.includes('enabled');
}

export function signInActions({
  signIn,
  state,
}: ServerStatus): readonly ('signInable' | 'signOutable')[] {
  if (state.kind === 'disabled' || state.kind === 'pending') return [];
  if (signIn?.kind === 'needed') return ['signInable'];
  if (signIn?.kind !== 'signedIn') return [];
  return signIn.lacks === undefined ? ['signOutable'] : ['signInable', 'signOutable'];
}

/**
 * Returns the actions for the approval of a server (S1). A definition that still serves has one.
 */
export function approvalActions({
  approval,
  previous,
}: ServerStatus): readonly ('approvable' | 'revocable')[] {
  if (approval.kind === 'approved') return ['revocable'];
  if (approval.kind !== 'pending') return [];
  return previous ? ['approvable', 'revocable'] : ['approvable'];
}

export function isAboutUnused({ code }: Pick<Problem, 'code'>): boolean {
  return code === 'tools-unused';
}

/**
 * Returns words for what a person can do with a server now. Menus compare them.
 */
export function abilities(server: ServerStatus, problems: readonly Problem[]): readonly string[] {
  const { kind } = server.state;
  const isUnset = problems.some(
    ({ code, server: of }) => code === 'secret-unset' && of === server.id,
  );
  return [
    ...actions(server.state),
    ...approvalActions(server),
    ...signInActions(server),
    ...(server.changedOffers.length > 0 ? ['changed'] : []),
    ...(kind === 'failed' ? [kind] : []),
    ...(server.hasSecrets || isUnset ? ['secret'] : []),
    ...(isForEveryone(server) ? [] : ['mine']),
    ...(problems.some((one) => isAboutUnused(one) && one.server === server.id) ? ['unused'] : []),
    kind === 'disabled' ? kind : 'enabled',
  ];
}

/**
 * Returns the parts of a server that its lenses show. They stand here because the lenses need the
 * YAML parser (P1).
 */
export function lensFacts(server: ServerStatus): unknown {
  const { id, source, local, state, tools, offered, previous, approval, signIn, waits } = server;
  return [id, source, local, state, tools.length, offered, previous, approval.kind, signIn, waits];
}
