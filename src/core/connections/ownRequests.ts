/**
 * The requests to one server: they are told apart by their ids, and each is answered once. The SDK's client could do the
 * same, and would look at each answer three times with schemas, copy it, and keep a timer for it (P3). What the server sends
 * besides, and the answer to `initialize`, stay the client's. Invariants: an answer is not copied; nothing is kept of a
 * request that was answered, cancelled or not sent.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { errorCodes, RpcFailure } from '../protocol/errors.js';
import { TransientMap } from '../base/transientMap.js';
import type { Fields } from '../protocol/client.js';
import type { ServerTransport } from './transport.js';

/** The id that the SDK's client gives its first request, and no other of ours has. */
export const initializeId = 0;

interface SentRequest {
  /** Rejects with an `RpcFailure` where the server answers with an error, and where the request ends without an answer. */
  readonly answer: Promise<unknown>;
  /** Sends `notifications/cancelled` where there is no answer yet. */
  readonly cancel: (reason: string) => void;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface OwnRequestsDeps {
  readonly transport: Pick<ServerTransport, 'send'>;
  /** Called when a cancellation could not be sent. */
  readonly onFailure: (error: unknown) => void;
}

export class OwnRequests {
  private nextId = initializeId + 1;
  private readonly waiting = new TransientMap<number, Waiting>();
  private hasEnded = false;

  constructor(private readonly deps: OwnRequestsDeps) {}

  send(method: string, params: Fields | undefined): SentRequest {
    const { transport } = this.deps;
    const id = this.nextId++;
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.hasEnded) return reject(ended());
      this.waiting.set(id, { resolve, reject });
      const message = (
        params ? { jsonrpc: '2.0', id, method, params } : { jsonrpc: '2.0', id, method }
      ) as JSONRPCMessage;
      transport.send(message).catch((error: unknown) => this.settle(id)?.reject(error as Error));
    });
    return { answer, cancel: (reason) => this.cancel(id, reason) };
  }

  /** Returns whether the message is the answer to one of these. Some servers answer with the number as a text. */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message || message.id === undefined) return false;
    const waiting = this.settle(Number(message.id));
    if (!waiting) return false;
    if ('result' in message) {
      waiting.resolve(message.result);
    } else {
      const { code, message: text, data } = message.error;
      waiting.reject(new RpcFailure(code, text, data));
    }
    return true;
  }

  /** Called when the transport takes no more messages. */
  end(): void {
    this.hasEnded = true;
    const waiting = this.waiting.values();
    this.waiting.clear();
    for (const { reject } of waiting) reject(ended());
  }

  private cancel(requestId: number, reason: string): void {
    const waiting = this.settle(requestId);
    if (!waiting) return;
    const params = { requestId, reason };
    this.deps.transport
      .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
      .catch((error: unknown) => this.deps.onFailure(error));
    waiting.reject(new RpcFailure(errorCodes.server, reason));
  }

  private settle(id: number): Waiting | undefined {
    return this.waiting.take(id);
  }
}

function ended(): RpcFailure {
  return new RpcFailure(errorCodes.server, 'The connection has ended.');
}
