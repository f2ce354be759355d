/**
 * The client behind a request: a session, or a single modern request. `CallClient` is the client as servers reach
 * it (G4): during a call on the stream of that call, otherwise on a listening stream.
 */
import type { Cancellation } from '../../base/cancellation.js';
import { BoundedMap } from '../../base/boundedMap.js';
import type { TransientMap } from '../../base/transientMap.js';
import type { AskOptions, Fields, ServerClient } from '../../protocol/client.js';
import { isKeptId } from '../../protocol/keptIds.js';
import { isLoudEnough } from '../../protocol/logLevels.js';
import { modernVersion, type SpokenVersion } from '../../protocol/versions.js';
import type { Conversation } from './conversation.js';
import { clientRequest, isToldTo } from '../dialect.js';
import type { MessageStream, Reply } from '../eventStreams.js';
import { notificationMessage, type RequestId } from '../../protocol/jsonRpc.js';
import type { Listing } from './listings.js';
import type { SessionTraits } from './sessionId.js';

export interface CallInFlight {
  readonly controller: Cancellation;
  readonly reply: Reply;
  /** The version of the list of tools when the call began. */
  readonly listVersion: number;
}

export interface Client {
  /** The name of its program; empty if it gave none. */
  readonly program: string;
  readonly protocolVersion: SpokenVersion;
  readonly traits: SessionTraits;
  readonly calls: TransientMap<RequestId, CallInFlight>;
  /** The lowest level of log messages that the client wants; undefined until it says so. */
  logLevel: string | undefined;
  readonly isClosed: boolean;
  /** The stream for messages outside its requests. */
  readonly listening: MessageStream | undefined;
  readonly waitsSince?: number | undefined;
  /** Our name in the `_meta` of each modern result. */
  readonly serverMeta?: Fields;
  /** @param stream undefined if the client listens nowhere */
  ask(
    stream: MessageStream | undefined,
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    options: AskOptions,
  ): Promise<Fields>;
}

/** The origin of a request. */
export interface Asking {
  readonly client: Client;
  /** Undefined if all conversations of the client share everything. */
  readonly conversation: Conversation | undefined;
  readonly listing: Listing;
}

/** Returns true if the call was in flight. */
export function cancelCall({ calls }: Pick<Client, 'calls'>, id: RequestId): boolean {
  const call = calls.get(id);
  if (!call) return false;
  calls.delete(id);
  call.controller.abort();
  // Its server first takes back its open questions, on the same stream.
  setImmediate(() => call.reply.settle(undefined));
  return true;
}

/** Beyond this number, the oldest early completion of an elicitation is forgotten. */
const mostEarly = 1_000;

export class CallClient implements ServerClient {
  /** Both are made on demand, because every call has a client and few have an elicitation. */
  private awaited: Map<string, () => void> | undefined;
  private early: BoundedMap<string, true> | undefined;

  /**
   * @param conversation the id of the calling conversation, one of several in a session
   * @param ofCall the stream of the call, as long as the call is in flight
   */
  constructor(
    private readonly asking: Asking,
    readonly conversation: string | undefined,
    private readonly ofCall: () => MessageStream | undefined = () => undefined,
  ) {}

  get session(): object {
    return this.asking.conversation ?? this.asking.client;
  }

  get program(): string {
    return this.asking.client.program;
  }

  get isGone(): boolean {
    return this.asking.client.isClosed;
  }

  get waitsSince(): number | undefined {
    return this.asking.client.waitsSince;
  }

  get capabilities(): Fields {
    return this.asking.client.traits.declared;
  }

  get logLevel(): string | undefined {
    return this.asking.client.logLevel;
  }

  get listedFor(): string | undefined {
    return this.asking.listing.conversation;
  }

  get lostBefore(): string | undefined {
    return this.asking.conversation?.lostBefore;
  }

  get mayHaveLost(): boolean {
    return this.asking.conversation?.mayHaveLost === true;
  }

  ask(method: string, params: Fields | undefined, signal: AbortSignal, options: AskOptions = {}): Promise<Fields> {
    const { client } = this.asking;
    let asked: Fields | undefined;
    try {
      asked = clientRequest(client.protocolVersion, method, params);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    return client.ask(this.ofCall() ?? client.listening, method, asked, signal, options);
  }

  /** Resolves when a server has reported all these elicitations by URL as complete. */
  async completed(ids: readonly string[]): Promise<void> {
    const open = [...new Set(ids)].filter((id) => !this.early?.delete(id));
    await Promise.all(
      open.map(
        (id) => new Promise<void>((resolve) => (this.awaited ??= new Map<string, () => void>()).set(id, resolve)),
      ),
    );
  }

  private noteComplete(id: unknown): void {
    if (!isKeptId(id)) return;
    const resolve = this.awaited?.get(id);
    if (resolve) resolve();
    else (this.early ??= new BoundedMap(mostEarly)).set(id, true);
    this.awaited?.delete(id);
  }

  tell(method: string, params: Fields): void {
    const { protocolVersion, logLevel, listening } = this.asking.client;
    if (method === 'notifications/elicitation/complete') this.noteComplete(params['elicitationId']);
    if (!isToldTo(protocolVersion, method)) return;
    if (method === 'notifications/message' && protocolVersion === modernVersion && logLevel === undefined) return;
    if (method === 'notifications/message' && !isLoudEnough(params['level'], logLevel)) return;
    const reply = this.ofCall();
    const message = notificationMessage(method, params);
    // A reply cannot be ended before its answer, however much a server writes on it.
    if (reply || method === 'notifications/message') (reply ?? listening)?.sendIfReading(message);
    else listening?.send(message);
  }
}
