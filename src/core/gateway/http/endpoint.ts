/**
 * Streamable HTTP. For the editor, any status but 200 breaks the connection, except 404 for a lost
 * session (G3b).
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { limited } from '../../base/clock.js';
import { asFields } from '../../base/isObject.js';
import { inTurns } from '../../base/turns.js';
import type { Fields } from '../../protocol/client.js';
import { policies, type Road } from '../../protocol/clientPolicy.js';
import { addressConversation } from '../../protocol/conversationLabel.js';
import { errorCodes } from '../../protocol/errors.js';
import {
  errorMessage,
  messagesOf,
  parsePayload,
  payloadInSlices,
  resultMessage,
  type Message,
  type Payload,
  type RequestMessage,
} from '../../protocol/jsonRpc.js';
import {
  metaKeys,
  metaOf,
  allowsBatches,
  isProtocolVersion,
  modernVersion,
  negotiate,
} from '../../protocol/versions.js';
import type { ServedToolset } from '../backend.js';
import { traitsIn } from '../conversations/clientTraits.js';
import { longestProgram, namerOf, programOf } from '../conversations/conversationIds.js';
import type { ConversationKey } from '../conversations/conversations.js';
import type { Listing } from '../conversations/listings.js';
import type { Session, SessionTraits } from '../conversations/session.js';
import type { Sessions, SessionStart } from '../conversations/sessions.js';
import { clientCapabilities, readsStructureAlone, serverCapabilities } from '../dialect.js';
import { ListenStream, PostReply, sendJson } from '../eventStreams.js';
import {
  answerRequest,
  applyNotification,
  capabilitiesOf,
  ofInstances,
} from '../methods/methods.js';
import {
  isBegunElsewhere,
  isOverStdio,
  type Stateless,
  type StatelessDeps,
} from '../modern/stateless.js';
import { everyToolset, type Route } from '../routes.js';
import { isJson, readBody, type BodyLimits } from './body.js';

interface EndpointDeps extends StatelessDeps {
  readonly sessions: Sessions;
  readonly stateless: Stateless;
  readonly editorName: string | undefined;
  readonly body: BodyLimits;
  readonly onClient: (road: Road, capabilities: Fields) => void;
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

  /**
   * The ways of a POST. `2026-07-28` is the version in its header or its `_meta`, and the
   * editor's paths do not know it.
   *
   * | the body                               | way                                             |
   * | -------------------------------------- | ----------------------------------------------- |
   * | too slow, too large, or no JSON        | 408, 413 or 415                                 |
   * | a request of 2026-07-28                | answered without a session; 404 without toolset |
   * | `initialize` of an earlier version     | a new session; 404 without toolset              |
   * | anything else of 2026-07-28            | 202, or 400                                     |
   * | anything else, also if it is unreadable | taken by its session; 400 or 404 without one   |
   */
  private async post(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
  ): Promise<void> {
    const payload = await this.payloadOf(request, response);
    if (!payload || response.destroyed) return;
    const { isModern } = route.policy;
    const { headers } = request;
    const message = payload.kind === 'single' ? payload.message : undefined;
    if (message?.kind === 'request') {
      if (isModern && isStateless(headers, message)) {
        const isList = /^server\/discover$|\/list$/.test(message.method);
        const served = await this.servedOrRefused(response, route, isList);
        if (served) this.deps.stateless.take(request, response, { message, route, served });
        return;
      }
      if (message.method === 'initialize')
        return this.initialize(headers, response, route, message);
    }
    if (isModern && speaksModern(headers, payload)) return takeModern(response, payload);
    const session = this.session(request, response, route);
    if (session) await this.takeWhenStarted(response, route, session, payload);
  }

  /** Resolves to undefined after a refusal, or if the client has gone. */
  private async payloadOf(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Payload | undefined> {
    const body = await readBody(request, this.deps.body, this.deps.methods.clock);
    if (body.kind === 'aborted') return undefined;
    if (body.kind === 'refused') {
      if (body.status === 408) response.setHeader('connection', 'close');
      return refuse(response, body.status, errorCodes.invalidRequest, body.why);
    }
    if (!isJson(request))
      return refuse(response, 415, errorCodes.invalidRequest, 'The body must be application/json.');
    const { text } = body;
    return text.length > longBody ? await inTurns(payloadInSlices(text)) : parsePayload(text);
  }

  /** A revived session waits for its starting servers, as a new one does. */
  private async takeWhenStarted(
    response: ServerResponse,
    route: Route,
    session: Session,
    payload: Payload,
  ): Promise<void> {
    const asks = (wanted: (method: string) => boolean): boolean =>
      payload.kind !== 'unreadable' &&
      messagesOf(payload).some((each) => each.kind === 'request' && wanted(each.method));
    const isOfAll = session.isRevived && route.toolset === everyToolset;
    const waits = isOfAll
      ? asks((method) => /\/list$/.test(method))
      : session.listing.isGone && asks((method) => ofInstances.includes(method));
    if (waits) {
      await this.served(response, route, isOfAll);
      if (session.state.kind === 'gone') return refuse(response, 404, errorCodes.server, noSession);
    }
    this.take(response, session, payload);
  }

  private async initialize(
    headers: IncomingHttpHeaders,
    response: ServerResponse,
    route: Route,
    { id, params = {} }: RequestMessage,
  ): Promise<void> {
    const served = await this.servedOrRefused(response, route, true);
    if (!served) return;
    const { protocolVersion: requested, capabilities, clientInfo } = params;
    const reply = (message: string): void =>
      new PostReply(response, this.deps.heartbeat).settle(message);
    const fail = (code: number, message: string): void =>
      reply(errorMessage(id, { code, message }));
    if (typeof requested !== 'string')
      return fail(errorCodes.invalidParams, '`protocolVersion` must be a string.');
    const version = negotiate(requested);
    const declared = clientCapabilities(version, asFields(capabilities));
    const traits: SessionTraits = {
      program: programOf(clientInfo),
      version,
      declared,
      readsStructureAlone: readsStructureAlone(clientInfo),
      namer: namerOf(clientInfo, this.deps.methods.namesConversations),
      agentHost: this.agentHost(route, clientInfo),
    };
    const session = this.open(route, traits, isBegunElsewhere(headers) ? 'continued' : 'new');
    if (!session) return fail(errorCodes.server, 'Too many sessions are open.');
    const result = JSON.stringify({
      protocolVersion: version,
      capabilities: serverCapabilities(version, capabilitiesOf(served)),
      serverInfo: { name: served.serverName, version: this.deps.version },
      instructions: served.instructions,
    });
    response.setHeader('mcp-session-id', session.id);
    reply(resultMessage(id, result));
    this.deps.onClient(session.listing.policy.road, declared);
  }

  private take(response: ServerResponse, session: Session, payload: Payload): void {
    if (payload.kind === 'unreadable')
      return refuse(response, 400, payload.error.code, payload.error.message);
    const { version } = session.traits;
    if (payload.kind === 'batch' && !allowsBatches(version)) {
      const message = `Protocol ${version} has no batches.`;
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
      return applyNotification(message.method, message.params, session, deps);
    if (message.kind === 'response') return session.clientRequests.settle(message);
    if (!reply) return;
    if (message.kind === 'invalid') return reply.settle(errorMessage(message.id, message.error));
    const { id, method, params } = message;
    const answer = answerRequest(method, params, {
      id,
      client: session,
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
    const kind = isOverStdio(request.headers) ? 'connect' : 'other';
    if (conversation) {
      // It holds a modern conversation open during the life of its program (L2a).
      const attendance = conversations.attend(conversation, kind);
      new ListenStream(response, heartbeat);
      response.once('close', () => attendance.dispose());
      return;
    }
    const session = this.session(request, response, route);
    if (!session) return;
    const stream = new ListenStream(response, heartbeat);
    response.once('close', () => {
      session.stopListening(stream);
      this.deps.sessions.streamClosed(session, kind);
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
    this.deps.sessions.delete(session, !session.listing.isGone);
    response.writeHead(204).end();
  }

  private session(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
  ): Session | undefined {
    const version = request.headers['mcp-protocol-version'];
    if (version === modernVersion && route.policy.isModern) {
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
        isOverStdio(request.headers)
          ? 'The first message of a client must be `initialize`.'
          : 'The header Mcp-Session-Id is missing.',
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
    const { toolset, policy } = route;
    const said = headers['mcp-protocol-version'];
    const { sessions, methods } = this.deps;
    if (method === 'DELETE' || !sessions.isFree(id)) return undefined;
    const traits = traitsIn(id);
    const version = typeof said === 'string' && isProtocolVersion(said) ? said : traits?.version;
    if (!traits || !version || (policy === policies.editor && traits.agentHost === undefined))
      return undefined;
    const { backend } = methods;
    if (!(backend.toolset(toolset, policy) ?? backend.placeholder(toolset, policy)))
      return undefined;
    return this.open(
      route,
      {
        ...traits,
        program: '',
        version,
      },
      { revived: id },
    );
  }

  private open(
    { toolset, policy: routed }: Route,
    traits: SessionTraits,
    origin: SessionStart['origin'],
  ): Session | undefined {
    const { listings, sessions, methods } = this.deps;
    const isAgentHost = routed === policies.editor && traits.agentHost !== undefined;
    const policy = isAgentHost ? policies.agentHost : routed;
    // The editor has one list for all its conversations; any other session is one conversation
    // (G3).
    const listing = (id: string): Listing => {
      const conversation = policy.conversations === 'named' ? undefined : id;
      return listings.of({
        toolset,
        policy,
        traits,
        conversation,
      });
    };
    const session = sessions.open({
      toolset,
      listing,
      traits,
      origin,
    });
    if (session) methods.noteActivity(toolset);
    return session;
  }

  private agentHost({ policy }: Route, clientInfo: unknown): string | undefined {
    const { editorName } = this.deps;
    const { name, version } = asFields(clientInfo);
    if (policy !== policies.editor || editorName === undefined || name === editorName)
      return undefined;
    const said = [name, version].filter((part) => typeof part === 'string');
    return said.join(' ').slice(0, longestProgram);
  }

  private async servedOrRefused(
    response: ServerResponse,
    route: Route,
    lists: boolean,
  ): Promise<ServedToolset | undefined> {
    const served = await this.served(response, route, lists);
    if (served || response.destroyed) return response.destroyed ? undefined : served;
    const why = this.deps.methods.backend.whyGone(route.toolset);
    return refuse(response, 404, errorCodes.server, why);
  }

  /**
   * Waits for a starting server, if necessary. All toolsets together wait for each, because some
   * clients list once.
   */
  private async served(
    response: ServerResponse,
    { toolset, policy }: Route,
    lists: boolean,
  ): Promise<ServedToolset | undefined> {
    const { backend, clock } = this.deps.methods;
    const now = backend.toolset(toolset, policy);
    const isOfAll = toolset === everyToolset;
    if (isOfAll ? !lists || this.hangs : now || !backend.placeholder(toolset, policy)) return now;
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
      void wait(new AbortController().signal)
        .catch(() => undefined)
        .then(() => (this.hangs = false));
    }
    return backend.toolset(toolset, policy) ?? backend.placeholder(toolset, policy);
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

function speaksModern(headers: IncomingHttpHeaders, payload: Payload): boolean {
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
