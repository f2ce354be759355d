/** Calls and other requests, from the host to the instance that serves their dialog. */
import { callText, requestText } from './callTexts.js';
import type { ToolCallOutcome, ToolCallRequest, ToolsetRequest, ToolsetRequestOutcome } from './hostContract.js';
import type { ServerUnit } from './reconcile/serverUnit.js';
import { callOn, requestOn } from './reconcile/unitRequests.js';

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
