/** Declares what the host is given and what it offers: the types between the core and its shells. */
import type { Approvals } from '../approval/approvals.js';
import type { LaunchDescription } from '../approval/fingerprint.js';
import type { OfferReview } from '../approval/offerPrints.js';
import type { Clock } from '../base/clock.js';
import type { Event } from '../base/events.js';
import type { Log, Redactor } from '../base/log.js';
import type { SourceText, StartTime } from '../config/model.js';
import type { Connector } from '../connections/connection.js';
import type { SignIns } from '../connections/http/oauth/contract.js';
import type { ClientChange, ExpectedClient, ServerClient } from '../protocol/client.js';
import type { OtherOutcome, ToolOutcome, ToolsetCall, ToolsetRequest } from '../protocol/request.js';
import type { KnownConversations, RememberedOffer } from '../reconcile/remembered.js';
import type { StatusSnapshot } from '../reconcile/status.js';
import type { ServerSignIns } from './signIns.js';
import type { Catalogue } from '../tools/catalogue.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import type { Permission, PermissionDeps } from './permission.js';
import type { ServerLists } from './serverLists.js';

export interface HostDeps {
  readonly clock: Clock;
  /** The raw sink of the host's own log; the host redacts. */
  readonly log: Log;
  /** Returns the raw sink of one server's log; the host redacts. */
  readonly serverLog: (server: string) => Log;
  readonly redactor: Redactor;
  /** The environment that children inherit and that `{ env: NAME }` reads. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly connector: Connector;
  readonly directoryExists: (path: string) => boolean;
  /** Reads the files of the sources, and resolves when the sources are set to what they say. By default nothing is read. */
  readonly readSources?: () => Promise<void>;
  /** Returns a secret that the person has entered, which `{ secret: NAME }` reads. By default there are none. */
  readonly secret?: (name: string) => string | undefined;
  readonly filteredTools: () => FilteredToolsReport;
  /** The milliseconds that calls in flight have on a removed or changed server (R4). The default is 30,000. */
  readonly drainLimitMs?: number;
  /** Returns how many instances may live at once (L2); read at each start. The default is 32. */
  readonly maxInstances?: () => number;
  /** How many servers start at once that nobody waits for (P8). The default is the number of the machine's cores. */
  readonly startsAtOnce?: number;
  /** Returns the lists by which an organisation bars servers (S1); read with the sources. By default there are none. */
  readonly serverLists?: () => ServerLists;
  /** The one server that counts (G6). By default all do. */
  readonly only?: string | undefined;
  /** Decides what may be started (S1). By default everything may. */
  readonly approvals?: Approvals;
  /** Decides what agents may do with tools (S4). By default they may call them all. */
  readonly toolPermissions?: PermissionDeps;
  /** Returns whether agents see the tools of `mcp_admin` (L5). By default they do. */
  readonly offersAdmin?: () => boolean;
  /** Says what servers offer that changed or came since their approval (S3). By default nobody looks. */
  readonly offerReview?: OfferReview;
  /** Returns when servers start whose entry does not say it; read at each reload. By default it is with the window. */
  readonly usualStart?: () => StartTime;
  /** Keeps what launches listed, by their fingerprints, for the next window (P8). By default nothing is kept. */
  readonly kept?: KeptOffers;
  /** Knows the conversations of earlier windows (P9, X4). By default no instance starts for one that has not called. */
  readonly conversations?: KnownConversations;
  /** Signs in to HTTP servers, as the connector does. By default nobody can. */
  readonly signIns?: SignIns;
  /**
   * Returns who is expected to use instances that nobody uses yet (G4); read at each start. By default it is a client
   * that can do nothing.
   */
  readonly expectedClient?: () => ExpectedClient;
  /** Returns a number in [0, 1) for the jitter of reconnecting. The default is `Math.random`. */
  readonly random?: () => number;
}

/** What was listed, for the host's next life. */
export interface KeptOffers {
  recall(launch: string): RememberedOffer | undefined;
  /** @param redact removes secrets from a text; what has one is not kept */
  remember(launch: string, offer: RememberedOffer, redact: (text: string) => string): void;
  forget(launch: string): void;
}

export interface Host {
  readonly snapshot: StatusSnapshot;
  /** Fires after the snapshot was replaced; bursts of one turn of the event loop are one event. */
  readonly onDidChange: Event<StatusSnapshot>;
  readonly catalogue: Catalogue;
  /** Fires in the same turn in which the catalogue is swapped. */
  readonly onDidChangeCatalogue: Event<Catalogue>;
  /** Returns what a person would approve of a server that is configured without a mistake. */
  launchOf(server: string): LaunchDescription | undefined;
  /** Returns the name by which the editor knows a server (G3a), also while it publishes nothing. */
  shortName(server: string): string;
  /** Returns the catalogue that a conversation sees (G3g); by default, the catalogue for all. */
  catalogueFor(conversation: string | undefined): Catalogue;
  /** Fires with the ids of toolsets that may have changed for a conversation or for all. */
  readonly onDidChangeOffers: Event<readonly string[]>;
  /** Reads the files anew and applies them, as `reapply` does. Resolves like `setSources`. */
  reload(): Promise<void>;
  /** Applies the sources as they were last set once more, because what they are read with has changed since. */
  reapply(): Promise<void>;
  /**
   * Takes all sources, in folder order. Resolves when every server of this state has started or failed, or a later call
   * took over.
   */
  setSources(sources: readonly SourceText[]): Promise<void>;
  call(call: ToolsetCall): Promise<ToolOutcome>;
  /** The names in its parameters are the server's own. */
  request(request: ToolsetRequest): Promise<OtherOutcome>;
  noteClient(client: ServerClient, change: ClientChange): void;
  /** A client lists what is offered, by one toolset or, where none is named, by all. */
  noteListed(toolset: string | undefined, conversation: string | undefined): void;
  /** These are a person's actions. Each resolves when the state is reached, and rejects for an unknown id. */
  start(server: string): Promise<void>;
  stop(server: string): Promise<void>;
  restart(server: string): Promise<void>;
  release(server: string, conversation: string): Promise<boolean>;
  readonly permission: Pick<Permission, 'isAskedInChat' | 'allowInChat' | 'recheck'>;
  /** Signing in is the one action that opens a browser. */
  readonly signIns: Pick<ServerSignIns, 'signIn' | 'signOut'>;
  /** Ends every instance; resolves when nothing is left running. */
  dispose(): Promise<void>;
}
