/**
 * The core asks its shell what may be started (S1). Nothing is decided here: the shell knows what a person approved and
 * whether they want to be asked.
 */
import type { Event } from '../base/events.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import { describeLaunch, type LaunchDescription } from './fingerprint.js';

export interface Approvals {
  /** The verdict stays the same until `onDidChange`. `notAsked` means that it may start and nobody has to be asked. */
  judge(launch: LaunchDescription): 'approved' | 'pending' | 'notAsked';
  readonly onDidChange: Event<void>;
}

export type ApprovalStatus =
  | { readonly kind: 'notAsked' }
  | { readonly kind: 'approved' }
  /** `launch` may not start before a person has approved it. */
  | { readonly kind: 'pending'; readonly launch: LaunchDescription };

/** Returns what a person approves of a server; undefined where its entry is wrong. */
export function launchOf(server: ConfiguredServer | undefined): LaunchDescription | undefined {
  return server?.kind === 'valid' ? describeLaunch(server.definition) : undefined;
}

/** @param approvals absent where everything may start */
export function judgeLaunch(definition: ServerDefinition, approvals: Approvals | undefined): ApprovalStatus {
  if (!approvals) return { kind: 'notAsked' };
  const launch = describeLaunch(definition);
  const kind = approvals.judge(launch);
  return kind === 'pending' ? { kind, launch } : { kind };
}
