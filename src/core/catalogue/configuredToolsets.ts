/**
 * The toolsets of a window for people and teams. `activate` loads it, so it imports little (P1).
 */
import { builtInToolset } from '../config/model.js';
import type { ServerState, StatusSnapshot } from '../reconcile/status.js';
import type { ConfiguredToolset } from '../team/grants.js';
import type { Toolset } from '../tools/catalogue.js';

/** Each completes "its server is …". */
const whyDownIn: Readonly<Record<ServerState['kind'], string>> = {
  disabled: 'disabled',
  starting: 'starting',
  invalid: 'misconfigured',
  pending: 'waiting for a person to approve its start',
  waiting: 'waiting until its entry is typed',
  signInNeeded: 'waiting for a person to sign in',
  reconnecting: 'being connected again',
  failed: 'not able to run',
  stopped: 'stopped by a person',
  running: 'not ready',
  idle: 'not ready',
  remembered: 'not ready',
};

export function whyDown({ kind }: ServerState): string {
  return whyDownIn[kind];
}

/**
 * Returns every toolset that can be granted, in the order of the catalogue, the built-in one last.
 */
export function configuredToolsets(
  snapshot: StatusSnapshot,
  toolsets: readonly Toolset[],
): ConfiguredToolset[] {
  const up = new Set(toolsets.map(({ id }) => id));
  const why =
    snapshot.servers.length > 0
      ? 'switched off by a setting'
      : 'not needed, because no server is configured';
  return [
    ...snapshot.servers.map(({ id, state }) => ({
      id,
      down: up.has(id) ? undefined : whyDown(state),
    })),
    { id: builtInToolset, down: up.has(builtInToolset) ? undefined : why },
  ];
}
