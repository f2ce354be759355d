/**
 * Brings the requests and notifications of a server to the client that it means (G4). That is the client of the request
 * on whose stream they came, if the transport knows; else (stdio, HTTP+SSE) the only one that has a request in flight;
 * else, while nothing is in flight, the client that the instance belongs to. If several conversations have requests in
 * flight and the transport cannot distinguish them, the request is refused: the words of one conversation must not reach another.
 *
 * Invariants: a server request ends with the request of ours that caused it; while a client is asked, the time limit
 * for silence of that request does not run.
 */
import { BoundedMap } from '../base/boundedMap.js';
import { isObject } from '../base/isObject.js';
import type { Exchange, Peer } from '../peer/peer.js';
import type { ServerTransport } from '../peer/transport.js';
import { refusal, type Fields, type ServerClient } from '../protocol/client.js';
import { errorCodes, RpcFailure } from '../protocol/errors.js';
import { isKeptId } from '../protocol/keptIds.js';
import { metaOf } from '../protocol/requestMeta.js';

/** Elicitations by URL that the server may still report as complete. */
const mostElicitations = 1_000;

export interface ServerRequest {
  readonly method: string;
  readonly params?: unknown;
  /** The key of the request in a result of 2026-07-28 that requires input. */
  readonly key?: string;
}

export class ServerRequests {
  private readonly elicitations = new BoundedMap<string, ServerClient>(mostElicitations);
  private owner: ServerClient | undefined;
  /** The session whose roots the server has. */
  private rootsOf: object | undefined;

  constructor(
    private readonly peer: Pick<Peer, 'exchangeOf' | 'exchanges'>,
    private readonly transport: Pick<ServerTransport, 'originOf'>,
    private readonly notify: (method: string, params?: Fields) => void,
  ) {}

  /** Names the client that the instance belongs to from now on. */
  belongsTo(client: ServerClient): void {
    this.owner = client;
    if (this.rootsOf === undefined || this.rootsOf === client.session) return;
    this.rootsOf = undefined;
    this.notify('notifications/roots/list_changed');
  }

  /** @param cause the request of ours for which the server asks, if the protocol says so */
  async answer(
    request: ServerRequest,
    signal: AbortSignal | undefined,
    cause: Exchange | undefined = this.causeOf(request),
  ): Promise<Fields> {
    const { method } = request;
    const params = isObject(request.params) ? request.params : undefined;
    const client = cause?.client ?? this.causeOf(request)?.client ?? this.idleOwner();
    const refused = refusal(client.capabilities, method, params);
    if (refused) throw refused;
    if (method === 'roots/list') this.rootsOf = client.session;
    const { elicitationId } = (params ?? {}) as { elicitationId?: unknown };
    if (isKeptId(elicitationId)) this.elicitations.set(elicitationId, client);
    const options = { onProgress: this.progressOf(params), key: request.key };
    if (!cause) return await client.ask(method, params, signal ?? new AbortController().signal, options);
    return await cause.asking((ended) =>
      client.ask(method, params, signal ? AbortSignal.any([signal, ended]) : ended, options),
    );
  }

  /** Forwards a notification to the client that it means; drops it if that client is unknown. */
  tell(message: { method: string; params?: unknown }): void {
    const params = isObject(message.params) ? message.params : {};
    const { elicitationId } = params as { elicitationId?: unknown };
    const asked = typeof elicitationId === 'string' ? this.elicitations.get(elicitationId) : undefined;
    if (typeof elicitationId === 'string') this.elicitations.delete(elicitationId);
    try {
      const client = asked ?? this.causeOf(message)?.client ?? this.idleOwner();
      client.tell(message.method, params);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
    }
  }

  /** Keeps the elicitations that an error requires before the call is tried again. */
  noteRequired(data: unknown, client: ServerClient | undefined): void {
    const { elicitations } = (isObject(data) ? data : {}) as { elicitations?: unknown };
    if (!client || !Array.isArray(elicitations)) return;
    for (const each of elicitations as unknown[]) {
      const id = isObject(each) ? each['elicitationId'] : undefined;
      if (isKeptId(id)) this.elicitations.set(id, client);
    }
  }

  private causeOf(message: object): Exchange | undefined {
    const origin = this.transport.originOf?.(message);
    const related = origin === undefined ? undefined : this.peer.exchangeOf(origin);
    if (related?.limits) return related;
    let newest: Exchange | undefined;
    for (const exchange of this.peer.exchanges()) {
      const { client } = exchange;
      if (!client) continue;
      if (newest && !isSame(newest.client, client)) {
        throw new RpcFailure(
          errorCodes.internal,
          'Several conversations use this instance at once, so nobody knows which one to ask.',
        );
      }
      newest = exchange;
    }
    return newest;
  }

  /** Forwards the client's progress under the token that the server gave. */
  private progressOf(params: Fields | undefined): ((progress: Fields) => void) | undefined {
    const { progressToken } = metaOf(params);
    if (progressToken === undefined) return undefined;
    return (progress) => this.notify('notifications/progress', { ...progress, progressToken });
  }

  private idleOwner(): ServerClient {
    if (this.owner) return this.owner;
    throw new RpcFailure(errorCodes.internal, 'No conversation uses this instance now, so nobody can be asked.');
  }
}

function isSame(a: ServerClient | undefined, b: ServerClient): boolean {
  return a?.session === b.session && a.conversation === b.conversation;
}
