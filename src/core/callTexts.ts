/**
 * What an agent reads when a call brought no result of the tool's own (spec X3, X4, X6). The text is the tool's result,
 * marked as an error: models see nothing else of it.
 */
import { assertNever } from './base/assertNever.js';
import type { PoolFailure } from './connections/poolContract.js';

export type Failed = Extract<PoolFailure, { readonly kind: 'lost' | 'timedOut' | 'startFailed' }>;

export function callText(server: string, tool: string, outcome: Failed): string {
  switch (outcome.kind) {
    case 'lost':
      return `Error: result unknown. The call of "${tool}" was not answered: ${clause(outcome.cause)}. It may or may not have taken effect, and it was not sent again. The next call of a tool of "${server}" starts a new instance.`;
    case 'timedOut':
      return outcome.limit === 'call'
        ? `Error: result unknown. "${tool}" gave no sign of life for ${seconds(outcome.ms)} (timeouts.call of server "${server}"), and the call was cancelled.`
        : `Error: result unknown. "${tool}" took longer than ${seconds(outcome.ms)} (timeouts.callMax of server "${server}"), and the call was cancelled.`;
    case 'startFailed':
      return `Error: the server "${server}" did not start, and "${tool}" was not called. ${outcome.failure.message} ${outcome.failure.fix}`;
    default:
      return assertNever(outcome);
  }
}

/** A person was asked and did not allow it (spec S4). */
export function refusedText(tool: string): string {
  return `Error: the person did not allow this call of "${tool}". It was not made. Do not repeat it unless they ask for it.`;
}

/** The same for other requests, which may always be made again. */
export function requestText(server: string, method: string, outcome: Failed): string {
  switch (outcome.kind) {
    case 'lost':
      return `${method} was not answered by "${server}": ${clause(outcome.cause)}.`;
    case 'timedOut':
      return `${method} was not answered by "${server}" within ${seconds(outcome.ms)}.`;
    case 'startFailed':
      return `The server "${server}" did not start. ${outcome.failure.message} ${outcome.failure.fix}`;
    default:
      return assertNever(outcome);
  }
}

/** Some causes are sentences of their own. */
function clause(cause: string): string {
  return cause.replace(/\.$/, '');
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
