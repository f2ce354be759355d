/** The input of a host: settings, consent, and what it keeps. */
import type { Approvals } from '../approval/approvals.js';
import type { OfferLedger } from '../approval/offerLedger.js';
import type { PermissionDeps } from '../calling/permission.js';
import type { KeptOffers } from '../catalogue/publication.js';
import type { ServerLists } from '../catalogue/serverLists.js';
import type { ConfigDeps, StartTime } from '../config/model.js';
import type { SignIns, SignInStore } from '../connections/http/oauth/contract.js';
import type { KnownConversations } from '../instances/serverConversations.js';
import type { Services } from '../instances/services.js';
import type { FilteredToolsReport } from '../tools/problems.js';

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
  /** Returns the limit of instances (L2c), if the person gave it by an option or a setting. */
  readonly maxInstances?: () => number | undefined;
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
  readonly secrets?: SignInStore;
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
