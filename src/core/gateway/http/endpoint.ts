/**
 * Streamable HTTP. For the editor, any status but 200 breaks the connection, except 404 for a lost
 * session (G3b).
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { limited, type Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import { inTurns } from '../../base/turns.js';
import type { ClientKind, Fields } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import {
  errorMessage,
  messagesOf,
  parsePayload,
  payloadInSlices,
  resultMessage,
} from '../../protocol/jsonRpc.js';
import type { Message, Payload, RequestMessage } from '../../protocol/jsonRpc.js';
import {
  metaKeys,
  metaOf,
  allowsBatches,
  isProtocolVersion,
  modernVersion,
  negotiate,
  type ProtocolVersion,
} from '../../protocol/versions.js';
import type { ServedToolset } from '../backend.js';
import {
  addressConversation,
  longestProgram,
  namerOf,
  programOf,
  traitsIn,
} from '../conversations/conversation.js';
import type { SessionTraits } from '../conversations/conversation.js';
import type { ConversationKey } from '../conversations/conversations.js';
import type { Listing } from '../conversations/listings.js';
import type { Session, Sessions, SessionStart } from '../conversations/session.js';
import { clientCapabilities, readsStructureAlone, serverCapabilities } from '../dialect.js';
import { ListenStream, PostReply, sendJson } from '../eventStreams.js';
import {
  answerRequest,
  capabilitiesOf,
  ofInstances,
  takeNotification,
} from '../methods/methods.js';
import { isBegunElsewhere, type Stateless, type StatelessDeps } from '../modern/stateless.js';
import { everyToolset, type Route } from '../routes.js';

interface EndpointDeps extends StatelessDeps {
  readonly sessions: Sessions;
  readonly stateless: Stateless;
  readonly editorName: string | undefined;
  readonly body: BodyLimits;
  readonly onClient: (clientKind: ClientKind, capabilities: Fields) => void;
}

/**
 * `initialize` waits this long for a starting server, in milliseconds. Impatient clients give up
 * after 10 s.
 */
const startLimitMs = 8_000;

/** A longer body is read in slices, in characters (P10). */
const longBody = 256 * 1024;

export class Endpoint {
  /** True while a server takes longer to start than clients wait. */
  private hangs = false;

  constructor(private readonly deps: EndpointDeps) {}

  async serve(request: IncomingMessage, response: ServerResponse, route: Route): Promise<void> {
    switch (request.method) {
      case 'POST':
        return this.post(request, response, route);
      case 'GET':
        return this.listen(request, response, route);
      case 'DELETE':
        return this.delete(request, response, route);
      default:
        response.setHeader('allow', 'GET, POST, DELETE');
        refuse(response, 405, errorCodes.server, 'This path takes GET, POST and DELETE.');
    }
  }

  private async post(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
  ): Promise<void> {
    const body = await readBody(request, this.deps.body, this.deps.methods.clock);
    if (body.kind === 'aborted') return;
    if (body.kind === 'refused') {
      if (body.status === 408) response.setHeader('connection', 'close');
      return refuse(response, body.status, errorCodes.invalidRequest, body.why);
    }
    if (!isJson(request)) {
      return refuse(response, 415, errorCodes.invalidRequest, 'The body must be application/json.');
    }
    const { text } = body;
    const payload =
      text.length > longBody ? await inTurns(payloadInSlices(text)) : parsePayload(text);
    if (response.destroyed) return;
    const only =
      payload.kind === 'single' && payload.message.kind === 'request' ? payload.message : undefined;
    if (only && route.clientKind === 'plain' && isStateless(request.headers, only)) {
      const served = await this.served(
        response,
        route,
        /^server\/discover$|\/list$/.test(only.method),
      );
      if (response.destroyed) return;
      if (!served)
        return refuse(
          response,
          404,
          errorCodes.server,
          this.deps.methods.backend.whyGone(route.toolset),
        );
      return this.deps.stateless.take(request, response, { message: only, route, served });
    }
    if (only?.method === 'initialize') return this.initialize(request, response, route, only);
    if (route.clientKind === 'plain' && isModern(request.headers, payload))
      return takeModern(response, payload);
    const session = this.session(request, response, route);
    if (!session) return;
    const waiting =
      session.listing.isGone && payload.kind !== 'unreadable' ? messagesOf(payload) : [];
    if (waiting.some((each) => each.kind === 'request' && ofInstances.includes(each.method))) {
      // A revived session waits for its starting server, as a new one does.
      await this.served(response, route);
      if (session.isClosed) return refuse(response, 404, errorCodes.server, noSession);
    }
    this.take(response, session, payload);
  }

  private async initialize(
    { headers }: IncomingMessage,
    response: ServerResponse,
    route: Route,
    { id, params = {} }: RequestMessage,
  ): Promise<void> {
    const served = await this.served(response, route, true);
    if (response.destroyed) return;
    if (!served)
      return refuse(
        response,
        404,
        errorCodes.server,
        this.deps.methods.backend.whyGone(route.toolset),
      );
    const requested = params['protocolVersion'];
    const reply = (message: string): void =>
      new PostReply(response, this.deps.heartbeat).settle(message);
    const fail = (code: number, message: string): void =>
      reply(errorMessage(id, { code, message }));
    if (typeof requested !== 'string')
      return fail(errorCodes.invalidParams, '`protocolVersion` must be a string.');
    const version = negotiate(requested);
    const { capabilities, clientInfo } = params;
    const declared = clientCapabilities(version, isObject(capabilities) ? capabilities : {});
    const agentHost = this.agentHost(route, clientInfo);
    const traits = {
      declared,
      readsStructureAlone: readsStructureAlone(clientInfo),
      namer: namerOf(clientInfo, this.deps.methods.namesConversations),
      ...(agentHost !== undefined && { agentHost }),
    };
    const session = this.open(route, version, traits, {
      program: programOf(clientInfo),
      isContinued: isBegunElsewhere(headers),
    });
    if (!session) return fail(errorCodes.server, 'Too many sessions are open.');
    const result = JSON.stringify({
      protocolVersion: session.protocolVersion,
      capabilities: serverCapabilities(version, capabilitiesOf(served)),
      serverInfo: { name: served.serverName, version: this.deps.version },
      instructions: served.instructions,
    });
    response.setHeader('mcp-session-id', session.sessionId);
    reply(resultMessage(id, result));
    this.deps.onClient(session.clientKind, declared);
  }

  private take(response: ServerResponse, session: Session, payload: Payload): void {
    if (payload.kind === 'unreadable')
      return refuse(response, 400, payload.error.code, payload.error.message);
    if (payload.kind === 'batch' && !allowsBatches(session.protocolVersion)) {
      const message = `Protocol ${session.protocolVersion} has no batches.`;
      return refuse(response, 400, errorCodes.invalidRequest, message);
    }
    const messages = messagesOf(payload);
    const requests = messages.filter(({ kind }) => kind === 'request' || kind === 'invalid').length;
    if (requests === 0) {
      for (const message of messages) this.takeMessage(message, session, undefined);
      // The client may end the cancelled exchange after this answer. The last messages of the
      // exchange go out first.
      setImmediate(() => accept(response));
      return;
    }
    const [only] = messages;
    if (payload.kind === 'single' && only?.kind === 'invalid' && only.id === null) {
      return refuse(response, 400, only.error.code, only.error.message);
    }
    const reply = new PostReply(response, this.deps.heartbeat, requests, payload.kind === 'batch');
    for (const message of messages) this.takeMessage(message, session, reply);
  }

  private takeMessage(message: Message, session: Session, reply: PostReply | undefined): void {
    const { methods: deps } = this.deps;
    if (message.kind === 'notification')
      return takeNotification(message.method, message.params, session, deps);
    if (message.kind === 'response') return session.clientRequests.take(message);
    if (!reply) return;
    if (message.kind === 'invalid') return reply.settle(errorMessage(message.id, message.error));
    const { id, method, params } = message;
    const { listing } = session;
    const answer = answerRequest(method, params, {
      id,
      client: session,
      conversation: session,
      listing,
      reply,
      deps,
    });
    if (answer.kind === 'later') return;
    reply.settle(
      answer.kind === 'result' ? resultMessage(id, answer.json) : errorMessage(id, answer.error),
    );
  }

  private listen(request: IncomingMessage, response: ServerResponse, route: Route): void {
    const { conversations, heartbeat } = this.deps;
    const conversation = atAddress(request, route);
    if (conversation) {
      // It holds a modern conversation open during the life of its program (L2a).
      const attendance = conversations.attend(conversation);
      new ListenStream(response, heartbeat);
      response.once('close', () => attendance.dispose());
      return;
    }
    const session = this.session(request, response, route);
    if (!session) return;
    const stream = new ListenStream(response, heartbeat);
    response.once('close', () => {
      session.stopListening(stream);
      this.deps.sessions.streamClosed(session);
    });
    session.listen(stream);
  }

  /**
   * If the toolset is gone, calls in flight finish, because the editor deletes only for this reason
   * (R4).
   */
  private delete(request: IncomingMessage, response: ServerResponse, route: Route): void {
    const conversation = atAddress(request, route);
    if (conversation) {
      this.deps.conversations.end(conversation);
      response.writeHead(204).end();
      return;
    }
    const session = this.session(request, response, route);
    if (!session) return;
    session.listing.refresh();
    this.deps.sessions.delete(session, { cancelCalls: !session.listing.isGone });
    response.writeHead(204).end();
  }

  private session(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
  ): Session | undefined {
    const version = request.headers['mcp-protocol-version'];
    if (version === modernVersion && route.clientKind === 'plain') {
      // A modern POST has no session.
      response.setHeader('allow', 'POST');
      return refuse(
        response,
        405,
        errorCodes.server,
        `In protocol ${modernVersion}, this path takes POST only.`,
      );
    }
    if (typeof version === 'string' && !isProtocolVersion(version))
      return refuse(
        response,
        400,
        errorCodes.invalidRequest,
        'This protocol version is not supported.',
      );
    const id = request.headers['mcp-session-id'];
    if (typeof id !== 'string')
      return refuse(
        response,
        400,
        errorCodes.invalidRequest,
        'The header Mcp-Session-Id is missing.',
      );
    const session = this.deps.sessions.find(id, route) ?? this.revived(request, id, route);
    return session ?? refuse(response, 404, errorCodes.server, noSession);
  }

  /** Some programs never begin a new session after our restart. The editor begins one after 404. */
  private revived(
    { method, headers }: IncomingMessage,
    id: string,
    route: Route,
  ): Session | undefined {
    const { toolset, clientKind } = route;
    const said = headers['mcp-protocol-version'];
    const { sessions, methods } = this.deps;
    if (method === 'DELETE' || !sessions.isFree(id)) return undefined;
    const traits = traitsIn(id);
    const protocolVersion =
      typeof said === 'string' && isProtocolVersion(said) ? said : traits?.version;
    if (!traits || !protocolVersion || (clientKind === 'editor' && traits.agentHost === undefined))
      return undefined;
    const { backend } = methods;
    if (!(backend.toolset(toolset, clientKind) ?? backend.placeholder(toolset, clientKind)))
      return undefined;
    return this.open({ toolset, clientKind }, protocolVersion, traits, { revived: id });
  }

  private open(
    { toolset, clientKind: routed }: Route,
    protocolVersion: ProtocolVersion,
    traits: SessionTraits,
    more: Pick<SessionStart, 'program' | 'isContinued' | 'revived'>,
  ): Session | undefined {
    const { listings, sessions, methods } = this.deps;
    const clientKind = routed === 'editor' && traits.agentHost !== undefined ? 'agentHost' : routed;
    // The editor has one list for all its conversations; any other session is one conversation
    // (G3).
    const listing = (conversation: string): Listing =>
      listings.of(
        toolset,
        clientKind,
        protocolVersion,
        traits,
        clientKind === 'editor' ? undefined : conversation,
      );
    const session = sessions.open({ toolset, listing, protocolVersion, traits, ...more });
    if (session) methods.noteActivity(toolset);
    return session;
  }

  private agentHost({ clientKind }: Route, clientInfo: unknown): string | undefined {
    const { editorName } = this.deps;
    const { name, version } = isObject(clientInfo) ? clientInfo : {};
    if (clientKind !== 'editor' || editorName === undefined || name === editorName)
      return undefined;
    const said = [name, version].filter((part) => typeof part === 'string');
    return said.join(' ').slice(0, longestProgram);
  }

  /**
   * Waits for a starting server, if necessary. All toolsets together wait for each, because some
   * clients list once.
   */
  private async served(
    response: ServerResponse,
    { toolset, clientKind }: Route,
    lists = false,
  ): Promise<ServedToolset | undefined> {
    const { backend, clock } = this.deps.methods;
    const now = backend.toolset(toolset, clientKind);
    const isOfAll = toolset === everyToolset;
    if (isOfAll ? !lists || this.hangs : now || !backend.placeholder(toolset, clientKind))
      return now;
    const closed = new AbortController();
    const end = (): void => closed.abort();
    response.once('close', end);
    const wait = (over: AbortSignal): Promise<void> => backend.settled(toolset, over);
    const isSettled = await limited(clock, startLimitMs, closed.signal, wait).then(
      () => true,
      () => closed.signal.aborted,
    );
    response.off('close', end);
    if (isOfAll && !isSettled) {
      // The next client does not wait for the same server.
      this.hangs = true;
      const settled = backend.settled(toolset, new AbortController().signal);
      void settled.catch(() => undefined).then(() => (this.hangs = false));
    }
    return backend.toolset(toolset, clientKind) ?? backend.placeholder(toolset, clientKind);
  }
}

const noSession = 'This session does not exist or has ended. Begin a new one with `initialize`.';

function atAddress(
  { headers }: IncomingMessage,
  { toolset, address }: Route,
): ConversationKey | undefined {
  if (address === undefined || headers['mcp-session-id'] !== undefined) return undefined;
  return { toolset, id: addressConversation(address) };
}

export function isJson({ headers }: IncomingMessage): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

export function refuse(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
): undefined {
  sendJson(response, status, errorMessage(null, { code, message }));
}

/**
 * An `initialize` is modern only if header and body agree, because it probably comes from a client
 * of both eras.
 */
function isStateless(headers: IncomingHttpHeaders, { method, params }: RequestMessage): boolean {
  const byHeader = headers['mcp-protocol-version'] === modernVersion;
  const inBody = metaOf(params)[metaKeys.protocolVersion];
  return method === 'initialize'
    ? byHeader && inBody === modernVersion
    : byHeader || inBody !== undefined;
}

function isModern(headers: IncomingHttpHeaders, payload: Payload): boolean {
  if (headers['mcp-protocol-version'] === modernVersion) return true;
  const messages = payload.kind === 'unreadable' ? [] : messagesOf(payload);
  return messages.some(
    (each) => 'params' in each && metaOf(each.params)[metaKeys.protocolVersion] === modernVersion,
  );
}

/**
 * Takes what is no request. No notification means anything: a modern client cancels by closing its
 * request.
 */
function takeModern(response: ServerResponse, payload: Payload): void {
  const fail = (why: string): void => refuse(response, 400, errorCodes.invalidRequest, why);
  if (payload.kind === 'unreadable' && payload.error.code === errorCodes.parse)
    return refuse(response, 400, payload.error.code, payload.error.message);
  if (payload.kind !== 'single')
    return fail(`Batches are not supported in protocol ${modernVersion}.`);
  const { message } = payload;
  if (message.kind === 'response')
    return fail(`Responses cannot be posted in protocol ${modernVersion}.`);
  if (message.kind !== 'invalid') return accept(response);
  const error = { ...message.error, code: errorCodes.invalidRequest };
  sendJson(response, 400, errorMessage(message.id, error));
}

function accept(response: ServerResponse): void {
  response.writeHead(202, { 'content-length': 0 }).end();
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** The time from the end of the headers to the end of the body, in milliseconds. */
  readonly timeoutMs: number;
  readonly isDropped?: true;
}

type BodyOutcome =
  | { readonly kind: 'read'; readonly text: string }
  /** The rest is discarded as it arrives, so the client reads the answer and not a reset. */
  | { readonly kind: 'refused'; readonly status: 408 | 413; readonly why: string }
  | { readonly kind: 'aborted' };

const tooLarge = { kind: 'refused', status: 413, why: 'The body is too large.' } as const;
const tooSlow = { kind: 'refused', status: 408, why: 'The body came too slowly.' } as const;

/** Never rejects. */
export function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  clock: Clock,
): Promise<BodyOutcome> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) {
    request.resume();
    return Promise.resolve(tooLarge);
  }
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let isSettled = false;
    const settle = (outcome: BodyOutcome): void => {
      if (isSettled) return;
      isSettled = true;
      chunks = [];
      timer.dispose();
      resolve(outcome);
    };
    // Listeners stay and discard the rest, because removing them costs more than calling them (P3).
    const take = (chunk: Buffer): void => {
      if (isSettled) return;
      size += chunk.length;
      if (size > limits.maxBytes) settle(tooLarge);
      else if (!limits.isDropped) chunks.push(chunk);
    };
    const end = (): void => {
      const [first] = chunks;
      const whole = chunks.length === 1 && first ? first : Buffer.concat(chunks);
      settle({ kind: 'read', text: whole.toString('utf8') });
    };
    const timer = clock.after(limits.timeoutMs, () => settle(tooSlow));
    // Without a listener, the error of an aborted request would be thrown; `close` follows it.
    request
      .on('error', () => {})
      .on('data', take)
      .on('end', end)
      .on('close', () => settle({ kind: 'aborted' }));
  });
}
