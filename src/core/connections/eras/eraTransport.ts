/**
 * A transport that speaks either era of the protocol (X8), where the SDK's client, and all that stands on it, speaks
 * the legacy one. Which era the server speaks shows before the client's `initialize` is answered: a server that was
 * seen to be modern is asked by `server/discover` first; every other one gets `initialize`, as some legacy servers end
 * at anything else, and is asked to discover when it refuses that.
 *
 * Invariants: a legacy server that was not taken for a modern one sees no other messages than without this; the client
 * gets one answer to its `initialize`.
 */
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { delay, type Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import type { Log } from '../../base/log.js';
import type { Fields, ServerClient } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import { mirroredParams } from '../../protocol/mirroredParams.js';
import { modernVersion } from '../../protocol/versions.js';
import { TransportFailure } from '../../failures/transportFailure.js';
import type { ServerTransport } from '../transport.js';
import { readDiscovery, readRefusedVersion, type Discovery } from './discovery.js';
import type { EraMemory } from './eraMemory.js';
import { ModernSession } from './modernSession.js';
import { RequestHeaders } from './requestHeaders.js';
import { requestMeta } from './requestMeta.js';

interface EraTransportDeps {
  readonly transport: ServerTransport;
  readonly era: EraMemory;
  readonly clock: Clock;
  readonly log: Log;
}

const discoverId = 'discover';
/** The version of which nothing is said in any header. */
const beforeInitialize = '2024-11-05';

type Answer = { readonly result: unknown } | { readonly error: JSONRPCErrorResponse['error'] };

/**
 * A server that was modern and does not answer `server/discover` within this is sent `initialize` too: it may have become
 * a legacy server that is silent about what it does not know, or it is slow to start.
 */
const discoverLimitMs = 5_000;

export class EraTransport implements ServerTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ServerTransport['onmessage'];
  onsend?: ((message: JSONRPCMessage) => void) | undefined;
  onreceive?: ((message: JSONRPCMessage) => void) | undefined;
  originOf: ServerTransport['originOf'];

  private readonly headers = new RequestHeaders();
  private modern: ModernSession | undefined;
  /** The client's own. */
  private initialize: JSONRPCRequest | undefined;
  /** The answer to the client's initialize, while the server is asked to discover because of it. */
  private refusal: JSONRPCMessage | undefined;
  /** Whether a server that was modern is asked whether it still is. */
  private isDoubted = false;
  /** What waits for the answer to a request of its own, or to the client's initialize. */
  private readonly awaited = new Map<RequestId, (answer: Answer) => void>();

  constructor(private readonly deps: EraTransportDeps) {
    const { transport } = deps;
    this.originOf = transport.originOf && ((message) => transport.originOf?.(message));
    transport.onmessage = (message) => this.receive(message);
    transport.onclose = () => {
      this.modern?.dispose();
      // What the server said before it ended explains more than its end.
      if (this.refusal) this.onmessage?.(this.refusal);
      else if (this.awaited.has(discoverId)) this.deps.era.onSeen('legacy');
      this.onclose?.();
    };
    transport.onerror = (error) => this.onerror?.(error);
    transport.onsend = (message) => this.onsend?.(message);
  }

  get speaks(): string | undefined {
    return this.modern && modernVersion;
  }

  get isOver(): boolean {
    return this.deps.transport.isOver === true;
  }

  start(): Promise<void> {
    return this.deps.transport.start();
  }

  close(): Promise<void> {
    this.modern?.dispose();
    return this.deps.transport.close();
  }

  setProtocolVersion(version: string): void {
    if (!this.modern) this.deps.transport.setProtocolVersion?.(version);
  }

  keyOf(request: object): string | undefined {
    return this.modern?.keyOf(request);
  }

  metaFor(client: ServerClient | undefined): Fields | undefined {
    return this.modern?.metaFor(client);
  }

  whatIsWrongWithTool({ inputSchema }: Fields): string | undefined {
    if (!this.modern || this.deps.transport.hasHeaders !== true) return undefined;
    const mirrored = mirroredParams(inputSchema);
    return mirrored.kind === 'wrong' ? mirrored.detail : undefined;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.modern) return await this.modern.fromClient(message);
    if ('method' in message && message.method === 'initialize' && 'id' in message) {
      return await this.open(message);
    }
    await this.deps.transport.send(message);
  }

  private receive(received: JSONRPCMessage): void {
    this.onreceive?.(received);
    const message = withNumber(received);
    if (!('method' in message) && message.id !== undefined) {
      const take = this.awaited.get(message.id);
      this.awaited.delete(message.id);
      if (take) return take(message);
    }
    if (!this.modern) return this.onmessage?.(message);
    this.modern.fromServer(message);
    if ('error' in message && looksLegacy(message.error)) void this.askAgain();
  }

  /** What listens at an address may be replaced by a server of another era, and nothing tells us so. */
  private async askAgain(): Promise<void> {
    const { transport, era } = this.deps;
    if (this.isDoubted || !transport.fail || !this.initialize) return;
    this.isDoubted = true;
    const found = await this.within(
      discoverLimitMs,
      this.discover(this.initialize).catch(() => undefined),
    );
    this.isDoubted = false;
    if (found?.kind !== 'none' && found?.kind !== 'otherVersions') return;
    era.onSeen('legacy');
    transport.fail(`The server no longer speaks protocol version ${modernVersion}.`);
  }

  private async open(initialize: JSONRPCRequest): Promise<void> {
    const { era } = this.deps;
    this.initialize = initialize;
    let opened: Promise<Answer> | undefined;
    if (era.expected === 'modern') {
      const discovery = this.discover(initialize);
      let found = await this.within(discoverLimitMs, discovery);
      if (!found) {
        this.deps.transport.setProtocolVersion?.(beforeInitialize);
        opened = this.ask(initialize);
        // Only what opens a legacy session says that the server is legacy; one that was slow goes on with discovery.
        found = await Promise.race([discovery, opened.then((answer) => (isOpened(answer) ? undefined : discovery))]);
      }
      if (found && (await this.settled(initialize, found))) return;
      era.onSeen('legacy');
      this.deps.transport.setProtocolVersion?.(beforeInitialize);
    }
    const answer = await (opened ?? this.ask(initialize));
    if (!('result' in answer ? namesModern(answer) : mayBeModern(answer.error))) return this.answer(initialize, answer);
    this.refusal = messageOf(initialize, answer);
    const discovery = await this.within(discoverLimitMs, this.discover(initialize));
    this.refusal = undefined;
    if (!discovery || !(await this.settled(initialize, discovery))) this.answer(initialize, answer);
  }

  /** Resolves to undefined when the time is over first. */
  private async within<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
    const isOver = new AbortController();
    const over = delay(this.deps.clock, ms, isOver.signal).catch(() => undefined);
    return await Promise.race([work, over.then(() => undefined)]).finally(() => isOver.abort());
  }

  /** Whether the client has its answer. */
  private async settled(initialize: JSONRPCRequest, discovery: Discovery): Promise<boolean> {
    switch (discovery.kind) {
      case 'none':
        return false;
      case 'unasked':
        this.answer(initialize, { error: discovery.error });
        return true;
      case 'otherVersions':
        this.answer(initialize, { error: { code: errorCodes.unsupportedVersion, message: discovery.message } });
        return true;
      case 'modern': {
        const { transport, clock, log, era } = this.deps;
        era.onSeen('modern');
        transport.setProtocolVersion?.(modernVersion);
        const modern = new ModernSession({
          transport,
          headers: this.headers,
          clock,
          log,
          meta: requestMeta(initialize.params),
          capabilities: discovery.capabilities,
          deliver: (message) => this.onmessage?.(message),
        });
        this.originOf = (message) => modern.originOf(message);
        this.modern = modern;
        await modern.listen();
        this.answer(initialize, { result: discovery.answer });
        return true;
      }
    }
  }

  private async discover(initialize: JSONRPCRequest, mayAskAgain = true): Promise<Discovery> {
    this.deps.transport.setProtocolVersion?.(modernVersion);
    const _meta = requestMeta(initialize.params);
    const request = { jsonrpc: '2.0' as const, id: discoverId, method: 'server/discover', params: { _meta } };
    const answer = await this.ask(request);
    if ('result' in answer) return readDiscovery(answer.result);
    if (!mayBeModern(answer.error)) return { kind: 'unasked', error: answer.error };
    const isVersion = answer.error.code === errorCodes.unsupportedVersion;
    const refused = isVersion ? readRefusedVersion(answer.error.data) : { kind: 'none' as const };
    if (refused.kind !== 'again') return refused;
    return mayAskAgain ? await this.discover(initialize, false) : { kind: 'none' };
  }

  private async ask(request: JSONRPCRequest): Promise<Answer> {
    const answer = new Promise<Answer>((take) => this.awaited.set(request.id, take));
    await this.deps.transport.send(
      request,
      request.id === discoverId ? { headers: this.headers.of(request) } : undefined,
    );
    return await answer;
  }

  private answer(request: JSONRPCRequest, answer: Answer): void {
    this.onmessage?.(messageOf(request, answer));
  }
}

/** Some servers answer with the number as a text. No id of ours is a text that could be a number. */
function withNumber(message: JSONRPCMessage): JSONRPCMessage {
  if ('method' in message || typeof message.id !== 'string') return message;
  const id = Number(message.id);
  return Number.isSafeInteger(id) && String(id) === message.id ? { ...message, id } : message;
}

function messageOf({ id }: JSONRPCRequest, answer: Answer): JSONRPCMessage {
  return {
    jsonrpc: '2.0',
    id,
    ...('result' in answer ? { result: answer.result } : { error: answer.error }),
  } as JSONRPCMessage;
}

function isOpened(answer: Answer): boolean {
  const version = versionIn(answer);
  return typeof version === 'string' && version !== modernVersion;
}

/** Nothing is opened in the name of a version that has no sessions. */
function namesModern(answer: Answer): boolean {
  return versionIn(answer) === modernVersion;
}

function versionIn(answer: Answer): unknown {
  return 'result' in answer && isObject(answer.result) ? answer.result['protocolVersion'] : undefined;
}

/** Whether a server that was modern may be so no more: it is another version's, or refuses what it would have read. */
function looksLegacy(error: JSONRPCErrorResponse['error']): boolean {
  return error.data instanceof TransportFailure ? mayBeModern(error) : error.code === errorCodes.unsupportedVersion;
}

/** An HTTP server says by its status that it does not take what it was sent; others have been reached or have not. */
function mayBeModern({ data }: JSONRPCErrorResponse['error']): boolean {
  if (!(data instanceof TransportFailure)) return true;
  return data.reason.kind === 'status' && [400, 404, 405].includes(data.reason.status);
}
