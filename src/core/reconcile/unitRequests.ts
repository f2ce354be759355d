/** What is asked of a server's instances, by way of what serves for it now. */
import type { CallRequest, OtherRequest } from '../connections/connection.js';
import type { InstancePool } from '../connections/instancePool.js';
import type { PoolCallOutcome, PoolFailure, PoolOtherOutcome } from '../connections/poolContract.js';
import type { Serving } from './serving.js';
import type { ServerUnit } from './serverUnit.js';

const stopped: PoolFailure = { kind: 'lost', cause: 'the server was stopped' };

export function callOn(
  serving: Serving | undefined,
  dialog: string,
  request: Omit<CallRequest, 'timeouts'>,
): Promise<PoolCallOutcome> {
  if (!serving) return Promise.resolve(stopped);
  return serving.pool.call(dialog, { ...request, timeouts: serving.definition.timeouts });
}

export function requestOn(
  serving: Serving | undefined,
  dialog: string,
  request: Omit<OtherRequest, 'timeouts'>,
): Promise<PoolOtherOutcome> {
  if (!serving) return Promise.resolve(stopped);
  return serving.pool.request(dialog, { ...request, timeouts: serving.definition.timeouts });
}

/** Of what serves and of what drains. */
export function poolsOf(units: readonly ServerUnit[]): readonly InstancePool[] {
  return units.flatMap(({ facts: { serving, draining } }) =>
    [...(serving ? [serving] : []), ...draining].map(({ pool }) => pool),
  );
}
