/**
 * A request that goes on to an instance, from its arrival to its answer: in flight in its session, with progress,
 * cancellation, and the client that a server may ask something meanwhile.
 *
 * It ends by its outcome, by `notifications/cancelled`, or with its session when the client deletes it. It does not end
 * because the socket closes: the protocol says that a disconnection is no cancellation, and the editor cancels by a
 * message of its own. The outcome of a request that nobody reads any more is dropped.
 */
import { isObject } from '../base/isObject.js';
import type { BackendTerms, GatewayBackend } from './backend.js';
import { isAtLeast } from './dialect.js';
import {
  errorCodes,
  errorMessage,
  isRequestId,
  notificationMessage,
  type Params,
  type RequestId,
  type RpcError,
} from './jsonRpc.js';
import { type CallInFlight, type Session, SessionClient } from './session.js';
import type { Log } from '../base/log.js';
import type { Delivery } from '../results/delivery.js';
import type { Reply } from './eventStreams.js';

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

/** How methods answer, and what they are given to do it with. */

export interface MethodContext {
  readonly id: RequestId;
  readonly session: Session;
  readonly reply: Reply;
  readonly services: Services;
}

export interface Services {
  readonly backend: GatewayBackend;
  readonly log: Log;
  readonly delivery: Delivery;
  /** Calls in flight in one session. */
  readonly maxCalls: number;
  /** Sessions, lists or calls in flight of this toolset changed. */
  readonly noteActivity: (toolset: string) => void;
  /** Whether a client may say in `_meta` which conversation calls; else that is its session. */
  readonly namesConversations: boolean;
}

export type Answer =
  | { readonly kind: 'result'; readonly json: string }
  | { readonly kind: 'error'; readonly error: RpcError }
  /** Settles the reply itself, once. */
  | { readonly kind: 'later' };

export function invalidParams(message: string): Answer {
  return refusal(errorCodes.invalidParams, message);
}

export function refusal(code: number, message: string): Answer {
  return { kind: 'error', error: { code, message } };
}

/**
 * Which conversation a call belongs to (G3), and which of the caller's `_meta` goes on to the server. Pure.
 * A conversation is named by the bare id that the editor gives it, so that whoever else knows that id means the same
 * dialog; a session is named by its id with a prefix, and no conversation can take such a name.
 */

const sessionPrefix = 'mcp-session:';
const conversationKey = 'vscode.conversationId';

export function dialogOf(meta: Params | undefined, sessionId: string): string {
  return conversationOf(meta) ?? sessionPrefix + sessionId;
}

/** Undefined: the caller names none. */
export function conversationOf(meta: Params | undefined): string | undefined {
  const conversation = meta?.[conversationKey];
  if (typeof conversation !== 'string' || conversation === '' || conversation.startsWith(sessionPrefix))
    return undefined;
  return conversation;
}

/** Without the progress token, which holds between the client and us, and without the editor's private keys. */
export function upstreamMeta(meta: Params | undefined): Params | undefined {
  if (meta === undefined) return undefined;
  const kept = Object.entries(meta).filter(([key]) => key !== 'progressToken' && !key.startsWith('vscode.'));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}
