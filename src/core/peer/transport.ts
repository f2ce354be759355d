/** The SDK's transport, with more for a connection to a server. It does not load the SDK. */
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';

export interface ServerSendOptions extends TransportSendOptions {
  /** Headers of this message only, with lower-case names; for a transport with headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface ServerTransport extends Transport {
  readonly pid?: number;
  /** The reason of a failed request is a `TransportFailure` in its answer (see `failureAnswer`). */
  send(message: JSONRPCMessage, options?: ServerSendOptions): Promise<void>;
  /** True if each message has its own headers, and each request its own stream for the answer. */
  readonly hasHeaders?: boolean;
  /** True if the transport takes no more messages; `onclose` was called or will be. */
  readonly isOver?: boolean;
  readonly causeOfEnd: string;
  onrenewed?: (() => void) | undefined;
  /** Ends the transport because the other side is not the same any longer. */
  fail?(cause: string): void;
  /** Returns the id of our request on whose stream a message came; absent if the transport cannot know. */
  originOf?(message: object): RequestId | undefined;
}
