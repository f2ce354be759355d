import { clueIn } from '../../failures/likelyCause.js';
import { httpFailure, neverAnsweredHttp, urlUnusable } from '../../failures/http.js';
import type { ConnectOutcome } from '../connection.js';
import { connectOver, type OpeningDeps } from '../eras/opening.js';
import { shown } from './exchange.js';
import { HttpTransport, type HttpTransportDeps } from './transport.js';

type HttpAttemptDeps = Omit<OpeningDeps, 'transport'> & HttpTransportDeps;

export async function attemptHttp(deps: HttpAttemptDeps, timedOut: () => boolean): Promise<ConnectOutcome> {
  const { launch } = deps;
  if (!/^https?:$/.test(URL.canParse(launch.url) ? new URL(launch.url).protocol : ''))
    return { kind: 'failed', failure: urlUnusable(launch.url) };
  const transport = new HttpTransport(deps);
  return await connectOver({ ...deps, transport }, timedOut, {
    beginning: 'the first request',
    neverAnswered: neverAnsweredHttp,
    clue: (error) => clueIn([error]),
    ended: (failure, to) => {
      const ended = { kind: 'broken', detail: transport.causeOfEnd, url: shown(new URL(launch.url)) } as const;
      return httpFailure(launch, failure?.reason ?? ended, to);
    },
  });
}
