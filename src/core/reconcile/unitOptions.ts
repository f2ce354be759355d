/** What one server's reconciliation is given by the host. */
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import type { Connector } from '../connections/connector.js';
import type { Seats } from '../connections/instanceBudget.js';
import type { ExpectedClient } from '../connections/serverClient.js';
import type { Subscriptions } from '../connections/subscriptions.js';
import type { FilteredToolsReport } from '../tools/curate.js';
import type { Judge } from './permission.js';

export interface UnitOptions {
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly serverLog: Log;
  readonly connector: Connector & Seats;
  /** In [0, 1), for the jitter of reconnecting. */
  readonly random: () => number;
  readonly filteredTools: () => FilteredToolsReport;
  /** Milliseconds that calls in flight have when their instance was replaced or removed (spec R4). */
  readonly drainLimitMs: number;
  /** Who will use instances that nobody uses yet (spec G4). */
  readonly expected: () => ExpectedClient;
  /** What clients are subscribed to at the instance that all share, whichever that is. */
  readonly subscriptions: Subscriptions;
  readonly redact: (text: string) => string;
  /** Whether it may run (spec S1); `reconsider` tells that this changed. */
  readonly judge: Judge;
  /** What is published changed; called in the same turn. */
  readonly onCommit: () => void;
  /** Something a view shows changed. */
  readonly onChange: () => void;
}
