/**
 * One client that speaks MCP over stdio, joined to the gateway (G6): every message is passed on as it is, both ways,
 * requests of servers, progress and cancellation included. A client of the legacy era is a session of the gateway, one
 * of the modern era has an address of its own there; either is one conversation.
 *
 * If the gateway has gone, it is looked for again: a legacy client's `initialize` is repeated, and a request that was
 * not delivered is sent then. Invariants: a request that may have been delivered is never sent again (X4), but for one
 * that only listens; every request is answered, unless the client cancelled it; stdout has nothing but messages.
 */
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { TransientMap } from '../base/transientMap.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { RequestHeaders } from '../connections/eras/requestHeaders.js';
import type { HttpTransport } from '../connections/http/transport.js';
import { LineSplitter } from '../connections/stdio/lineSplitter.js';
import { TransportFailure } from '../connections/transport.js';
import { errorCodes } from '../protocol/errors.js';
import { metaKeys } from '../protocol/requestMeta.js';
import { modernVersion, type Era } from '../protocol/versions.js';
import { type GatewayAddress, Line } from './line.js';
import { begunElsewhere, OwnAddress } from './ownAddress.js';

interface BridgeDeps {
  readonly input: Readable;
  readonly output: Writable;
  /** Says where the gateway is now, and starts one where there is none. */
  readonly find: () => Promise<GatewayAddress>;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

/** A request that has no answer yet. */
interface Waiting {
  readonly request: JSONRPCRequest;
  readonly era: Era;
  /** Whether it was sent a second time. */
  isRepeated: boolean;
  /** The tasks of which a subscription tells. */
  tasks?: readonly unknown[];
}

/** Over stdio no client mirrors parameters in headers, and what it lists is not looked at here. */
const overStdio = { 'mcp-toolsets-over': 'stdio' };

/** The gateway takes this much in one body. */
const longestLine = 16 << 20;

/** These may have changed while there was no gateway. */
const topics = ['tools', 'prompts', 'resources'];
const changes = topics.map((topic) => `notifications/${topic}/list_changed`);

export class Bridge {
  /** The client's own `initialize`. */
  private first: JSONRPCRequest | undefined;
  private readonly lines: Readonly<Record<Era, Line>>;
  private readonly address = new OwnAddress();
  private readonly headers = new RequestHeaders();
  private readonly waiting = new TransientMap<RequestId, Waiting>();

  constructor(private readonly deps: BridgeDeps) {
    const onMessage =
      (era: Era) =>
      (from: HttpTransport, message: JSONRPCMessage): void =>
        this.receive(era, from, message);
    this.lines = {
      legacy: new Line({
        ...deps,
        onMessage: onMessage('legacy'),
        onRenewed: () => this.tellChanges(),
        begin: (transport, _, times) => this.beginAgain(transport, times),
      }),
      modern: new Line({
        ...deps,
        find: async () => this.address.at(await deps.find()),
        headers: (times) => ({ ...overStdio, ...(times > 0 && { [begunElsewhere]: '1' }) }),
        onMessage: onMessage('modern'),
        onRenewed: () => {},
        begin: (transport, gateway) => {
          transport.setProtocolVersion(modernVersion);
          this.address.attend(gateway);
          return Promise.resolve();
        },
      }),
    };
  }

  /** Resolves when the client has ended its input, or the signal is aborted; its conversation is over then. */
  async run(signal: AbortSignal): Promise<void> {
    const { input, output } = this.deps;
    const lines = new LineSplitter({
      limit: longestLine,
      onLine: (line) => this.hear(line),
      onExcess: () => {
        input.destroy();
        return 'stop';
      },
    });
    await new Promise<void>((resolve) => {
      input.on('data', (chunk: Buffer) => lines.push(chunk));
      for (const event of ['end', 'close', 'error']) input.once(event, () => resolve());
      output.once('error', () => resolve());
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    input.pause();
    await Promise.all(Object.values(this.lines).map((line) => line.close()));
    await this.address.giveBack();
  }

  private hear(line: string): void {
    if (line.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = JSON.parse(line) as JSONRPCMessage;
    } catch {
      this.write({ jsonrpc: '2.0', id: null, error: { code: errorCodes.parse, message: 'This is not JSON.' } });
      return;
    }
    if (isRequest(message)) {
      const era = eraOf(message);
      this.waiting.set(message.id, { request: message, era, isRepeated: false });
      if (message.method === 'initialize') this.first = message;
      void this.pass(era, message);
      return;
    }
    const cancelled = cancelledBy(message);
    const era = cancelled === undefined ? 'legacy' : (this.waiting.get(cancelled)?.era ?? 'legacy');
    // To a request that the client has cancelled, no answer is due.
    if (cancelled !== undefined) this.waiting.delete(cancelled);
    void this.pass(era, message);
  }

  private async pass(era: Era, message: JSONRPCMessage): Promise<void> {
    try {
      await this.lines[era].send(message, era === 'modern' ? { headers: this.headers.of(message) } : undefined);
    } catch (error) {
      const why = `The toolsets cannot be reached: ${(error as Error).message}`;
      if (isRequest(message))
        this.answer({ jsonrpc: '2.0', id: message.id, error: { code: errorCodes.server, message: why } });
      else this.deps.log.write('debug', why);
    }
  }

  /** Says the client's `initialize` to another gateway. The client has had its answer already. */
  private async beginAgain(transport: HttpTransport, times: number): Promise<void> {
    if (!this.first || times === 0) return;
    const id = `bridge-${times}`;
    const passOn = transport.onmessage;
    const answer = await new Promise<JSONRPCMessage>((resolve, reject) => {
      transport.onmessage = (message) => {
        if ('id' in message && message.id === id && !('method' in message)) resolve(message);
      };
      transport.send({ ...this.first, id } as JSONRPCMessage).catch(reject);
    });
    transport.onmessage = passOn;
    if (!('result' in answer)) throw new Error('error' in answer ? answer.error.message : 'it gave no answer');
    transport.setProtocolVersion(String(answer.result['protocolVersion']));
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    this.tellChanges();
  }

  private receive(era: Era, from: HttpTransport, message: JSONRPCMessage): void {
    if ('method' in message) return this.hearFrom(message);
    if (message.id === undefined) return this.write(message);
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    const { request } = waiting;
    const failure =
      'error' in message && message.error.data instanceof TransportFailure ? message.error.data : undefined;
    if (failure && mayRepeat(request, failure, era) && !waiting.isRepeated) {
      waiting.isRepeated = true;
      this.lines[era].drop(from);
      void from.close();
      void this.pass(era, request);
      return;
    }
    if (request.method === 'initialize' && 'result' in message) {
      from.setProtocolVersion(String((message.result as { protocolVersion?: unknown }).protocolVersion));
    }
    this.answer(message);
  }

  /**
   * A subscription that was repeated is the same to the client; it is told of what it may have missed instead. It ends
   * where it does not tell of the same tasks any more, as the client may wait for these alone.
   */
  private hearFrom(message: Extract<JSONRPCMessage, { method: string }>): void {
    const id = message.params?._meta?.[metaKeys.subscriptionId] as RequestId | undefined;
    const waiting = id === undefined ? undefined : this.waiting.get(id);
    if (message.method !== 'notifications/subscriptions/acknowledged' || id === undefined || !waiting) {
      return this.write(message);
    }
    const { taskIds = [] } = (message.params?.['notifications'] ?? {}) as { taskIds?: readonly unknown[] };
    const { tasks = [], isRepeated } = waiting;
    waiting.tasks = taskIds;
    if (!isRepeated) return this.write(message);
    waiting.isRepeated = false;
    if (!tasks.every((task) => taskIds.includes(task))) {
      void this.pass('modern', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      return this.answer({
        jsonrpc: '2.0',
        id,
        result: { resultType: 'complete', _meta: { [metaKeys.subscriptionId]: id } },
      });
    }
    const wanted = (waiting.request.params?.['notifications'] ?? {}) as Readonly<Record<string, unknown>>;
    for (const topic of topics) {
      if (wanted[`${topic}ListChanged`] !== true) continue;
      const params = { _meta: { [metaKeys.subscriptionId]: id } };
      this.write({ jsonrpc: '2.0', method: `notifications/${topic}/list_changed`, params });
    }
  }

  private answer(message: JSONRPCMessage): void {
    if ('id' in message && message.id !== undefined) this.waiting.delete(message.id);
    this.write(withoutObject(message));
  }

  private tellChanges(): void {
    for (const method of changes) this.write({ jsonrpc: '2.0', method });
  }

  private write(message: object): void {
    this.deps.output.write(`${JSON.stringify(message)}\n`);
  }
}

/** What listened there is gone, or refused the request before it looked at it: with another token, for one. */
function wasNotDelivered({ reason }: TransportFailure, era: Era): boolean {
  if (reason.kind === 'unreachable' || reason.kind === 'sessionLost') return true;
  return era === 'modern' && reason.kind === 'status' && reason.status === 404;
}

function mayRepeat({ method }: JSONRPCRequest, failure: TransportFailure, era: Era): boolean {
  if (wasNotDelivered(failure, era)) return true;
  return method === 'subscriptions/listen' && failure.reason.kind === 'broken';
}

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message && message.id !== undefined;
}

function eraOf({ params }: JSONRPCRequest): Era {
  const meta = params?._meta as Readonly<Record<string, unknown>> | undefined;
  return meta?.[metaKeys.protocolVersion] === undefined ? 'legacy' : 'modern';
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return (message.params as { requestId?: RequestId } | undefined)?.requestId;
}

/** Puts a failure of our own transport into words alone. */
function withoutObject(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || !(message.error.data instanceof TransportFailure)) return message;
  return { ...message, error: { code: message.error.code, message: message.error.message } };
}
