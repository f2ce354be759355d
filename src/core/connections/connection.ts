import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { LoopShare } from '../base/turns.js';
import type { Event } from '../base/events.js';
import type { StartFailure } from '../failures/startFailure.js';
import type { PromptListing, ResourceListing, ToolListing } from '../tools/catalogue.js';
import type { Fields, ServerClient } from '../protocol/client.js';
import type { OtherRequest, RequestTerms, ServerOutcome, ToolCall } from '../protocol/request.js';
import type { Log } from '../base/log.js';
import type { Timeouts } from '../peer/peer.js';
import type { Launch } from '../config/model.js';
import type { RunningVersion } from '../packages/runningVersion.js';
import type { ServerFacts } from './handshake.js';

export type { StartFailure } from '../failures/startFailure.js';
export type { Malformed, PromptListing, ResourceListing, ToolListing } from '../tools/catalogue.js';

export type OfferKind = 'tools' | 'prompts' | 'resources';

export interface ListOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface TimedTerms extends RequestTerms {
  readonly timeouts: Timeouts;
}
/** `tool` is the server's name for it. */
export interface TimedCall extends ToolCall, TimedTerms {
  /** Calls it as a task of 2025-11-25, if its server has tasks. */
  readonly asTask?: boolean;
}
export interface TimedRequest extends OtherRequest, TimedTerms {}

export interface Connection extends ServerFacts {
  readonly pid: number | undefined;
  /** The version of the package that its process runs. It is known before the connection is used. */
  runs?: RunningVersion | undefined;
  /**
   * True if the connection has ended and takes no calls. `onDidDie` fires after the calls in flight
   * have failed.
   */
  readonly isOver: boolean;
  readonly share?: LoopShare;
  readonly onDidChangeOffer: Event<OfferKind>;
  readonly onDidUpdateResource: Event<Fields>;
  /**
   * Fires with the server's report of a watched task; with only its `taskId` if a report may have
   * been missed.
   */
  readonly onDidUpdateTask: Event<Fields>;
  /**
   * Fires once when the connection ends without `close`, with the cause in words, after its calls
   * have failed.
   */
  readonly onDidDie: Event<string>;
  /**
   * Fires when the server gave a new session, so the state of the old one is gone (X2). The tools
   * count as changed.
   */
  readonly onDidRenewSession: Event<void>;
  listTools(options: ListOptions): Promise<ToolListing>;
  /**
   * Resolves to undefined if the server has none, and to a failure if it cannot list them; rejects
   * only when aborted.
   */
  listPrompts(options: ListOptions): Promise<PromptListing | undefined>;
  listResources(options: ListOptions): Promise<ResourceListing | undefined>;
  /**
   * Returns, once, the lists older than the `ttlMs` of a server without notifications about changes
   * (X8e).
   */
  takeStale(): readonly OfferKind[];
  callTool(request: TimedCall): Promise<ServerOutcome<CallToolResult>>;
  request(request: TimedRequest): Promise<ServerOutcome<Fields>>;
  notify(method: string, params?: Fields): void;
  belongsTo(client: ServerClient): void;
  /**
   * Set while the server learns the roots of its client. A call before the end of it may meet the
   * wrong roots.
   */
  readonly learning: Promise<unknown> | undefined;
  /** Ends the connection and its whole process tree (X5). Resolves when nothing of it is left. */
  close(): Promise<void>;
  readonly gone: Promise<void>;
}

export type ConnectOutcome =
  | {
      readonly kind: 'connected';
      readonly connection: Connection;
      readonly listing: ToolListing;
    }
  | { readonly kind: 'failed'; readonly failure: StartFailure }
  | { readonly kind: 'cancelled' };

/** Thrown by `listTools`: its message is fit for a person. */
export class ListError extends Error {
  override readonly name = 'ListError';
}

/** The reason of the signal of a start that takes longer than its limit. */
export class StartTimedOut extends Error {}

export interface ConnectRequest {
  readonly server: string;
  readonly launch: Launch;
  /** The limit for connecting, initializing and listing every page, in milliseconds (X3). */
  readonly timeoutMs: number;
  /** Aborting ends the attempt and everything started by it; the outcome is `cancelled`. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** The protocol version of the last list of this launch, if remembered (X8). */
  readonly spoke?: string | undefined;
  readonly capabilities?: Fields;
  /**
   * The client for the server's requests from the first message on, until `belongsTo` names
   * another.
   */
  readonly client?: ServerClient | undefined;
}

export interface Connector {
  /**
   * Never rejects for a server's faults. An attempt leaves no process or stream behind if it
   * `failed` or was `cancelled`.
   */
  connect(request: ConnectRequest): Promise<ConnectOutcome>;
  dispose(): Promise<void>;
}
