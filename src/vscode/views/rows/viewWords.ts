/**
 * Writes what the sidebar says around its rows: its badge, the line above them, and why there are none. Everything here
 * is pure.
 */
import { inert, type Inert } from '../../../core/base/inert.js';
import type { StatusSnapshot } from '../../../core/reconcile/status.js';
import type { WindowState } from '../../engine/engineSlot.js';
import { crowdedLine, isCrowded, isUnreadable, refusedLine, summary } from '../phrases.js';

interface Badge {
  readonly value: number;
  readonly tooltip: Inert;
}

export function badgeOf(snapshot: StatusSnapshot): Badge | undefined {
  const { broken, pending, changed } = summary(snapshot);
  const value = broken + pending + changed;
  if (value === 0) return undefined;
  const parts = [
    ...(broken > 0 ? [broken === 1 ? '1 problem with MCP servers' : `${broken} problems with MCP servers`] : []),
    ...(pending > 0 ? [pending === 1 ? '1 server waits for approval' : `${pending} servers wait for approval`] : []),
    ...(changed > 0 ? [changed === 1 ? '1 server has changed tools' : `${changed} servers have changed tools`] : []),
  ];
  return { value, tooltip: inert`${parts.join(', ')}` };
}

/** Returns the line above the rows, or an empty text. If there are no rows, the view shows its welcome instead. */
export function messageOf({ phase, snapshot }: WindowState, fileLabel: (file: string) => string): Inert {
  if (phase !== 'serving' || snapshot.servers.length === 0) return inert``;
  if (snapshot.refused.length > 0) {
    const lines = snapshot.refused.map(({ file }) => refusedLine(fileLabel(file), file, snapshot));
    return inert`${lines.join(' ')} See the Problems view.`;
  }
  if (snapshot.servers.every(({ state }) => state.kind === 'disabled')) {
    return inert`Every server is disabled. To enable one, choose “Enable Server” in its menu.`;
  }
  return inert`${isCrowded(snapshot) ? crowdedLine : ''}`;
}

/** Returns whether there are no rows because a whole file is wrong. A welcome depends on it. */
export function isBroken({ phase, snapshot }: WindowState): boolean {
  return phase === 'serving' && isUnreadable(snapshot);
}
