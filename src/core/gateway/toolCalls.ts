/**
 * `tools/call`: from the client's request to the backend's outcome and back.
 *
 * A call ends by its outcome, by `notifications/cancelled`, or with its session when the client deletes it. It does not
 * end because the socket closes: the protocol says that a disconnection is no cancellation, and the editor cancels by a
 * message of its own. The outcome of a call that nobody reads any more is dropped.
 */
import { assertNever } from '../base/assertNever.js';
import type { Delivery } from '../results/delivery.js';
import { withNotes } from '../results/notes.js';
import { invalidParams, refusal, type Answer, type MethodContext } from './answers.js';
import type { BackendCall, BackendOutcome } from './backend.js';
import { dialogOf, upstreamMeta } from './dialogs.js';
import {
  errorCodes,
  errorMessage,
  isObject,
  isRequestId,
  notificationMessage,
  resultMessage,
  type Params,
  type RequestId,
} from './jsonRpc.js';
import type { CallInFlight, Session } from './session.js';

export function callTool(params: Params, context: MethodContext): Answer {
  const { id, session, services, reply } = context;
  const { name, arguments: given, _meta: meta } = params;
  if (typeof name !== 'string' || name === '') return invalidParams('`name` must be a non-empty string.');
  if (given !== undefined && !isObject(given)) return invalidParams('`arguments` must be an object.');
  if (meta !== undefined && !isObject(meta)) return invalidParams('`_meta` must be an object.');
  if (session.calls.has(id)) return refusal(errorCodes.invalidRequest, 'A call with this id is in flight.');
  if (session.calls.size >= services.maxCalls) return refusal(errorCodes.server, 'Too many calls are in flight.');
  session.listing.refreshIfStale();
  if (session.listing.isGone) return invalidParams(`The toolset ${session.toolset} is not there any more.`);

  const call: CallInFlight = { controller: new AbortController(), reply, listVersion: session.listing.version };
  session.calls.set(id, call);
  if (session.calls.size === 1) services.noteActivity(session.toolset);
  const request: BackendCall = {
    toolset: session.toolset,
    clientKind: session.clientKind,
    tool: name,
    arguments: given,
    meta: upstreamMeta(meta),
    dialog: dialogOf(meta, session.id),
    signal: call.controller.signal,
    onProgress: progressSink(meta?.['progressToken'], id, call, session),
  };
  void carryOut(request, id, call, context);
  return { kind: 'later' };
}

function progressSink(token: unknown, id: RequestId, call: CallInFlight, session: Session): BackendCall['onProgress'] {
  if (!isRequestId(token)) return () => {};
  return ({ progress, total, message }) => {
    if (session.calls.get(id) !== call) return; // Settled: the client has forgotten the token.
    const params = {
      progressToken: token,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    call.reply.sendIfReading(notificationMessage('notifications/progress', params));
  };
}

async function carryOut(
  request: BackendCall,
  id: RequestId,
  call: CallInFlight,
  context: MethodContext,
): Promise<void> {
  const { session, services } = context;
  let answer: string;
  try {
    answer = await toMessage(id, await services.backend.callTool(request), request, services.delivery);
  } catch (error) {
    // Trouble that is expected is an outcome: this is a defect of ours, and its text is not for the client.
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    services.log.write('error', `The call of ${request.tool} in ${request.toolset} threw: ${cause}`);
    const message = 'The call failed inside MCP Toolsets; its log says more.';
    answer = errorMessage(id, { code: errorCodes.internal, message });
  }
  if (session.calls.get(id) !== call) return; // Cancelled: no answer is due.
  session.tellBeforeResult(call);
  session.calls.delete(id);
  call.reply.settle(answer);
  if (session.calls.size === 0) services.noteActivity(session.toolset);
}

async function toMessage(
  id: RequestId,
  outcome: BackendOutcome,
  { toolset, tool, clientKind }: BackendCall,
  delivery: Delivery,
): Promise<string> {
  switch (outcome.kind) {
    case 'result': {
      const isEditor = clientKind === 'editor';
      const origin = { server: toolset, tool: outcome.publishedName ?? tool };
      const own = await (isEditor
        ? delivery.forEditor(outcome.result, origin)
        : delivery.forOthers(outcome.result, origin));
      return resultMessage(id, JSON.stringify(withNotes(own, outcome.notes ?? [], isEditor)));
    }
    case 'error':
      return errorMessage(id, outcome);
    case 'cancelled':
      return errorMessage(id, { code: errorCodes.server, message: 'The call was cancelled.' });
    default:
      return assertNever(outcome);
  }
}
