/** What of one server may run, and what a person is asked about it (spec S1). Pure but for `judge`, which only looks. */
import type { ApprovalStatus } from '../approval/approvals.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import type { Permits } from './plan.js';

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
