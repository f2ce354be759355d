/**
 * Pages that a person opens during a call. A server of 2025-11-25 fails the call first (-32042). It
 * has done nothing, so we repeat the call of a client that does not know this error (G4c).
 */
import { abortSignalOf } from '../../base/cancellation.js';
import { limited, type Clock } from '../../base/clock.js';
import { unlessAborted } from '../../base/events.js';
import { asFields, asList, isObject } from '../../base/isObject.js';
import { messageOf } from '../../base/text.js';
import { declaredCapabilities, type Fields } from '../../protocol/client.js';
import { errorCodes } from '../../protocol/errors.js';
import type { Outcome } from '../../protocol/request.js';
import { presentParams } from '../../protocol/shapes.js';
import { modernVersion } from '../../protocol/versions.js';
import type { ForwardTerms, RequestContext } from './requests.js';

const mostRounds = 16;
const mostPages = 64;
/** A silent server is called again after this time, in milliseconds. */
const completionLimitMs = 30_000;
const elicit = 'elicitation/create';

type Failed = Extract<Outcome<never>, { kind: 'error' }>;

export async function withPagesOpened<Of extends Outcome<unknown>>(
  send: () => Promise<Of>,
  terms: ForwardTerms,
  { client, deps }: Pick<RequestContext, 'client' | 'deps'>,
): Promise<Of | Failed> {
  if (client.traits.version !== modernVersion) return send();
  for (let rounds = 0; ; rounds++) {
    const outcome = await send();
    const isRequired = outcome.kind === 'error' && outcome.code === errorCodes.pagesRequired;
    const pages = isRequired ? pagesIn(outcome.data) : [];
    if (pages.length === 0) return outcome;
    if (rounds === mostRounds)
      return failed(`The server asked to open pages more than ${mostRounds} times.`);
    const refusal = await opened(pages, terms, deps.clock);
    if (refusal) return refusal;
  }
}

async function opened(
  pages: readonly Fields[],
  { client, signal: ended }: ForwardTerms,
  clock: Clock,
): Promise<Failed | undefined> {
  const signal = abortSignalOf(ended);
  if (!('url' in (declaredCapabilities(client.capabilities).elicitation ?? {}))) {
    const data = { requiredCapabilities: { elicitation: { url: {} } } };
    const message =
      'The call needs a page to be opened, and the client has not declared that it can open pages.';
    return {
      kind: 'error',
      code: errorCodes.missingCapability,
      message,
      data,
    };
  }
  const ids = pages.map(({ elicitationId }) => elicitationId);
  const completed = client.completed(ids.filter((id) => typeof id === 'string'));
  try {
    const answers = await Promise.all(
      pages.map((page) =>
        client.ask(elicit, presentParams(elicit, { ...page, mode: 'url' }), signal),
      ),
    );
    if (answers.some(({ action }) => action !== 'accept'))
      return failed('A page that the call needs was not opened.');
  } catch (error) {
    return failed(messageOf(error));
  }
  const untilOver = (over: AbortSignal): Promise<void> => unlessAborted(completed, over);
  await limited(clock, completionLimitMs, signal, untilOver).catch(() => undefined);
  return undefined;
}

function failed(message: string): Failed {
  return {
    kind: 'error',
    code: errorCodes.server,
    message,
  };
}

function pagesIn(data: unknown): readonly Fields[] {
  return asList(asFields(data)['elicitations'])
    .filter(isObject)
    .filter(({ url, message }) => typeof url === 'string' && typeof message === 'string')
    .slice(0, mostPages);
}
