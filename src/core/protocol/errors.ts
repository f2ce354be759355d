/** Declares errors of JSON-RPC: the codes of its specification and of MCP, and an error as the answer to a request. */

export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** JSON-RPC leaves this one to implementations: no room, no session, a connection that failed. */
  server: -32000,
  /** MCP's code for a resource that does not exist. */
  resourceNotFound: -32002,
  /** In 2025-11-25 alone: a person has to open pages before the call. */
  pagesRequired: -32042,
  /** Since 2026-07-28: the headers of an HTTP request say something else than its body. */
  headerMismatch: -32020,
  /** Since 2026-07-28: the client has not declared what the request needs of it. */
  missingCapability: -32021,
  /** Since 2026-07-28. */
  unsupportedVersion: -32022,
} as const;

export interface RpcError {
  readonly code: number;
  /** The other side reads it: nothing of this machine belongs in it. */
  readonly message: string;
  readonly data?: unknown;
}

/** Thrown where the answer to a request is an error. */
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
