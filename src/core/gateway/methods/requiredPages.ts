/**
 * Servers of 2025-11-25 may fail a call until a person has opened pages (-32042). Version 2026-07-28 has no such
 * error. The gateway asks the client during the call, and sends the call again, because the server has done nothing
 * yet (G4c).
 */
import { abortSignalOf, type CancelSignal } from '../../base/cancellation.js';
import { delay, type Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import { messageOf } from '../../base/text.js';
import { declaredCapabilities, type Fields } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import type { Outcome } from '../../protocol/request.js';
import type { CallClient } from '../conversations/client.js';

/** A call fails after this number of rounds. */
const mostRounds = 16;
const mostPages = 64;
/** A silent server is called again after this time, in milliseconds. */
const completionLimitMs = 30_000;

interface Asking {
  readonly client: CallClient;
  readonly signal: CancelSignal;
  readonly clock: Clock;
}

type Failed = Extract<Outcome<never, never>, { kind: 'error' }>;

export async function withPagesOpened<Result, Beside>(
  send: () => Promise<Outcome<Result, Beside>>,
  asking: Asking,
): Promise<Outcome<Result, Beside>> {
  for (let rounds = 0; ; rounds++) {
    const outcome = await send();
    const pages = outcome.kind === 'error' && outcome.code === errorCodes.pagesRequired ? pagesIn(outcome.data) : [];
    if (pages.length === 0) return outcome;
    if (rounds === mostRounds) return failed(`The server asked to open pages more than ${mostRounds} times.`);
    const refusal = await opened(pages, asking);
    if (refusal) return refusal;
  }
}

/** Resolves to the reason if the pages were not opened. */
async function opened(pages: readonly Fields[], { client, signal: ended, clock }: Asking): Promise<Failed | undefined> {
  const signal = abortSignalOf(ended);
  if (!('url' in (declaredCapabilities(client.capabilities).elicitation ?? {}))) {
    const data = { requiredCapabilities: { elicitation: { url: {} } } };
    const message = 'The call needs a page to be opened, and the client has not declared that it can open pages.';
    return { kind: 'error', code: errorCodes.missingCapability, message, data };
  }
  const ids = pages.flatMap(({ elicitationId: id }) => (typeof id === 'string' ? [id] : []));
  try {
    const answers = await Promise.all(
      pages.map((page) => client.ask('elicitation/create', { ...page, mode: 'url' }, signal)),
    );
    if (answers.some(({ action }) => action !== 'accept')) return failed('A page that the call needs was not opened.');
  } catch (error) {
    return failed(messageOf(error));
  }
  const limit = new AbortController();
  const over = AbortSignal.any([signal, limit.signal]);
  await Promise.race([client.completed(ids), delay(clock, completionLimitMs, over).catch(() => undefined)]);
  limit.abort();
  return undefined;
}

function failed(message: string): Failed {
  return { kind: 'error', code: errorCodes.server, message };
}

function pagesIn(data: unknown): readonly Fields[] {
  const { elicitations } = (isObject(data) ? data : {}) as { elicitations?: unknown };
  const pages = Array.isArray(elicitations) ? elicitations.filter(isObject) : [];
  return pages.filter(({ url, message }) => typeof url === 'string' && typeof message === 'string').slice(0, mostPages);
}
