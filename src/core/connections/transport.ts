/** Declares what both transports to a server share. It does not load the SDK. */
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Fields, ServerClient } from '../protocol/client.js';

export interface ServerSendOptions extends TransportSendOptions {
  /** Headers of this message alone, with lower-case names; for a transport that has headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServerTransport extends Transport {
  send(message: JSONRPCMessage, options?: ServerSendOptions): Promise<void>;
  /** Whether it sends headers with each message. */
  readonly hasHeaders?: boolean;
  /** Completes "The tool …" for a tool that this transport cannot call. */
  whatIsWrongWithTool?(tool: Fields): string | undefined;
  /** Hears every message that is sent; for the trace. */
  onsend?: ((message: JSONRPCMessage) => void) | undefined;
  /** Hears every message that comes, as it comes; for the trace. */
  onreceive?: ((message: JSONRPCMessage) => void) | undefined;
  /** Ends a transport whose other side has become another, for a cause in words. */
  fail?(cause: string): void;
  /** The transport takes no more messages; `onclose` was called or will be. */
  readonly isOver?: boolean;
  /** Names the request of ours on whose stream a message of the server came; absent where the transport cannot tell. */
  originOf?: ((message: object) => RequestId | undefined) | undefined;
  /** Returns the key under which a server of the modern era asks something, which its request does not say itself. */
  keyOf?(request: object): string | undefined;
  /** The version that the server is spoken to in, where that is another than its answer to initialize said (X8). */
  readonly speaks?: string | undefined;
  /** Returns what a request for this client must say of it in `_meta`; undefined where it need not. */
  metaFor?(client: ServerClient | undefined): Fields | undefined;
}
