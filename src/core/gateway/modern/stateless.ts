/**
 * Answers modern requests (X8, G2b). Closing a request cancels it, and its end ends no
 * conversation.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { BoundedMap } from '../../base/boundedMap.js';
import type { Disposable } from '../../base/disposables.js';
import { isObject } from '../../base/isObject.js';
import { isLarge } from '../../base/jsonInSlices.js';
import { asText } from '../../base/text.js';
import { TransientMap } from '../../base/transientMap.js';
import type { Fields } from '../../protocol/client.js';
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
import type {
  CallInFlight,
  Client,
  Conversation,
  SessionTraits,
} from '../conversations/conversation.js';
import {
  CallClient,
  cancelCall,
  notAsked,
  addressConversation,
  namedBy,
  namedConversation,
  namerOf,
  programOf,
} from '../conversations/conversation.js';
import type { Conversations } from '../conversations/conversations.js';
import type { Listing, Listings } from '../conversations/listings.js';
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
import type { MethodDeps } from '../methods/requests.js';
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

/** An edit of the config file may change any list at once, whatever the server hints. */
const cacheHints = `${JSON.stringify(notToBeKept).slice(1, -1)},`;

export class Stateless implements Disposable {
  private readonly inFlight = new Map<string, number>();
  private readonly parking = new Parking();
  private readonly listeners = new Set<Listener>();

  constructor(private readonly deps: StatelessDeps) {}

  dispose(): void {
    this.parking.dispose();
  }

  announce(listing: Listing): void {
    for (const listener of this.listeners)
      if (listener.listening.listing === listing) listener.announce();
  }

  callsInFlight(toolset: string): number {
    return this.inFlight.get(toolset) ?? 0;
  }

  take({ headers }: IncomingMessage, response: ServerResponse, given: Omit<Asked, 'traits'>): void {
    const { message, route, served } = given;
    const { id, method, params = {} } = message;
    const refuse = (status: number, error: RpcError): void =>
      sendJson(response, status, errorMessage(id, error));
    // The answer is a task only if the client can ask about it.
    const traits = readEnvelope(headers, message, knowsTasks(served.features));
    if ('fault' in traits) return refuse(400, traits.fault);
    const isOwn = method === 'server/discover' || method === 'subscriptions/listen';
    if (!isOwn && !isOfModernEra(method))
      return refuse(404, { code: errorCodes.methodNotFound, message: 'Unknown method.' });
    if (route.address !== undefined) {
      const key = { toolset: route.toolset, id: addressConversation(route.address) };
      this.deps.conversations.noteProgram(key, programOf(traits.clientInfo));
    }
    const asked = { message, route, served, traits };
    const attributed = this.attributed(asked);
    if ('error' in attributed) return refuse(attributed.status, attributed.error);
    if (method === 'server/discover')
      return new PostReply(response, this.deps.heartbeat).settle(
        resultMessage(id, this.discovery(served)),
      );
    if (traits.mirrors && method === 'tools/call') {
      attributed.listing.refreshIfStale();
      const mirrored = attributed.listing.mirrored.get(asText(params['name'])) ?? [];
      const mismatch = mirrorMismatch(mirrored, params['arguments'], headers);
      if (mismatch !== undefined)
        return refuse(400, { code: errorCodes.headerMismatch, message: mismatch });
    }
    if (method === 'subscriptions/listen') this.listen(response, asked, attributed, refuse);
    else this.call(response, asked, attributed);
  }

  /**
   * At a toolset with leases, a request that names no conversation is refused, so no two share an
   * instance (G3).
   */
  private attributed({
    route,
    served,
    message,
    traits,
  }: Asked): Attribution | { status: number; error: RpcError } {
    const { toolset, clientKind, address } = route;
    const { conversations, listings } = this.deps;
    const namer = served.isLeased ? namerOf(traits.clientInfo) : undefined;
    const named = namer === undefined ? undefined : namedBy(namer, metaOf(message.params));
    const isNamed = namer !== undefined && named !== undefined;
    if (isNamed || (served.isLeased && address !== undefined)) {
      const id = isNamed ? namedConversation(namer, named) : addressConversation(address ?? '');
      const lostBefore = !isNamed && traits.begunElsewhere ? restarted : undefined;
      const listing = (): Listing => listings.of(toolset, clientKind, modernVersion, traits, id);
      const conversation = conversations.of({ toolset, id }, listing, lostBefore);
      if (conversation) return { listing: conversation.listing, conversation };
      return {
        status: 200,
        error: { code: errorCodes.server, message: 'Too many conversations are open.' },
      };
    }
    // A program with named conversations lists before it has one.
    const listing = listings.of(toolset, clientKind, modernVersion, traits);
    // The page of an app is the same for all conversations (G8).
    const isPage = message.method === 'resources/read' && listing.hasApp(message.params?.['uri']);
    const isForInstance = ofInstances.includes(message.method) && !isPage;
    if (served.isLeased && (namer === undefined || isForInstance))
      return { status: 400, error: unnamed };
    return { listing, conversation: undefined };
  }

  private listen(
    response: ServerResponse,
    { message, served, traits }: Asked,
    { listing, conversation }: Attribution,
    refuse: (status: number, error: RpcError) => void,
  ): void {
    const { methods, heartbeat } = this.deps;
    const { id, params = {} } = message;
    const { declared } = traits;
    const { notifications: wanted } = params;
    const notAnObject = {
      code: errorCodes.invalidParams,
      message: '`notifications` must be an object.',
    };
    if (!isObject(wanted)) return refuse(400, notAnObject);
    const needsTasks = 'taskIds' in wanted && knowsTasks(served.features);
    if (needsTasks && !knowsTasks(declared)) return refuse(400, tasksNotDeclared);
    this.useUntilClosed(response, conversation);
    const serverMeta = this.serverMeta(served);
    const listening = {
      id,
      wanted,
      served,
      declared,
      listing,
      conversation: conversation?.id,
      serverMeta,
    };
    const listener = new Listener(new ListenStream(response, heartbeat), listening, methods);
    this.listeners.add(listener);
    response.once('close', () => {
      this.listeners.delete(listener);
      listener.isGone = true;
      methods.backend.noteClient(listener, 'gone');
    });
    listener.begin();
  }

  private call(
    response: ServerResponse,
    asked: Asked,
    { listing, conversation }: Attribution,
  ): void {
    const { message, served, traits } = asked;
    const { methods } = this.deps;
    const { id, method, params = {} } = message;
    const { toolset } = listing;
    const fail = (error: RpcError): void =>
      sendJson(response, 200, errorMessage(id, errorIn(modernVersion, error)));
    const target = { toolset, conversation: conversation?.id ?? '', method, params };
    const reply = new PostReply(response, this.deps.heartbeat);
    const carrier = { id, reply, progressToken: metaOf(params)['progressToken'] };
    const { requestState, inputResponses } = params;
    const mayAsk = mayBeAsked.includes(method);
    const responses = isObject(inputResponses) ? inputResponses : undefined;
    if (mayAsk && requestState !== undefined) {
      const parked = this.parking.take(requestState, target);
      if (!parked) return fail(noneParked);
      this.useUntilClosed(response, conversation);
      response.once('close', () => parked.closed(carrier));
      return parked.goOn(carrier, responses);
    }
    // A waiting call is not sent again because its client forgot the state.
    if (mayAsk && inputResponses !== undefined && this.parking.waits(target))
      return fail(noneParked);
    const tooMany = { code: errorCodes.server, message: 'Too many calls are in flight.' };
    if (this.callsInFlight(toolset) >= methods.maxCalls) return fail(tooMany);
    this.useUntilClosed(response, conversation);
    this.count(toolset, 1);
    const end = (): void => {
      this.count(toolset, -1);
      client.close();
      // The leases of a conversation outlive its requests.
      if (!conversation) methods.backend.noteClient(new CallClient(asking, undefined), 'gone');
    };
    const serverMeta = this.serverMeta(served);
    const { parking } = this;
    const call = new ParkableCall(
      { target, parking, clock: methods.clock, serverMeta, end },
      carrier,
      responses,
    );
    const client = new ModernClient(traits, serverMeta, mayAsk ? call : undefined);
    const asking = { client, conversation, listing };
    response.once('close', () => call.closed(carrier));
    const answer = answerRequest(method, params, { id, ...asking, reply: call, deps: methods });
    if (answer.kind === 'later') return;
    if (answer.kind === 'result') {
      const json = enveloped(answer.json, serverMeta, method.endsWith('/list') ? cacheHints : '');
      return call.settle(resultMessage(id, json));
    }
    const error = errorIn(modernVersion, answer.error);
    const status = error.code === errorCodes.methodNotFound ? 404 : statusOf(modernVersion, error);
    call.settle(errorMessage(id, error), status);
  }

  /** A conversation is in use during a POST, not between two POSTs of a call (L2a). */
  private useUntilClosed(response: ServerResponse, conversation: Conversation | undefined): void {
    if (!conversation) return;
    conversation.inUse += 1;
    response.once('close', () => {
      conversation.inUse -= 1;
      conversation.lastUsed = this.deps.methods.clock.now();
    });
  }

  private count(toolset: string, change: 1 | -1): void {
    const count = this.callsInFlight(toolset) + change;
    if (count > 0) this.inFlight.set(toolset, count);
    else this.inFlight.delete(toolset);
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

class ModernClient implements Client {
  readonly protocolVersion = modernVersion;
  readonly calls = new TransientMap<RequestId, CallInFlight>();
  readonly listening = undefined;
  logLevel: string | undefined;
  isClosed = false;
  readonly program: string;
  readonly ask: Client['ask'] = (_stream, method, params, signal, { key }) =>
    this.call?.ask(method, params, signal, key) ??
    notAsked('The client cannot be asked during this request.');

  /** @param call undefined if no server may ask */
  constructor(
    readonly traits: StatelessTraits,
    readonly serverMeta: Fields,
    private readonly call: ParkableCall | undefined,
  ) {
    this.logLevel = traits.logLevel;
    this.program = programOf(traits.clientInfo);
  }

  get waitsSince(): number | undefined {
    return this.call?.waitsSince;
  }

  close(): void {
    for (const id of this.calls.keys()) cancelCall(this, id);
    this.isClosed = true;
  }
}

const mayBeAsked: readonly string[] = ['tools/call', 'prompts/get', 'resources/read'];

const noneParked: RpcError = {
  code: errorCodes.invalidParams,
  message:
    'No call has this request state: it belongs to another call, was used, or has expired. Nothing was sent.',
};

const restarted = 'MCP Toolsets was started again';

/** A client of both eras begins a session after this error. */
const unnamed: RpcError = {
  code: errorCodes.invalidRequest,
  message:
    'Each conversation has its own instance here, and this request does not say which conversation it belongs to. Let the client start `mcp-toolsets connect` as its server. Or give each conversation its own address: the address of the toolset, then /c/ and 22 or more random letters and digits. In a protocol version before 2026-07-28, begin a session with `initialize`.',
};

interface StatelessTraits extends SessionTraits {
  readonly clientInfo: unknown;
  readonly logLevel: string | undefined;
  readonly begunElsewhere: boolean;
  /** True if the client mirrors parameters of tools in headers. Every client over HTTP does. */
  readonly mirrors: boolean;
}

export function isBegunElsewhere(headers: IncomingHttpHeaders): boolean {
  return headers['mcp-toolsets-begun-elsewhere'] !== undefined;
}

interface Fault {
  readonly fault: RpcError;
}

/**
 * Returns a request's statements about itself in `_meta` and in headers, or their fault (X8b).
 */
export function readEnvelope(
  headers: IncomingHttpHeaders,
  message: RequestMessage,
  keepsTasks: boolean,
): StatelessTraits | Fault {
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
  if (mismatch !== undefined)
    return { fault: { code: errorCodes.headerMismatch, message: mismatch } };
  if (version !== modernVersion) {
    const data = { supported: [modernVersion, ...protocolVersions], requested: version };
    return {
      fault: { code: errorCodes.unsupportedVersion, message: 'Unsupported protocol version', data },
    };
  }
  const clientInfo = meta[metaKeys.clientInfo];
  return {
    declared: sameObject(keepsTasks ? said : withoutTasks(said)),
    readsStructureAlone: readsStructureAlone(clientInfo),
    clientInfo,
    logLevel,
    begunElsewhere: isBegunElsewhere(headers),
    mirrors: headers['mcp-toolsets-over'] !== 'stdio',
  };
}

const mostDeclared = 64;
const known = new BoundedMap<string, Fields>(mostDeclared);

/**
 * Returns one object for the same capabilities in all requests, because others keep what they read
 * from it (P3).
 */
function sameObject(declared: Fields): Fields {
  if (isLarge(declared)) return declared;
  const text = JSON.stringify(declared);
  const before = known.get(text);
  if (!before) known.set(text, declared);
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

function invalid(message: string): Fault {
  return { fault: { code: errorCodes.invalidParams, message } };
}
