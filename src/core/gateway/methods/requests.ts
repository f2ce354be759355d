/**
 * A request to an instance and back. A closed socket does not end it, because in MCP disconnecting
 * cancels nothing.
 */
import { Cancellation } from '../../base/cancellation.js';
import type { Clock } from '../../base/clock.js';
import { isObject, without } from '../../base/isObject.js';
import { isLarge, jsonOf } from '../../base/jsonInSlices.js';
import type { Log } from '../../base/log.js';
import { asText } from '../../base/text.js';
import { LoopShare } from '../../base/turns.js';
import type { Fields } from '../../protocol/client.js';
import type { ClientPolicy } from '../../protocol/clientPolicy.js';
import { errorCodes, type RpcError } from '../../protocol/errors.js';
import {
  errorAnswer,
  errorMessage,
  isRequestId,
  notificationMessage,
  resultMessage,
  type RequestId,
} from '../../protocol/jsonRpc.js';
import type { Destination, Outcome, RequestTerms } from '../../protocol/request.js';
import { metaKeys, metaOf } from '../../protocol/versions.js';
import type { Delivery } from '../../results/delivery.js';
import type { GatewayBackend } from '../backend.js';
import { CallClient, type CallInFlight, type Client } from '../conversations/client.js';
import { conversationOf, namedBy } from '../conversations/conversationIds.js';
import { enveloped, errorIn, isAtLeast, statusOf } from '../dialect.js';
import type { Reply } from '../eventStreams.js';
import type { AppOpenings } from './appCalls.js';

export interface RequestContext {
  readonly id: RequestId;
  readonly client: Client;
  readonly reply: Reply;
  readonly deps: MethodDeps;
}

export interface MethodDeps {
  readonly backend: GatewayBackend;
  readonly log: Log;
  readonly clock: Clock;
  readonly delivery: Delivery;
  readonly maxCalls: number;
  /** Has to be called after a change of sessions, lists or calls in flight of the toolset. */
  readonly noteActivity: (toolset: string) => void;
  /** True if `_meta` may name the conversation; otherwise the session is the conversation. */
  readonly namesConversations: boolean;
  readonly openings: AppOpenings;
}

export type Answer =
  | { readonly kind: 'result'; readonly json: string }
  | { readonly kind: 'error'; readonly error: RpcError }
  /** The method settles the reply itself, once. */
  | { readonly kind: 'later' };

export function invalidParams(message: string): Answer {
  return refusal(errorCodes.invalidParams, message);
}

export function refusal(code: number, message: string, data?: Fields): Answer {
  return {
    kind: 'error',
    error: {
      code,
      message,
      ...(data && { data }),
    },
  };
}

/** Everything about a request that its destination and its sender determine. */
export interface ForwardTerms extends RequestTerms, Destination {
  readonly client: CallClient;
  readonly policy: ClientPolicy;
}

interface Forwarding {
  readonly what: string;
  /** By default, the session and `_meta` decide. */
  readonly destination: Destination | undefined;
  /** A URI, perhaps of a link in an earlier result. */
  readonly link?: unknown;
  readonly cancelled: string;
  /** Sends the request. Resolves to its result as JSON for the client, or to why there is none. */
  readonly carryOut: (
    terms: ForwardTerms,
  ) => Promise<string | Exclude<Outcome<unknown>, { kind: 'result' }>>;
}

export function forward(
  { _meta: meta }: Fields,
  context: RequestContext,
  forwarding: Forwarding,
): Answer {
  const { id, client, deps, reply } = context;
  const { listing } = client;
  if (meta !== undefined && !isObject(meta)) return invalidParams('`_meta` must be an object.');
  if (client.calls.has(id))
    return refusal(errorCodes.invalidRequest, 'A call with this id is in flight.');
  if (client.calls.size >= deps.maxCalls)
    return refusal(errorCodes.server, 'Too many calls are in flight.');
  listing.refreshIfStale();
  if (listing.isGone) return invalidParams(deps.backend.whyGone(listing.toolset));

  const destination = forwarding.destination ?? destinationOf(meta, context, forwarding.link);
  if (!destination) return refusal(errorCodes.invalidRequest, severalConversations);

  const call: CallInFlight = {
    what: forwarding.what,
    controller: new Cancellation(),
    reply,
    listVersion: listing.tools.version,
  };
  client.calls.set(id, call);
  if (client.conversation) client.conversation.hasCalled = true;
  if (client.calls.size === 1) deps.noteActivity(listing.toolset);
  const { toolset, conversation } = destination;
  const terms: ForwardTerms = {
    toolset,
    policy: listing.policy,
    meta: upstreamMeta(meta),
    conversation,
    signal: call.controller,
    onProgress: progressSink(meta?.['progressToken'], id, call, client),
    client: new CallClient(client, conversation, () =>
      client.calls.get(id) === call ? reply : undefined,
    ),
  };
  void answerLater(forwarding, terms, call, context);
  return { kind: 'later' };
}

const severalConversations =
  'Several conversations share this session, and this request does not say which one asks.';

/**
 * Undefined if several conversations may have asked. The editor names none with a link; its
 * instance decides.
 */
function destinationOf(
  meta: Fields | undefined,
  { client, deps }: RequestContext,
  link: unknown,
): Destination | undefined {
  const { traits, listing } = client;
  const ofEditor = deps.namesConversations ? conversationOf(meta) : undefined;
  const name = traits.namer === undefined ? undefined : namedBy(traits.namer, meta);
  const links = client.conversation?.links;
  const holders = links && typeof link === 'string' ? links.holders(link) : [];
  if (ofEditor === undefined && name === undefined && holders.length > 0) {
    const isTheSame = holders.length === 1 || !listing.served?.isLeased || listing.hasApp(link);
    return isTheSame ? holders.at(-1) : undefined;
  }
  const own = client.idOf(name);
  const conversation = ofEditor ?? own;
  if (conversation === undefined) return undefined;
  const holder = holders.find((one) => one.conversation === conversation);
  return holder ?? { toolset: listing.toolset, conversation };
}

function progressSink(
  token: unknown,
  id: RequestId,
  call: CallInFlight,
  client: Client,
): RequestTerms['onProgress'] {
  if (!isRequestId(token)) return undefined;
  const hasMessages = isAtLeast(client.traits.version, '2025-03-26');
  return ({ progress, total, message }) => {
    // A client forgets the token of a settled request.
    if (client.calls.get(id) !== call) return;
    const progressToken = call.reply.progressToken(token);
    if (!isRequestId(progressToken)) return;
    const params = {
      progressToken,
      progress,
      total,
      message: hasMessages ? message : undefined,
    };
    call.reply.sendIfReading(notificationMessage('notifications/progress', params));
  };
}

async function answerLater(
  { what, cancelled, carryOut }: Forwarding,
  terms: ForwardTerms,
  call: CallInFlight,
  { id, client, deps }: RequestContext,
): Promise<void> {
  const { conversation, listing, traits } = client;
  let message: string;
  let status: number | undefined;
  try {
    const outcome = await carryOut(terms);
    if (typeof outcome === 'string') message = resultMessage(id, outcome);
    else {
      const failure =
        outcome.kind === 'error' ? outcome : { code: errorCodes.server, message: cancelled };
      const error = errorIn(traits.version, failure);
      const share = isObject(error.data) ? LoopShare.of(error.data) : undefined;
      status = statusOf(traits.version, error);
      message = await jsonOf(errorAnswer(id, error), share);
    }
    if (terms.client.telling) await terms.client.telling;
  } catch (error) {
    // Expected failures are outcomes. An exception is our own defect, so the client learns no
    // details.
    const cause = error instanceof Error ? (error.stack ?? error.message) : asText(error);
    deps.log.write('error', `The call of ${what} in ${listing.toolset} threw: ${cause}`);
    const text = 'The call failed inside MCP Toolsets; its log says more.';
    message = errorMessage(id, { code: errorCodes.internal, message: text });
  }
  // A cancelled request gets no answer.
  if (client.calls.get(id) !== call) return;
  client.tellBeforeResult(call.reply, call.listVersion);
  client.calls.delete(id);
  call.reply.settle(message, status);
  // A client still waiting for an answer is probably there.
  if (conversation) conversation.lastUsed = deps.clock.awake();
  if (client.calls.size === 0) deps.noteActivity(listing.toolset);
}

/** A server pays for the time of its large results (S2c, P10), found by the result as it gave it. */
export function written(
  { serverMeta }: Client,
  result: object,
  sent: Fields,
): string | Promise<string> {
  const isBare = sent['_meta'] === undefined && sent['resultType'] === undefined;
  if (serverMeta && isBare && !isLarge(sent)) return enveloped(JSON.stringify(sent), serverMeta);
  const named = serverMeta
    ? {
        resultType: 'complete',
        ...sent,
        _meta: { ...metaOf(sent), ...serverMeta },
      }
    : sent;
  return jsonOf(named, LoopShare.of(result));
}

const ownKeys: readonly string[] = ['progressToken', ...Object.values(metaKeys)];

/**
 * The progress token, statements about the request itself (X8) and the editor's private keys stay
 * here.
 */
export function upstreamMeta(meta: Fields | undefined): Fields | undefined {
  if (meta === undefined) return undefined;
  const kept = Object.entries(meta).filter(
    ([key]) => !ownKeys.includes(key) && !key.startsWith('vscode.'),
  );
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

export function withoutCarriage(params: Fields): Fields {
  return without(params, '_meta', 'requestState', 'inputResponses');
}
