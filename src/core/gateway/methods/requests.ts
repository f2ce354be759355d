/**
 * A request to an instance and back. A closed socket does not end it, because in MCP disconnecting
 * cancels nothing.
 */
import { randomUUID } from 'node:crypto';
import { Cancellation, abortSignalOf } from '../../base/cancellation.js';
import { isObject, without } from '../../base/isObject.js';
import { jsonOf } from '../../base/jsonInSlices.js';
import { LoopShare } from '../../base/turns.js';
import { limited, type Clock } from '../../base/clock.js';
import { unlessAborted } from '../../base/events.js';
import type { Log } from '../../base/log.js';
import { asText, messageOf } from '../../base/text.js';
import { type ClientKind, type Fields, declaredCapabilities } from '../../protocol/client.js';
import { errorCodes, type RpcError } from '../../protocol/errors.js';
import { presentParams } from '../../protocol/shapes.js';
import { metaKeys, modernVersion } from '../../protocol/versions.js';
import type { Destination, Outcome, RequestTerms } from '../../protocol/request.js';
import type { Delivery } from '../../results/delivery.js';
import type { GatewayBackend } from '../backend.js';
import {
  conversationOf,
  namedBy,
  sessionConversation,
  CallClient,
} from '../conversations/conversation.js';
import type { Asking, CallInFlight, Client } from '../conversations/conversation.js';
import { errorIn, isAtLeast, statusOf } from '../dialect.js';
import type { Reply } from '../eventStreams.js';
import {
  errorAnswer,
  errorMessage,
  isRequestId,
  notificationMessage,
  resultMessage,
} from '../../protocol/jsonRpc.js';
import type { RequestId } from '../../protocol/jsonRpc.js';
import { BoundedMap } from '../../base/boundedMap.js';

export interface RequestContext extends Asking {
  readonly id: RequestId;
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
  return { kind: 'error', error: { code, message, ...(data && { data }) } };
}

interface ForwardTerms extends RequestTerms, Destination {
  readonly client: CallClient;
  readonly clientKind: ClientKind;
}

type Carried = Extract<Outcome<unknown>, { kind: 'result' }>;
type NotCarried = Exclude<Outcome<unknown>, { kind: 'result' }>;

interface Forwarding<Result extends Carried> {
  readonly what: string;
  /** By default, the session and `_meta` decide. */
  readonly destination?: Destination | undefined;
  /** A URI, perhaps of a link in an earlier result. */
  readonly link?: unknown;
  readonly send: (terms: ForwardTerms) => Promise<Result | NotCarried>;
  readonly write: (outcome: Result, terms: ForwardTerms) => string | Promise<string>;
  readonly cancelled: string;
}

export function forward<Result extends Carried>(
  { _meta: meta }: Fields,
  context: RequestContext,
  forwarding: Forwarding<Result>,
): Answer {
  const { id, client, conversation: asking, listing, deps, reply } = context;
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
    controller: new Cancellation(),
    reply,
    listVersion: listing.tools.version,
  };
  client.calls.set(id, call);
  if (asking) asking.hasCalled = true;
  if (client.calls.size === 1) deps.noteActivity(listing.toolset);
  const { toolset, conversation } = destination;
  const terms: ForwardTerms = {
    toolset,
    clientKind: listing.clientKind,
    meta: upstreamMeta(meta),
    conversation,
    signal: call.controller,
    onProgress: progressSink(meta?.['progressToken'], id, call, client),
    client: new CallClient(context, conversation, () =>
      client.calls.get(id) === call ? reply : undefined,
    ),
  };
  void carryOut(forwarding, terms, call, context);
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
  { client: { traits }, conversation: asking, listing, deps }: RequestContext,
  link: unknown,
): Destination | undefined {
  const { toolset } = listing;
  const ofEditor = deps.namesConversations ? conversationOf(meta) : undefined;
  const name = traits.namer === undefined ? undefined : namedBy(traits.namer, meta);
  const holders = typeof link === 'string' ? (asking?.links.holders(link) ?? []) : [];
  if (ofEditor === undefined && name === undefined && holders.length > 0) {
    const isTheSame = holders.length === 1 || !listing.served?.isLeased || listing.hasApp(link);
    return isTheSame ? holders.at(-1) : undefined;
  }
  const own = asking ? asking.idOf(name) : sessionConversation(randomUUID());
  const conversation = ofEditor ?? own;
  if (conversation === undefined) return undefined;
  return holders.find((one) => one.conversation === conversation) ?? { toolset, conversation };
}

function progressSink(
  token: unknown,
  id: RequestId,
  call: CallInFlight,
  client: Client,
): RequestTerms['onProgress'] {
  if (!isRequestId(token)) return undefined;
  const hasMessages = isAtLeast(client.protocolVersion, '2025-03-26');
  return ({ progress, total, message }) => {
    // A client forgets the token of a settled request.
    if (client.calls.get(id) !== call) return;
    const progressToken = call.reply.progressToken ? call.reply.progressToken() : token;
    if (!isRequestId(progressToken)) return;
    const params = { progressToken, progress, total, message: hasMessages ? message : undefined };
    call.reply.sendIfReading(notificationMessage('notifications/progress', params));
  };
}

async function carryOut<Result extends Carried>(
  { send, write, what, cancelled }: Forwarding<Result>,
  terms: ForwardTerms,
  call: CallInFlight,
  { id, client: asking, conversation, listing, deps }: RequestContext,
): Promise<void> {
  let message: string;
  let status: number | undefined;
  try {
    const { protocolVersion: version } = asking;
    const sent = (): Promise<Result | NotCarried> => send(terms);
    const outcome =
      version === modernVersion ? await withPagesOpened(sent, terms, deps.clock) : await sent();
    if (outcome.kind === 'result') message = resultMessage(id, await write(outcome, terms));
    else {
      const failure =
        outcome.kind === 'error' ? outcome : { code: errorCodes.server, message: cancelled };
      const error = errorIn(version, failure);
      status = statusOf(version, error);
      message = await jsonOf(
        errorAnswer(id, error),
        isObject(error.data) ? LoopShare.of(error.data) : undefined,
      );
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
  if (asking.calls.get(id) !== call) return;
  conversation?.tellBeforeResult(call.reply, call.listVersion);
  asking.calls.delete(id);
  call.reply.settle(message, status);
  // A client still waiting for an answer is probably there.
  if (conversation) conversation.lastUsed = deps.clock.now();
  if (asking.calls.size === 0) deps.noteActivity(listing.toolset);
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

const mostRounds = 16;
const mostPages = 64;
/** A silent server is called again after this time, in milliseconds. */
const completionLimitMs = 30_000;
const elicit = 'elicitation/create';

type Failed = Extract<Outcome<never, never>, { kind: 'error' }>;

/**
 * A server of 2025-11-25 fails a call before its pages are opened (-32042). It has done nothing: we
 * repeat (G4c).
 */
async function withPagesOpened<Result extends Carried>(
  send: () => Promise<Result | NotCarried>,
  terms: ForwardTerms,
  clock: Clock,
): Promise<Result | NotCarried> {
  for (let rounds = 0; ; rounds++) {
    const outcome = await send();
    const pages =
      outcome.kind === 'error' && outcome.code === errorCodes.pagesRequired
        ? pagesIn(outcome.data)
        : [];
    if (pages.length === 0) return outcome;
    if (rounds === mostRounds)
      return failed(`The server asked to open pages more than ${mostRounds} times.`);
    const refusal = await opened(pages, terms, clock);
    if (refusal) return refusal;
  }
}

async function opened(
  pages: readonly Fields[],
  { client, signal: ended }: ForwardTerms,
  clock: Clock,
): Promise<Failed | undefined> {
  const signal = abortSignalOf(ended);
  if (!('url' in (declaredCapabilities(client.capabilities).elicitation ?? {}))) {
    const data = { requiredCapabilities: { elicitation: { url: {} } } };
    const message =
      'The call needs a page to be opened, and the client has not declared that it can open pages.';
    return { kind: 'error', code: errorCodes.missingCapability, message, data };
  }
  const ids = pages.flatMap(({ elicitationId: id }) => (typeof id === 'string' ? [id] : []));
  const completed = client.completed(ids);
  try {
    const answers = await Promise.all(
      pages.map((page) =>
        client.ask(elicit, presentParams(elicit, { ...page, mode: 'url' }), signal),
      ),
    );
    if (answers.some(({ action }) => action !== 'accept'))
      return failed('A page that the call needs was not opened.');
  } catch (error) {
    return failed(messageOf(error));
  }
  const untilOver = (over: AbortSignal): Promise<void> => unlessAborted(completed, over);
  await limited(clock, completionLimitMs, signal, untilOver).catch(() => undefined);
  return undefined;
}

function failed(message: string): Failed {
  return { kind: 'error', code: errorCodes.server, message };
}

function pagesIn(data: unknown): readonly Fields[] {
  const { elicitations } = (isObject(data) ? data : {}) as { elicitations?: unknown };
  const pages = Array.isArray(elicitations) ? elicitations.filter(isObject) : [];
  return pages
    .filter(({ url, message }) => typeof url === 'string' && typeof message === 'string')
    .slice(0, mostPages);
}

/** The oldest is forgotten, and its apps get an error. */
const mostOpenings = 1_000;

/** Remembers the conversation of each opened app (G8), by a token that nobody can guess. */
export class AppOpenings {
  private readonly openings = new BoundedMap<string, Destination>(mostOpenings);

  open({ toolset, conversation }: Destination): string {
    const known = this.of(toolset).find(([, each]) => each.conversation === conversation);
    const token = known?.[0] ?? randomUUID();
    this.openings.set(token, { toolset, conversation });
    return token;
  }

  /** An app without a token is identified only if one conversation has opened apps. */
  find(toolset: string, token: string): Destination | undefined {
    const all = this.of(toolset);
    const [found, ...others] = token === '' ? all : all.filter(([each]) => each === token);
    return others.length === 0 ? found?.[1] : undefined;
  }

  private of(toolset: string): [token: string, destination: Destination][] {
    return [...this.openings].filter(([, each]) => each.toolset === toolset);
  }
}
