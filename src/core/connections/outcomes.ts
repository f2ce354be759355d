import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Progress, ServerOutcome } from '../protocol/request.js';
import { asFields, isObject, without, type Fields } from '../base/isObject.js';
import { clipped } from '../base/text.js';
import { errorCodes } from '../protocol/errors.js';
import { deepestValue, isTooDeep } from '../protocol/json.js';
import { inBrief } from '../protocol/inBrief.js';
import { lostParts, rightResult } from '../protocol/shapes.js';
import { taskIn, modernVersion } from '../protocol/versions.js';
import type { TransportFailure } from '../failures/transportFailure.js';

/** An undelivered request is an error of its call; a delivered one without an answer is lost. */
export function failureOutcome(
  failure: TransportFailure,
): Extract<ServerOutcome<unknown>, { kind: 'lost' | 'error' }> {
  const { reason } = failure;
  const gatewayStatus =
    reason.kind === 'status' && (reason.status === 502 || reason.status === 504);
  if (
    reason.kind === 'broken' ||
    reason.kind === 'tooLarge' ||
    reason.kind === 'closed' ||
    gatewayStatus
  )
    return { kind: 'lost', cause: failure.message };
  return {
    kind: 'error',
    code: errorCodes.server,
    message: failure.message,
  };
}

const tooDeep = wrong(`with a result that is nested more than ${deepestValue} levels deep`);
const noObject = wrong('with a result that is not an object');
/** More parts would take a turn of the event loop too long (P10), and no model reads them. */
const mostParts = 10_000;
const tooManyParts = wrong(`with more than ${mostParts} parts`);

/** Takes a sentence about a part that is left out. */
type Note = (sentence: string) => void;

export function readCallResult(
  given: unknown,
  version: string,
  note?: Note,
): ServerOutcome<CallToolResult> {
  if (isTooDeep(given)) return tooDeep;
  if (!isObject(given)) return noObject;
  if (hasTooManyParts(given)) return tooManyParts;
  const result = readParts(given, note);
  // A task has no content yet. `eras/modern` lets it through only if the client knows tasks.
  if (version === modernVersion && taskIn(result) !== undefined)
    return { kind: 'result', result: result as unknown as CallToolResult };
  // Before 2026-07-28, the field had no meaning.
  if (result['resultType'] !== undefined)
    return readCallResult(without(result, 'resultType'), version, note);
  const { content } = result;
  if (Array.isArray(content))
    return { kind: 'result', result: result as unknown as CallToolResult };
  if (content === undefined && 'toolResult' in result)
    return readCallResult(fromToolResult(result), version, note);
  // Older versions of the protocol allow this beside structured content.
  if (content === undefined || content === null)
    return { kind: 'result', result: { ...result, content: [] } };
  return wrong('the call with a `content` that is not a list');
}

/** Version 2024-10-07 had any value in place of content. */
function fromToolResult({ toolResult, ...rest }: Fields): Fields {
  if (isObject(toolResult) && Array.isArray(toolResult['content']))
    return { ...rest, ...toolResult };
  const text = typeof toolResult === 'string' ? toolResult : JSON.stringify(toolResult);
  return {
    ...rest,
    content: toolResult === undefined || toolResult === null ? [] : [{ type: 'text', text }],
  };
}

export function readOtherResult(given: unknown, note?: Note): ServerOutcome<Fields> {
  if (isTooDeep(given)) return tooDeep;
  if (!isObject(given)) return noObject;
  return hasTooManyParts(given) ? tooManyParts : { kind: 'result', result: readParts(given, note) };
}

function hasTooManyParts({ content, contents, messages, completion }: Fields): boolean {
  const values = asFields(completion)['values'];
  return [content, contents, messages, values].some(
    (list) => Array.isArray(list) && list.length > mostParts,
  );
}

function readParts(given: Fields, note: Note | undefined): Fields {
  const result = rightResult(given);
  const lost = result === given ? [] : lostParts(given);
  if (lost.length === 0) return result;
  const more = lost.length > 1 ? ` So are ${lost.length - 1} more.` : '';
  const sentence = `A part of the result is left out, because the protocol has no such part: ${inBrief(lost[0], 200)}.${more}`;
  note?.(sentence);
  return withLine(result, `[${sentence}]`);
}

/** Adds a line for the model, which would not know that a part is missing. */
function withLine(result: Fields, text: string): Fields {
  const { content, messages } = result;
  const line = { type: 'text', text };
  if (Array.isArray(content)) return { ...result, content: [...(content as unknown[]), line] };
  if (!Array.isArray(messages)) return result;
  const said = { role: 'user', content: line };
  return { ...result, messages: [...(messages as unknown[]), said] };
}

function wrong(answer: string): ServerOutcome<never> {
  return {
    kind: 'error',
    code: errorCodes.internal,
    message: `The server answered ${answer}.`,
  };
}

/** This many characters of a progress message are passed on: one line in a view (S2). */
const longestProgress = 4096;

export function readProgress({ progress, total, message }: Fields): Progress {
  return {
    progress: typeof progress === 'number' ? progress : 0,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: clipped(message, longestProgress) }),
  };
}
