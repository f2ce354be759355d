/**
 * Describes one request to a server, from the session of a client to the connection that carries it, and what becomes
 * of it. Gateway, host, instances and connections share these types; a layer adds only what it alone knows. Types only.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { CancelSignal } from '../base/cancellation.js';
import type { ClientKind, Fields, ServerClient } from './client.js';

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Every request comes with these. */
export interface RequestTerms {
  /** The `_meta` for the server, without a progress token, because the connection sets its own. */
  readonly meta?: Fields | undefined;
  /** Aborting it sends `notifications/cancelled` to the server. */
  readonly signal: CancelSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The client that the server may ask something meanwhile. */
  readonly client?: ServerClient | undefined;
  /**
   * The instance that may serve it. By default, the instance of the conversation, which is started if there is none.
   * `held`: only an instance that the conversation holds already (G8). `any`: each living one, because all answer the same.
   */
  readonly instance?: 'held' | 'any' | undefined;
}

/** A request `tools/call`. */
export interface ToolCall extends RequestTerms {
  /** The name as the side that is called knows it: the client's name before the host, the server's own name after it. */
  readonly tool: string;
  readonly arguments: Fields | undefined;
}

/** Any other request that an instance answers: `prompts/get`, `resources/read`, `completion/complete` and the like. */
export interface OtherRequest extends RequestTerms {
  readonly method: string;
  /** The parameters without `_meta`. */
  readonly params: Fields;
}

/** The destination of a request. */
export interface Destination {
  readonly toolset: string;
  /** The conversation whose instance is meant (G3). */
  readonly conversation: string;
}

export interface ToolsetCall extends ToolCall, Destination {
  /** The kind of client whose name for the tool is used; by default `plain`, which is the published name. */
  readonly clientKind?: ClientKind;
  /** An app calls, which knows tools by their original names (G8). */
  readonly fromApp?: true | undefined;
  /** The client was told that a person is asked here about calls of the tool, so that it asks nobody (S4). */
  readonly isPromised?: true | undefined;
  /**
   * The original name of the tool of which a person has seen this very call and wants it, so `ask` of the tool policy is
   * answered. No other tool is called.
   */
  readonly consented?: string;
}

export interface ToolsetRequest extends OtherRequest, Destination {}

/** @typeParam Beside what is told together with a result. */
export type Outcome<Result, Beside = unknown> =
  | ({ readonly kind: 'result'; readonly result: Result } & Beside)
  /** The answer is a JSON-RPC error. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'cancelled' };

/** What becomes of a request on one connection. */
export type ServerOutcome<Result> =
  | Outcome<Result>
  /** The connection ended first: the result is unknown, and the call is never sent again (X4). */
  | { readonly kind: 'lost'; readonly cause: string }
  | { readonly kind: 'timedOut'; readonly limit: 'call' | 'callMax'; readonly ms: number };

/** What the conversation that leases an instance has to be told, once, with a result (L3, X4). */
export type LeaseNews =
  | { readonly kind: 'new' }
  /** The same, where nothing tells whether the conversation had another session, and an instance, before. */
  | { readonly kind: 'newHere' }
  /** What an earlier instance of the conversation held is gone. */
  | { readonly kind: 'replaced'; readonly cause: string };

export type ToolOutcome = Outcome<
  CallToolResult,
  {
    readonly news?: LeaseNews | undefined;
    /** The toolset that has the tool, where the call did not name it. */
    readonly toolset?: string;
    /** The tool's published name, where the client calls it by another. */
    readonly publishedName?: string;
    /** The result is the host's own: it says why no server answered the call. */
    readonly unanswered?: true;
    /** Lines for the agent that come after the tool's own result (L3). */
    readonly notes?: readonly string[];
  }
>;

export type OtherOutcome = Outcome<
  Fields,
  {
    /** The published name of the tool that began the task, where the request is about one. */
    readonly tool?: string | undefined;
    /** The toolset that answered, where the request did not name it. */
    readonly toolset?: string;
  }
>;
