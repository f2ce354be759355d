/** Turns failures of instances into texts for agents. Everything is pure. */
import { assertNever } from '../base/assertNever.js';
import type { PoolFailure } from '../instances/pool.js';
import { errorCodes } from '../protocol/errors.js';
import { serves } from '../reconcile/shortfall.js';
import type { StatusSnapshot } from '../reconcile/status.js';
import type { Destination, OtherRequest, ToolOutcome, ToolsetCall, Unanswered } from '../protocol/request.js';
import { whyNothing } from './admin.js';

/** The failure if no definition serves. */
export const stopped: PoolFailure = { kind: 'notSent', cause: 'the server was stopped' };

/** Makes the outcome of a call without an answer. The text is a result, because models see nothing else of it. */
export function errorResult(text: string, kind: Unanswered['kind'], reason: string): ToolOutcome {
  const unanswered = { kind, reason };
  return { kind: 'result', unanswered, result: { isError: true, content: [{ type: 'text', text }] } };
}

/** A client may have tools from an earlier window of a server that no longer serves. */
export function unknownTool({ toolset, tool }: ToolsetCall, { servers }: StatusSnapshot): ToolOutcome {
  const server = servers.find(({ id }) => id === toolset);
  if (server && !serves(server))
    return errorResult(`Error: "${tool}" was not called. ${whyNothing(server)}`, 'not sent', whyNothing(server));
  return { kind: 'error', code: errorCodes.invalidParams, message: `The toolset "${toolset}" has no tool "${tool}".` };
}

/** The text after a person did not allow the call (S4). */
export function refusedText(tool: string): string {
  return `Error: the person did not allow this call of "${tool}". It was not made. Do not repeat it unless they ask for it.`;
}

/** The text if the name belongs to another tool now than the person saw (S4). */
export function renamedText(tool: string): string {
  return `Error: the name "${tool}" was given to another tool since the person saw this call. It was not made. List the tools again.`;
}

/** The text if the file does not allow the arguments (O3). @param why a sentence */
export function overrideText(tool: string, why: string): string {
  return `Error: "${tool}" was not called. ${why}`;
}

/** The text if the override is another one now than the person saw (O5). */
export function overrideChangedText(tool: string): string {
  return `Error: the arguments that the config file sets for "${tool}" have changed since the person saw this call. It was not made. Call it again.`;
}

/**
 * @param tool its published name
 * @param isServed true if the server takes calls now
 */
export function callText(server: string, tool: string, failure: PoolFailure, isServed: boolean): string {
  switch (failure.kind) {
    case 'lost':
      return `Error: result unknown. The call of "${tool}" was not answered: ${clause(failure.cause)}. It may or may not have taken effect, and it was not sent again.${isServed ? ` The next call of a tool of "${server}" starts a new instance.` : ''}`;
    case 'timedOut':
      return failure.limit === 'call'
        ? `Error: result unknown. "${tool}" gave no sign of life for ${seconds(failure.ms)} (timeouts.call of server "${server}"), and the call was cancelled.`
        : `Error: result unknown. "${tool}" took longer than ${seconds(failure.ms)} (timeouts.callMax of server "${server}"), and the call was cancelled.`;
    case 'startFailed':
      return `Error: "${tool}" was not called: the server "${server}" ${failure.failure.message} ${failure.failure.fix}`;
    case 'notSent':
      return `Error: "${tool}" of "${server}" was not called: ${clause(failure.cause)}.`;
    case 'notHeld':
      return notHeldText(server);
    default:
      return assertNever(failure);
  }
}

/** Makes the text for requests other than calls. A client may always repeat these. */
export function requestText({ toolset, method }: Destination & OtherRequest, failure: PoolFailure): string {
  switch (failure.kind) {
    case 'lost':
    case 'notSent':
      return `${method} was not answered by "${toolset}": ${clause(failure.cause)}.`;
    case 'timedOut':
      return `${method} was not answered by "${toolset}" within ${seconds(failure.ms)}.`;
    case 'startFailed':
      return `The server "${toolset}" ${failure.failure.message} ${failure.failure.fix}`;
    case 'notHeld':
      return notHeldText(toolset);
    default:
      return assertNever(failure);
  }
}

/** The text for an app after its conversation lost the instance (G8). */
function notHeldText(server: string): string {
  return `The conversation that opened this app no longer has an instance of "${server}", so the call was not made. Ask for the app again in the chat.`;
}

/** Some causes are sentences. */
function clause(cause: string): string {
  return cause.replace(/\.$/, '');
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

export function unansweredBy(failure: PoolFailure): readonly [Unanswered['kind'], string] {
  switch (failure.kind) {
    case 'lost':
      return ['lost', 'The connection ended before the answer.'];
    case 'timedOut':
      return ['timed out', `It took longer than timeouts.${failure.limit}, ${seconds(failure.ms)}.`];
    case 'startFailed':
      return ['not sent', `The server did not start: ${failure.failure.code}.`];
    case 'notSent':
      return ['not sent', 'The server did not take the call.'];
    case 'notHeld':
      return ['not sent', 'The conversation no longer has an instance.'];
    default:
      return assertNever(failure);
  }
}
