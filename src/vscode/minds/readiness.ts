/**
 * A question may come while the window opens. It waits, for a while, until the config files are read and the servers that
 * are starting have started, so that its first answer has tools. Does not import `vscode`.
 */
import { delay, type Clock } from '../../core/base/clock.js';
import { nextEvent } from '../../core/base/events.js';
import type { EngineSlot, WindowState } from '../engine/engineSlot.js';

/** Milliseconds. A server that takes longer is there with the next request of the turn. */
const patience = 10_000;

/** Never rejects. @param onWait told once if there is something to wait for, with the ids of servers */
export async function untilReady(
  slot: EngineSlot,
  clock: Clock,
  signal: AbortSignal,
  onWait: (starting: readonly string[]) => void,
): Promise<void> {
  if (isReady(slot, slot.state)) return;
  onWait(startingIn(slot.state));
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const came = nextEvent(slot.onDidChange, (state) => isReady(slot, state), over.signal);
  await Promise.race([came, delay(clock, patience, over.signal)]).catch(() => undefined);
  signal.removeEventListener('abort', stop);
  came.catch(() => undefined);
  stop();
}

function isReady(slot: EngineSlot, state: WindowState): boolean {
  if (state.phase === 'reading') return false;
  if (state.phase === 'serving' && !slot.engine) return false;
  return startingIn(state).length === 0;
}

/** Those that never listed their tools; one that starts anew still serves what it had. */
function startingIn({ snapshot }: WindowState): string[] {
  return snapshot.servers
    .filter(({ state, tools }) => state.kind === 'starting' && tools.length === 0)
    .map(({ id }) => id);
}
