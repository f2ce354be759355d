/**
 * One client that speaks MCP over stdio, joined to the gateway (G6): every message is passed on as it is, both ways,
 * requests of servers, progress and cancellation included. A client of the legacy era is a session of the gateway, one
 * of the modern era has an address of its own there; either is one conversation.
 *
 * If the gateway has gone, it is looked for again: a legacy client's `initialize` is repeated, and a request that was
 * not delivered is sent then. What was asked at the old one is still answered there, where it goes on. Invariants: a request that may have been delivered is never sent again (X4), but for one
 * that only listens; every request is answered, unless the client cancelled it; stdout has nothing but messages.
 */
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import { isObject } from '../base/isObject.js';
import type { Log } from '../base/log.js';
import { asText } from '../base/text.js';
import { TransientMap } from '../base/transientMap.js';
import { RequestHeaders } from '../connections/eras/requestHeaders.js';
import type { HttpTransport } from '../connections/http/transport.js';
import { LineSplitter } from '../connections/stdio/lineSplitter.js';
import { TransportFailure, wasNotDelivered } from '../failures/transportFailure.js';
import { errorCodes } from '../protocol/errors.js';
import { metaKeys } from '../protocol/requestMeta.js';
import { modernVersion, mostInBatch, mostUnread, type Era } from '../protocol/versions.js';
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
  /** What carries it, once something does. */
  by?: HttpTransport | undefined;
  /** Whether it was sent a second time. */
  isRepeated: boolean;
  /** The tasks of which a subscription tells. */
  tasks?: readonly unknown[];
}

/** Over stdio no client mirrors parameters in headers, and what it lists is not looked at here. */
const overStdio = { 'mcp-toolsets-over': 'stdio' };

/** What the conversation held at the gateway before is gone, and it is to be told so (L2a). */
const elsewhere = (times: number): Readonly<Record<string, string>> => (times > 0 ? { [begunElsewhere]: '1' } : {});

/** The gateway takes this much in one body. */
const longestLine = 16 << 20;

/** A client that does not read is not told these. */
const mayGetLost = ['message', 'progress', 'resources/updated'].map((topic) => `notifications/${topic}`);

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
    const onMessage = (from: HttpTransport, message: JSONRPCMessage): void => this.receive(from, message);
    this.lines = {
      legacy: new Line({
        ...deps,
        headers: elsewhere,
        onMessage,
        onRenewed: () => this.tellChanges(),
        begin: (transport, _, times) => this.beginAgain(transport, times),
      }),
      modern: new Line({
        ...deps,
        find: async () => this.address.at(await deps.find()),
        headers: (times) => ({ ...overStdio, ...elsewhere(times) }),
        onMessage,
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
    const carriers = new Set(this.waiting.values().map(({ by }) => by));
    this.waiting.clear();
    await Promise.all([...Object.values(this.lines), ...carriers].map((each) => each?.close()));
    await this.address.giveBack();
  }

  private hear(line: string): void {
    if (line.trim() === '') return;
    let said: unknown;
    try {
      said = JSON.parse(line);
    } catch {
      return this.refuse(errorCodes.parse, 'This is not JSON.');
    }
    if (!Array.isArray(said)) return this.take(said);
    if (said.length === 0 || said.length > mostInBatch) {
      return this.refuse(errorCodes.invalidRequest, `A batch has 1 to ${mostInBatch} messages.`);
    }
    for (const each of said as unknown[]) this.take(each);
  }

  private take(message: unknown): void {
    if (!isMessage(message)) {
      const id = isObject(message) ? message['id'] : undefined;
      return this.refuse(errorCodes.invalidRequest, 'This is not a JSON-RPC message.', id);
    }
    if (isRequest(message)) {
      const era = eraOf(message);
      this.waiting.set(message.id, { request: message, era, isRepeated: false });
      if (message.method === 'initialize') this.first = message;
      void this.pass(era, message);
      return;
    }
    const cancelled = cancelledBy(message);
    // To a request that the client has cancelled, no answer is due.
    const { era = 'legacy', by } = (cancelled === undefined ? undefined : this.waiting.take(cancelled)) ?? {};
    void this.pass(era, message, by).then(() => by && this.endIfUnused(era, by));
  }

  /** @param by what carries the request that the message is about */
  private async pass(era: Era, message: JSONRPCMessage, by?: HttpTransport): Promise<void> {
    try {
      const transport = by ?? (await this.lines[era].way());
      const waiting = isRequest(message) ? this.waiting.get(message.id) : undefined;
      if (waiting) waiting.by = transport;
      await transport.send(message, era === 'modern' ? { headers: this.headers.of(message) } : undefined);
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
    const { onmessage, onlate } = transport;
    const answer = await new Promise<JSONRPCMessage>((resolve, reject) => {
      transport.onmessage = transport.onlate = (message: JSONRPCMessage) => {
        if ('id' in message && message.id === id && !('method' in message)) resolve(message);
      };
      transport.send({ ...this.first, id } as JSONRPCMessage).catch(reject);
    });
    transport.onmessage = onmessage;
    transport.onlate = onlate;
    if (!('result' in answer)) throw new Error('error' in answer ? answer.error.message : 'it gave no answer');
    transport.setProtocolVersion(asText(answer.result['protocolVersion']));
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    this.tellChanges();
  }

  private receive(from: HttpTransport, message: JSONRPCMessage): void {
    if ('method' in message) return this.hearFrom(message);
    if (message.id === undefined) return this.write(message);
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    if (failureIn(message)) return void this.repeatOrAnswer(waiting, from, message);
    if (waiting.request.method === 'initialize' && 'result' in message) {
      from.setProtocolVersion(asText((message.result as { protocolVersion?: unknown }).protocolVersion));
    }
    this.answer(message);
  }

  private async repeatOrAnswer(waiting: Waiting, from: HttpTransport, failed: JSONRPCMessage): Promise<void> {
    const { era, request } = waiting;
    const mayRepeat = !waiting.isRepeated && (await this.mayRepeat(waiting, from, failureIn(failed)));
    if (this.waiting.get(request.id) !== waiting) return;
    if (!mayRepeat) return this.answer(failed);
    waiting.isRepeated = true;
    waiting.by = undefined;
    this.lines[era].drop(from);
    this.endIfUnused(era, from);
    await this.pass(era, request);
  }

  private async mayRepeat(
    { era, request }: Waiting,
    from: HttpTransport,
    failure: TransportFailure | undefined,
  ): Promise<boolean> {
    if (!failure) return false;
    const { reason } = failure;
    if (wasNotDelivered(failure)) return true;
    if (request.method === 'subscriptions/listen' && ['broken', 'closed'].includes(reason.kind)) return true;
    // It may have another token now, or have made way for another program; or the toolset is not there any more.
    const isNowhere = era === 'modern' && reason.kind === 'status' && reason.status === 404;
    return isNowhere && (await this.lines.modern.hasMoved(from));
  }

  /** Other requests than the one that is sent again may still be answered there. */
  private endIfUnused(era: Era, transport: HttpTransport): void {
    if (this.lines[era].isOpen(transport) || this.waiting.values().some(({ by }) => by === transport)) return;
    void transport.close();
  }

  /**
   * A subscription that was repeated is the same to the client; it is told of what it may have missed instead. It ends
   * where it does not tell of the same tasks any more, as the client may wait for these alone.
   */
  private hearFrom(message: Extract<JSONRPCMessage, { method: string }>): void {
    const id = message.params?._meta?.[metaKeys.subscriptionId] as RequestId | undefined;
    const waiting = id === undefined ? undefined : this.waiting.get(id);
    if (mayGetLost.includes(message.method) && this.deps.output.writableLength > mostUnread) return;
    if (message.method !== 'notifications/subscriptions/acknowledged' || id === undefined || !waiting) {
      return this.write(message);
    }
    const { taskIds = [] } = (message.params?.['notifications'] ?? {}) as { taskIds?: readonly unknown[] };
    const { tasks = [], isRepeated } = waiting;
    waiting.tasks = taskIds;
    if (!isRepeated) return this.write(message);
    waiting.isRepeated = false;
    if (!tasks.every((task) => taskIds.includes(task))) {
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } } as const;
      void this.pass('modern', cancelled, waiting.by);
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
    const waiting = 'id' in message && message.id !== undefined ? this.waiting.take(message.id) : undefined;
    if (!waiting) return;
    this.write(withoutObject(message));
    if (waiting.by) this.endIfUnused(waiting.era, waiting.by);
  }

  private refuse(code: number, message: string, id: unknown = null): void {
    this.write({ jsonrpc: '2.0', id, error: { code, message } });
  }

  private tellChanges(): void {
    for (const method of changes) this.write({ jsonrpc: '2.0', method });
  }

  private write(message: object): void {
    this.deps.output.write(`${JSON.stringify(message)}\n`);
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return isObject(value) && ('method' in value || 'result' in value || 'error' in value);
}

function failureIn(message: JSONRPCMessage): TransportFailure | undefined {
  return 'error' in message && message.error.data instanceof TransportFailure ? message.error.data : undefined;
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
  if (!('error' in message) || !failureIn(message)) return message;
  return { ...message, error: { code: message.error.code, message: message.error.message } };
}
