/** Makes one attempt to connect to a server over HTTP, and says why when it fails (X2, X3). */
import type { HttpLaunch } from '../../config/model.js';
import type { ConnectOutcome, StartFailure } from '../connection.js';
import type { MakeAgents } from './agents.js';
import { shown } from './exchange.js';
import { httpFailure, neverAnsweredHttp, urlUnusable } from './startFailures.js';
import { HttpTransport } from './transport.js';
import { openConnection, type Opening, type OpeningDeps } from '../opening.js';
import type { HttpAccess } from './endpoint.js';
import type { EraMemory } from '../eras/eraMemory.js';
import { EraTransport } from '../eras/eraTransport.js';
import { loadSdk } from '../sdk.js';
import type { SdkConnection } from '../sdkConnection.js';
import { initializeRefused, listFailed, wrongInitializeAnswer } from '../openingFailures.js';

export interface HttpAttemptDeps extends Omit<
  OpeningDeps,
  'transport' | 'pid' | 'causeOfEnd' | 'sdk' | 'onConnection'
> {
  readonly launch: HttpLaunch;
  readonly era: EraMemory;
  readonly access?: HttpAccess | undefined;
  readonly agents?: MakeAgents | undefined;
}

/** Resolves with `cancelled` when the caller aborted the signal; `timedOut` tells the time limit from that. */
export async function attemptHttp(deps: HttpAttemptDeps, timedOut: () => boolean): Promise<ConnectOutcome> {
  const { launch } = deps;
  if (!/^https?:$/.test(URL.canParse(launch.url) ? new URL(launch.url).protocol : '')) {
    return { kind: 'failed', failure: urlUnusable(launch.url) };
  }
  const made: { connection?: SdkConnection } = {};
  const transport = new HttpTransport({ ...deps, onRenewed: () => made.connection?.renewed() });
  const sdk = await loadSdk();
  const { clock, log, era } = deps;
  const opening = deps.signal.aborted
    ? ({ kind: 'stopped', during: 'initialize' } as const)
    : await openConnection({
        ...deps,
        transport: new EraTransport({ transport, clock, log, era }),
        sdk,
        pid: undefined,
        causeOfEnd: () => transport.causeOfEnd,
        onConnection: (connection) => (made.connection = connection),
      });
  if (opening.kind === 'opened') {
    const { connection, listing } = opening;
    return { kind: 'connected', connection, listing };
  }
  const cause = transport.causeOfEnd;
  await transport.close();
  if (opening.kind === 'stopped' && !timedOut()) return { kind: 'cancelled' };
  return { kind: 'failed', failure: explain(opening, deps, cause) };
}

function explain(
  opening: Exclude<Opening, { kind: 'opened' }>,
  { launch, timeoutMs }: HttpAttemptDeps,
  causeOfEnd: string,
): StartFailure {
  switch (opening.kind) {
    case 'stopped':
      return opening.during === 'list'
        ? listFailed(`They did not come within ${timeoutMs / 1000} s of the first request.`)
        : neverAnsweredHttp(timeoutMs);
    case 'wrongAnswer':
      return wrongInitializeAnswer(opening.detail);
    case 'refused':
      return initializeRefused(opening);
    case 'listFailed':
      return listFailed(opening.reason);
    case 'transport': {
      const ended = { kind: 'broken', detail: causeOfEnd, url: shown(new URL(launch.url)) } as const;
      return httpFailure(launch, opening.failure?.reason ?? ended);
    }
  }
}
