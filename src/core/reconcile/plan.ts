/**
 * What an edit asks of one server, as data (R2, R3): the one step that brings what runs to what the file says, and what
 * of it may run at all (S1). Everything is pure but `Judge`, which looks at what was approved; `ServerUnit` carries the
 * step out.
 */
import type { ApprovalStatus } from '../approval/approvals.js';
import { isEnabled, type ConfiguredServer, type ServerDefinition } from '../config/model.js';

export interface Running {
  /** The definition whose tools are published. */
  readonly serving: Pick<ServerDefinition, 'launchHash' | 'viewHash'> | undefined;
  /** The definition that is being started. */
  readonly starting: Pick<ServerDefinition, 'launchHash'> | undefined;
  /** The definition that a person stopped. */
  readonly stopped: Pick<ServerDefinition, 'launchHash' | 'viewHash'> | undefined;
}

/** What may run (S1). */
export interface Permits {
  /** Whether the definition of the file may run. */
  readonly wanted: boolean;
  /** Whether what serves may go on; it does not matter where nothing serves. */
  readonly serving: boolean;
}

export type Step =
  | { readonly kind: 'none' }
  /** Withdraw the tools, end the instances when their calls have ended, and end the start under way. */
  | { readonly kind: 'withdraw' }
  /** The entry is wrong: what serves goes on, and the start under way ends. */
  | { readonly kind: 'keepPrevious' }
  /** A person has to approve it first: what serves goes on, and the start under way ends. */
  | { readonly kind: 'hold' }
  /** Not even what serves may run any longer: everything ends now. */
  | { readonly kind: 'revoke' }
  /** Only filters, transforms or limits changed: publish anew from what is listed, and restart nothing. */
  | { readonly kind: 'recurate'; readonly definition: ServerDefinition }
  /** The start under way is for this launch, so that only what becomes of it changes. */
  | { readonly kind: 'redirect'; readonly definition: ServerDefinition }
  | { readonly kind: 'start'; readonly definition: ServerDefinition };

export function planStep(wanted: ConfiguredServer | undefined, running: Running, permits: Permits): Step {
  if (wanted === undefined || !isEnabled(wanted)) return { kind: 'withdraw' };
  const { serving, starting, stopped } = running;
  const revoked = serving !== undefined && !permits.serving;
  if (wanted.kind === 'invalid') return revoked ? { kind: 'revoke' } : { kind: 'keepPrevious' };
  const { definition } = wanted;
  if (stopped && stopped.launchHash === definition.launchHash && stopped.viewHash === definition.viewHash) {
    return { kind: 'none' };
  }
  // This comes before anything of the definition counts, its filters included: what serves was approved as a whole.
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

/** Says whether a definition is approved, without asking anybody. */
export type Judge = (definition: ServerDefinition) => ApprovalStatus;

/** Returns the definition that is to run by the file. */
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

/**
 * Returns what a person's start starts: the definition of the file, or the one that serves where that of the file waits
 * for approval or is wrong.
 */
export function startableDefinition(
  judge: Judge,
  wanted: ConfiguredServer | undefined,
  serving: ServerDefinition | undefined,
): ServerDefinition | undefined {
  if (wanted?.kind === 'invalid') return serving;
  return permitsOf(judge, wanted, serving).wanted ? enabledDefinition(wanted) : serving;
}

/** @param stopped whether a person stopped it: nobody is asked about what is not going to start */
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
