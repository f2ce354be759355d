/**
 * Answers modern requests. Each is served by itself, from its POST to the end of the answer (X8, G2). Its
 * conversation comes from its own statements (G3).
 *
 * Invariants: a request is cancelled if its client closes it; the end of a request ends no conversation.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { isObject } from '../../base/isObject.js';
import { TransientMap } from '../../base/transientMap.js';
import { asText } from '../../base/text.js';
import type { AskOptions, Fields } from '../../protocol/client.js';
import { errorCodes, type RpcError } from '../../protocol/errors.js';
import { mirrorMismatch } from '../../protocol/mirroredParams.js';
import { metaKeys, metaOf } from '../../protocol/requestMeta.js';
import { knowsTasks, tasksNotDeclared, withoutTasks } from '../../protocol/tasks.js';
import { modernVersion, protocolVersions } from '../../protocol/versions.js';
import type { Route } from '../routes.js';
import type { Attributed, Attribution } from './attribution.js';
import type { ServedToolset } from '../backend.js';
import { CallClient, cancelCall, type CallInFlight, type Client } from '../conversations/client.js';
import type { Conversation } from '../conversations/conversation.js';
import { addressConversation, programOf } from '../conversations/conversationIds.js';
import type { Conversations } from '../conversations/conversations.js';
import { errorIn, notToBeKept, readsStructureAlone, serverCapabilities, statusOf } from '../dialect.js';
import { PostReply, type Heartbeat, type MessageStream } from '../eventStreams.js';
import { errorMessage, resultMessage, type Message, type RequestId } from '../../protocol/jsonRpc.js';
import { notAsked } from '../conversations/openQuestion.js';
import type { SessionTraits } from '../conversations/sessionId.js';
import type { ListenStreams } from './listenStreams.js';
import { ParkableCall } from './parkableCall.js';
import { Parking } from './parking.js';
import { answerRequest, capabilitiesOf, isOfModernEra } from '../methods/methods.js';
import type { MethodDeps } from '../methods/requests.js';
import { readEnvelope, type StatelessTraits } from './statelessRequest.js';

type Request = Extract<Message, { kind: 'request' }>;

interface StatelessDeps {
  readonly methods: MethodDeps;
  readonly attribution: Attribution;
  readonly conversations: Conversations;
  readonly listenStreams: ListenStreams;
  readonly heartbeat: Heartbeat;
  readonly clock: Clock;
  readonly version: string;
}

type Asked = Extract<Attributed, { readonly kind: 'attributed' }> & {
  readonly served: ServedToolset;
  readonly message: Request;
};

/** An edit of the config file may change any list at once, whatever the server hints. */
const cacheHints = JSON.stringify(notToBeKept).slice(1, -1);

export class Stateless implements Disposable {
  private readonly inFlight = new Map<string, number>();

  private readonly parking = new Parking<ParkableCall>();

  constructor(private readonly deps: StatelessDeps) {}

  dispose(): void {
    this.parking.dispose();
  }

  /** The number of calls in flight of a toolset. */
  callsInFlight(toolset: string): number {
    return this.inFlight.get(toolset) ?? 0;
  }

  take(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
    message: Request,
    served: ServedToolset,
  ): void {
    const { id } = message;
    const envelope = readEnvelope(request.headers, message);
    if (envelope.kind === 'wrong') return answerWith(response, 400, errorMessage(id, envelope.error));
    const { declared } = envelope.traits;
    // The answer is a task only if the client can ask about it.
    const traits = { ...envelope.traits, declared: knowsTasks(served.features) ? declared : withoutTasks(declared) };
    if (!isKnown(message.method)) return answerWith(response, 404, errorMessage(id, unknown));
    if (route.address !== undefined) {
      const key = { toolset: route.toolset, id: addressConversation(route.address) };
      this.deps.conversations.noteProgram(key, programOf(traits.clientInfo));
    }
    const attributed = this.deps.attribution.of({ route, served, message, traits });
    if (attributed.kind === 'refused')
      return answerWith(response, attributed.status, errorMessage(id, attributed.error));
    this.serve(request, response, { ...attributed, served, message }, traits);
  }

  private serve(request: IncomingMessage, response: ServerResponse, asked: Asked, traits: StatelessTraits): void {
    const { message, served, listing, conversation } = asked;
    const { id, method, params = {} } = message;
    if (method === 'server/discover') return this.reply(response).settle(resultMessage(id, this.discovery(served)));
    const mismatch = traits.mirrors ? mirrorMismatchOf(request, asked) : undefined;
    if (mismatch !== undefined) {
      return answerWith(response, 400, errorMessage(id, { code: errorCodes.headerMismatch, message: mismatch }));
    }
    if (method !== 'subscriptions/listen') return this.call(response, asked, traits);
    const { notifications } = params;
    if (!isObject(notifications)) {
      const text = '`notifications` must be an object.';
      return answerWith(response, 400, errorMessage(id, { code: errorCodes.invalidParams, message: text }));
    }
    const { declared } = traits;
    if ('taskIds' in notifications && knowsTasks(served.features) && !knowsTasks(declared))
      return answerWith(response, 400, errorMessage(id, tasksNotDeclared));
    this.useUntilClosed(response, conversation);
    this.deps.listenStreams.open(response, {
      id,
      wanted: notifications,
      served,
      declared,
      listing,
      conversation: conversation?.id,
      serverMeta: this.serverMeta(served),
    });
  }

  private call(response: ServerResponse, asked: Asked, traits: StatelessTraits): void {
    const { methods, clock } = this.deps;
    const { message, served, listing, conversation } = asked;
    const { id, method, params = {} } = message;
    const { toolset } = listing;
    const fail = (error: RpcError): void => answerWith(response, 200, errorMessage(id, errorIn(modernVersion, error)));
    const target = { toolset, conversation: conversation?.id ?? '', method, params };
    const reply = this.reply(response);
    const carrier = { id, reply, progressToken: metaOf(params)['progressToken'] };
    const { requestState, inputResponses } = params;
    const mayAsk = mayBeAsked.includes(method);
    const responses = isObject(inputResponses) ? inputResponses : {};
    if (mayAsk && requestState !== undefined) {
      const parked = this.parking.take(requestState, target);
      if (!parked) return fail(noneParked);
      this.useUntilClosed(response, conversation);
      response.once('close', () => parked.closed(carrier));
      return parked.goOn(carrier, responses);
    }
    // A waiting call is not sent again because its client forgot the state.
    if (mayAsk && inputResponses !== undefined && this.parking.waits(target)) return fail(noneParked);
    if (this.callsInFlight(toolset) >= methods.maxCalls) {
      return fail({ code: errorCodes.server, message: 'Too many calls are in flight.' });
    }
    this.useUntilClosed(response, conversation);
    this.count(toolset, 1);
    const end = (): void => {
      this.count(toolset, -1);
      client.close();
      // The leases of a conversation outlive its requests.
      if (!conversation) methods.backend.noteClient(new CallClient(asking, undefined), 'gone');
    };
    const serverMeta = this.serverMeta(served);
    const call = new ParkableCall({ target, parking: this.parking, clock, serverMeta, end }, carrier, responses);
    const client = new ModernClient(traits, serverMeta, mayAsk ? call : undefined);
    const asking = { client, conversation, listing };
    response.once('close', () => call.closed(carrier));
    const answer = answerRequest(method, params, { id, ...asking, reply: call, deps: methods });
    if (answer.kind === 'later') return reply.release();
    if (answer.kind === 'result') return call.settle(resultMessage(id, listResult(method, answer.json, serverMeta)));
    const error = errorIn(modernVersion, answer.error);
    const status = error.code === errorCodes.methodNotFound ? 404 : statusOf(modernVersion, error);
    call.settle(errorMessage(id, error), status);
  }

  /** A conversation is in use during a POST, not between two POSTs of a call (L2a). */
  private useUntilClosed(response: ServerResponse, conversation: Conversation | undefined): void {
    if (!conversation) return;
    const use = this.deps.conversations.use(conversation);
    response.once('close', () => use.dispose());
  }

  private count(toolset: string, change: 1 | -1): void {
    const count = this.callsInFlight(toolset) + change;
    if (count > 0) this.inFlight.set(toolset, count);
    else this.inFlight.delete(toolset);
  }

  private discovery(served: ServedToolset): string {
    const [newest] = protocolVersions;
    const { instructions } = served;
    return JSON.stringify({
      resultType: 'complete',
      supportedVersions: [modernVersion, ...protocolVersions],
      capabilities: { ...serverCapabilities(newest, capabilitiesOf(served)), ...extensionsOf(served) },
      ...(instructions === undefined ? {} : { instructions }),
      ...notToBeKept,
      _meta: this.serverMeta(served),
    });
  }

  private serverMeta({ serverName }: ServedToolset): Fields {
    return { [metaKeys.serverInfo]: { name: serverName, version: this.deps.version } };
  }

  private reply(response: ServerResponse): PostReply {
    return new PostReply(response, { heartbeat: this.deps.heartbeat, requests: 1 });
  }
}

/** The client of one modern request. It ends with the request. */
class ModernClient implements Client {
  readonly protocolVersion = modernVersion;
  readonly traits: SessionTraits;
  readonly calls = new TransientMap<RequestId, CallInFlight>();
  readonly listening = undefined;
  logLevel: string | undefined;
  isClosed = false;
  readonly program: string;

  /** @param call takes questions of servers; undefined if none may ask */
  constructor(
    { clientInfo, declared, logLevel }: StatelessTraits,
    readonly serverMeta: Fields,
    private readonly call: ParkableCall | undefined,
  ) {
    this.traits = { declared, readsStructureAlone: readsStructureAlone(clientInfo) };
    this.logLevel = logLevel;
    this.program = programOf(clientInfo);
  }

  get waitsSince(): number | undefined {
    return this.call?.waitsSince;
  }

  ask(
    _stream: MessageStream | undefined,
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    { key }: AskOptions,
  ): Promise<Fields> {
    return this.call?.ask(method, params, signal, key) ?? notAsked('The client cannot be asked during this request.');
  }

  close(): void {
    for (const id of this.calls.keys()) cancelCall(this, id);
    this.isClosed = true;
  }
}

/** @param json an object with entries, without the added fields */
function listResult(method: string, json: string, serverMeta: Fields): string {
  const hints = method.endsWith('/list') ? `${cacheHints},` : '';
  return `{"resultType":"complete",${hints}"_meta":${JSON.stringify(serverMeta)},${json.slice(1)}`;
}

function mirrorMismatchOf({ headers }: IncomingMessage, { message, listing }: Asked): string | undefined {
  const { method, params = {} } = message;
  if (method !== 'tools/call') return undefined;
  listing.refreshIfStale();
  const mirrored = listing.mirrored.get(asText(params['name']));
  return mirrored && mirrorMismatch(mirrored, params['arguments'], headers);
}

/** A server may ask during these. */
const mayBeAsked: readonly string[] = ['tools/call', 'prompts/get', 'resources/read'];

const noneParked: RpcError = {
  code: errorCodes.invalidParams,
  message: 'No call has this request state: it belongs to another call, was used, or has expired. Nothing was sent.',
};

const unknown: RpcError = { code: errorCodes.methodNotFound, message: 'Unknown method.' };

function isKnown(method: string): boolean {
  return method === 'server/discover' || method === 'subscriptions/listen' || isOfModernEra(method);
}

function extensionsOf({ features: { extensions } }: ServedToolset): Fields {
  return Object.keys(extensions).length > 0 ? { extensions } : {};
}

function answerWith(response: ServerResponse, status: number, json: string): void {
  const body = Buffer.from(json);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}
