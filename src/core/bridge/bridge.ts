/**
 * One client that speaks MCP over stdio, joined to the gateway (G6): every message is passed on as it is, both ways,
 * requests of servers, progress and cancellation included.
 *
 * If the gateway has gone, it is looked for again: the client's `initialize` is repeated, and a request that was not
 * delivered is sent then. Invariants: a request that may have been delivered is never sent again (X4); every request is
 * answered, unless the client cancelled it; stdout has nothing but messages.
 */
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { SingleFlight } from '../base/singleFlight.js';
import { HttpTransport } from '../connections/http/transport.js';
import { LineSplitter } from '../connections/stdio/lineSplitter.js';
import { TransportFailure } from '../connections/transport.js';
import { errorCodes } from '../protocol/errors.js';

export interface GatewayAddress {
  readonly url: string;
  readonly token: string;
}

interface BridgeDeps {
  readonly input: Readable;
  readonly output: Writable;
  /** Says where the gateway is now, and starts one where there is none. */
  readonly find: () => Promise<GatewayAddress>;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

/** The gateway takes this much in one body. */
const longestLine = 16 << 20;

/** These may have changed while there was no gateway. */
const changes = ['tools', 'prompts', 'resources'].map((topic) => `notifications/${topic}/list_changed`);

export class Bridge {
  /** The client's own `initialize`. */
  private first: JSONRPCRequest | undefined;
  private upstream: HttpTransport | undefined;
  private readonly opening = new SingleFlight(() => this.open());
  /** The requests that have no answer yet. */
  private readonly waiting = new Map<RequestId, JSONRPCRequest>();
  /** Those of them that were sent a second time. */
  private readonly repeated = new Set<RequestId>();
  private failure = '';
  private beginnings = 0;

  constructor(private readonly deps: BridgeDeps) {}

  /** Resolves when the client has ended its input, or the signal is aborted; its session is over then. */
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
    await this.opening.settled();
    const { upstream } = this;
    this.upstream = undefined;
    await upstream?.close();
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
    if (isRequest(message)) this.waiting.set(message.id, message);
    void this.pass(message);
  }

  private async pass(message: JSONRPCMessage): Promise<void> {
    const isFirst = isRequest(message) && message.method === 'initialize';
    if (isFirst) this.first = message;
    if (!this.upstream) await this.opening.request();
    const { upstream } = this;
    try {
      if (!upstream) throw new Error(this.failure);
      await upstream.send(message);
    } catch (error) {
      const why = `The toolsets cannot be reached: ${(error as Error).message}`;
      if (isRequest(message))
        this.answer({ jsonrpc: '2.0', id: message.id, error: { code: errorCodes.server, message: why } });
      else this.deps.log.write('debug', why);
    }
  }

  /** Never rejects. */
  private async open(): Promise<void> {
    if (this.upstream) return;
    try {
      const { url, token } = await this.deps.find();
      const transport = this.transportTo(url, token);
      if (this.beginnings++ > 0) await this.beginAgain(transport);
      this.upstream = transport;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  private transportTo(url: string, token: string): HttpTransport {
    const { log, clock, version } = this.deps;
    const authorization = { kind: 'literal', value: `Bearer ${token}` } as const;
    const headers = new Map([['Authorization', authorization]]);
    const transport = new HttpTransport({
      launch: { transport: 'streamable_http', url, headers, sessionId: '' },
      log,
      clock,
      clientVersion: version,
      onRenewed: () => this.tellChanges(),
    });
    transport.onmessage = (message) => this.receive(transport, message);
    transport.onclose = () => this.drop(transport);
    return transport;
  }

  /** Says the client's `initialize` to another gateway. The client has had its answer already. */
  private async beginAgain(transport: HttpTransport): Promise<void> {
    if (!this.first) return;
    const id = `bridge-${this.beginnings}`;
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

  private receive(from: HttpTransport, message: JSONRPCMessage): void {
    if ('method' in message || !('id' in message) || message.id === undefined) return this.write(message);
    const request = this.waiting.get(message.id);
    const failure =
      'error' in message && message.error.data instanceof TransportFailure ? message.error.data : undefined;
    if (request && failure && undelivered.has(failure.reason.kind) && !this.repeated.has(message.id)) {
      this.repeated.add(message.id);
      this.drop(from);
      void from.close();
      void this.pass(request);
      return;
    }
    if (request?.method === 'initialize' && 'result' in message) {
      from.setProtocolVersion(String((message.result as { protocolVersion?: unknown }).protocolVersion));
    }
    this.answer(message);
  }

  private drop(transport: HttpTransport): void {
    if (this.upstream === transport) this.upstream = undefined;
  }

  private answer(message: JSONRPCMessage): void {
    if ('id' in message && message.id !== undefined) {
      this.waiting.delete(message.id);
      this.repeated.delete(message.id);
    }
    this.write(withoutObject(message));
  }

  private tellChanges(): void {
    for (const method of changes) this.write({ jsonrpc: '2.0', method });
  }

  private write(message: object): void {
    this.deps.output.write(`${JSON.stringify(message)}\n`);
  }
}

/** What listened there is gone, or refused the session before it looked at the request: with another token, for one. */
const undelivered: ReadonlySet<string> = new Set(['unreachable', 'sessionLost']);

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message && message.id !== undefined;
}

/** Puts a failure of our own transport into words alone. */
function withoutObject(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || !(message.error.data instanceof TransportFailure)) return message;
  return { ...message, error: { code: message.error.code, message: message.error.message } };
}
