/** What a pool of instances is given, and what becomes of what is asked of it. */
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import type { Launch, Timeouts } from '../config/model.js';
import type { CallOutcome, Connection, OfferKind, OtherOutcome, StartFailure, ToolListing } from './connection.js';
import type { Connector } from './connector.js';
import type { InstanceUse, LeaseNews } from './instance.js';
import type { Seats } from './instanceBudget.js';
import type { ExpectedClient } from './serverClient.js';
import type { Subscriptions } from './subscriptions.js';

export interface PoolOptions {
  readonly server: string;
  readonly launch: Launch;
  readonly trulyStateless: boolean;
  /** Read whenever they are needed: they change without a restart. */
  readonly timeouts: () => Timeouts;
  readonly connector: Connector & Seats;
  /** Who will use instances that nobody uses yet. */
  readonly expected: () => ExpectedClient;
  /** Of the instance that all dialogs share; they outlive it. */
  readonly subscriptions: Subscriptions;
  readonly clock: Clock;
  readonly log: Log;
  /** Something a view shows has changed. */
  readonly onChange: () => void;
  readonly onOfferChanged: (connection: Connection, kind: OfferKind) => void;
  /** An instance ended that nobody ended; `use` is what it was used for. */
  readonly onDeath: (cause: string, use: InstanceUse) => void;
  /** An instance that a call or a restart needed did or did not start. */
  readonly onStarted: (listing: ToolListing) => void;
  readonly onStartFailed: (failure: StartFailure) => void;
}

export type PoolFailure =
  Exclude<CallOutcome, { readonly kind: 'result' }> | { readonly kind: 'startFailed'; readonly failure: StartFailure };

export type PoolOtherOutcome = PoolFailure | Extract<OtherOutcome, { readonly kind: 'result' }>;

export type PoolCallOutcome =
  | PoolFailure
  | (Extract<CallOutcome, { readonly kind: 'result' }> & {
      /** What the dialog has to be told of its lease, with this result. */
      readonly news: LeaseNews | undefined;
    });
