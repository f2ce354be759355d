import { english } from '../base/language.js';
import type { Problem } from '../base/problem.js';
import type { ProblemCode } from '../base/problemCatalogue.js';
import { asSentence } from '../base/text.js';
import { errorCodes, type RpcError } from '../protocol/errors.js';
import { shortened } from '../protocol/inBrief.js';
import { notAnObject } from '../protocol/jsonRpc.js';
import type { LikelyCause } from './likelyCause.js';
import type { TransportFailure } from './transportFailure.js';

/** A failed start with a next step; no secrets are removed here. */
export interface StartFailure extends Pick<Problem, 'code' | 'fix' | 'instead'> {
  /**
   * Completes `"server" …`. The first line names the cause; the attempt and the reply may follow.
   */
  readonly message: string;
  /**
   * The place of the cause in the server's entry: a path that `ServerPlaces` finds. An empty path is
   * the server's key.
   */
  readonly path: readonly (string | number)[];
  /** It needs a port, a name or a file that another process has. */
  readonly isTaken?: true;
}

export function failed(
  code: ProblemCode,
  message: string,
  fix: string,
  path: StartFailure['path'] = [],
): StartFailure {
  return { code, message, fix, path };
}

export type FailedOpening =
  /** `error` is one without an id, and nothing came after it. */
  | {
      readonly kind: 'stopped';
      readonly during: 'initialize' | 'initialized' | 'list';
      readonly error?: RpcError;
    }
  | { readonly kind: 'wrongAnswer'; readonly detail: string }
  | {
      readonly kind: 'refused';
      readonly code: number;
      readonly message: string;
    }
  /**
   * The transport has ended, or knows why the message got no answer. `to` names it, unless it is
   * `initialize`.
   */
  | {
      readonly kind: 'transport';
      readonly failure: TransportFailure | undefined;
      readonly to?: string;
    }
  | { readonly kind: 'listFailed'; readonly reason: string };

export interface TransportFailures {
  /** Completes "They did not come within 5 s of …". */
  readonly beginning: string;
  neverAnswered(timeoutMs: number): StartFailure;
  ended(failure: TransportFailure | undefined, to?: string): StartFailure | Promise<StartFailure>;
  clue?(error: string): LikelyCause | undefined;
}

export async function startFailure(
  opening: FailedOpening,
  timeoutMs: number,
  failures: TransportFailures,
): Promise<StartFailure> {
  const withClue = (failure: StartFailure, error: string): StartFailure => {
    const clue = failures.clue?.(error);
    return clue
      ? {
          ...failure,
          message: english`${failure.message} ${clue.cause}`,
          fix: clue.fix,
          ...(clue.isTaken && { isTaken: true }),
        }
      : failure;
  };
  switch (opening.kind) {
    case 'stopped': {
      const { error } = opening;
      if (error) return withClue(initializeRefused(error), error.message);
      if (opening.during === 'initialize') return failures.neverAnswered(timeoutMs);
      if (opening.during === 'initialized')
        return failed('server-silent', notTaken(timeoutMs), takeAtOnce);
      return withClue(
        listFailed(
          english`They did not come within ${timeoutMs / 1000} s of ${failures.beginning}.`,
        ),
        '',
      );
    }
    case 'wrongAnswer':
      return failed(
        'server-protocol',
        english`answered, but its answer to initialize ${opening.detail}.`,
        unlikeMcp,
      );
    case 'refused':
      return withClue(initializeRefused(opening), opening.message);
    case 'listFailed':
      return withClue(listFailed(opening.reason), opening.reason);
    case 'transport':
      return await failures.ended(opening.failure, opening.to);
  }
}

const notTaken = (timeoutMs: number): string =>
  english`answered initialize, but did not take notifications/initialized within ${timeoutMs / 1000} s.`;

const unlikeMcp =
  'Update the server, or ask its author: the answer does not follow the MCP specification.';
const takeAtOnce =
  'Look at the server’s own log. Update the server, or ask its author: it has to take each notification at once.';

export function initializeRefused(error: {
  readonly code: number;
  readonly message: string;
}): StartFailure {
  if (error.message.startsWith(notAnObject)) {
    const answer = error.message.slice(notAnObject.length);
    return failed('server-protocol', english`answered initialize with \`${answer}\`.`, unlikeMcp);
  }
  const [message, fix] =
    error.code === errorCodes.unsupportedVersion
      ? [
          english`speaks another version of the protocol. ${shortened(error.message, 600)}`,
          'Use a version of the server that speaks one of these, or update this extension.',
        ]
      : [
          english`refused initialize with error ${error.code}: ${asSentence(shortened(error.message, 300))}`,
          'Look at the server’s log and documentation for what it needs before it starts.',
        ];
  return failed('server-protocol', message, fix);
}

export function listFailed(reason: string): StartFailure {
  const fix = reason.startsWith('The server lists more than')
    ? 'Look in its documentation for a way to let it list fewer: no agent could use so many.'
    : 'Look at the server’s log; restart it, or update it if it happens again.';
  return failed('list-failed', english`started, but its tools could not be listed. ${reason}`, fix);
}
