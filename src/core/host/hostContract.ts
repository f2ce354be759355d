import type { Approvals } from '../approval/approvals.js';
import type { LaunchDescription } from '../approval/fingerprint.js';
import type { OfferLedger } from '../approval/offerLedger.js';
import type { Clock } from '../base/clock.js';
import type { Event } from '../base/events.js';
import type { Log } from '../base/log.js';
import type { ConfigDeps, SourceText, StartTime } from '../config/model.js';
import type { MakeAgents } from '../connections/http/agents.js';
import type { SecretStore, SignInBrowser, SignIns } from '../connections/http/oauth/contract.js';
import type { KnownConversations } from '../instances/serverConversations.js';
import type { Services } from '../instances/services.js';
import type { ClientChange, Fields, ServerClient } from '../protocol/client.js';
import type {
  OtherOutcome,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../protocol/request.js';
import type { RememberedOffer } from '../reconcile/remembered.js';
import type { StatusSnapshot } from '../reconcile/status.js';
import type { AppliedOverride, Catalogue } from '../tools/catalogue.js';
import type { Completed } from '../tools/override.js';
import type { FilteredToolsReport } from '../tools/problems.js';
import type { Permission, PermissionDeps } from './permission.js';
import type { ServerLists } from './serverLists.js';

export interface Surroundings {
  readonly clock: Clock;
  /** The sink of the core's own log. The core redacts. */
  readonly log: Log;
  readonly serverLog: (server: string) => Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly guardianScript?: string;
  readonly directoryExists?: (path: string) => boolean;
  /** In [0, 1). The default is `Math.random`. */
  readonly random?: () => number;
  readonly makeAgents?: MakeAgents;
}

/**
 * A function is read whenever its value counts. By default agents see `mcp_admin`, and calls are
 * recorded (H1b).
 */
export interface HostSettings {
  readonly filteredTools: () => FilteredToolsReport;
  readonly trace?: () => boolean;
  /**
   * The time for calls in flight on a removed or changed server, in milliseconds (R4). The default
   * is 30,000.
   */
  readonly drainLimitMs?: number;
  /** Returns the limit of live instances (L2). The default is 32. */
  readonly maxInstances?: () => number;
  /**
   * The number of starts at once without a waiting caller (P8). The default is the number of the
   * machine's cores.
   */
  readonly startsAtOnce?: number;
  readonly serverLists?: () => ServerLists;
  /** The one server that counts (G6). By default all count. */
  readonly only?: string | undefined;
  readonly offersAdmin?: () => boolean;
  /**
   * Returns the start time of servers without one in their entry. By default they start with the
   * window.
   */
  readonly usualStart?: () => StartTime;
  readonly recordsCalls?: () => boolean;
}

/** An absent part allows everything, or compares nothing (S4). */
export interface Consent {
  readonly approvals?: Approvals;
  readonly toolPermissions?: PermissionDeps;
  readonly offerReview?: OfferLedger;
}

/** The memory beyond this window. By default absent. */
export interface Stores {
  readonly kept?: KeptOffers;
  readonly conversations?: KnownConversations;
  readonly secrets?: SecretStore;
  /** Returns a secret from the person, for `{ secret: NAME }`. */
  readonly secret?: (name: string) => string | undefined;
}

export interface HostDeps {
  readonly services: Services;
  readonly settings: HostSettings;
  readonly consent: Consent;
  readonly kept?: KeptOffers | undefined;
  readonly signIns?: SignIns | undefined;
  readonly configDeps: ConfigDeps;
  readonly readSources?: (() => Promise<void>) | undefined;
}

export interface KeptOffers {
  recall(launch: string): RememberedOffer | undefined;
  /** @param redact removes secrets from a text. An offer with a secret is not kept. */
  remember(launch: string, offer: RememberedOffer, redact: (text: string) => string): void;
  forget(launch: string): void;
}

export interface Host {
  readonly snapshot: StatusSnapshot;
  /** Fires after the snapshot was replaced, once for each turn of the event loop. */
  readonly onDidChange: Event<StatusSnapshot>;
  readonly catalogue: Catalogue;
  /**
   * Fires in that turn with the ids of toolsets that may have changed. An unchanged catalogue is
   * the same object.
   */
  readonly onDidPublish: Event<readonly string[]>;
  launchOf(server: string): LaunchDescription | undefined;
  /** Returns the editor's name of a server (G3a), also if nothing is published. */
  shortName(server: string): string;
  /** Returns the catalogue that a conversation sees (G3g); by default, the catalogue for all. */
  catalogueFor(conversation: string | undefined): Catalogue;
  /** Reads the files and applies them. Resolves like `setSources`. */
  reload(): Promise<void>;
  /**
   * Applies the present sources again, because a variable, a secret or another input has changed.
   */
  reapply(): Promise<void>;
  /**
   * Takes all sources, in folder order. Resolves when every server has started or failed, or a
   * later call took over.
   */
  setSources(sources: readonly SourceText[]): Promise<void>;
  call(call: ToolsetCall): Promise<ToolOutcome>;
  /** The names in its parameters are the server's own. */
  request(request: ToolsetRequest): Promise<OtherOutcome>;
  noteClient(client: ServerClient, change: ClientChange): void;
  noteListed(toolset: string | undefined, conversation: string | undefined): void;
  /**
   * These are a person's actions. Each resolves when the state is reached, and rejects for an
   * unknown id.
   */
  start(server: string): Promise<void>;
  stop(server: string): Promise<void>;
  restart(server: string): Promise<void>;
  release(server: string, conversation: string): Promise<boolean>;
  /**
   * Returns the arguments that a call sends (O2). It is here because `override` may not load on
   * activation.
   */
  completed(override: AppliedOverride, given: Fields): Completed;
  readonly permission: Pick<Permission, 'isAskedInChat' | 'allowInChat' | 'recheck'>;
  /**
   * Only this opens a browser. Rejects with a text for a person or the signal's reason, not for a
   * failed start.
   */
  signIn(server: string, browser: SignInBrowser, signal: AbortSignal): Promise<void>;
  /** The tools are withdrawn, because a person who signs out does not want agents to go on. */
  signOut(server: string): Promise<void>;
  dispose(): Promise<void>;
}
