/**
 * Reads the answer to one request to its end (X2, X4). A broken event stream is resumed after its last event, never by
 * a second request, and as often as the server ends it in good order. A stream still open after the answer is closed.
 */
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { delay, type Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import type { Log } from '../../base/log.js';
import type { LoopShare } from '../../base/turns.js';
import { answers, logStrayEvent, readAnswer, readStream, type AnswerReader } from './answer.js';
import type { HttpEndpoint } from './endpoint.js';
import { broken, isForNow, type HttpReply } from './exchange.js';

interface ResumptionDeps {
  readonly endpoint: HttpEndpoint;
  readonly clock: Clock;
  readonly log: Log;
  readonly share: LoopShare;
}

const mostResumptions = 5;
const firstDelayMs = 1000;
/** A stream still open after its answer is closed after this. */
const afterAnswerMs = 2000;

/**
 * Rejects with a `TransportFailure` if no answer can come.
 * @param signal also ends the reading of `reply`, requested with it
 */
export async function readWholeAnswer(
  { endpoint, clock, log, share }: ResumptionDeps,
  id: RequestId,
  reply: HttpReply,
  deliver: AnswerReader['deliver'],
  signal: AbortSignal,
): Promise<void> {
  let current = reply;
  let retryMs: number | undefined;
  let timer: Disposable | undefined;
  const reader: AnswerReader = {
    deliver: (message) => {
      if (answers(message, id)) {
        timer = clock.after(afterAnswerMs, () => current.body.destroy());
      }
      deliver(message);
    },
    onRetry: (ms) => (retryMs = ms),
    onStray: (text) => logStrayEvent(log, text),
    share,
  };
  try {
    const end = await readAnswer(reply, id, reader);
    if (end.kind === 'answered') return;
    let { lastEventId, failure } = end;
    for (let attempt = 0; attempt < mostResumptions && !signal.aborted; attempt++) {
      await delay(clock, retryMs ?? firstDelayMs * 2 ** attempt, signal).catch(() => undefined);
      log.write('debug', `Taking up the answer to request ${id} after event ${lastEventId}`);
      const taken = await endpoint.get(lastEventId, 'call', signal).catch((error: unknown) => {
        if (broken(error, endpoint.url).reason.kind === 'broken') return undefined;
        // This failure concerns only the resumption: the server may have acted on the first request (X4).
        throw failure;
      });
      if (!taken) continue;
      current = taken;
      if (current.status !== 200 || current.contentType !== 'text/event-stream') {
        current.body.destroy();
        if (!isForNow(current)) throw failure;
        retryMs = Math.max(firstDelayMs * 2 ** attempt, retryMs ?? 0);
        continue;
      }
      const next = await readStream(current, id, reader, lastEventId);
      if (next.kind === 'answered') return;
      ({ lastEventId, failure } = next);
      if (next.getsOn) attempt = -1;
    }
    throw failure;
  } finally {
    timer?.dispose();
  }
}
