/**
 * Brings the requests and notifications of a server to the client that it means (G4). That is the client of the request
 * on whose stream they came, where the transport tells; else (stdio, HTTP+SSE) the only one that has a request in
 * flight; else, while nothing is in flight, the one that the instance belongs to. Where several conversations have
 * requests in flight and nothing tells them apart, nobody is asked: the words of one conversation must not reach
 * another.
 *
 * Invariants: a server request ends with the request of ours that caused it; while a client is asked, the time limit
 * for silence of that request does not run.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { CallLimits } from './callLimits.js';
import { BoundedMap } from '../base/boundedMap.js';
import { TransientMap } from '../base/transientMap.js';
import { isObject } from '../base/isObject.js';
import { answerParams } from './handshake.js';
import { refusal, type Fields, type ServerClient } from '../protocol/client.js';
import { isKeptId } from '../protocol/keptIds.js';
import { errorCodes, RpcFailure } from '../protocol/errors.js';
import { metaOf } from '../protocol/requestMeta.js';

/** One of our requests, as long as it has no answer. */
interface InFlight {
  readonly client: ServerClient | undefined;
  readonly limits: CallLimits;
}

interface Open extends InFlight {
  /** The server requests that it has caused. */
  caused: Set<AbortController> | undefined;
  sentAs: RequestId | undefined;
}

/** Elicitations by URL that may still be said to be complete. */
const mostElicitations = 1_000;

interface ServerRequestsDeps {
  /** The request of ours on whose stream a message came; undefined where the transport cannot tell. */
  readonly originOf: ((message: object) => RequestId | undefined) | undefined;
  /** The key under which a server of the modern era asks something. */
  readonly keyOf?: (request: object) => string | undefined;
  readonly notify: (method: string, params?: Fields) => void;
  /** The version that the server speaks. */
  readonly protocolVersion: string;
}

export class ServerRequests {
  /** Our requests by their progress tokens. */
  private readonly open = new TransientMap<number, Open>();
  /** Progress tokens by the ids that our requests were sent under. */
  private readonly tokens = new TransientMap<RequestId, number>();
  private readonly elicitations = new BoundedMap<string, ServerClient>(mostElicitations);
  private owner: ServerClient | undefined;
  /** The session whose roots the server has. */
  private rootsOf: object | undefined;

  constructor(private readonly parts: ServerRequestsDeps) {}

  begin(token: number, request: InFlight): void {
    this.open.set(token, { client: request.client, limits: request.limits, caused: undefined, sentAs: undefined });
  }

  end(token: number): void {
    const request = this.open.take(token);
    for (const serverRequest of request?.caused ?? []) serverRequest.abort();
    if (request?.sentAs !== undefined) this.tokens.delete(request.sentAs);
  }

  /** Hears what is sent, to learn under which id a request went. */
  sent(message: JSONRPCMessage): void {
    if (!this.parts.originOf || !('method' in message) || !('id' in message)) return;
    const token = message.params?._meta?.progressToken;
    const request = typeof token === 'number' ? this.open.get(token) : undefined;
    // A request that goes out again, with what the server wanted to know, is still the same one.
    if (!request || typeof token !== 'number' || request.sentAs !== undefined) return;
    request.sentAs = message.id;
    this.tokens.set(message.id, token);
  }

  /** Names the client that the instance belongs to from now on. */
  belongsTo(client: ServerClient): void {
    this.owner = client;
    if (this.rootsOf === undefined || this.rootsOf === client.session) return;
    this.rootsOf = undefined;
    this.parts.notify('notifications/roots/list_changed');
  }

  async answer(request: { method: string; params?: unknown }, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { method } = request;
    const params = isObject(request.params) ? request.params : undefined;
    const cause = this.causeOf(request);
    const client = cause?.client ?? this.idleOwner();
    const refused = refusal(client.capabilities, method, params);
    if (refused) throw refused;
    if (method === 'roots/list') this.rootsOf = client.session;
    const { elicitationId } = (params ?? {}) as { elicitationId?: unknown };
    if (isKeptId(elicitationId)) this.elicitations.set(elicitationId, client);
    const causeEnded = new AbortController();
    if (cause) (cause.caused ??= new Set()).add(causeEnded);
    const held = cause?.limits.hold();
    try {
      const over = AbortSignal.any([signal, causeEnded.signal]);
      const options = { onProgress: this.progressOf(params), key: this.parts.keyOf?.(request) };
      const answer = await client.ask(method, params, over, options);
      return answerParams(this.parts.protocolVersion, method, answer);
    } finally {
      held?.dispose();
      cause?.caused?.delete(causeEnded);
    }
  }

  /** Forwards a notification to the client that it means, and drops it where nobody can tell which that is. */
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

  /** An error may carry elicitations that have to be completed before the call is tried again. */
  noteRequired(data: unknown, client: ServerClient | undefined): void {
    const { elicitations } = (isObject(data) ? data : {}) as { elicitations?: unknown };
    if (!client || !Array.isArray(elicitations)) return;
    for (const each of elicitations as unknown[]) {
      const id = isObject(each) ? each['elicitationId'] : undefined;
      if (isKeptId(id)) this.elicitations.set(id, client);
    }
  }

  private causeOf(message: object): Open | undefined {
    const origin = this.parts.originOf?.(message);
    const related = origin === undefined ? undefined : this.open.get(this.tokens.get(origin) ?? -1);
    if (related) return related;
    let newest: Open | undefined;
    for (const request of this.open.values()) {
      if (!request.client) continue;
      if (newest && !isSame(newest.client, request.client)) {
        throw new RpcFailure(
          errorCodes.internal,
          'Several conversations use this instance at once, so nobody knows which one to ask.',
        );
      }
      newest = request;
    }
    return newest;
  }

  /** Forwards the client's progress under the token that the server gave. */
  private progressOf(params: Fields | undefined): ((progress: Fields) => void) | undefined {
    const { progressToken } = metaOf(params);
    if (progressToken === undefined) return undefined;
    return (progress) => this.parts.notify('notifications/progress', { ...progress, progressToken });
  }

  private idleOwner(): ServerClient {
    if (this.owner) return this.owner;
    throw new RpcFailure(errorCodes.internal, 'No conversation uses this instance now, so nobody can be asked.');
  }
}

function isSame(a: ServerClient | undefined, b: ServerClient): boolean {
  return a?.session === b.session && a.conversation === b.conversation;
}
