/**
 * The core asks its shell which launches may start (S1). The shell knows the person's approvals and
 * settings.
 */
import type { Event } from '../base/events.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import { describeLaunch, type LaunchDescription } from './fingerprint.js';

export type ApprovalVerdict = 'approved' | 'pending' | 'notAsked';

export interface Approvals {
  /**
   * The verdict stays the same until `onDidChange`. `notAsked` means that it may start without a
   * question.
   */
  judge(launch: LaunchDescription): ApprovalVerdict;
  /** Returns false if an approval of this launch ends with its process (S1h). */
  isKept(launch: LaunchDescription): boolean;
  readonly onDidChange: Event<void>;
}

export type ApprovalStatus =
  | { readonly kind: 'notAsked' | 'approved' }
  | {
      readonly kind: 'pending';
      readonly launch: LaunchDescription;
      readonly isKept?: boolean;
    };

export function launchOf(server: ConfiguredServer | undefined): LaunchDescription | undefined {
  return server?.kind === 'valid' ? describeLaunch(server.definition) : undefined;
}

export function judgeLaunch(
  definition: ServerDefinition,
  approvals: Approvals | undefined,
): ApprovalStatus {
  if (!approvals) return { kind: 'notAsked' };
  const launch = describeLaunch(definition);
  const kind = approvals.judge(launch);
  return kind === 'pending'
    ? {
        kind,
        launch,
        isKept: approvals.isKept(launch),
      }
    : { kind };
}
