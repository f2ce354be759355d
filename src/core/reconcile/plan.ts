/**
 * What an edit asks of one server, as data (R2, R3): from what the file says and what runs, the one step that
 * brings the second to the first. Pure; `ServerUnit` carries it out.
 */
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import type { ApprovalStatus } from '../approval/approvals.js';

export interface Running {
  /** The definition whose tools are published. */
  readonly serving: Pick<ServerDefinition, 'launchHash' | 'viewHash'> | undefined;
  /** The definition that is being started. */
  readonly starting: Pick<ServerDefinition, 'launchHash'> | undefined;
  /** The definition that a person stopped. */
  readonly stopped: Pick<ServerDefinition, 'launchHash' | 'viewHash'> | undefined;
}

/** Whether a definition may run (S1). */
export interface Permits {
  readonly wanted: boolean;
  /** Of what serves; without it nothing serves, and this does not matter. */
  readonly serving: boolean;
}

export type Step =
  | { readonly kind: 'none' }
  /** Withdraw the tools, end the instances when their calls have ended, end the start under way. */
  | { readonly kind: 'withdraw' }
  /** The entry is wrong: what serves goes on, what starts is ended. */
  | { readonly kind: 'keepPrevious' }
  /** It has to be approved first: what serves goes on, what starts is ended. */
  | { readonly kind: 'hold' }
  /** Nor may what serves run any longer: everything ends now. */
  | { readonly kind: 'revoke' }
  /** Filter, transforms or limits changed: publish anew from what is listed, restart nothing. */
  | { readonly kind: 'recurate'; readonly definition: ServerDefinition }
  /** The start under way is for this launch: only what becomes of it changes. */
  | { readonly kind: 'redirect'; readonly definition: ServerDefinition }
  | { readonly kind: 'start'; readonly definition: ServerDefinition };

export function planStep(wanted: ConfiguredServer | undefined, running: Running, permits: Permits): Step {
  if (wanted === undefined) return { kind: 'withdraw' };
  const { serving, starting, stopped } = running;
  const revoked = serving !== undefined && !permits.serving;
  if (wanted.kind === 'invalid') return revoked ? { kind: 'revoke' } : { kind: 'keepPrevious' };
  const { definition } = wanted;
  if (!definition.enabled) return { kind: 'withdraw' };
  if (stopped && stopped.launchHash === definition.launchHash && stopped.viewHash === definition.viewHash) {
    return { kind: 'none' };
  }
  // Before anything of it counts, its filters included: what serves is what was approved, whole.
  if (!permits.wanted) return revoked ? { kind: 'revoke' } : { kind: 'hold' };
  if (serving?.launchHash === definition.launchHash) return { kind: 'recurate', definition };
  if (starting?.launchHash === definition.launchHash) return { kind: 'redirect', definition };
  return { kind: 'start', definition };
}

/** Whether what serves is not what the file says (R3). */
export function diverges(wanted: ConfiguredServer | undefined, serving: Running['serving']): boolean {
  if (!wanted || !serving) return false;
  if (wanted.kind === 'invalid') return true;
  return wanted.definition.launchHash !== serving.launchHash || wanted.definition.viewHash !== serving.viewHash;
}

/** What of one server may run, and what a person is asked about it (S1). Pure but for `judge`, which only looks. */

export type Judge = (definition: ServerDefinition) => ApprovalStatus;

/** What the file says is to run. */
export function enabledDefinition(wanted: ConfiguredServer | undefined): ServerDefinition | undefined {
  return wanted?.kind === 'valid' && wanted.definition.enabled ? wanted.definition : undefined;
}

export function permitsOf(
  judge: Judge,
  wanted: ConfiguredServer | undefined,
  serving: ServerDefinition | undefined,
): Permits {
  const may = (definition: ServerDefinition | undefined): boolean =>
    definition === undefined || judge(definition).kind !== 'pending';
  return { wanted: may(enabledDefinition(wanted)), serving: may(serving) };
}

/** What a person's start starts: where the definition of the file waits for approval or is wrong, the one that serves. */
export function startableDefinition(
  judge: Judge,
  wanted: ConfiguredServer | undefined,
  serving: ServerDefinition | undefined,
): ServerDefinition | undefined {
  if (wanted?.kind === 'invalid') return serving;
  return permitsOf(judge, wanted, serving).wanted ? enabledDefinition(wanted) : serving;
}

/** @param stopped by a person: what is not to start is nobody's question. */
export function approvalOf(
  judge: Judge,
  wanted: ConfiguredServer | undefined,
  serving: ServerDefinition | undefined,
  stopped: boolean,
): ApprovalStatus {
  const definition = wanted?.kind === 'valid' ? wanted.definition : serving;
  if (!definition) return { kind: 'notAsked' };
  const approval = judge(definition);
  const starts = enabledDefinition(wanted) !== undefined && !stopped;
  return approval.kind === 'pending' && !starts ? { kind: 'notAsked' } : approval;
}
