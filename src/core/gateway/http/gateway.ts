/**
 * Invariants: without the token a client gets nothing; the editor never gets 401, 403 or 5xx,
 * because they cancel its other calls or open a sign-in (G3b). It uses `node:http`: a general
 * transport would double the cost of a call (P3).
 */
import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { limited, type Clock } from '../../base/clock.js';
import { DisposableStore } from '../../base/disposables.js';
import { Emitter, nextEvent } from '../../base/events.js';
import { jsonOf } from '../../base/jsonInSlices.js';
import type { Log } from '../../base/log.js';
import { asText } from '../../base/text.js';
import { proofOf, proofPath } from '../../files/proof.js';
import { newToken } from '../../files/tokenFile.js';
import type { Fields, ServerClient } from '../../protocol/client.js';
import { policies, type Road } from '../../protocol/clientPolicy.js';
import { errorCodes } from '../../protocol/errors.js';
import { deliveryWithoutFiles, type Delivery } from '../../results/delivery.js';
import type { GatewayBackend } from '../backend.js';
import type { Conversation } from '../conversations/conversation.js';
import { Conversations } from '../conversations/conversations.js';
import { Listings, type Listing } from '../conversations/listings.js';
import { Sessions } from '../conversations/sessions.js';
import { Heartbeat, sendJson } from '../eventStreams.js';
import { AppOpenings } from '../methods/appCalls.js';
import { Stateless } from '../modern/stateless.js';
import {
  isEditorPath,
  isRestPath,
  parseRoute,
  programsPath,
  routePath,
  snapshotPath,
} from '../routes.js';
import { readBody, type BodyLimits } from './body.js';
import { Endpoint, refuse } from './endpoint.js';
import { InnerConnections, InnerSocket } from './innerConnections.js';
import { refuseRest, serveRest, type RestBackend, type RestDeps } from './rest.js';

export const mostStrangers = 64;

const usualLimits = {
  maxBodyBytes: 16 << 20,
  bodyTimeoutMs: 30_000,
  maxSessions: 256,
  /** The number of calls in flight in one session. */
  maxCalls: 1_024,
  keepAliveMs: 15_000,
  coalesceMs: 20,
  pageSize: 1_000,
};

export type GatewayLimits = Readonly<typeof usualLimits>;

export interface GatewayDeps {
  readonly backend: GatewayBackend;
  readonly log: Log;
  readonly clock: Clock;
  readonly onClient?: (road: Road, capabilities: Fields) => void;
  /** The number of open connections that have shown the token changed. */
  readonly onConnections?: (open: number) => void;
  /** By default no file is written. */
  readonly delivery?: Delivery;
  readonly rest?: RestBackend;
  /** Resolves to the snapshot of the servers for another command. */
  readonly snapshot?: () => Promise<object>;
}

export interface GatewayOptions {
  readonly version: string;
  readonly limits?: Partial<GatewayLimits>;
  /**
   * Any other client at the editor's paths is an agent host of it. If absent, every client there is
   * the editor.
   */
  readonly editorName?: string;
  /** A lasting address. By default, the system chooses the port, and the token is fresh. */
  readonly stable?: StableAddress;
}

export interface StableAddress {
  readonly port: number;
  readonly token: string;
  /** Agents (G6) do not get the editor's paths, and each of their sessions is one conversation. */
  readonly audience?: 'agents' | 'editor';
}

export interface GatewayEndpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function createGateway(deps: GatewayDeps, options: GatewayOptions): Gateway {
  return new Gateway(deps, options);
}

export class Gateway {
  private readonly store = new DisposableStore('gateway');
  private readonly activity = this.store.add(new Emitter<string>());
  private readonly token: string;
  private readonly tokenBytes: Buffer;
  private readonly rest: RestDeps | undefined;
  private readonly sessions: Sessions;
  private readonly stateless: Stateless;
  private readonly endpointOfAll: Endpoint;
  private readonly conversations: Conversations;
  private readonly server: Server;
  private readonly inner: InnerConnections;
  /** The sockets without the token, in the order of their arrival. */
  private readonly strangers = new Set<Socket>();
  private readonly admitted = new Set<Socket>();
  /** Undefined before the start. It is kept, because asking for it is a system call. */
  port: number | undefined;
  private disposal: Promise<void> | undefined;

  readonly onDidChangeActivity = this.activity.event;

  constructor(
    private readonly deps: GatewayDeps,
    private readonly options: GatewayOptions,
  ) {
    const { backend, clock, log, onClient = (): void => {} } = deps;
    const { version, editorName, stable } = options;
    this.token = stable?.token ?? newToken();
    this.tokenBytes = Buffer.from(this.token);
    const urlOf = (toolset: string): string => this.endpoint(toolset, 'agent').url;
    this.rest = deps.rest && {
      backend: deps.rest,
      clock,
      log,
      urlOf,
    };
    const limits = { ...usualLimits, ...options.limits };
    const { maxCalls, maxSessions: max, keepAliveMs, maxBodyBytes, bodyTimeoutMs } = limits;
    const noteActivity = (toolset: string): void => this.activity.fire(toolset);
    const announce = (listing: Listing): void => {
      for (const session of sessions.of(listing.toolset))
        if (session.listing === listing) session.announce();
      stateless.announce(listing);
    };
    const listings = this.store.add(
      new Listings({
        backend,
        clock,
        log,
        ...limits,
        announce,
      }),
    );
    const forgotten = ({ listing }: Pick<Conversation, 'listing'>): void => {
      listings.forget(listing);
      noteActivity(listing.toolset);
    };
    const ended = (client: ServerClient): void => backend.noteClient(client, 'gone');
    const sessions = new Sessions(clock, max, forgotten, (session) =>
      session.clients().forEach(ended),
    );
    const conversations = this.store.add(new Conversations(clock, max, forgotten, ended));
    const delivery = deps.delivery ?? deliveryWithoutFiles();
    const namesConversations = !this.isForAgents;
    const openings = new AppOpenings();
    const methods = {
      backend,
      log,
      clock,
      delivery,
      maxCalls,
      noteActivity,
      namesConversations,
      openings,
    };
    const heartbeat = this.store.add(new Heartbeat(clock, keepAliveMs));
    const shared = {
      methods,
      listings,
      conversations,
      heartbeat,
      version,
    };
    const stateless = this.store.add(new Stateless(shared));
    const body = { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs };
    this.endpointOfAll = new Endpoint({
      ...shared,
      sessions,
      stateless,
      editorName,
      body,
      onClient,
    });
    this.sessions = sessions;
    this.conversations = conversations;
    this.stateless = stateless;
    this.server = serverWith(bodyTimeoutMs);
    this.inner = this.store.add(new InnerConnections(this.server));
    this.server.on('connection', (socket) => this.meet(socket));
    this.server.on('request', (request, response) => void this.receive(request, response));
  }

  private get isForAgents(): boolean {
    const { stable } = this.options;
    return stable !== undefined && stable.audience !== 'editor';
  }

  /** Rejects with `EADDRINUSE` if another program has the port. It may be called once. */
  async start(): Promise<void> {
    const { server } = this;
    if (this.disposal) throw new Error('The gateway is disposed.');
    const closed = once(server, 'close').then(() => {
      throw new Error('The gateway was disposed while it started.');
    });
    server.listen(this.options.stable?.port ?? 0, '127.0.0.1');
    await Promise.race([once(server, 'listening'), closed]);
    this.port = (server.address() as AddressInfo).port;
    server.on('error', (error) =>
      this.deps.log.write('error', `The listener failed: ${error.message}`),
    );
  }

  /** Connects a client in this process. It needs no start and no token. */
  connectInside(): Duplex {
    return this.inner.connect();
  }

  /** There need be no such toolset. Throws before the start. */
  endpoint(toolset: string, road: 'editor' | 'agent'): GatewayEndpoint {
    if (this.port === undefined) throw new Error('The gateway is not started.');
    return {
      url: `http://127.0.0.1:${this.port}${routePath({ toolset, policy: policies[road] })}`,
      headers: { Authorization: `Bearer ${this.token}` },
    };
  }

  /** @param toolset by default all */
  activityOf(toolset?: string, road?: Road) {
    const all = this.sessions.of(toolset);
    const sessions =
      road === undefined ? all : all.filter(({ listing }) => listing.policy.road === road);
    return {
      sessions: sessions.length,
      listed: sessions.filter((session) => session.hasListed && !session.hasLeft).length,
      callsInFlight:
        sessions.reduce((sum, session) => sum + session.calls.size, 0) +
        // Only agents outside the editor have modern requests.
        (road === undefined || road === 'agent' ? this.stateless.callsInFlight(toolset) : 0),
    };
  }

  /**
   * Cancels calls in flight after `finishMs` milliseconds; resolves when nothing is connected. It
   * may be called again.
   */
  dispose(finishMs = 0): Promise<void> {
    this.disposal ??= this.end(finishMs);
    return this.disposal;
  }

  /** The port is free at once, so the next window gets it (G2c). */
  private async end(finishMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const isQuiet = (): boolean => this.activityOf().callsInFlight === 0;
    if (finishMs > 0 && !isQuiet())
      await limited(this.deps.clock, finishMs, undefined, (over) =>
        nextEvent(this.onDidChangeActivity, isQuiet, over),
      ).catch(() => undefined);
    this.sessions.dispose();
    this.store.dispose();
    // The streams of cancelled calls end in this turn, so no client takes it for a death (X4).
    await nextTurn();
    this.server.closeAllConnections();
    await closed;
  }

  /**
   * Beyond the bound, the oldest goes. An honest client shows the token at once, so it always gets
   * in.
   */
  private meet(socket: Socket): void {
    const [oldest] = this.strangers;
    if (oldest && this.strangers.size >= mostStrangers) {
      this.strangers.delete(oldest);
      oldest.destroy();
    }
    this.strangers.add(socket);
    socket.once('close', () => this.strangers.delete(socket));
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url, socket } = request;
    try {
      const why = this.refusalOf(request);
      if (why === 'withoutToken' && this.proves(request, response)) return;
      if (this.letsPage(request, response, why)) return;
      if (why !== undefined) return await this.turnAway(request, response, why);
      this.strangers.delete(socket);
      this.noteConnection(socket);
      if (url === programsPath && this.options.stable) {
        return sendJson(
          response,
          200,
          JSON.stringify([...this.sessions.programs(), ...this.conversations.programs()]),
        );
      }
      if (url === snapshotPath && this.deps.snapshot)
        return sendJson(response, 200, await jsonOf(await this.deps.snapshot()));
      if (this.rest && isRestPath(url)) return await serveRest(request, response, this.rest);
      const route = parseRoute(url);
      if (!route || (this.isForAgents && route.policy === policies.editor)) {
        return await this.turnAway(request, response, 'nowhere');
      }
      await this.endpointOfAll.serve(request, response, route);
    } catch (error) {
      this.deps.log.write('error', `A request to the gateway threw: ${asText(error)}`);
      // 404 makes the editor begin a new session; a server error would end its other calls.
      if (!response.headersSent) response.writeHead(404, { 'content-length': 0 });
      response.end();
    }
  }

  private refusalOf({ headers, socket }: IncomingMessage): Exclude<Refusal, 'nowhere'> | undefined {
    if ((socket as Duplex) instanceof InnerSocket) return undefined;
    if (!isLocalHost(headers.host, this.port ?? -1) || !isLocalOrigin(headers.origin)) {
      this.deps.log.write(
        'warn',
        'Refused a request that did not come from this machine, by its Host or Origin.',
      );
      return 'stranger';
    }
    if (hasToken(headers.authorization, this.tokenBytes)) return undefined;
    this.deps.log.write('debug', 'Refused a request without the token.');
    return 'withoutToken';
  }

  private noteConnection(socket: Socket): void {
    const { onConnections } = this.deps;
    if (!onConnections || this.admitted.has(socket)) return;
    this.admitted.add(socket);
    onConnections(this.admitted.size);
    socket.once('close', () => {
      this.admitted.delete(socket);
      onConnections(this.admitted.size);
    });
  }

  /**
   * Answers a client before it shows the lasting token, because another program may have had the
   * port (G6).
   */
  private proves({ method, url }: IncomingMessage, response: ServerResponse): boolean {
    const [, challenge] = proofPath.exec(url ?? '') ?? [];
    if (challenge === undefined || method !== 'GET' || !this.options.stable) return false;
    const proof = proofOf(this.token, this.port ?? 0, challenge);
    sendJson(response, 200, JSON.stringify({ proof }), { connection: 'close' });
    return true;
  }

  /**
   * Lets a page of this machine read the answer (G2f). Returns true after the answer to the question
   * of its browser, which comes first and never has the token.
   */
  private letsPage(
    { method, headers }: IncomingMessage,
    response: ServerResponse,
    why: Refusal | undefined,
  ): boolean {
    const { origin, 'access-control-request-headers': wanted = '' } = headers;
    if (origin === undefined || why === 'stranger' || !this.isForAgents) return false;
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', 'mcp-session-id, www-authenticate');
    response.setHeader('vary', 'origin');
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined)
      return false;
    response.setHeader('access-control-allow-methods', 'GET, POST, DELETE');
    response.setHeader('access-control-allow-headers', wanted);
    response.writeHead(204, { connection: 'close' }).end();
    return true;
  }

  /**
   * Agents read advice. The editor reads nothing, and no page of another machine may read an answer,
   * because it has no CORS headers.
   */
  private async turnAway(
    request: IncomingMessage,
    response: ServerResponse,
    why: Refusal,
  ): Promise<void> {
    await readBody(request, strangersBody, this.deps.clock);
    if (response.destroyed) return;
    const { headers, url } = request;
    response.setHeader('connection', 'close');
    const hostAdvice = strangerAdvice(headers.host, this.port ?? 0);
    if (this.rest && isRestPath(url) && why !== 'nowhere') refuseRest(response, why, hostAdvice);
    else if (isEditorPath(url) || (why !== 'stranger' && !this.isForAgents)) {
      response.writeHead(404, { 'content-length': 0 }).end();
    } else if (why === 'stranger') refuse(response, 403, errorCodes.server, hostAdvice);
    else refuse(response, 404, errorCodes.server, advice[why]);
  }
}

function serverWith(bodyTimeoutMs: number): Server {
  return createServer({
    headersTimeout: 10_000,
    // Our own limit for bodies is shorter; this one also covers bodies without a reader.
    requestTimeout: 2 * bodyTimeoutMs,
    connectionsCheckingInterval: 5_000,
    // This is longer than clients keep idle sockets, because a socket closed under a request is a
    // failed call.
    keepAliveTimeout: 90_000,
    noDelay: true,
  });
}

type Refusal = 'stranger' | keyof typeof advice;

/** Without details of this machine. */
const advice = {
  withoutToken:
    'The token is missing or wrong. The token is in a file below ~/.minds/endpoints, which `mcp-toolsets serve` and the log of the extension name. `mcp-toolsets entries <agent>` writes entries that find it. If an entry names the variable MCP_TOOLSETS_TOKEN, start the agent with that variable set.',
  nowhere: 'There is nothing at this path. Toolsets are at /mcp/<toolset>.',
} as const;

/** This much is read from a client without the token, so it reads the answer and not a reset. */
const strangersBody: BodyLimits = {
  maxBytes: 1 << 20,
  timeoutMs: 5_000,
  isDropped: true,
};

function hostsAt(port: number): string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
}

/** Names of hosts have no case. */
export function isLocalHost(host: string | undefined, port: number): boolean {
  return host !== undefined && hostsAt(port).includes(host.toLowerCase());
}

/** Programs send no `Origin`. A page sends it, and only pages of this machine may connect. */
export function isLocalOrigin(origin: string | undefined): boolean {
  return (
    origin === undefined ||
    /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i.test(origin)
  );
}

/**
 * Returns why a request from elsewhere is refused, with the hosts that it may name. Quotes nothing
 * of the request.
 */
export function strangerAdvice(host: string | undefined, port: number): string {
  const hosts = hostsAt(port).join(', ');
  return isLocalHost(host, port)
    ? 'The header Origin names another machine. Only programs, which send no Origin, and pages of 127.0.0.1, localhost and [::1] get an answer.'
    : `The header Host must be one of ${hosts}. Write http://127.0.0.1:${port} in the URL of the client. A client in a container needs the network of this machine, or a forwarded port with that Host.`;
}

/** Compares in constant time. The length of the token is no secret. */
export function hasToken(authorization: string | undefined, token: Buffer): boolean {
  const isIt = (said: string): boolean => {
    const given = Buffer.from(said);
    return given.length === token.length && timingSafeEqual(given, token);
  };
  // Most programs write it so, and the pattern takes longer than the rest (P3).
  if (authorization?.startsWith('Bearer ') && isIt(authorization.slice(7))) return true;
  const [, said] = /^bearer +([^ ]+) *$/i.exec(authorization ?? '') ?? [];
  return said !== undefined && isIt(said);
}
