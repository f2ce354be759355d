/** What the host is given and what it offers: the types between the core and its shells. */
import type { Approvals } from '../approval/approvals.js';
import type { ToolReview } from '../approval/toolPrints.js';
import type { Clock } from '../base/clock.js';
import type { Event } from '../base/events.js';
import type { Log, Redactor } from '../base/log.js';
import type { SourceText } from '../config/model.js';
import type { Connector } from '../connections/connection.js';
import type { SignIns } from '../connections/http/oauth/contract.js';
import type { ClientChange, ExpectedClient, ServerClient } from '../protocol/client.js';
import type { OtherOutcome, ToolOutcome, ToolsetCall, ToolsetRequest } from '../protocol/request.js';
import type { StatusSnapshot } from '../reconcile/status.js';
import type { ServerSignIns } from './signIns.js';
import type { Catalogue } from '../tools/catalogue.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import type { Permission, PermissionDeps } from './permission.js';

export interface HostDeps {
  readonly clock: Clock;
  /** The host's own log. Redaction is the host's business: pass the raw sink. */
  readonly log: Log;
  /** The raw sink for one server's log; redacted by the host. */
  readonly serverLog: (server: string) => Log;
  readonly redactor: Redactor;
  /** The environment children inherit and `{ env: NAME }` reads. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly connector: Connector;
  readonly directoryExists: (path: string) => boolean;
  /** The secrets that the person has entered, which `{ secret: NAME }` reads. Default: there are none. */
  readonly secret?: (name: string) => string | undefined;
  readonly filteredTools: () => FilteredToolsReport;
  /** Milliseconds for calls in flight on a removed or changed server (R4). Default 30,000. */
  readonly drainLimitMs?: number;
  /** How many instances may live at once (L2); read at each start. Default 32. */
  readonly maxInstances?: () => number;
  /** What may be started (S1). Default: everything. */
  readonly approvals?: Approvals;
  /** What agents may do with tools (S4). By default they may call them all. */
  readonly toolPermissions?: PermissionDeps;
  /** Which tools changed since their server was approved (S3). Default: nobody looks. */
  readonly toolReview?: ToolReview;
  /** Signing in to HTTP servers; those of the connector. Default: there is none. */
  readonly signIns?: SignIns;
  /** Who will use instances before anyone does (G4), read at each start. Default: a client that can do nothing. */
  readonly expectedClient?: () => ExpectedClient;
  /** In [0, 1), for the jitter of reconnecting. Default `Math.random`. */
  readonly random?: () => number;
}

export interface Host {
  readonly snapshot: StatusSnapshot;
  /** Fires after the snapshot was replaced; bursts of one turn of the event loop are one event. */
  readonly onDidChange: Event<StatusSnapshot>;
  readonly catalogue: Catalogue;
  /** Fires in the same turn in which the catalogue is swapped. */
  readonly onDidChangeCatalogue: Event<Catalogue>;
  /** The sources as they were last set, read anew: host variables and folders may have changed since. */
  reload(): Promise<void>;
  /** All sources, in folder order. Resolves when every server of this state has started or failed, or a later call took over. */
  setSources(sources: readonly SourceText[]): Promise<void>;
  call(call: ToolsetCall): Promise<ToolOutcome>;
  /** Names in its parameters are the server's own. */
  request(request: ToolsetRequest): Promise<OtherOutcome>;
  noteClient(client: ServerClient, change: ClientChange): void;
  /** Person's actions. Resolve when the state is reached; unknown ids reject. */
  start(server: string): Promise<void>;
  stop(server: string): Promise<void>;
  restart(server: string): Promise<void>;
  release(server: string, dialog: string): Promise<boolean>;
  readonly permission: Pick<Permission, 'isAskedInChat' | 'recheck'>;
  /** Signing in is the one action that opens a browser. */
  readonly signIns: Pick<ServerSignIns, 'signIn' | 'signOut'>;
  /** Ends every instance; resolves when nothing is left running. */
  dispose(): Promise<void>;
}
