/**
 * What the rest of the core sees of a live MCP connection. Connecting never throws for what a server does: failures
 * are values with a cause that a person can act on (spec X3).
 */
import type { CallToolResult, ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { Event } from '../base/events.js';
import type { ProblemCode } from '../base/problem.js';
import type { OfferedTool } from '../tools/catalogue.js';

/** A start that did not succeed, as a sentence or two and a next step; no secrets are removed here. */
export interface StartFailure {
  readonly code: ProblemCode;
  /** What was tried, what came back, the likely cause. */
  readonly message: string;
  readonly fix: string;
  /** Where in the server's entry the cause sits: a path for `ServerPlaces`; empty for the server's key. */
  readonly path: readonly (string | number)[];
}

/** Entries of a list that are not even tools are named, not lost in silence. */
export interface ToolListing {
  readonly tools: readonly OfferedTool[];
  readonly malformed: readonly { readonly name: string; readonly detail: string }[];
}

export interface CallRequest {
  /** The server's own name of the tool. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  /** `_meta` for the server, without a progress token: the connection sets its own. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** Time limits in milliseconds (spec X6). */
  readonly timeouts: { readonly call: number; readonly callMax: number };
  /** Aborting sends `notifications/cancelled`. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { progress: number; total?: number; message?: string }) => void;
}

export type CallOutcome =
  | { readonly kind: 'result'; readonly result: CallToolResult }
  /** The server answered with a JSON-RPC error. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  /** The connection ended first: the result is unknown, and the call is never replayed (spec X4). */
  | { readonly kind: 'lost'; readonly cause: string }
  | { readonly kind: 'timedOut'; readonly limit: 'call' | 'callMax'; readonly ms: number }
  | { readonly kind: 'cancelled' };

export interface Connection {
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
  /** Of the direct child; undefined for HTTP. */
  readonly pid: number | undefined;
  /** It has ended, and takes no calls; `onDidDie` fires after the calls in flight have failed. */
  readonly isOver?: boolean;
  /** The server says its tools changed. */
  readonly onDidChangeTools: Event<void>;
  /** Fires once when the connection ends without `close`, with the cause in words. Calls in flight have failed by then. */
  readonly onDidDie: Event<string>;
  /**
   * The server forgot the session and gave a new one (HTTP, spec X2): the connection goes on, what the old session held
   * is gone. `onDidChangeTools` fires too, as the server may be another version of itself.
   */
  readonly onDidRenewSession?: Event<void>;
  /** Every page. Rejects with `ListError` when the server fails or repeats a cursor. */
  listTools(options: { signal: AbortSignal; timeoutMs: number }): Promise<ToolListing>;
  callTool(request: CallRequest): Promise<CallOutcome>;
  /** Ends the connection and the whole process tree (spec X5); resolves when nothing of it is left. Idempotent. */
  close(): Promise<void>;
}

export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly connection: Connection; readonly listing: ToolListing }
  | { readonly kind: 'failed'; readonly failure: StartFailure }
  | { readonly kind: 'cancelled' };

/** Thrown by `listTools`: its message is fit for a person. */
export class ListError extends Error {
  override readonly name = 'ListError';
}
