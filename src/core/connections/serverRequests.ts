/**
 * Brings what a server asks and reports to the client that it means (G4, G4d): the client of the
 * request on whose stream it came; else the only one that has a request in flight; else the client
 * that the instance belongs to. Invariant: a server request ends with the requests of ours that may
 * have caused it.
 */
import { BoundedMap } from '../base/boundedMap.js';
import { asFields, asList, isObject, type Fields } from '../base/isObject.js';
import type { Exchange, Peer, ServerTransport } from '../peer/peer.js';
import { refusal, type ServerClient } from '../protocol/client.js';
import { errorCodes, RpcFailure } from '../protocol/errors.js';
import { isKeptId, metaOf } from '../protocol/versions.js';

/** Elicitations by URL, until the server reports them as complete. */
const mostElicitations = 1_000;

export interface ServerRequest {
  readonly method: string;
  readonly params?: unknown;
  readonly key?: string;
}

export class ServerRequests {
  private readonly elicitations = new BoundedMap<string, ServerClient>(mostElicitations);
  /** The last session with a request for roots, and the answers under way. */
  rootsOf: object | undefined;
  rootsAnswered: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly peer: Pick<Peer, 'exchangeOf' | 'open'>,
    private readonly transport: Pick<ServerTransport, 'originOf'>,
    private readonly notify: (method: string, params?: Fields) => void,
    private owner?: ServerClient,
  ) {}

  /**
   * Returns true if the server asked another client for roots, so it gets a notification of their
   * change.
   */
  belongsTo(client: ServerClient): boolean {
    this.owner = client;
    if (this.rootsOf === undefined || this.rootsOf === client.session) return false;
    this.rootsOf = undefined;
    this.notify('notifications/roots/list_changed');
    return true;
  }

  /** @param causes the requests of ours for which the server may ask; the protocol may name one */
  answer(
    request: ServerRequest,
    signal: AbortSignal | undefined,
    causes?: readonly Exchange[],
  ): Promise<Fields> {
    const answer = this.answerOf(request, signal, causes);
    if (request.method === 'roots/list') this.rootsAnswered = bothOver(this.rootsAnswered, answer);
    return answer;
  }

  private async answerOf(
    request: ServerRequest,
    signal: AbortSignal | undefined,
    causes: readonly Exchange[] = this.causesOf(request),
  ): Promise<Fields> {
    const { method } = request;
    const params = isObject(request.params) ? request.params : undefined;
    const client = (causes.at(-1) ?? this.causesOf(request).at(-1))?.client ?? this.idleOwner();
    if (method === 'roots/list') this.rootsOf = client.session;
    const refused = refusal(client.capabilities, method, params);
    if (refused) throw refused;
    const { elicitationId } = asFields(params);
    if (isKeptId(elicitationId)) this.elicitations.set(elicitationId, client);
    const options = { onProgress: this.progressOf(params), key: request.key };
    const ended = new AbortController();
    let open = causes.length;
    const noteEnd = (): void => {
      open -= 1;
      if (open === 0) ended.abort();
    };
    const questions = causes.map((cause) => cause.question(noteEnd));
    const over = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
    try {
      return await client.ask(method, params, over, options);
    } finally {
      for (const question of questions) question.dispose();
    }
  }

  /** Forwards a notification to the client that it means; drops it if that client is unknown. */
  tell(message: { method: string; params?: unknown }): void {
    const params = asFields(message.params);
    const { elicitationId } = params;
    const asked =
      typeof elicitationId === 'string' ? this.elicitations.get(elicitationId) : undefined;
    if (typeof elicitationId === 'string') this.elicitations.delete(elicitationId);
    try {
      const client = asked ?? this.causesOf(message).at(-1)?.client ?? this.idleOwner();
      client.tell(message.method, params);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
    }
  }

  noteRequired(data: unknown, client: ServerClient | undefined): void {
    const { elicitations } = asFields(data);
    if (!client) return;
    for (const each of asList(elicitations)) {
      const id = asFields(each)['elicitationId'];
      if (isKeptId(id)) this.elicitations.set(id, client);
    }
  }

  private causesOf(message: object): readonly Exchange[] {
    const origin = this.transport.originOf?.(message);
    const related = origin === undefined ? undefined : this.peer.exchangeOf(origin);
    if (related?.terms) return [related];
    const [first, ...others] = new Set(
      this.peer.open.values().filter(({ client }) => client !== undefined),
    );
    if (!first) return [];
    const { session, conversation } = first.client ?? {};
    const isSame = ({ client }: Exchange): boolean =>
      client?.session === session && client?.conversation === conversation;
    if (others.every(isSame)) return [first, ...others];
    throw new RpcFailure(
      errorCodes.internal,
      'Several conversations use this instance at once, so nobody knows which one to ask.',
    );
  }

  private progressOf(params: Fields | undefined): ((progress: Fields) => void) | undefined {
    const { progressToken } = metaOf(params);
    if (progressToken === undefined) return undefined;
    return (progress) => this.notify('notifications/progress', { ...progress, progressToken });
  }

  private idleOwner(): ServerClient {
    if (this.owner) return this.owner;
    throw new RpcFailure(
      errorCodes.internal,
      'No conversation uses this instance now, so nobody can be asked.',
    );
  }
}

/** Without the answers: the result of one pair would hold the results of all pairs before it. */
async function bothOver(before: Promise<unknown>, answer: Promise<unknown>): Promise<void> {
  await Promise.allSettled([before, answer]);
}
