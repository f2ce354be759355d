import { clueIn } from '../../failures/likelyCause.js';
import { httpFailure, neverAnsweredHttp, urlUnusable } from '../../failures/http.js';
import type { ConnectOutcome } from '../connection.js';
import { connectOver, type OpeningDeps } from '../eras/opening.js';
import { shown } from './exchange.js';
import { HttpTransport, type HttpTransportDeps } from './transport.js';

type HttpAttemptDeps = Omit<OpeningDeps, 'transport'> &
  Omit<HttpTransportDeps, 'clientVersion' | 'timeoutMs'>;

export async function attemptHttp(deps: HttpAttemptDeps): Promise<ConnectOutcome> {
  const { launch, self, limit } = deps;
  const url = launch.url.value;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    return { kind: 'failed', failure: urlUnusable(url) };
  const transport = new HttpTransport({
    ...deps,
    clientVersion: self.version,
    timeoutMs: limit.timeoutMs,
  });
  const opening = { ...deps, transport };
  return await connectOver(opening, {
    beginning: 'the first request',
    neverAnswered: neverAnsweredHttp,
    clue: (error) => clueIn([error]),
    ended: (failure, to) => {
      const ended = {
        kind: 'broken',
        detail: transport.causeOfEnd,
        url: shown(new URL(url)),
      } as const;
      return httpFailure(launch, failure?.reason ?? ended, to);
    },
  });
}
