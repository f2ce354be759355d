/**
 * What the rest of the core sees of a live MCP connection. Connecting never throws for what a server does: failures
 * are values with a cause that a person can act on (X3).
 */
import type { CallToolResult, ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { LoopShare } from '../base/turns.js';
import type { Event } from '../base/events.js';
import type { StartFailure } from '../failures/startFailure.js';
import type { PromptListing, ResourceListing, ToolListing } from '../tools/catalogue.js';
import type { Fields, ServerClient } from '../protocol/client.js';
import type { OtherRequest, RequestTerms, ServerOutcome, ToolCall } from '../protocol/request.js';
import type { Log } from '../base/log.js';
import type { Timeouts } from '../peer/callLimits.js';
import type { Launch } from '../config/model.js';

export type { StartFailure } from '../failures/startFailure.js';
export type { Malformed, PromptListing, ResourceListing, ToolListing } from '../tools/catalogue.js';

/** What a server says has changed. */
export type OfferKind = 'tools' | 'prompts' | 'resources';

export interface ListOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

interface Timed {
  readonly timeouts: Timeouts;
}

export interface TimedTerms extends RequestTerms, Timed {}
/** `tool` is the server's own name. */
export interface TimedCall extends ToolCall, Timed {
  /** Whether it has to be called as a task of 2025-11-25, if its server has those. */
  readonly asTask?: boolean;
}
export interface TimedRequest extends OtherRequest, Timed {}

export interface Connection {
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
  /** The id of the direct child; it is undefined for HTTP. */
  readonly pid: number | undefined;
  /** The connection has ended and takes no calls; `onDidDie` fires after the calls in flight have failed. */
  readonly isOver: boolean;
  /** What work for its server is charged to (S2); absent where nobody counts. */
  readonly share?: LoopShare;
  /** Fires when the server says that something it lists changed. */
  readonly onDidChangeOffer: Event<OfferKind>;
  /** Fires with the parameters of each `notifications/resources/updated`. */
  readonly onDidUpdateResource: Event<Fields>;
  /**
   * Fires with what the server says of a task that is watched; with its `taskId` alone, where something that it said may
   * not have been heard.
   */
  readonly onDidUpdateTask: Event<Fields>;
  /**
   * Fires once when the connection ends without `close`, with the cause in words. Calls in flight have failed by then.
   */
  readonly onDidDie: Event<string>;
  /**
   * Fires when the server forgot the session and gave a new one (HTTP, rule X2): the connection goes on, and what the
   * old session held is gone. `onDidChangeOffer` fires for the tools too, as the server may be another version of
   * itself.
   */
  readonly onDidRenewSession: Event<void>;
  /** Lists every page. Rejects with `ListError` when the server fails or repeats a cursor. */
  listTools(options: ListOptions): Promise<ToolListing>;
  /**
   * Resolves with undefined when the server has none, and with a failure when they cannot be listed; rejects only when
   * aborted.
   */
  listPrompts(options: ListOptions): Promise<PromptListing | undefined>;
  listResources(options: ListOptions): Promise<ResourceListing | undefined>;
  /** Returns, once, the lists that have outlived the `ttlMs` of a server that does not tell when they change (X8). */
  takeStale(): readonly OfferKind[];
  callTool(request: TimedCall): Promise<ServerOutcome<CallToolResult>>;
  request(request: TimedRequest): Promise<ServerOutcome<Fields>>;
  notify(method: string, params?: Fields): void;
  /** Names the client that the server's own requests reach while nothing is in flight. */
  belongsTo(client: ServerClient): void;
  /**
   * Ends the connection and the whole process tree (X5), and resolves when nothing of it is left. It may be called
   * again.
   */
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

export interface ConnectRequest {
  /** The server's id, for messages and logs. */
  readonly server: string;
  readonly launch: Launch;
  /** The limit for connecting, initializing and listing every page, in milliseconds (X3). */
  readonly timeoutMs: number;
  /** Aborting ends the attempt and everything it started; the outcome is `cancelled`. */
  readonly signal: AbortSignal;
  /** The server's own log, for stderr, stray lines of stdout, `notifications/message` and the JSON-RPC trace. */
  readonly log: Log;
  /** The protocol version in which this launch listed last, if that is remembered (X8). */
  readonly spoke?: string | undefined;
  /** The capabilities that the clients declared for whom the connection is made; by default none. */
  readonly capabilities?: Fields;
}

/** The seam through which the rest of the core starts servers; `createConnector` makes the real one. */
export interface Connector {
  /**
   * Never rejects for what a server does. When it resolves with `failed` or `cancelled`, nothing of the attempt is
   * left.
   */
  connect(request: ConnectRequest): Promise<ConnectOutcome>;
  /** Ends what the connector itself keeps (the guardian process). Connections are ended by their owners. */
  dispose(): Promise<void>;
}
