/**
 * Answers modern requests (X8, G2b). Closing a request cancels it, and its end ends no
 * conversation.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { BoundedMap } from '../../base/boundedMap.js';
import type { Disposable } from '../../base/disposables.js';
import { isObject } from '../../base/isObject.js';
import { isLarge } from '../../base/jsonInSlices.js';
import { asText } from '../../base/text.js';
import { TransientMap } from '../../base/transientMap.js';
import { gone, present, type ClientState, type Fields, type Past } from '../../protocol/client.js';
import { addressConversation, sessionConversation } from '../../protocol/conversationLabel.js';
import { errorCodes, type RpcError } from '../../protocol/errors.js';
import {
  errorMessage,
  resultMessage,
  type RequestId,
  type RequestMessage,
} from '../../protocol/jsonRpc.js';
import {
  isLogLevel,
  metaKeys,
  metaOf,
  modernVersion,
  protocolVersions,
  knowsTasks,
  tasksNotDeclared,
  withoutTasks,
} from '../../protocol/versions.js';
import { fromHeader, mirrorMismatch, namedParams } from '../../protocol/mirroredParams.js';
import type { ServedToolset } from '../backend.js';
import {
  CallClient,
  cancelCall,
  loseCalls,
  type CallInFlight,
  type Client,
} from '../conversations/client.js';
import type { ClientTraits } from '../conversations/clientTraits.js';
import type { Conversation } from '../conversations/conversation.js';
import {
  namedBy,
  namedConversation,
  namerOf,
  programOf,
} from '../conversations/conversationIds.js';
import type { Conversations } from '../conversations/conversations.js';
import type { Listing, Listings } from '../conversations/listings.js';
import { notAsked } from '../conversations/openQuestions.js';
import {
  enveloped,
  errorIn,
  notToBeKept,
  readsStructureAlone,
  serverCapabilities,
  statusOf,
} from '../dialect.js';
import { ListenStream, PostReply, sendJson, type Heartbeat } from '../eventStreams.js';
import { answerRequest, capabilitiesOf, isOfModernEra, ofInstances } from '../methods/methods.js';
import type { Answer, MethodDeps } from '../methods/requests.js';
import type { Route } from '../routes.js';
import { Listener } from './listenStreams.js';
import { ParkableCall, Parking } from './parking.js';

export interface StatelessDeps {
  readonly methods: MethodDeps;
  readonly conversations: Conversations;
  readonly listings: Listings;
  readonly heartbeat: Heartbeat;
  readonly version: string;
}

interface Asked {
  readonly message: RequestMessage;
  readonly route: Route;
  readonly served: ServedToolset;
  readonly traits: StatelessTraits;
}

interface Attribution {
  readonly listing: Listing;
  /** Undefined if one instance serves all, or if all conversations get the same answer. */
  readonly conversation: Conversation | undefined;
}

interface Refused {
  readonly status: number;
  readonly error: RpcError;
}

/** An edit of the config file may change any list at once, whatever the server hints. */
const cacheHints = `${JSON.stringify(notToBeKept).slice(1, -1)},`;

export class Stateless implements Disposable {
  /** The clients of the calls in flight. */
  private readonly calling = new Set<ModernClient>();
  private readonly parking = new Parking();
  private readonly listeners = new Set<Listener>();

  constructor(private readonly deps: StatelessDeps) {}

  /** Cancels the calls in flight. */
  dispose(): void {
    this.parking.dispose();
    for (const client of this.calling) {
      loseCalls(client);
      client.close();
    }
  }

  announce(listing: Listing): void {
    for (const listener of this.listeners)
      if (listener.listening.listing === listing) listener.announce();
  }

  /** @param toolset by default all */
  callsInFlight(toolset?: string): number {
    const isOf = ({ listing }: ModernClient): boolean =>
      listing.toolset === (toolset ?? listing.toolset);
    return [...this.calling].filter(isOf).length;
  }

  take(request: IncomingMessage, response: ServerResponse, given: Omit<Asked, 'traits'>): void {
    const refused = this.answer(request.headers, response, given);
    if (!refused) return;
    sendJson(response, refused.status, errorMessage(given.message.id, refused.error));
  }

  private answer(
    headers: IncomingHttpHeaders,
    response: ServerResponse,
    given: Omit<Asked, 'traits'>,
  ): Refused | undefined {
    const { message, route, served } = given;
    const { id, method } = message;
    // The answer is a task only if the client can ask about it.
    const traits = readEnvelope(headers, message, knowsTasks(served.features));
    if ('error' in traits) return traits;
    const isOwn = method === 'server/discover' || method === 'subscriptions/listen';
    if (!isOwn && !isOfModernEra(method))
      return refused(404, errorCodes.methodNotFound, 'Unknown method.');
    if (route.address !== undefined) {
      const key = { toolset: route.toolset, id: addressConversation(route.address) };
      this.deps.conversations.setProgram(key, traits.program);
    }
    const asked = { ...given, traits };
    const attributed = this.attributed(asked);
    if ('error' in attributed) return attributed;
    switch (method) {
      case 'server/discover':
        new PostReply(response, this.deps.heartbeat).settle(
          resultMessage(id, this.discovery(served)),
        );
        return undefined;
      case 'subscriptions/listen':
        return this.listen(response, asked, attributed);
      default:
        return (
          headersMismatch(headers, asked, attributed.listing) ??
          this.call(response, asked, attributed)
        );
    }
  }

  /**
   * At a toolset with leases, a request that names no conversation is refused, so no two share an
   * instance (G3).
   */
  private attributed(asked: Asked): Attribution | Refused {
    const { route, served, message, traits } = asked;
    const { toolset, policy, address } = route;
    const namer = served.isLeased ? namerOf(traits.clientInfo) : undefined;
    const named = namer === undefined ? undefined : namedBy(namer, metaOf(message.params));
    if (namer !== undefined && named !== undefined)
      return this.attributedTo(namedConversation(namer, named), unknown, asked);
    if (served.isLeased && address !== undefined) {
      const past = traits.begunElsewhere ? restarted : unknown;
      return this.attributedTo(addressConversation(address), past, asked);
    }
    // A program with named conversations lists before it has one.
    const ofAll = {
      toolset,
      policy,
      traits,
      conversation: undefined,
    };
    const listing = this.deps.listings.of(ofAll);
    // The page of an app is the same for all conversations (G8).
    const isPage = message.method === 'resources/read' && listing.hasApp(message.params?.['uri']);
    const isForInstance = ofInstances.includes(message.method) && !isPage;
    return served.isLeased && (namer === undefined || isForInstance)
      ? unnamed
      : { listing, conversation: undefined };
  }

  private attributedTo(
    id: string,
    past: Past,
    { route: { toolset, policy }, traits }: Asked,
  ): Attribution | Refused {
    const { conversations, listings } = this.deps;
    const listing = (): Listing =>
      listings.of({
        toolset,
        policy,
        traits,
        conversation: id,
      });
    const conversation = conversations.of({ toolset, id }, listing, past);
    return conversation
      ? { listing: conversation.listing, conversation }
      : refused(200, errorCodes.server, 'Too many conversations are open.');
  }

  private listen(
    response: ServerResponse,
    { message, served, traits: { declared } }: Asked,
    { listing, conversation }: Attribution,
  ): Refused | undefined {
    const { methods, heartbeat } = this.deps;
    const { id, params = {} } = message;
    const { notifications: wanted } = params;
    if (!isObject(wanted))
      return refused(400, errorCodes.invalidParams, '`notifications` must be an object.');
    const needsTasks = 'taskIds' in wanted && knowsTasks(served.features);
    if (needsTasks && !knowsTasks(declared)) return { status: 400, error: tasksNotDeclared };
    this.useUntilClosed(response, conversation);
    const listening = {
      id,
      wanted,
      served,
      declared,
      listing,
      conversation: conversation?.id,
      serverMeta: this.serverMeta(served),
    };
    const listener = new Listener(new ListenStream(response, heartbeat), listening, methods);
    this.listeners.add(listener);
    response.once('close', () => {
      this.listeners.delete(listener);
      listener.state = gone;
      methods.backend.noteClient(listener, 'gone');
    });
    listener.begin();
    return undefined;
  }

  private call(
    response: ServerResponse,
    { message, served, traits }: Asked,
    { listing, conversation }: Attribution,
  ): Refused | undefined {
    const { methods, heartbeat } = this.deps;
    const { parking } = this;
    const { id, method, params = {} } = message;
    const { toolset } = listing;
    const { requestState, inputResponses } = params;
    const target = {
      toolset,
      conversation: conversation?.id ?? '',
      method,
      params,
    };
    const reply = new PostReply(response, heartbeat);
    const carrier = {
      id,
      reply,
      progressToken: metaOf(params)['progressToken'],
    };
    const mayAsk = mayBeAsked.includes(method);
    const responses = isObject(inputResponses) ? inputResponses : undefined;
    if (mayAsk && requestState !== undefined) {
      const parked = parking.take(requestState, target);
      if (!parked) return noneParked;
      this.useUntilClosed(response, conversation);
      response.once('close', () => parked.closed(carrier));
      parked.resume(carrier, responses);
      return undefined;
    }
    // A waiting call is not sent again because its client forgot the state.
    if (mayAsk && inputResponses !== undefined && parking.waits(target)) return noneParked;
    if (this.callsInFlight(toolset) >= methods.maxCalls)
      return refused(200, errorCodes.server, 'Too many calls are in flight.');
    this.useUntilClosed(response, conversation);
    const end = (): void => {
      this.calling.delete(client);
      client.close();
      // The leases of a conversation outlive its requests.
      if (!conversation) methods.backend.noteClient(new CallClient(client, undefined), 'gone');
    };
    const serverMeta = this.serverMeta(served);
    const deps = {
      target,
      parking,
      clock: methods.clock,
      serverMeta,
      end,
    };
    const call = new ParkableCall(deps, carrier, responses);
    const asking = mayAsk ? call : undefined;
    const client = new ModernClient(traits, listing, conversation, serverMeta, asking);
    this.calling.add(client);
    response.once('close', () => call.closed(carrier));
    settleWith(
      call,
      message,
      serverMeta,
      answerRequest(method, params, {
        id,
        client,
        reply: call,
        deps: methods,
      }),
    );
    return undefined;
  }

  /** A conversation is in use during a POST, not between two POSTs of a call (L2a). */
  private useUntilClosed(response: ServerResponse, conversation: Conversation | undefined): void {
    if (!conversation) return;
    conversation.openPosts += 1;
    response.once('close', () => {
      conversation.openPosts -= 1;
      conversation.lastUsed = this.deps.methods.clock.awake();
    });
  }

  private discovery(served: ServedToolset): string {
    const { instructions, features } = served;
    const { extensions } = features;
    return JSON.stringify({
      resultType: 'complete',
      supportedVersions: [modernVersion, ...protocolVersions],
      capabilities: {
        ...serverCapabilities(protocolVersions[0], capabilitiesOf(served)),
        ...(Object.keys(extensions).length > 0 && { extensions }),
      },
      instructions,
      ...notToBeKept,
      _meta: this.serverMeta(served),
    });
  }

  private serverMeta({ serverName }: ServedToolset): Fields {
    return { [metaKeys.serverInfo]: { name: serverName, version: this.deps.version } };
  }
}

/** The client behind one request. */
class ModernClient implements Client {
  readonly calls = new TransientMap<RequestId, CallInFlight>();
  readonly listening = undefined;
  logLevel: string | undefined;
  private isClosed = false;
  readonly ask: Client['ask'] = (_stream, method, params, signal, { key }) =>
    this.call?.ask(method, params, signal, key) ??
    notAsked('The client cannot be asked during this request.');

  /** @param call undefined if no server may ask */
  constructor(
    readonly traits: StatelessTraits,
    readonly listing: Listing,
    readonly conversation: Conversation | undefined,
    readonly serverMeta: Fields,
    private readonly call: ParkableCall | undefined,
  ) {
    this.logLevel = traits.logLevel;
  }

  get state(): ClientState {
    if (this.isClosed) return gone;
    const since = this.call?.waitsSince;
    return since === undefined ? present : { kind: 'waiting', since };
  }

  idOf(): string {
    return this.conversation?.id ?? sessionConversation(randomUUID());
  }

  /** It learns about changes from its listening streams. */
  hasRead(): void {}

  tellBeforeResult(): void {}

  close(): void {
    for (const id of this.calls.keys()) cancelCall(this, id);
    this.isClosed = true;
  }
}

const mayBeAsked: readonly string[] = ['tools/call', 'prompts/get', 'resources/read'];

function settleWith(
  call: ParkableCall,
  { id, method }: RequestMessage,
  serverMeta: Fields,
  answer: Answer,
): void {
  if (answer.kind === 'later') return;
  if (answer.kind === 'result') {
    const json = enveloped(answer.json, serverMeta, method.endsWith('/list') ? cacheHints : '');
    return call.settle(resultMessage(id, json));
  }
  const error = errorIn(modernVersion, answer.error);
  const status = error.code === errorCodes.methodNotFound ? 404 : statusOf(modernVersion, error);
  call.settle(errorMessage(id, error), status);
}

function refused(status: number, code: number, message: string): Refused {
  return { status, error: { code, message } };
}

const noneParked = refused(
  200,
  errorCodes.invalidParams,
  'No call has this request state: it belongs to another call, was used, or has expired. Nothing was sent.',
);

const restarted: Past = { kind: 'lost', why: 'MCP Toolsets was started again' };
const unknown: Past = { kind: 'unknown' };

/** A client of both eras begins a session after this error. */
const unnamed = refused(
  400,
  errorCodes.invalidRequest,
  'Each conversation has its own instance here, and this request does not say which conversation it belongs to. Let the client start `mcp-toolsets connect` as its server. Or give each conversation its own address: the address of the toolset, then /c/ and 22 or more random letters and digits. In a protocol version before 2026-07-28, begin a session with `initialize`.',
);

/** Returns why the mirrored parameters of a tool call do not fit its headers. */
function headersMismatch(
  headers: IncomingHttpHeaders,
  { message: { method, params = {} }, traits }: Asked,
  listing: Listing,
): Refused | undefined {
  if (!traits.mirrors || method !== 'tools/call') return undefined;
  listing.refreshIfStale();
  const mirrored = listing.mirrored.get(asText(params['name'])) ?? [];
  const mismatch = mirrorMismatch(mirrored, params['arguments'], headers);
  return mismatch === undefined ? undefined : refused(400, errorCodes.headerMismatch, mismatch);
}

interface StatelessTraits extends ClientTraits {
  readonly clientInfo: unknown;
  readonly logLevel: string | undefined;
  readonly begunElsewhere: boolean;
  /** True if the client mirrors parameters of tools in headers. Every client over HTTP does. */
  readonly mirrors: boolean;
}

export function isOverStdio(headers: IncomingHttpHeaders): boolean {
  return headers['mcp-toolsets-over'] === 'stdio';
}

export function isBegunElsewhere(headers: IncomingHttpHeaders): boolean {
  return headers['mcp-toolsets-begun-elsewhere'] !== undefined;
}

/**
 * Returns a request's statements about itself in `_meta` and in headers, or their fault (X8b).
 */
export function readEnvelope(
  headers: IncomingHttpHeaders,
  message: RequestMessage,
  keepsTasks: boolean,
): StatelessTraits | Refused {
  const meta = metaOf(message.params);
  const version = meta[metaKeys.protocolVersion];
  if (typeof version !== 'string')
    return invalid(`\`_meta\` must name the version in \`${metaKeys.protocolVersion}\`.`);
  const said = meta[metaKeys.clientCapabilities];
  if (!isObject(said))
    return invalid(`\`_meta\` must have the capabilities in \`${metaKeys.clientCapabilities}\`.`);
  const logLevel = meta[metaKeys.logLevel];
  if (logLevel !== undefined && !isLogLevel(logLevel)) return invalid('Unknown log level.');
  const mismatch = mismatchOf(headers, message, version);
  if (mismatch !== undefined) return refused(400, errorCodes.headerMismatch, mismatch);
  if (version !== modernVersion) {
    const data = {
      supported: [modernVersion, ...protocolVersions],
      requested: version,
    };
    const message = 'Unsupported protocol version';
    return {
      status: 400,
      error: {
        code: errorCodes.unsupportedVersion,
        message,
        data,
      },
    };
  }
  const clientInfo = meta[metaKeys.clientInfo];
  return {
    program: programOf(clientInfo),
    version,
    declared: sameObject(keepsTasks ? said : withoutTasks(said)),
    readsStructureAlone: readsStructureAlone(clientInfo),
    namer: undefined,
    agentHost: undefined,
    clientInfo,
    logLevel,
    begunElsewhere: isBegunElsewhere(headers),
    mirrors: !isOverStdio(headers),
  };
}

const mostDeclared = 64;
const declarations = new BoundedMap<string, Fields>(mostDeclared);

/**
 * Returns one object for the same capabilities in all requests, because others keep what they read
 * from it (P3).
 */
function sameObject(declared: Fields): Fields {
  if (isLarge(declared)) return declared;
  const text = JSON.stringify(declared);
  const before = declarations.get(text);
  if (!before) declarations.set(text, declared);
  return before ?? declared;
}

function mismatchOf(
  headers: IncomingHttpHeaders,
  { method, params }: RequestMessage,
  version: string,
) {
  const target = namedParams.get(method);
  const differs = (
    name: string,
    meant: unknown,
    read = (text: string): string | undefined => text,
  ) => {
    const given = headers[name.toLowerCase()];
    const said = typeof given === 'string' ? read(given) : undefined;
    if (said === undefined) return `The header ${name} is missing.`;
    return said === meant ? undefined : `The header ${name} does not match the body.`;
  };
  return (
    differs('MCP-Protocol-Version', version) ??
    differs('Mcp-Method', method) ??
    (target === undefined ? undefined : differs('Mcp-Name', params?.[target], fromHeader))
  );
}

function invalid(message: string): Refused {
  return refused(400, errorCodes.invalidParams, message);
}
