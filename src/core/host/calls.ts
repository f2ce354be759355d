/** Calls and other requests, from the host to the instance that serves their dialog. */
import type { ToolCallOutcome, ToolCallRequest, ToolsetRequest, ToolsetRequestOutcome } from './hostContract.js';
import type { ServerUnit } from '../reconcile/serverUnit.js';
import { assertNever } from '../base/assertNever.js';
import type { InstancePool, PoolCallOutcome, PoolFailure, PoolOtherOutcome } from '../instances/pool.js';
import type { CallRequest, OtherRequest } from '../connections/connection.js';
import type { Serving } from '../reconcile/serving.js';

const invalidParams = -32602;
const serverError = -32000;

/** @param warned logs a text, and returns it fit for others to read. */
export async function passCallOn(
  unit: ServerUnit,
  tool: { readonly original: string },
  request: ToolCallRequest,
  warned: (text: string) => string,
): Promise<ToolCallOutcome> {
  const { dialog, signal, onProgress, client } = request;
  const outcome = await callOn(unit.serving, dialog, {
    name: tool.original,
    arguments: request.arguments,
    meta: request.meta,
    signal,
    onProgress: onProgress ?? ((): void => {}),
    client,
  });
  if (outcome.kind !== 'lost' && outcome.kind !== 'timedOut' && outcome.kind !== 'startFailed') return outcome;
  const text = warned(callText(request.toolset, request.tool, outcome));
  return { kind: 'result', result: { isError: true, content: [{ type: 'text', text }] } };
}

export async function passOn(
  unit: ServerUnit | undefined,
  { toolset, dialog, ...request }: ToolsetRequest,
  warned: (text: string) => string,
): Promise<ToolsetRequestOutcome> {
  if (!unit) return { kind: 'error', code: invalidParams, message: `There is no toolset "${toolset}".` };
  const outcome = await requestOn(unit.serving, dialog, request);
  if (outcome.kind !== 'lost' && outcome.kind !== 'timedOut' && outcome.kind !== 'startFailed') return outcome;
  return { kind: 'error', code: serverError, message: warned(requestText(toolset, request.method, outcome)) };
}

/**
 * What an agent reads when a call brought no result of the tool's own (X3, X4, X6). The text is the tool's result,
 * marked as an error: models see nothing else of it.
 */

type Failed = Extract<PoolFailure, { readonly kind: 'lost' | 'timedOut' | 'startFailed' }>;

function callText(server: string, tool: string, outcome: Failed): string {
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

/** A person was asked and did not allow it (S4). */
export function refusedText(tool: string): string {
  return `Error: the person did not allow this call of "${tool}". It was not made. Do not repeat it unless they ask for it.`;
}

/** The same for other requests, which may always be made again. */
function requestText(server: string, method: string, outcome: Failed): string {
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

/** What is asked of a server's instances, by way of what serves for it now. */

const stopped: PoolFailure = { kind: 'lost', cause: 'the server was stopped' };

function callOn(
  serving: Serving | undefined,
  dialog: string,
  request: Omit<CallRequest, 'timeouts'>,
): Promise<PoolCallOutcome> {
  if (!serving) return Promise.resolve(stopped);
  return serving.pool.call(dialog, { ...request, timeouts: serving.definition.timeouts });
}

function requestOn(
  serving: Serving | undefined,
  dialog: string,
  request: Omit<OtherRequest, 'timeouts'>,
): Promise<PoolOtherOutcome> {
  if (!serving) return Promise.resolve(stopped);
  return serving.pool.request(dialog, { ...request, timeouts: serving.definition.timeouts });
}

/** Of what serves and of what drains. */
export function poolsOf(units: readonly ServerUnit[]): readonly InstancePool[] {
  return units.flatMap(({ facts: { serving, draining } }) =>
    [...(serving ? [serving] : []), ...draining].map(({ pool }) => pool),
  );
}
