/** Keeps the problems of the team among those of the window, as files and servers change. Does not import `vscode`. */
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { configuredToolsets } from '../../core/host/dialogTools.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { TeamFiles } from './teamFiles.js';

export function watchTeam(slot: EngineSlot, team: TeamFiles): Disposable {
  const store = new DisposableStore('problems of the team');
  store.add(team.onDidChange(() => slot.refresh()));
  slot.observe(() => {
    // It is unknown what is configured until the files are read.
    if (slot.state.phase === 'reading' || slot.state.phase === 'untrusted') return [];
    if (slot.state.phase === 'serving' && !slot.engine) return [];
    const snapshot = slot.engine?.host.snapshot ?? slot.state.snapshot;
    const toolsets = slot.engine?.host.catalogue.toolsets ?? [];
    const passing = snapshot.servers.filter(({ state }) => state.kind === 'starting' || state.kind === 'reconnecting');
    return team.problems(configuredToolsets(snapshot, toolsets), new Set(passing.map(({ id }) => id)));
  });
  return store;
}
