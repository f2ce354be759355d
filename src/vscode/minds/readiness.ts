/**
 * Waits with a question that comes while the window opens until the config files are read and the servers that are starting
 * have started, so that its first answer has tools. Does not import `vscode`.
 */
import type { Clock } from '../../core/base/clock.js';
import { untilHolds, type EngineSlot, type WindowState } from '../engine/engineSlot.js';

/** How many milliseconds it waits. A server that takes longer takes part from the next request of the turn. */
const patience = 10_000;

/** Never rejects. @param onWait Called once with the ids of servers if there is something to wait for. */
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

function isReady({ state }: EngineSlot): boolean {
  return state.phase !== 'reading' && startingIn(state).length === 0;
}

/** Returns the servers that have not listed their tools yet. One that restarts still serves what it had. */
function startingIn({ snapshot }: WindowState): string[] {
  return snapshot.servers
    .filter(({ state, tools }) => state.kind === 'starting' && tools.length === 0)
    .map(({ id }) => id);
}
