/**
 * The next step for one server after an edit, as data (R2, R3), and the decision what may run (S1).
 */
import type { ApprovalStatus } from '../approval/approvals.js';
import { isEnabled, type ConfiguredServer, type ServerDefinition } from '../config/model.js';

export type Running = Readonly<
  Record<'serving' | 'starting' | 'stopped', ServerDefinition | undefined>
>;

type Permits = Readonly<Record<'wanted' | 'serving', boolean>>;

export type Step =
  | { readonly kind: 'none' }
  /** Withdraw the tools, end the instances after their calls, and end the start under way. */
  | { readonly kind: 'withdraw' }
  /** The entry has an error: the serving definition goes on, and the start under way ends. */
  | { readonly kind: 'keepPrevious' }
  /** The entry waits for approval: the serving definition goes on, and the start under way ends. */
  | { readonly kind: 'hold' }
  /** The serving definition lost its approval: everything ends now. */
  | { readonly kind: 'revoke' }
  /**
   * Only filters, transforms or limits changed: publish the present list again, and restart
   * nothing.
   */
  | { readonly kind: 'recurate'; readonly definition: ServerDefinition }
  /** The start under way is for this launch, so only its definition changes. */
  | { readonly kind: 'redirect'; readonly definition: ServerDefinition }
  | { readonly kind: 'start'; readonly definition: ServerDefinition };

export function planStep(
  wanted: ConfiguredServer | undefined,
  running: Running,
  permits: Permits,
): Step {
  if (wanted === undefined || !isEnabled(wanted)) return { kind: 'withdraw' };
  const { serving, starting, stopped } = running;
  const revoked = serving !== undefined && !permits.serving;
  if (wanted.kind === 'invalid') return revoked ? { kind: 'revoke' } : { kind: 'keepPrevious' };
  const { definition } = wanted;
  if (
    stopped &&
    stopped.launchHash === definition.launchHash &&
    stopped.viewHash === definition.viewHash
  ) {
    return { kind: 'none' };
  }
  // This comes before any other part of the definition counts, filters included: a person approves
  // the whole.
  if (!permits.wanted) return revoked ? { kind: 'revoke' } : { kind: 'hold' };
  if (serving?.launchHash === definition.launchHash) return { kind: 'recurate', definition };
  if (starting?.launchHash === definition.launchHash) return { kind: 'redirect', definition };
  return { kind: 'start', definition };
}

export function editOf(
  before: ConfiguredServer,
  after: ConfiguredServer | undefined,
): string | undefined {
  if (after === undefined) return 'its entry was removed';
  if (isEnabled(before) !== isEnabled(after))
    return isEnabled(after) ? 'it was enabled' : 'it was disabled';
  if (after.kind === 'invalid')
    return before.kind === 'invalid' ? undefined : 'its entry has an error';
  if (before.kind === 'invalid') return 'the error in its entry was corrected';
  const { launchHash, viewHash } = before.definition;
  const next = after.definition;
  if (launchHash !== next.launchHash) return 'its launch was changed';
  return viewHash === next.viewHash ? undefined : 'its tools or limits were changed';
}

export function diverges(
  wanted: ConfiguredServer | undefined,
  serving: Running['serving'],
): boolean {
  if (!wanted || !serving) return false;
  if (wanted.kind === 'invalid') return true;
  return (
    wanted.definition.launchHash !== serving.launchHash ||
    wanted.definition.viewHash !== serving.viewHash
  );
}

export function enabledDefinition(
  wanted: ConfiguredServer | undefined,
): ServerDefinition | undefined {
  return wanted?.kind === 'valid' && wanted.definition.enabled ? wanted.definition : undefined;
}

export interface Asked {
  readonly judge: (definition: ServerDefinition) => ApprovalStatus;
  readonly wanted: ConfiguredServer | undefined;
  readonly serving: ServerDefinition | undefined;
}

export function permitsOf({ judge, wanted, serving }: Asked): Permits {
  const may = (definition: ServerDefinition | undefined): boolean =>
    definition === undefined || judge(definition).kind !== 'pending';
  return { wanted: may(enabledDefinition(wanted)), serving: may(serving) };
}

/** Without a valid and approved definition in the file, a person starts the serving one. */
export function startableDefinition(asked: Asked): ServerDefinition | undefined {
  const { wanted, serving } = asked;
  return wanted?.kind === 'invalid' || !permitsOf(asked).wanted
    ? serving
    : enabledDefinition(wanted);
}

/** A server that a person stopped needs no question. */
export function approvalOf({ judge, wanted, serving }: Asked, stopped: boolean): ApprovalStatus {
  const definition = wanted?.kind === 'valid' ? wanted.definition : serving;
  if (!definition) return { kind: 'notAsked' };
  const approval = judge(definition);
  const starts = enabledDefinition(wanted) !== undefined && !stopped;
  return approval.kind === 'pending' && !starts ? { kind: 'notAsked' } : approval;
}
