/**
 * Types of one request to a server, from the session of a client to the connection to the server, and of its outcome.
 * Gateway, host, instances and connections share them. A layer adds only fields unknown above it.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { CancelSignal } from '../base/cancellation.js';
import type { ClientKind, Fields, ServerClient } from './client.js';

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** The common part of all requests. */
export interface RequestTerms {
  /** The `_meta` for the server. The connection adds the progress token. */
  readonly meta?: Fields | undefined;
  /** Aborting it sends `notifications/cancelled` to the server. */
  readonly signal: CancelSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The client for questions of the server during the request. */
  readonly client?: ServerClient | undefined;
  /**
   * The instance that may serve it. By default, the instance of the conversation, or a new one.
   * `held`: only an instance that the conversation holds already (G8). `any`: each living one, because all answer the same.
   */
  readonly instance?: 'held' | 'any' | undefined;
  /** Called when the request leaves for an instance. */
  readonly onSend?: ((instance: string, sent: Fields | undefined) => void) | undefined;
}

/** A request `tools/call`. */
export interface ToolCall extends RequestTerms {
  /** The client's name for the tool above the host, the server's name below it. */
  readonly tool: string;
  readonly arguments: Fields | undefined;
}

/** Any other request to an instance: `prompts/get`, `resources/read`, `completion/complete` and so on. */
export interface OtherRequest extends RequestTerms {
  readonly method: string;
  /** The parameters without `_meta`. */
  readonly params: Fields;
}

/** The destination of a request. */
export interface Destination {
  readonly toolset: string;
  /** The conversation with the instance for the request (G3). */
  readonly conversation: string;
}

export interface ToolsetCall extends ToolCall, Destination {
  /** The kind of client, for its names of tools; by default `plain`, with published names. */
  readonly clientKind?: ClientKind;
  /** True if an app calls, because apps know tools by their original names (G8). */
  readonly fromApp?: true | undefined;
  /** True if the client relies on us to ask a person about calls of the tool (S4). */
  readonly isPromised?: true | undefined;
  /**
   * The original name of the tool, if a person has seen this very call and wants it. It answers `ask` of the
   * permissions, and no other tool is called.
   */
  readonly consented?: string;
  /** The name of the caller for people, if no client is behind the call. */
  readonly agent?: string;
  /** The arguments of that call as the person saw them, with those of the override (O5). No others are sent. */
  readonly seen?: Fields;
}

export interface ToolsetRequest extends OtherRequest, Destination {}

/** @typeParam Beside further fields of a result */
export type Outcome<Result, Beside = unknown> =
  | ({ readonly kind: 'result'; readonly result: Result } & Beside)
  /** The answer is a JSON-RPC error. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'cancelled' };

/** The outcome of a request on one connection. */
export type ServerOutcome<Result> =
  | Outcome<Result>
  /** The connection ended first: the result is unknown, and the call is never sent again (X4). */
  | { readonly kind: 'lost'; readonly cause: string }
  | { readonly kind: 'timedOut'; readonly limit: 'call' | 'callMax'; readonly ms: number };

/** A notice for the conversation leasing an instance, given once with a result (L3, X4). */
export type LeaseNews =
  | { readonly kind: 'new' }
  /** The same, if the conversation may have had another session and another instance before. */
  | { readonly kind: 'newHere' }
  /** The state of an earlier instance of the conversation is gone. */
  | { readonly kind: 'replaced'; readonly cause: string };

/** Why a call has no answer of its server. `reason` has no text of a server or an agent. */
export interface Unanswered {
  readonly kind: 'refused' | 'timed out' | 'lost' | 'not sent';
  readonly reason: string;
}

/** What the record of calls adds to a result, if calls are recorded (H1b). */
interface Recorded {
  /** The id of the fact. */
  readonly record?: string;
  /** Has to be called with the result as the client gets it. */
  readonly onReceived?: (received: unknown) => void;
}

export type ToolOutcome = Outcome<
  CallToolResult,
  Recorded & {
    readonly news?: LeaseNews | undefined;
    /** The toolset of the tool, if the call did not name it. */
    readonly toolset?: string;
    /** The tool's published name, if the client calls it by another. */
    readonly publishedName?: string;
    /** Present if no server answered the call and the host explains why. */
    readonly unanswered?: Unanswered;
    /** Lines for the agent after the tool's own result (L3). */
    readonly notes?: readonly string[];
  }
>;

export type OtherOutcome = Outcome<
  Fields,
  Recorded & {
    /** The published name of the tool behind a task, if the request is about one. */
    readonly tool?: string | undefined;
    /** The answering toolset, if the request did not name it. */
    readonly toolset?: string;
  }
>;
