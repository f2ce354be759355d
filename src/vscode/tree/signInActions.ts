/** What a person can ask of a server because of its sign-in (spec X7). Pure. */
import type { ServerStatus } from '../../core/reconcile/status.js';

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
