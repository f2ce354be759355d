/** What agents may do with tools (spec S4), as the core asks it of its shell. */
import type { Event } from '../base/events.js';
import type { PermissionVerdict } from './permissions.js';

/** A call that waits for a person. */
export interface ToolQuestion {
  readonly toolset: string;
  /** Published name. */
  readonly tool: string;
  /** As its server describes it, if it does. */
  readonly title: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  readonly dialog: string;
  /** Aborted: nobody waits for the answer any longer. */
  readonly signal: AbortSignal;
}

export interface ToolPolicy {
  /** By published name. Synchronous, and the same until `onDidChange`. */
  judge(published: string): PermissionVerdict;
  /** Resolves to whether the person wants the call; `false` also when it is no longer waited for. Never rejects. */
  ask(question: ToolQuestion): Promise<boolean>;
  readonly onDidChange: Event<void>;
}
