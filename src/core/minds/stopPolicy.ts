/**
 * Decides about retries and the end of a conversation (D4), as a pure state machine from an event to the next state.
 * Time and chance are inputs. Invariants: stopped and cancelled are final. A request is sent again at most
 * `mostRetries` times. A complete answer resets the count.
 */
import { assertNever } from '../base/assertNever.js';
import type { ModelFailure } from './modelFailures.js';

export const mostRetries = 3;

/** How many milliseconds the first retry waits; each further retry waits twice as long. */
const firstDelayMs = 1000;
/** How many milliseconds a provider may ask for; a longer wait is not worth it. */
const longestWaitMs = 60_000;

export type StopReason =
  | { readonly kind: 'rejected'; readonly text: string }
  | { readonly kind: 'unavailable'; readonly text: string }
  | { readonly kind: 'unknown'; readonly text: string }
  /** The cause seemed to pass, and did not. */
  | { readonly kind: 'exhausted'; readonly text: string; readonly attempts: number };

export type RunState =
  /** `attempt` counts the retries of the request under way and is 0 when it is first sent. */
  | { readonly kind: 'running'; readonly attempt: number }
  /** It will be sent again at `at`, in epoch milliseconds, as retry number `attempt`. */
  | { readonly kind: 'retrying'; readonly attempt: number; readonly at: number; readonly cause: string }
  | { readonly kind: 'stopped'; readonly why: StopReason }
  | { readonly kind: 'cancelled' };

export type RunEvent =
  /** `now` is in epoch milliseconds; `chance`, in [0, 1), spreads the retries of several conversations. */
  | { readonly kind: 'failed'; readonly failure: ModelFailure; readonly now: number; readonly chance: number }
  | { readonly kind: 'due' }
  | { readonly kind: 'answered' }
  | { readonly kind: 'cancelled' };

export const started: RunState = { kind: 'running', attempt: 0 };

export function nextState(state: RunState, event: RunEvent): RunState {
  if (state.kind === 'stopped' || state.kind === 'cancelled') return state;
  switch (event.kind) {
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'answered':
      return started;
    case 'due':
      return { kind: 'running', attempt: state.attempt };
    case 'failed':
      return afterFailure(state.attempt, event.failure, event.now, event.chance);
    default:
      return assertNever(event);
  }
}

function afterFailure(attempt: number, failure: ModelFailure, now: number, chance: number): RunState {
  const { text } = failure;
  switch (failure.kind) {
    case 'rejected':
    case 'unavailable':
    case 'unknown':
      return { kind: 'stopped', why: { kind: failure.kind, text } };
    case 'transient': {
      const asked = failure.retryAfterMs ?? 0;
      if (attempt >= mostRetries || asked > longestWaitMs) {
        return { kind: 'stopped', why: { kind: 'exhausted', text, attempts: attempt + 1 } };
      }
      const backOff = firstDelayMs * 2 ** attempt * (1 + chance / 4);
      return { kind: 'retrying', attempt: attempt + 1, at: now + Math.max(backOff, asked), cause: text };
    }
    default:
      return assertNever(failure);
  }
}
