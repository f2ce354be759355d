/** Declares what a pool of instances is given, and what becomes of its starts and of requests to it. */
import type { CancelSignal } from '../base/cancellation.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import type { Launch, Timeouts } from '../config/model.js';
import type { Connector, OfferKind, StartFailure, ToolListing } from '../connections/connection.js';
import type { ExpectedClient } from '../protocol/client.js';
import type { ServerOutcome } from '../protocol/request.js';
import type { ConversationHistory } from './conversationHistory.js';
import type { Instance, InstanceUse } from './instance.js';
import type { NotStarted, Slots } from './limit.js';
import type { StartTurns } from './startTurns.js';
import type { ServerSubscriptions } from './subscriptions.js';

/** The time for calls on an instance that another one has replaced, in milliseconds. */
export const replacedLimitMs = 30_000;
/** The time for calls in flight whose session has ended, in milliseconds. */
export const abandonedLimitMs = 30_000;

export interface PoolDeps {
  readonly server: string;
  readonly launch: Launch;
  readonly trulyStateless: boolean;
  /** Read whenever they are needed: they change without a restart. */
  readonly timeouts: () => Timeouts;
  readonly connector: Connector & Slots;
  /** The client that will use instances that nobody uses yet. */
  readonly expected: () => ExpectedClient;
  readonly subscriptions: ServerSubscriptions;
  readonly history: ConversationHistory;
  readonly turns: StartTurns;
  /** Whether an instance is to be ready for a conversation that has none yet (P9). */
  readonly wantsSpare: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when a conversation takes an instance. */
  readonly onTaken: (instance: Instance) => void;
  /** Called when something that a view shows has changed. */
  readonly onChange: () => void;
  readonly onOfferChanged: (instance: Instance, kind: OfferKind) => void;
  /** Called when an instance ended that nobody ended; `use` says what it was used for. */
  readonly onDeath: (cause: string, use: InstanceUse) => void;
  /** These are called when an instance that a call or a restart needed did or did not start. */
  readonly onStarted: (instance: Instance, listing: ToolListing) => void;
  readonly onStartFailed: (failure: StartFailure) => void;
}

export type StartOutcome = { readonly kind: 'started'; readonly instance: Instance } | NotStarted;

export interface Starting {
  readonly controller: AbortController;
  readonly outcome: Promise<StartOutcome>;
  readonly since: number;
  /** Aborted for each call that waits for it no longer. */
  readonly waiters: CancelSignal[];
}

/** The names of a tool that is called, and whether it has to be called as a task of 2025-11-25. */
export interface CalledTool {
  readonly original: string;
  readonly published: string;
  readonly asTask: boolean;
}

/** Makes the outcome of a request to which the server gave no answer. */
export type PoolFailure =
  | Extract<ServerOutcome<unknown>, { readonly kind: 'lost' | 'timedOut' }>
  | { readonly kind: 'startFailed'; readonly failure: StartFailure }
  /** Nothing started that it could have been sent to; `cause` is a clause. */
  | { readonly kind: 'notSent'; readonly cause: string }
  /** Only the instance of the conversation was meant, and it has none (any more). */
  | { readonly kind: 'notHeld' };

export type PoolOutcome<Answered> = Answered | PoolFailure;
