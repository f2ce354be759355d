/**
 * A request that goes on to an instance, from its arrival to its answer: in flight in its session, with progress,
 * cancellation, and the client that a server may ask something meanwhile.
 *
 * It ends by its outcome, by `notifications/cancelled`, or with its session when the client deletes it. It does not end
 * because the socket closes: the protocol says that a disconnection is no cancellation, and the editor cancels by a
 * message of its own. The outcome of a request that nobody reads any more is dropped.
 */
import { isObject } from '../base/isObject.js';
import { invalidParams, refusal, type Answer, type MethodContext } from './answers.js';
import type { BackendTerms } from './backend.js';
import { isAtLeast } from './dialect.js';
import { dialogOf, upstreamMeta } from './dialogs.js';
import { errorCodes, errorMessage, isRequestId, notificationMessage, type Params, type RequestId } from './jsonRpc.js';
import type { CallInFlight, Session } from './session.js';
import { SessionClient } from './sessionClient.js';

/**
 * @param what for the log
 * @param dialog where something tells better than `_meta` which conversation is meant
 * @param run resolves to the whole answer, as text
 */
export function passOn(
  params: Params,
  context: MethodContext,
  what: string,
  run: (terms: BackendTerms) => Promise<string>,
  dialog?: string,
): Answer {
  const { id, session, services, reply } = context;
  const { _meta: meta } = params;
  if (meta !== undefined && !isObject(meta)) return invalidParams('`_meta` must be an object.');
  if (session.calls.has(id)) return refusal(errorCodes.invalidRequest, 'A call with this id is in flight.');
  if (session.calls.size >= services.maxCalls) return refusal(errorCodes.server, 'Too many calls are in flight.');
  session.listing.refreshIfStale();
  if (session.listing.isGone) return invalidParams(`The toolset ${session.toolset} is not there any more.`);

  const call: CallInFlight = { controller: new AbortController(), reply, listVersion: session.listing.version };
  session.calls.set(id, call);
  if (session.calls.size === 1) services.noteActivity(session.toolset);
  const ownDialog = dialog ?? dialogOf(services.namesConversations ? meta : undefined, session.id);
  const terms: BackendTerms = {
    toolset: session.toolset,
    clientKind: session.clientKind,
    meta: upstreamMeta(meta),
    dialog: ownDialog,
    signal: call.controller.signal,
    onProgress: progressSink(meta?.['progressToken'], id, call, session),
    client: new SessionClient(session, () => (session.calls.get(id) === call ? reply : undefined), ownDialog),
  };
  void carryOut(() => run(terms), what, id, call, context);
  return { kind: 'later' };
}

function progressSink(token: unknown, id: RequestId, call: CallInFlight, session: Session): BackendTerms['onProgress'] {
  if (!isRequestId(token)) return () => {};
  const hasMessages = isAtLeast(session.protocolVersion, '2025-03-26');
  return ({ progress, total, message }) => {
    if (session.calls.get(id) !== call) return; // Settled: the client has forgotten the token.
    const params = {
      progressToken: token,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined || !hasMessages ? {} : { message }),
    };
    call.reply.sendIfReading(notificationMessage('notifications/progress', params));
  };
}

async function carryOut(
  run: () => Promise<string>,
  what: string,
  id: RequestId,
  call: CallInFlight,
  { session, services }: MethodContext,
): Promise<void> {
  let answer: string;
  try {
    answer = await run();
  } catch (error) {
    // Trouble that is expected is an outcome: this is a defect of ours, and its text is not for the client.
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    services.log.write('error', `The call of ${what} in ${session.toolset} threw: ${cause}`);
    const message = 'The call failed inside MCP Toolsets; its log says more.';
    answer = errorMessage(id, { code: errorCodes.internal, message });
  }
  if (session.calls.get(id) !== call) return; // Cancelled: no answer is due.
  session.tellBeforeResult(call);
  session.calls.delete(id);
  call.reply.settle(answer);
  if (session.calls.size === 0) services.noteActivity(session.toolset);
}
