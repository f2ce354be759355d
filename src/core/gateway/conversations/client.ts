/** A client of the gateway: as its requests see it, and as servers reach it (G4). */
import type { Cancellation } from '../../base/cancellation.js';
import { jsonOf } from '../../base/jsonInSlices.js';
import type { TransientMap } from '../../base/transientMap.js';
import { inTurns, LoopShare } from '../../base/turns.js';
import {
  known,
  type AskOptions,
  type ClientState,
  type Fields,
  type Past,
  type ServerClient,
} from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import { errorMessage, type RequestId } from '../../protocol/jsonRpc.js';
import { gatewayEnded, lostCallText } from '../../protocol/lostCall.js';
import { isLoudEnough, modernVersion } from '../../protocol/versions.js';
import { withReadableBytes } from '../../results/binaries.js';
import { clientRequest, isToldTo } from '../dialect.js';
import type { MessageStream, Reply } from '../eventStreams.js';
import type { ClientTraits } from './clientTraits.js';
import type { Conversation } from './conversation.js';
import type { Listing, Topic } from './listings.js';

export interface CallInFlight {
  /** The name of a tool or prompt, or a URI. */
  readonly what: string;
  readonly controller: Cancellation;
  readonly reply: Reply;
  readonly listVersion: number;
}

/** A session, or one request of 2026-07-28. */
export interface Client {
  readonly traits: ClientTraits;
  readonly listing: Listing;
  /** Undefined if all conversations of the client share everything. */
  readonly conversation: Conversation | undefined;
  readonly calls: TransientMap<RequestId, CallInFlight>;
  readonly state: ClientState;
  readonly listening: MessageStream | undefined;
  /** Our name in the `_meta` of each result; undefined before 2026-07-28. */
  readonly serverMeta: Fields | undefined;
  logLevel: string | undefined;
  /**
   * Returns the id of the conversation that a request names. Undefined if a request without a name
   * may belong to any of several.
   */
  idOf(name: string | undefined): string | undefined;
  /** Remembers that the client has the newest list. */
  hasRead(topic: Topic): void;
  /**
   * Has to be called before a call is answered on its stream, with the version of the list of tools
   * when it began.
   */
  tellBeforeResult(stream: MessageStream, listVersion: number): void;
  /** @param stream undefined if the client listens nowhere */
  ask(
    stream: MessageStream | undefined,
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    options: AskOptions,
  ): Promise<Fields>;
}

export function cancelCall(
  { calls }: Pick<Client, 'calls'>,
  id: RequestId,
  reason?: unknown,
): void {
  endCall(calls, id, undefined, reason);
}

/** Cancels the calls in flight of a gateway that ends. Their client reads *result unknown* (X4). */
export function loseCalls({ calls }: Pick<Client, 'calls'>): void {
  for (const id of calls.keys()) {
    const message = lostCallText(calls.get(id)?.what ?? '', gatewayEnded, '');
    endCall(calls, id, errorMessage(id, { code: errorCodes.server, message }));
  }
}

function endCall(
  calls: Client['calls'],
  id: RequestId,
  answer: string | undefined,
  reason?: unknown,
): void {
  const call = calls.get(id);
  if (!call) return;
  calls.delete(id);
  call.controller.abort(reason);
  // Its server first takes back its open questions, on the same stream.
  setImmediate(() => call.reply.settle(answer));
}

/** A client as one of its conversations: during a call on the stream of the call, otherwise on a listening stream. */
export class CallClient implements ServerClient {
  readonly session: object;
  readonly program: string;
  readonly capabilities: Fields;
  readonly listedFor: string | undefined;
  readonly past: Past;
  /** It is made on demand, because every call has a client and few have an elicitation. */
  private awaited: Map<unknown, () => void> | undefined;
  /**
   * Resolves when its notifications until now are sent. Set while a long one is written in slices.
   */
  telling: Promise<void> | undefined;

  /** @param ofCall the stream of the call, as long as the call is in flight */
  constructor(
    private readonly client: Client,
    readonly conversation: string | undefined,
    private readonly ofCall: () => MessageStream | undefined = () => undefined,
  ) {
    this.session = client.conversation ?? client;
    this.program = client.traits.program;
    this.capabilities = client.traits.declared;
    this.listedFor = client.listing.conversation;
    this.past = client.conversation?.past ?? known;
  }

  get state(): ClientState {
    return this.client.state;
  }

  get logLevel(): string | undefined {
    return this.client.logLevel;
  }

  async ask(
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    more: AskOptions = {},
  ): Promise<Fields> {
    const { client } = this;
    const stream = this.ofCall() ?? client.listening;
    const readable =
      method === 'sampling/createMessage' && params ? await readableIn(params) : params;
    const asked = clientRequest(client.traits.version, method, readable);
    return await client.ask(stream, method, asked, signal, more);
  }

  /** Resolves when a server has reported all these elicitations by URL as complete, from now on. */
  async completed(ids: readonly string[]): Promise<void> {
    this.awaited ??= new Map<unknown, () => void>();
    const { awaited } = this;
    await Promise.all(
      [...new Set(ids)].map((id) => new Promise<void>((resolve) => awaited.set(id, resolve))),
    );
  }

  tell(method: string, params: Fields): void {
    if (method === 'notifications/elicitation/complete')
      this.awaited?.get(params['elicitationId'])?.();
    if (!this.wants(method, params)) return;
    const message = jsonOf(
      {
        jsonrpc: '2.0',
        method,
        params,
      },
      LoopShare.of(params),
    );
    if (typeof message === 'string' && !this.telling) return this.send(method, message);
    const told = Promise.all([message, this.telling]).then(([text]) => {
      if (this.telling === told) this.telling = undefined;
      this.send(method, text);
    });
    this.telling = told;
  }

  end(): void {}

  private wants(method: string, params: Fields): boolean {
    const { traits, logLevel } = this.client;
    if (!isToldTo(traits.version, method)) return false;
    if (method !== logMessage) return true;
    const isSilent = traits.version === modernVersion && logLevel === undefined;
    return !isSilent && isLoudEnough(params['level'], logLevel);
  }

  private send(method: string, message: string): void {
    const { listening } = this.client;
    const reply = this.ofCall();
    // A reply cannot be ended before its answer, however much a server writes on it.
    if (reply || method === logMessage) (reply ?? listening)?.sendIfReading(message);
    else listening?.send(message);
  }
}

/** The bytes in a server's messages for a model have the form that clients can decode (V1c). */
async function readableIn(params: Fields): Promise<Fields> {
  const share = LoopShare.of(params);
  const readable = await inTurns(withReadableBytes(params), share);
  return share?.owns(readable) ?? readable;
}

const logMessage = 'notifications/message';
