/**
 * What the core offers to a shell and to the gateway, as three small interfaces. A part takes the
 * interfaces that it needs.
 */
import type { LaunchDescription } from '../approval/fingerprint.js';
import type { Event } from '../base/events.js';
import type { SourceText } from '../config/model.js';
import type { SignInBrowser } from '../connections/http/oauth/contract.js';
import type { ClientChange, Fields, ServerClient } from '../protocol/client.js';
import type {
  OtherOutcome,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../protocol/request.js';
import type { StatusSnapshot } from '../reconcile/status.js';
import type { AppliedOverride, Catalogue } from '../tools/catalogue.js';
import type { Completed } from '../tools/override.js';
import type { Permission } from './permission.js';

/** What is published. */
export interface Published {
  readonly catalogue: Catalogue;
  /**
   * Fires in the turn of a change with the ids of toolsets that may have changed. An unchanged
   * catalogue is the same object.
   */
  readonly onDidPublish: Event<readonly string[]>;
  /** Returns the editor's name of a server (G3a), also if nothing is published. */
  shortName(server: string): string;
  /** Returns the catalogue that a conversation sees (G3g); by default, the catalogue for all. */
  catalogueFor(conversation: string | undefined): Catalogue;
}

export interface Calls {
  call(call: ToolsetCall): Promise<ToolOutcome>;
  /** The names in its parameters are the server's own. */
  request(request: ToolsetRequest): Promise<OtherOutcome>;
  /**
   * Returns the arguments that a call sends (O2). It is here because `override` may not load on
   * activation.
   */
  completed(override: AppliedOverride, given: Fields): Completed;
  readonly permission: Pick<Permission, 'isAskedInChat' | 'allowInChat' | 'recheck'>;
}

export interface Servers {
  readonly snapshot: StatusSnapshot;
  /** Fires after the snapshot was replaced, once for each turn of the event loop. */
  readonly onDidChange: Event<StatusSnapshot>;
  launchOf(server: string): LaunchDescription | undefined;
  /**
   * Takes all sources, in folder order. Resolves when every server has started or failed, or a
   * later call took over.
   */
  setSources(sources: readonly SourceText[]): Promise<void>;
  /** Reads the files and applies them. Resolves like `setSources`. */
  reload(): Promise<void>;
  /**
   * Applies the present sources again, because a variable, a secret or another input has changed.
   */
  reapply(): Promise<void>;
  /**
   * These are a person's actions. Each resolves when the state is reached, and rejects for an
   * unknown id.
   */
  start(server: string): Promise<void>;
  stop(server: string): Promise<void>;
  restart(server: string): Promise<void>;
  release(server: string, conversation: string): Promise<boolean>;
  /**
   * Only this opens a browser. Rejects with a text for a person or the signal's reason, not for a
   * failed start.
   */
  signIn(server: string, browser: SignInBrowser, signal: AbortSignal): Promise<void>;
  /** The tools are withdrawn, because a person who signs out does not want agents to go on. */
  signOut(server: string): Promise<void>;
  noteClient(client: ServerClient, change: ClientChange): void;
  noteListed(toolset: string | undefined, conversation: string | undefined): void;
}

export interface Host extends Published, Calls, Servers {
  dispose(): Promise<void>;
}
