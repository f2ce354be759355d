/** One era of the protocol, as a connection uses it. It is chosen once, when the connection opens (X8). */
import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Disposable } from '../base/disposables.js';
import type { Exchange, Result } from '../peer/peer.js';
import type { Fields, ServerClient } from '../protocol/client.js';
import type { ServerFacts } from './handshake.js';

export interface Protocol extends Disposable {
  readonly facts: ServerFacts;
  /** Returns what a request for this client says in `_meta`; undefined if it says nothing there. */
  metaFor(client: ServerClient | undefined): Fields | undefined;
  /** Resolves to the result of a request for a client; rejects with an `RpcFailure`. */
  call(exchange: Exchange, method: string, params: Fields): Promise<Result>;
  list(method: string, params: Fields | undefined, signal: AbortSignal): Promise<Result>;
  /** Tells the server that we listen, and passes on what it reports from now on. Rejects if it cannot be told. */
  begin(report: (notification: JSONRPCNotification) => void): Promise<void>;
  /** Returns a notification as the connection handles it; undefined if that has no use for it. */
  read(notification: JSONRPCNotification): JSONRPCNotification | undefined;
  /** Resolves to the answer to a request of the server; undefined if it gets none. */
  answer(request: JSONRPCRequest, signal: AbortSignal): Promise<Fields | undefined>;
  /** True if the server may get this notification. */
  takes(notification: string): boolean;
  /** Completes "The tool …" for a tool that cannot be called. */
  whatIsWrongWithTool(tool: Fields): string | undefined;
}
