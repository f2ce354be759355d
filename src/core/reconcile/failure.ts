/** Why a definition does not serve, or the fault of the one in service: a failed operation with its time. */
import type { Problem } from '../base/problem.js';
import type { StartFailure } from '../connections/connection.js';
import type { Services } from '../instances/services.js';

export type FailureCause =
  | { readonly kind: 'startFailed'; readonly failure: StartFailure }
  /** Two tools have one name (N5). */
  | { readonly kind: 'refused'; readonly problems: readonly [Problem, ...Problem[]] }
  /** `final`: reconnecting has given up (X4). */
  | { readonly kind: 'lost'; readonly cause: string; readonly final: boolean };

export type Failure = FailureCause & { readonly since: number };

/** Servers quote their input, so their texts are redacted before anyone reads them (E4). */
export function redactedCause(cause: FailureCause, redact: (text: string) => string): FailureCause {
  if (cause.kind === 'lost') return { ...cause, cause: redact(cause.cause) };
  if (cause.kind === 'refused') return cause;
  const { kind, failure } = cause;
  return { kind, failure: { ...failure, message: redact(failure.message), fix: redact(failure.fix) } };
}

/** Makes the failure of this moment, and records and logs it. */
export function failureOf(cause: FailureCause, { id, services }: { id: string; services: Services }): Failure {
  const { clock, log, recorder, redactor } = services;
  const failure = { ...redactedCause(cause, (text) => redactor.redact(text)), since: clock.now() };
  const { reason, fix } = describeFailure(failure);
  if (cause.kind === 'startFailed') recorder.event({ event: 'start failed', toolset: id, reason: cause.failure.code });
  log.write('error', `${id}: ${reason} ${fix}`);
  return failure;
}

/** A dead lease takes nothing down, because the next call of its conversation starts another. */
export function takesDown(failure: Failure): boolean {
  return failure.kind !== 'lost' || failure.final;
}

export function describeFailure(failure: Failure): { reason: string; fix: string } {
  switch (failure.kind) {
    case 'startFailed':
      return { reason: failure.failure.message, fix: failure.failure.fix };
    case 'refused':
      return { reason: failure.problems[0].message, fix: failure.problems[0].fix };
    case 'lost': {
      const before = failure.final ? 'It ended again and again, so it is no longer restarted: ' : '';
      const fix = 'Restart it, edit its entry, or let the next call start it. Its log shows its last output.';
      return { reason: before + failure.cause, fix };
    }
  }
}
