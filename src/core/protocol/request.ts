/** One request to a server and its outcome. A layer adds only fields unknown above it. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { CancelSignal } from '../base/cancellation.js';
import type { Fields, ServerClient } from './client.js';
import type { ClientPolicy } from './clientPolicy.js';

export type Progress = Readonly<{
  progress: number;
  total?: number;
  message?: string;
}>;

export interface RequestTerms {
  /** The `_meta` for the server. The connection adds the progress token. */
  readonly meta?: Fields | undefined;
  /** Aborting it sends `notifications/cancelled` to the server. */
  readonly signal: CancelSignal;
  onProgress?: ((progress: Progress) => void) | undefined;
  readonly client?: ServerClient | undefined;
  /**
   * By default the instance of the conversation, or a new one. `held`: only one it holds (G8b).
   * `any`: each living one.
   */
  readonly instance?: 'held' | 'any' | undefined;
  /** Set by the recorder (H1b). A copy of the request would cost more than the record (P11). */
  recording?: RequestRecording | undefined;
}

/** `onSend` is called when the request leaves for an instance. */
interface RequestRecording {
  onFound(tool: Readonly<Record<'published' | 'original', string>>): void;
  onSend(instance: string, sent: Fields | undefined): void;
}

export interface ToolCall extends RequestTerms {
  /** The client's name for the tool above the host, the server's name below it. */
  readonly tool: string;
  readonly arguments: Fields | undefined;
}

export interface OtherRequest extends RequestTerms {
  readonly method: string;
  /** Without `_meta`. */
  readonly params: Fields;
}

/** `conversation` is the one with the instance for the request (G3). */
export type Destination = Readonly<Record<'toolset' | 'conversation', string>>;

export interface ToolsetCall extends ToolCall, Destination {
  readonly policy: ClientPolicy;
  /** True if an app calls, because apps know tools by their original names (G8). */
  readonly fromApp?: true | undefined;
  /** True if the client relies on us to ask a person about calls of the tool (S4). */
  readonly isPromised?: true | undefined;
  /**
   * The tool's original name, if a person has seen this very call and wants it. It answers `ask` of
   * permissions.
   */
  readonly consented?: string;
  /**
   * The arguments of that call as the person saw them, with those of the override (O5). No others
   * are sent.
   */
  readonly seen?: Fields;
}

export interface ToolsetRequest extends OtherRequest, Destination {
  /** True at the endpoint of all toolsets if the toolset made a link with the URI. */
  readonly isOfLink?: boolean;
}

export type Outcome<Result, Beside = unknown> =
  | ({ readonly kind: 'result'; readonly result: Result } & Beside)
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly message: string;
      readonly data?: unknown;
    }
  | { readonly kind: 'cancelled' };

export type ServerOutcome<Result> =
  | Outcome<Result>
  /** The connection ended first: the result is unknown, and the call is never sent again (X4). */
  | { readonly kind: 'lost'; readonly cause: string }
  | {
      readonly kind: 'timedOut';
      readonly limit: 'call' | 'callMax';
      readonly ms: number;
      /** A sentence about an answer that could not be read. */
      readonly misread?: string;
    };

/** A notice for the conversation leasing an instance, given once with a result (L3, X4). */
export type LeaseNews =
  | { readonly kind: 'new' }
  /** The same, if the conversation may have had another session and another instance before. */
  | { readonly kind: 'newHere' }
  /** The state of an earlier instance of the conversation is gone. */
  | { readonly kind: 'replaced'; readonly cause: string }
  /** The same, but now all conversations share an instance. */
  | { readonly kind: 'shared'; readonly cause: string };

/** Why a call has no answer of its server. `reason` has no text of a server or an agent. */
export type Unanswered = Readonly<{
  kind: 'refused' | 'timed out' | 'lost' | 'not sent';
  reason: string;
}>;

/**
 * For the record of calls (H1b): the id of the fact. `onWritten` is called with the result as the
 * client gets it.
 */
type Recorded = {
  record?: { readonly id: string; onWritten(received: unknown, json?: unknown): void };
};

export type ToolOutcome = Outcome<
  CallToolResult,
  Recorded & {
    readonly news?: LeaseNews | undefined;
    /**
     * With news, the working directory of the instance, an absolute path. Absent for a server over
     * HTTP.
     */
    readonly folder?: string | undefined;
    /** The toolset of the tool, if the call did not name it. */
    readonly toolset?: string;
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
    readonly toolset?: string;
  }
>;
