/**
 * The one snapshot that every view reads: sidebar, status bar, problems, command line. Immutable; a view never asks a
 * connection.
 */
import type { ApprovalStatus } from '../approval/approvals.js';
import type { ToolPart } from '../approval/toolPrints.js';
import type { Place, Problem } from '../base/problem.js';
import type { SourceOrigin } from '../config/model.js';
import type { SignInStatus } from '../connections/oauth.js';
import type { ExcludedTool, PublishedPrompt, PublishedResources, ServedTool } from '../tools/catalogue.js';

export type ServerState =
  | { readonly kind: 'disabled' }
  /** The entry itself is wrong and nothing of it runs; its problems say why. */
  | { readonly kind: 'invalid' }
  /** A person has to approve its launch before anything of it runs (spec S1). */
  | { readonly kind: 'pending' }
  /** A person has to sign in before it can be used (spec X7); `why` is a sentence. */
  | { readonly kind: 'signInNeeded'; readonly since: number; readonly why: string }
  | { readonly kind: 'starting'; readonly since: number }
  /** At least one instance lives. */
  | { readonly kind: 'running'; readonly since: number }
  /** No instance lives; the tools stay published and the next call starts one (spec L4). */
  | { readonly kind: 'idle'; readonly since: number }
  | { readonly kind: 'reconnecting'; readonly attempt: number; readonly at: number; readonly cause: string }
  | { readonly kind: 'failed'; readonly since: number; readonly reason: string; readonly fix: string }
  /** A person stopped it; it stays so until a person starts it or its entry changes. */
  | { readonly kind: 'stopped'; readonly since: number };

/** Why what serves is not what the file says now (spec R3). */
export interface PreviousDefinition {
  /** When the definition that still serves was replaced in the file, epoch milliseconds. */
  readonly since: number;
  readonly reason: string;
}

export interface InstanceStatus {
  readonly id: string;
  readonly pid: number | undefined;
  readonly startedAt: number;
  readonly lastCallAt: number | undefined;
  readonly callsInFlight: number;
  readonly use:
    | { readonly kind: 'warm' }
    | { readonly kind: 'shared' }
    | { readonly kind: 'leased'; readonly dialog: string; readonly since: number }
    | { readonly kind: 'draining' };
}

export interface ChangedTool {
  readonly original: string;
  /** Which parts of it, never empty. */
  readonly parts: readonly ToolPart[];
  /** Kept from agents until a person accepts it. */
  readonly held: boolean;
}

export interface ServerStatus {
  readonly id: string;
  /** The file it comes from. */
  readonly source: string;
  readonly origin: SourceOrigin;
  readonly place: Place;
  /** Where lower sources configure the same id, which does not count there (spec C5). */
  readonly shadows: readonly Place[];
  readonly transport: 'stdio' | 'streamable_http' | undefined;
  readonly trulyStateless: boolean | undefined;
  readonly state: ServerState;
  /** Of the definition in the file. It may be pending while a previous one serves. */
  readonly approval: ApprovalStatus;
  readonly previous: PreviousDefinition | undefined;
  /** Absent: it has none and has not asked for one. */
  readonly signIn?: SignInStatus;
  readonly serverInfo: { readonly name: string; readonly version: string } | undefined;
  readonly tools: readonly ServedTool[];
  readonly excluded: readonly ExcludedTool[];
  /** Those that are not what they were when the server was approved (spec S3). */
  readonly changedTools: readonly ChangedTool[];
  readonly prompts: readonly PublishedPrompt[];
  readonly resources: PublishedResources;
  /** Tools the server offers in all. */
  readonly offered: number;
  readonly instances: readonly InstanceStatus[];
}

export interface StatusSnapshot {
  /** The registry version (spec R5). */
  readonly version: number;
  /** Source files whose last reload was refused whole: what runs is what stood there before. */
  readonly refused: readonly { readonly file: string; readonly since: number }[];
  /** In file order. */
  readonly servers: readonly ServerStatus[];
  readonly problems: readonly Problem[];
}
