/**
 * Answers requests of the modern era, in which there is no session: each is served by itself, from its POST to the end
 * of the answer (X8, G2). Only a toolset is served so whose conversations need not be told apart, as one instance
 * serves them all; the client of any other is refused, and takes the legacy era, whose sessions are conversations (G3).
 *
 * Invariants: a request that its client closes is cancelled; what a stream of `subscriptions/listen` says comes after
 * its acknowledgement; nothing is asked of a client, as no capability of it is declared to servers.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.js';
import { isObject } from '../base/isObject.js';
import type { Fields, ServerClient } from '../protocol/client.js';
import { errorCodes, RpcFailure, type RpcError } from '../protocol/errors.js';
import { metaKeys } from '../protocol/requestMeta.js';
import { modernVersion, protocolVersions } from '../protocol/versions.js';
import type { Route } from './access.js';
import type { ServedToolset } from './backend.js';
import { errorIn, readsStructureAlone, serverCapabilities } from './dialect.js';
import { ListenStream, PostReply, type Heartbeat } from './eventStreams.js';
import { errorMessage, notificationMessage, resultMessage, type Message, type RequestId } from './jsonRpc.js';
import { topics, type Listing, type Listings, type Topic } from './listings.js';
import { answerRequest, capabilitiesOf, isOfModernEra } from './methods.js';
import type { MethodDeps } from './requests.js';
import { Session } from './session.js';
import { readEnvelope, type StatelessTraits } from './statelessRequest.js';

type Request = Extract<Message, { kind: 'request' }>;

interface StatelessDeps {
  readonly methods: MethodDeps;
  readonly listings: Listings;
  readonly heartbeat: Heartbeat;
  readonly clock: Clock;
  /** The version of this software, for `serverInfo`. */
  readonly version: string;
}

/** A stream of `subscriptions/listen`. */
interface Listener {
  readonly listing: Listing;
  readonly topics: readonly Topic[];
  readonly versions: Map<Topic, number>;
  readonly tell: (method: string, params?: Fields) => void;
}

const filterKeys: Readonly<Record<Topic, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
};

/** Lists may change with any edit of the config file, so nobody is to keep them without being told of changes. */
const cacheHints = '"ttlMs":0,"cacheScope":"private"';

export class Stateless {
  private inFlight = 0;
  private readonly listeners = new Set<Listener>();

  constructor(private readonly deps: StatelessDeps) {}

  take(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
    message: Request,
    served: ServedToolset,
  ): void {
    const { id, method, params = {} } = message;
    if (served.isLeased === true) return answerWith(response, 400, errorMessage(id, leased));
    const envelope = readEnvelope(request.headers, message);
    if (envelope.kind === 'wrong') return answerWith(response, 400, errorMessage(id, envelope.error));
    const { traits } = envelope;
    if (method === 'server/discover') return this.reply(response).settle(resultMessage(id, this.discovery(served)));
    if (method === 'subscriptions/listen') return this.listen(response, route, id, params, served, traits);
    if (!isOfModernEra(method)) return answerWith(response, 404, errorMessage(id, unknown));
    this.call(response, route, message, traits);
  }

  /** Tells those who listen for it that a list has changed. */
  announce(listing: Listing): void {
    for (const listener of this.listeners) {
      if (listener.listing !== listing) continue;
      for (const topic of listener.topics) {
        const version = listing.versionOf(topic);
        if (listener.versions.get(topic) === version) continue;
        listener.versions.set(topic, version);
        listener.tell(`notifications/${topic}/list_changed`);
      }
    }
  }

  private call(response: ServerResponse, route: Route, { id, method, params }: Request, traits: StatelessTraits): void {
    const { methods, clock } = this.deps;
    if (this.inFlight >= methods.maxCalls) {
      const message = 'Too many calls are in flight.';
      return answerWith(response, 200, errorMessage(id, { code: errorCodes.server, message }));
    }
    this.inFlight += 1;
    const session = new Session(randomUUID(), this.listing(route, traits), modernVersion, clock.now(), {
      declared: {},
      readsStructureAlone: readsStructureAlone(traits.clientInfo),
    });
    session.logLevel = traits.logLevel;
    const reply = this.reply(response);
    response.once('close', () => {
      this.inFlight -= 1;
      session.close({ cancelCalls: true });
      methods.backend.noteClient(session.client, 'gone');
    });
    let error: RpcError;
    try {
      const answer = answerRequest(method, params, { id, session, reply, deps: methods });
      if (answer.kind === 'later') return reply.release();
      if (answer.kind === 'result') return reply.settle(resultMessage(id, this.listResult(method, answer.json)));
      error = errorIn(modernVersion, answer.error);
    } catch (cause) {
      methods.log.write('error', `A request of ${session.toolset} threw: ${String(cause)}`);
      error = { code: errorCodes.internal, message: 'The request failed inside MCP Toolsets; its log says more.' };
    }
    reply.settle(errorMessage(id, error));
  }

  /** @param json of an object that has entries, and none of the fields that are added */
  private listResult(method: string, json: string): string {
    const hints = method.endsWith('/list') ? `${cacheHints},` : '';
    return `{"resultType":"complete",${hints}"_meta":${JSON.stringify(this.serverMeta())},${json.slice(1)}`;
  }

  private discovery(served: ServedToolset): string {
    const [newest] = protocolVersions;
    const { instructions } = served;
    return JSON.stringify({
      resultType: 'complete',
      supportedVersions: [modernVersion, ...protocolVersions],
      capabilities: serverCapabilities(newest, capabilitiesOf(served)),
      ...(instructions === undefined ? {} : { instructions }),
      ttlMs: 0,
      cacheScope: 'private',
      _meta: this.serverMeta(served.serverName),
    });
  }

  private serverMeta(name = 'mcp-toolsets'): Fields {
    return { [metaKeys.serverInfo]: { name, version: this.deps.version } };
  }

  private listen(
    response: ServerResponse,
    route: Route,
    id: RequestId,
    { notifications }: Fields,
    served: ServedToolset,
    traits: StatelessTraits,
  ): void {
    if (!isObject(notifications)) {
      const message = '`notifications` must be an object.';
      return answerWith(response, 400, errorMessage(id, { code: errorCodes.invalidParams, message }));
    }
    const offered = capabilitiesOf(served);
    const wanted = topics.filter((topic) => notifications[filterKeys[topic]] === true && offered[topic] !== undefined);
    const uris = served.features.subscribe ? textsIn(notifications['resourceSubscriptions']) : [];
    const stream = new ListenStream(response, this.deps.heartbeat);
    const meta = { [metaKeys.subscriptionId]: id };
    const tell = (method: string, params: Fields = {}): void =>
      stream.send(notificationMessage(method, { ...params, _meta: meta }));
    const listing = this.listing(route, traits);
    tell('notifications/subscriptions/acknowledged', {
      notifications: {
        ...Object.fromEntries(wanted.map((topic) => [filterKeys[topic], true])),
        ...(uris.length > 0 && { resourceSubscriptions: uris }),
      },
    });
    const versions = new Map(wanted.map((topic) => [topic, listing.versionOf(topic)]));
    const listener = { listing, topics: wanted, versions, tell };
    this.listeners.add(listener);
    const client = listeningClient(tell);
    for (const uri of uris) this.subscribe(route, uri, client);
    response.once('close', () => {
      this.listeners.delete(listener);
      this.deps.methods.backend.noteClient(client, 'gone');
    });
  }

  private subscribe({ toolset }: Route, uri: string, client: ServerClient): void {
    const { backend, log } = this.deps.methods;
    const { signal } = new AbortController();
    const request = { toolset, dialog: randomUUID(), method: 'resources/subscribe', params: { uri }, signal, client };
    backend.request(request).catch((error: unknown) => log.write('error', `A subscription threw: ${String(error)}`));
  }

  private listing({ toolset, clientKind }: Route, { clientInfo }: StatelessTraits): Listing {
    return this.deps.listings.of(toolset, clientKind, modernVersion, readsStructureAlone(clientInfo));
  }

  private reply(response: ServerResponse): PostReply {
    return new PostReply(response, { heartbeat: this.deps.heartbeat, requests: 1 });
  }
}

const leased: RpcError = {
  code: errorCodes.invalidRequest,
  message:
    'Each conversation has an instance of its own here, and only sessions tell conversations apart: begin one with `initialize`, in a protocol version before 2026-07-28.',
};

const unknown: RpcError = { code: errorCodes.methodNotFound, message: 'Unknown method.' };

function answerWith(response: ServerResponse, status: number, json: string): void {
  const body = Buffer.from(json);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

/** Hears of updates of resources, and can be asked nothing. */
function listeningClient(tell: (method: string, params: Fields) => void): ServerClient {
  return {
    session: {},
    capabilities: {},
    logLevel: undefined,
    ask: () => Promise.reject(new RpcFailure(errorCodes.internal, 'This client only listens.')),
    tell: (method, params) => {
      if (method === 'notifications/resources/updated') tell(method, params);
    },
  };
}
