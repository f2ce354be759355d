/**
 * Why a definition does not serve, or the fault of the one in service: a failed operation with its
 * time.
 */
import { altered, english } from '../base/language.js';
import type { Problem } from '../base/problem.js';
import type { StartFailure } from '../connections/connection.js';
import type { Services } from '../instances/services.js';
import type { At } from '../tools/problems.js';
import { lostConnection, startFailed } from './problems.js';

export type FailureCause =
  | { readonly kind: 'startFailed'; readonly failure: StartFailure }
  /** Two tools have one name (N5). */
  | { readonly kind: 'refused'; readonly problems: readonly [Problem, ...Problem[]] }
  /** `final`: reconnecting has given up (X4a). `count`: the deaths within a minute. */
  | {
      readonly kind: 'lost';
      readonly cause: string;
      readonly count: number;
      readonly final: boolean;
    };

export interface Failure {
  readonly since: number;
  readonly reason: string;
  readonly fix: string;
  readonly start?: StartFailure;
  /** A dead lease takes nothing down, because the next call of its conversation starts another. */
  readonly takesDown: boolean;
  readonly problems: (at: At) => readonly Problem[];
}

export function failureOf(cause: FailureCause, id: string, services: Services): Failure {
  const { clock, log, recorder, redactor } = services;
  const failure = { ...described(cause, (text) => redactor.redact(text)), since: clock.now() };
  if (cause.kind === 'startFailed')
    recorder.event({
      event: 'start failed',
      toolset: id,
      reason: cause.failure.code,
    });
  log.write('error', `${id}: ${failure.reason} ${failure.fix}`);
  return failure;
}

/** Servers quote their input, so their texts are redacted before anyone reads them (E4). */
export function described(
  cause: FailureCause,
  redact: (text: string) => string,
): Omit<Failure, 'since'> {
  if (cause.kind === 'refused') {
    const [{ message, fix }] = cause.problems;
    return {
      reason: message,
      fix,
      takesDown: true,
      problems: () => cause.problems,
    };
  }
  if (cause.kind === 'startFailed') {
    const reason = altered(cause.failure.message, redact);
    const fix = altered(cause.failure.fix, redact);
    const start = {
      ...cause.failure,
      message: reason,
      fix,
    };
    return {
      reason,
      fix,
      start,
      takesDown: true,
      problems: (at) => [startFailed(at, start)],
    };
  }
  const lost = altered(cause.cause, redact);
  const fix =
    'Restart it, edit its entry, or let the next call start it. Its log shows its last output.';
  return {
    reason: cause.final
      ? english`It ended again and again, so it is no longer restarted: ${lost}`
      : lost,
    fix,
    takesDown: cause.final,
    problems: (at) => [
      lostConnection(at, { ...cause, cause: altered(lost, (text) => text.replace(/\.$/, '')) }),
    ],
  };
}
