export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /**
   * JSON-RPC leaves this code to implementations. Here: no room, no session, a connection that
   * failed.
   */
  server: -32000,
  resourceNotFound: -32002,
  /** Only in 2025-11-25: a person must open pages before the call. */
  pagesRequired: -32042,
  /** Since 2026-07-28, like the next two: the headers of an HTTP request differ from its body. */
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

export interface RpcError {
  readonly code: number;
  /** The other side reads it, so it must contain nothing about this machine. */
  readonly message: string;
  readonly data?: unknown;
}

/** Thrown if the answer to a request is an error. */
export class RpcFailure extends Error implements RpcError {
  override readonly name = 'RpcFailure';

  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}
