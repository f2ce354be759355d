/**
 * One conversation (G3), its id and client. All ids but the editor's have a prefix, so no id fits
 * two kinds (G3d).
 */
import { randomUUID } from 'node:crypto';
import { BoundedMap } from '../../base/boundedMap.js';
import type { Cancellation } from '../../base/cancellation.js';
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { isObject } from '../../base/isObject.js';
import { jsonOf } from '../../base/jsonInSlices.js';
import { LoopShare } from '../../base/turns.js';
import type { TransientMap } from '../../base/transientMap.js';
import type { AskOptions, Fields, ServerClient } from '../../protocol/client.js';
import type { RequestId } from '../../protocol/jsonRpc.js';
import { isLoudEnough, isProtocolVersion, modernVersion } from '../../protocol/versions.js';
import type { ProtocolVersion, SpokenVersion } from '../../protocol/versions.js';
import { errorCodes, RpcFailure } from '../../protocol/errors.js';
import type { Destination } from '../../protocol/request.js';
import { longestUri } from '../../tools/uris.js';
import { clientRequest, isToldTo } from '../dialect.js';
import type { MessageStream, Reply } from '../eventStreams.js';
import type { Listing, Topic } from './listings.js';

/** A client whose last stream has closed may be silent this long, in milliseconds. */
const quietLimitMs = 45_000;

export class Conversation {
  readonly toolset: string;
  readonly links = new Links();
  /** True if it has sent anything to an instance, so it may hold one. */
  hasCalled = false;
  inUse = 0;
  /** Runs while it has had a stream and has none. */
  quiet: Disposable | undefined;
  /** The tools with a question to a person here, by the client's newest list (S4). */
  promised: ReadonlySet<string> | undefined;

  /** @param mayHaveLost true if it may be older than the knowledge of this process */
  constructor(
    readonly id: string,
    readonly listing: Listing,
    public lastUsed: number,
    readonly lostBefore: string | undefined,
    readonly mayHaveLost: boolean,
  ) {
    this.toolset = listing.toolset;
  }

  /**
   * Returns undefined if a request without a name may belong to any of several conversations of the
   * client.
   */
  idOf(_name: string | undefined): string | undefined {
    return this.id;
  }

  get isInUse(): boolean {
    return this.inUse > 0;
  }

  /**
   * Calls `end` when it is silent for a while after its last stream has closed: its program has
   * gone (L2a).
   */
  endWhenQuiet(clock: Clock, end: () => void): void {
    this.quiet?.dispose();
    const wait = (ms: number): Disposable =>
      clock.after(ms, () => {
        const left = this.isInUse ? quietLimitMs : this.lastUsed + quietLimitMs - clock.now();
        if (left > 0) this.quiet = wait(left);
        else end();
      });
    this.quiet = wait(quietLimitMs);
  }

  /** Modern clients learn about changes from `listenStreams`. */
  noteListed(_topic: Topic): void {}

  /**
   * Has to be called before a call is answered on its stream, with the version of the list of tools
   * when it began.
   */
  tellBeforeResult(_stream: MessageStream, _listVersion: number): void {}
}

const mostLinks = 1_000;

/** More holders of one link still count as several. */
const mostHolders = 16;

/**
 * Each link is read from its own instance. Two conversations may have different resources under one
 * URI (G3).
 */
export class Links {
  private readonly made = new BoundedMap<string, BoundedMap<string, Destination>>(mostLinks);

  set(uri: string, destination: Destination): void {
    const holders = this.made.get(uri) ?? new BoundedMap<string, Destination>(mostHolders);
    holders.set(destination.conversation, destination);
    this.made.set(uri, holders);
  }

  note(
    { content }: { readonly content: readonly { readonly type: string }[] },
    origin: Destination,
  ): void {
    for (const part of content) {
      const { uri } = part as { uri?: unknown };
      if (part.type !== 'resource_link' || typeof uri !== 'string' || uri.length > longestUri)
        continue;
      this.set(uri, origin);
    }
  }

  /** One for each conversation; the newest is the last. */
  holders(uri: string): readonly Destination[] {
    return [...(this.made.get(uri)?.values() ?? [])];
  }
}

export interface CallInFlight {
  readonly controller: Cancellation;
  readonly reply: Reply;
  readonly listVersion: number;
}

export interface Client {
  readonly program: string;
  readonly protocolVersion: SpokenVersion;
  readonly traits: SessionTraits;
  readonly calls: TransientMap<RequestId, CallInFlight>;
  logLevel: string | undefined;
  readonly isClosed: boolean;
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

export interface Asking {
  readonly client: Client;
  /** Undefined if all conversations of the client share everything. */
  readonly conversation: Conversation | undefined;
  readonly listing: Listing;
}

export function cancelCall(
  { calls }: Pick<Client, 'calls'>,
  id: RequestId,
  reason?: unknown,
): void {
  const call = calls.get(id);
  if (!call) return;
  calls.delete(id);
  call.controller.abort(reason);
  // Its server first takes back its open questions, on the same stream.
  setImmediate(() => call.reply.settle(undefined));
}

/**
 * A client as servers reach it (G4): during a call on the stream of the call, otherwise on a
 * listening stream.
 */
export class CallClient implements ServerClient {
  readonly session: object;
  readonly program: string;
  readonly capabilities: Fields;
  readonly listedFor: string | undefined;
  readonly lostBefore: string | undefined;
  readonly mayHaveLost: boolean;
  /** It is made on demand, because every call has a client and few have an elicitation. */
  private awaited: Map<unknown, () => void> | undefined;
  private readonly client: Client;
  /**
   * Resolves when its notifications until now are sent. Set while a long one is written in slices.
   */
  telling: Promise<void> | undefined;

  /** @param ofCall the stream of the call, as long as the call is in flight */
  constructor(
    { client, conversation: asking, listing }: Asking,
    readonly conversation: string | undefined,
    private readonly ofCall: () => MessageStream | undefined = () => undefined,
  ) {
    this.client = client;
    this.session = asking ?? client;
    this.program = client.program;
    this.capabilities = client.traits.declared;
    this.listedFor = listing.conversation;
    this.lostBefore = asking?.lostBefore;
    this.mayHaveLost = asking?.mayHaveLost === true;
  }

  get isGone(): boolean {
    return this.client.isClosed;
  }

  get waitsSince(): number | undefined {
    return this.client.waitsSince;
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
    const asked = clientRequest(client.protocolVersion, method, params);
    return await client.ask(this.ofCall() ?? client.listening, method, asked, signal, more);
  }

  /** Resolves when a server has reported all these elicitations by URL as complete, from now on. */
  async completed(ids: readonly string[]): Promise<void> {
    const awaited = (this.awaited ??= new Map<unknown, () => void>());
    await Promise.all(
      [...new Set(ids)].map((id) => new Promise<void>((resolve) => awaited.set(id, resolve))),
    );
  }

  tell(method: string, params: Fields): void {
    const { protocolVersion, logLevel, listening } = this.client;
    if (method === 'notifications/elicitation/complete')
      this.awaited?.get(params['elicitationId'])?.();
    if (!isToldTo(protocolVersion, method)) return;
    const isLog = method === 'notifications/message';
    if (isLog && protocolVersion === modernVersion && logLevel === undefined) return;
    if (isLog && !isLoudEnough(params['level'], logLevel)) return;
    const send = (message: string): void => {
      const reply = this.ofCall();
      // A reply cannot be ended before its answer, however much a server writes on it.
      if (reply || isLog) (reply ?? listening)?.sendIfReading(message);
      else listening?.send(message);
    };
    const message = jsonOf({ jsonrpc: '2.0', method, params }, LoopShare.of(params));
    if (typeof message === 'string' && !this.telling) return send(message);
    const told = Promise.all([message, this.telling]).then(([text]) => {
      if (this.telling === told) this.telling = undefined;
      send(text);
    });
    this.telling = told;
  }
}

const conversationKey = 'vscode.conversationId';

const prefixes = ['mcp-session:', 'mcp-address:', 'mcp-named:'];

export const sessionConversation = (sessionId: string): string => `mcp-session:${sessionId}`;
export const addressConversation = (address: string): string => `mcp-address:${address}`;
/** Another program never gets the same id. */
export const namedConversation = (program: string, name: string): string =>
  `mcp-named:${program}:${name}`;

export function conversationOf(meta: Fields | undefined): string | undefined {
  const conversation = meta?.[conversationKey];
  if (typeof conversation !== 'string' || conversation === '') return undefined;
  return prefixes.some((prefix) => conversation.startsWith(prefix)) ? undefined : conversation;
}

/**
 * The `_meta` key for the conversation. Claude Code 2.1.330, Copilot CLI 1.0.102 and the SDK's
 * clients have none.
 */
const namings: ReadonlyMap<unknown, string> = new Map([
  ['codex-mcp-client', 'threadId'],
  ['Visual Studio Code', conversationKey],
  ['Visual Studio Code - Insiders', conversationKey],
  ['VSCodium', conversationKey],
  ['Code - OSS', conversationKey],
]);

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** In characters. The ids of sessions contain the name. */
export const longestProgram = 80;

/** Returns the name for people; empty if the client gave none. */
export function programOf(clientInfo: unknown): string {
  return (nameIn(clientInfo) ?? '').slice(0, longestProgram);
}

function nameIn(clientInfo: unknown): string | undefined {
  const name = isObject(clientInfo) ? clientInfo['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** @param isAtEditors true at the editor's own paths, where its ids are bare */
export function namerOf(clientInfo: unknown, isAtEditors = false): string | undefined {
  const name = nameIn(clientInfo);
  const key = namings.get(name);
  return key === undefined || (isAtEditors && key === conversationKey) ? undefined : name;
}

export function namedBy(program: string, meta: Fields | undefined): string | undefined {
  const key = namings.get(program);
  const said = key === undefined ? undefined : meta?.[key];
  return typeof said === 'string' && uuid.test(said) ? said : undefined;
}

/** In bytes. Longer capabilities are left out, because every request has the id in a header. */
const longestDeclaration = 400;

/** The client's statements at `initialize`. The session's id carries them, so it can be revived. */
export interface SessionTraits {
  readonly declared: Fields;
  readonly readsStructureAlone: boolean;
  /** The negotiated version, if a session has begun. Some clients send no header with it. */
  readonly version?: ProtocolVersion;
  /** The program, if it names the conversation of every call. */
  readonly namer?: string | undefined;
  /** The program and its version, only for an agent-host session of the editor. */
  readonly agentHost?: string;
}

export function newSessionId(traits: SessionTraits, version: ProtocolVersion): string {
  const { declared, readsStructureAlone, agentHost, namer } = traits;
  // Without these fields, conversations in one session would share an instance.
  const said = { version, host: agentHost, alone: readsStructureAlone || undefined, namer };
  const whole = JSON.stringify(Object.keys(declared).length > 0 ? { ...said, declared } : said);
  const kept = Buffer.byteLength(whole) > longestDeclaration ? JSON.stringify(said) : whole;
  return `${randomUUID()}.${Buffer.from(kept).toString('base64url')}`;
}

export function traitsIn(id: string): SessionTraits | undefined {
  const [whole, declaration = ''] = /^[0-9a-f-]{36}(?:\.([A-Za-z0-9_-]{1,600}))?$/.exec(id) ?? [];
  if (whole === undefined) return undefined;
  if (declaration === '') return { declared: {}, readsStructureAlone: false };
  try {
    const said: unknown = JSON.parse(Buffer.from(declaration, 'base64url').toString());
    if (!isObject(said)) return undefined;
    const { declared = {}, alone, version, host, namer } = said;
    if (!isObject(declared)) return undefined;
    const spoken = typeof version === 'string' && isProtocolVersion(version) ? { version } : {};
    const program = typeof host === 'string' && { agentHost: host };
    const naming = typeof namer === 'string' && { namer };
    return { declared, readsStructureAlone: alone === true, ...spoken, ...program, ...naming };
  } catch {
    return undefined;
  }
}

interface OpenQuestion<About> {
  readonly about: About;
  readonly settle: (answer: Fields | Error) => void;
}

/** Questions to a client by their ids. Each is settled once, and then it is open no more. */
export class OpenQuestions<About> extends Map<RequestId, OpenQuestion<About>> {
  ask(id: RequestId, about: About, signal: AbortSignal, onWithdrawn?: () => void): Promise<Fields> {
    const withdrawn = new RpcFailure(errorCodes.server, 'The question was withdrawn.');
    if (signal.aborted) return Promise.reject(withdrawn);
    return new Promise((resolve, reject) => {
      const withdraw = (): void => {
        settle(withdrawn);
        onWithdrawn?.();
      };
      const settle = (answer: Fields | Error): void => {
        if (!this.delete(id)) return;
        signal.removeEventListener('abort', withdraw);
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      signal.addEventListener('abort', withdraw, { once: true });
      this.set(id, { about, settle });
    });
  }

  refuseAll(message: string): void {
    if (this.size === 0) return;
    for (const { settle } of [...this.values()]) settle(new RpcFailure(errorCodes.server, message));
  }
}

export function notAsked(message: string): Promise<never> {
  return Promise.reject(new RpcFailure(errorCodes.server, message));
}
