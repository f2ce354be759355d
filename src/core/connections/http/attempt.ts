import { clueIn } from '../../failures/likelyCause.js';
import { httpFailure, neverAnsweredHttp, urlUnusable } from '../../failures/http.js';
import type { ConnectOutcome } from '../connection.js';
import { connectOver, type OpeningDeps } from '../eras/opening.js';
import { shown } from './exchange.js';
import { HttpTransport, type HttpTransportDeps } from './transport.js';

type HttpAttemptDeps = Omit<OpeningDeps, 'transport'> & Omit<HttpTransportDeps, 'clientVersion' | 'timeoutMs'>;

export async function attemptHttp(deps: HttpAttemptDeps): Promise<ConnectOutcome> {
  const { launch, self, limit } = deps;
  if (!/^https?:$/.test(URL.canParse(launch.url) ? new URL(launch.url).protocol : ''))
    return { kind: 'failed', failure: urlUnusable(launch.url) };
  const transport = new HttpTransport({ ...deps, clientVersion: self.version, timeoutMs: limit.timeoutMs });
  const opening = { ...deps, transport };
  return await connectOver(opening, {
    beginning: 'the first request',
    neverAnswered: neverAnsweredHttp,
    clue: (error) => clueIn([error]),
    ended: (failure, to) => {
      const ended = { kind: 'broken', detail: transport.causeOfEnd, url: shown(new URL(launch.url)) } as const;
      return httpFailure(launch, failure?.reason ?? ended, to);
    },
  });
}
