/**
 * What the rest of the core sees of a live MCP connection. Connecting never throws for what a server does: failures
 * are values with a cause that a person can act on (X3).
 */
import type { CallToolResult, ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { Event } from '../base/events.js';
import type { ProblemCode } from '../base/problem.js';
import type { OfferedPrompt, OfferedResource, OfferedTemplate, OfferedTool } from '../tools/catalogue.js';
import type { Fields, ServerClient } from '../protocol/client.js';
import type { OtherRequest, RequestTerms, ServerOutcome, ToolCall } from '../protocol/request.js';
import type { Log } from '../base/log.js';
import type { Launch } from '../config/model.js';

/** A start that did not succeed, as a sentence or two and a next step; no secrets are removed here. */
export interface StartFailure {
  readonly code: ProblemCode;
  /** What was tried, what came back, the likely cause. */
  readonly message: string;
  readonly fix: string;
  /** Where in the server's entry the cause sits: a path for `ServerPlaces`; empty for the server's key. */
  readonly path: readonly (string | number)[];
  /** What was probably meant instead of what stands there. */
  readonly instead?: string;
}

/** An entry of a list that is not what the list is of: it is named, and not lost in silence. */
export interface Malformed {
  readonly name: string;
  readonly detail: string;
}

export interface PromptListing {
  readonly prompts: readonly OfferedPrompt[];
  readonly malformed: readonly Malformed[];
  /** Why the prompts are not all here; those that came stay. */
  readonly failure?: string;
}

export interface ResourceListing {
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  readonly malformed: readonly Malformed[];
  readonly failure?: string;
}

export interface ToolListing {
  readonly tools: readonly OfferedTool[];
  readonly malformed: readonly Malformed[];
  /** Undefined: the server has no prompts. */
  readonly prompts?: PromptListing | undefined;
  /** Undefined: the server has no resources. */
  readonly resources?: ResourceListing | undefined;
}

/** What a server says has changed. */
export type OfferKind = 'tools' | 'prompts' | 'resources';

export interface ListOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Time limits of one request in milliseconds (X6). */
interface Timed {
  readonly timeouts: { readonly call: number; readonly callMax: number };
}

export interface TimedTerms extends RequestTerms, Timed {}
/** `tool` is the server's own name. */
export interface TimedCall extends ToolCall, Timed {}
export interface TimedRequest extends OtherRequest, Timed {}

export interface Connection {
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
  /** Of the direct child; undefined for HTTP. */
  readonly pid: number | undefined;
  /** It has ended, and takes no calls; `onDidDie` fires after the calls in flight have failed. */
  readonly isOver: boolean;
  /** The server says that something it lists changed. */
  readonly onDidChangeOffer: Event<OfferKind>;
  /** `notifications/resources/updated`, with its parameters. */
  readonly onDidUpdateResource: Event<Fields>;
  /** Fires once when the connection ends without `close`, with the cause in words. Calls in flight have failed by then. */
  readonly onDidDie: Event<string>;
  /**
   * The server forgot the session and gave a new one (HTTP, rule X2): the connection goes on, what the old session held
   * is gone. `onDidChangeOffer` fires for the tools too, as the server may be another version of itself.
   */
  readonly onDidRenewSession: Event<void>;
  /** Every page. Rejects with `ListError` when the server fails or repeats a cursor. */
  listTools(options: ListOptions): Promise<ToolListing>;
  /** Undefined: it has none. A list that cannot be had says so; rejects only when aborted. */
  listPrompts(options: ListOptions): Promise<PromptListing | undefined>;
  listResources(options: ListOptions): Promise<ResourceListing | undefined>;
  callTool(request: TimedCall): Promise<ServerOutcome<CallToolResult>>;
  request(request: TimedRequest): Promise<ServerOutcome<Fields>>;
  notify(method: string, params?: Fields): void;
  /** Whom the server's own requests reach while nothing is in flight. */
  belongsTo(client: ServerClient): void;
  /** Ends the connection and the whole process tree (X5); resolves when nothing of it is left. Idempotent. */
  close(): Promise<void>;
  /** Resolves when `close` has come to its end, whoever called it. */
  readonly gone: Promise<void>;
}

export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly connection: Connection; readonly listing: ToolListing }
  | { readonly kind: 'failed'; readonly failure: StartFailure }
  | { readonly kind: 'cancelled' };

/** Thrown by `listTools`: its message is fit for a person. */
export class ListError extends Error {
  override readonly name = 'ListError';
}

/** The seam through which the rest of the core starts servers; the real one is made by `createConnector`. */

export interface ConnectRequest {
  /** The server's id, for messages and logs. */
  readonly server: string;
  readonly launch: Launch;
  /** Connect, initialize and list every page within this, in milliseconds (X3). */
  readonly timeoutMs: number;
  /** Aborting ends the attempt and everything it started; the outcome is `cancelled`. */
  readonly signal: AbortSignal;
  /** The server's own log: stderr, stray stdout lines, `notifications/message`, JSON-RPC trace. */
  readonly log: Log;
  /** Of the clients it is for, as they declared them; by default none. */
  readonly capabilities?: Fields;
}

export interface Connector {
  /** Never rejects for what a server does. When it resolves with `failed` or `cancelled`, nothing of the attempt is left. */
  connect(request: ConnectRequest): Promise<ConnectOutcome>;
  /** Ends what the connector itself keeps (the guardian process). Connections are ended by their owners. */
  dispose(): Promise<void>;
}
