import { clipped } from '../base/text.js';
import type { PoolFailure } from '../instances/pool.js';
import { errorCodes } from '../protocol/errors.js';
import { clause, lostCallReason, lostCallText } from '../protocol/lostCall.js';
import { serves } from '../reconcile/shortfall.js';
import type { StatusSnapshot } from '../reconcile/status.js';
import type {
  Destination,
  OtherRequest,
  OtherOutcome,
  ToolOutcome,
  ToolsetCall,
  Unanswered,
} from '../protocol/request.js';
import { everyToolset } from '../gateway/routes.js';
import { doubtNote, type PermissionVerdict } from '../tools/permissions.js';
import { whyNothing } from '../catalogue/admin.js';

/** The outcome of a request that a client sees as a JSON-RPC error. */
export function refused(
  code: number,
  message: string,
  data?: unknown,
): Extract<OtherOutcome, { kind: 'error' }> {
  return {
    kind: 'error',
    code,
    message,
    ...(data !== undefined && { data }),
  };
}

export const stopped: PoolFailure = { kind: 'notSent', cause: 'the server was stopped' };

/**
 * Makes the outcome of a call without an answer. The text is a result, because models see nothing
 * else of it.
 */
export function errorResult(text: string, kind: Unanswered['kind'], reason: string): ToolOutcome {
  const unanswered = { kind, reason };
  return {
    kind: 'result',
    unanswered,
    result: { isError: true, content: [{ type: 'text', text }] },
  };
}

/** A client may have tools from an earlier window of a server that no longer serves. */
export function unknownTool(
  { toolset, tool }: ToolsetCall,
  { servers }: StatusSnapshot,
): ToolOutcome {
  const server = servers.find(({ id }) => id === toolset);
  if (server && !serves(server))
    return errorResult(
      `Error: "${tool}" was not called. ${whyNothing(server)}`,
      'not sent',
      whyNothing(server),
    );
  const message =
    toolset === everyToolset
      ? `No toolset has a tool "${tool}".`
      : `The toolset "${toolset}" has no tool "${tool}".`;
  return refused(errorCodes.invalidParams, message);
}

export const notMade = {
  refused: (tool: string) =>
    errorResult(
      `Error: the person did not allow this call of "${tool}". It was not made. Do not repeat it unless they ask for it.`,
      'refused',
      'The person did not allow it.',
    ),
  denied: (tool: string, { pattern = '', isInDoubt }: PermissionVerdict) => {
    // A workspace may have written the rule.
    const rule = `The permission "${clipped(pattern, 200)}"`;
    const note = isInDoubt ? ` ${doubtNote}` : '';
    const text = `Error: "${tool}" was not called. ${rule} denies this call.${note} Do not repeat it.`;
    return errorResult(text, 'refused', `${rule} denies it.${note}`);
  },
  unasked: (tool: string) =>
    errorResult(
      `Error: a permission of the person asks before "${tool}" is called, and nobody could be asked. It was not called. Do not repeat it.`,
      'refused',
      'Nobody could be asked.',
    ),
  renamed: (tool: string) =>
    errorResult(
      `Error: the name "${tool}" was given to another tool since the person saw this call. It was not made. List the tools again.`,
      'not sent',
      'The name belongs to another tool now.',
    ),
  /** The file does not allow the arguments (O3). `why` is a sentence. */
  override: (tool: string, why: string) =>
    errorResult(
      `Error: "${tool}" was not called. ${why}`,
      'refused',
      'The override in the config file does not allow its arguments.',
    ),
  overrideChanged: (tool: string) =>
    errorResult(
      `Error: the arguments that the config file sets for "${tool}" have changed since the person saw this call. It was not made. Call it again.`,
      'not sent',
      'The override has changed.',
    ),
};

/** @param tool its published name @param isServed true if the server takes calls now */
export function failedCall(
  server: string,
  tool: string,
  failure: PoolFailure,
  isServed: boolean,
): readonly [text: string, kind: Unanswered['kind'], reason: string] {
  if (failure.kind === 'notHeld')
    return [notHeldText(server), 'not sent', 'The conversation no longer has an instance.'];
  if (failure.kind === 'startFailed') {
    const { code, message, fix } = failure.failure;
    const text = `Error: "${tool}" was not called: the server "${server}" ${message} ${fix}`;
    return [text, 'not sent', `The server did not start: ${code}.`];
  }
  if (failure.kind === 'notSent') {
    const text = `Error: "${tool}" of "${server}" was not called: ${clause(failure.cause)}.`;
    return [text, 'not sent', 'The server did not take the call.'];
  }
  if (failure.kind === 'timedOut') {
    const { limit, ms, misread } = failure;
    const what = limit === 'call' ? 'gave no sign of life for' : 'took longer than';
    const text = `Error: result unknown. "${tool}" ${what} ${seconds(ms)} (timeouts.${limit} of server "${server}"), and the call was cancelled. Raise timeouts.${limit} if it needs longer.${misread === undefined ? '' : ` ${misread}`}`;
    return [text, 'timed out', `It took longer than timeouts.${limit}, ${seconds(ms)}.`];
  }
  const next = isServed ? ` The next call of a tool of "${server}" starts a new instance.` : '';
  return [lostCallText(tool, failure.cause, next), 'lost', lostCallReason];
}

/** Makes the text for requests other than calls. A client may always repeat these. */
export function requestText(
  { toolset, method }: Destination & OtherRequest,
  failure: PoolFailure,
): string {
  if (failure.kind === 'startFailed')
    return `The server "${toolset}" ${failure.failure.message} ${failure.failure.fix}`;
  if (failure.kind === 'notHeld') return notHeldText(toolset);
  const why =
    failure.kind === 'timedOut' ? ` within ${seconds(failure.ms)}` : `: ${clause(failure.cause)}`;
  return `${method} was not answered by "${toolset}"${why}.`;
}

function notHeldText(server: string): string {
  return `The conversation that opened this app no longer has an instance of "${server}", so the call was not made. Ask for the app again in the chat.`;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
