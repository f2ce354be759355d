/**
 * A question may come while the window opens. It waits, for a while, until the config files are read and the servers that
 * are starting have started, so that its first answer has tools. Does not import `vscode`.
 */
import type { Clock } from '../../core/base/clock.js';
import { untilHolds, type EngineSlot, type WindowState } from '../engine/engineSlot.js';

/** Milliseconds. A server that takes longer is there with the next request of the turn. */
const patience = 10_000;

/** Never rejects. @param onWait told once if there is something to wait for, with the ids of servers */
export async function untilReady(
  slot: EngineSlot,
  clock: Clock,
  signal: AbortSignal,
  onWait: (starting: readonly string[]) => void,
): Promise<void> {
  if (isReady(slot)) return;
  onWait(startingIn(slot.state));
  await untilHolds({ slot, clock }, () => isReady(slot), patience, signal);
}

function isReady({ engine, state }: EngineSlot): boolean {
  if (state.phase === 'reading') return false;
  if (state.phase === 'serving' && !engine) return false;
  return startingIn(state).length === 0;
}

/** Those that never listed their tools; one that starts anew still serves what it had. */
function startingIn({ snapshot }: WindowState): string[] {
  return snapshot.servers
    .filter(({ state, tools }) => state.kind === 'starting' && tools.length === 0)
    .map(({ id }) => id);
}
