/** Decides which actions a server has. Pure. */
import { assertNever } from '../../../core/base/assertNever.js';
import type { ServerState, ServerStatus } from '../../../core/reconcile/status.js';

export function actions(state: ServerState): readonly ('startable' | 'stoppable' | 'restartable')[] {
  switch (state.kind) {
    case 'disabled':
    case 'invalid':
    case 'pending':
    case 'signInNeeded':
      return [];
    case 'stopped':
    case 'failed':
      return ['startable'];
    case 'remembered':
    case 'idle':
      return ['startable', 'stoppable', 'restartable'];
    case 'starting':
      return ['stoppable'];
    case 'running':
    case 'reconnecting':
      return ['stoppable', 'restartable'];
    default:
      return assertNever(state);
  }
}

/** Returns the actions for the sign-in of a server (X7). */
export function signInActions({ signIn, state }: ServerStatus): readonly ('signInable' | 'signOutable')[] {
  if (state.kind === 'disabled' || state.kind === 'pending') return [];
  switch (signIn?.kind) {
    case undefined:
    case 'none':
      return [];
    case 'needed':
      return ['signInable'];
    case 'signedIn':
      return signIn.lacks === undefined ? ['signOutable'] : ['signInable', 'signOutable'];
  }
}

/** Returns the actions for the approval of a server (S1). */
export function approvalActions({ approval, previous }: ServerStatus): readonly ('approvable' | 'revocable')[] {
  switch (approval.kind) {
    case 'notAsked':
      return [];
    case 'approved':
      return ['revocable'];
    case 'pending':
      // The serving definition has an approval.
      return previous ? ['approvable', 'revocable'] : ['approvable'];
  }
}
