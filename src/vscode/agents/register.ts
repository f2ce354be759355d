/** Serves agents outside the editor (G6). The endpoint follows its setting, and what keeps it from listening is a problem. */
import * as vscode from 'vscode';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { ApprovalLedger } from '../../core/approval/ledger.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import type { Place } from '../../core/base/problem.js';
import { samePath } from '../../core/base/paths.js';
import { startOfFile } from '../../core/config/model.js';
import { localFolders } from '../engine/configFiles.js';
import type { AgentsOptions } from '../engine/engine.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { endpointPort, onDidChangeSetting } from '../engine/settings.js';
import { inert } from '../../core/base/inert.js';
import { window } from '../views/inertEditor.js';
import { orShowFailure } from '../views/messages.js';
import { whyNothingRuns } from '../views/phrases.js';
import { agentsWindowProblems, editorEndpointProblems, endpointProblems } from './endpointProblems.js';

export function serveOtherAgents(slot: EngineSlot, ledger: ApprovalLedger, globalStorage: vscode.Uri): Disposable {
  const store = new DisposableStore('other agents');
  slot.observe(() => endpointProblems(slot.engine?.endpoint?.state ?? { kind: 'off' }, placeOf(slot)));
  slot.observe(() => editorEndpointProblems(slot.engine?.editorEndpoint.state, placeOf(slot)));
  slot.observe(() =>
    agentsWindowProblems(
      { isOfInterest: slot.engine?.servesAgentHost === true, support: agentsWindow() },
      placeOf(slot),
    ),
  );
  store.add(slot.onDidLoad(({ onDidServeAgentHost }) => store.add(onDidServeAgentHost(() => slot.refresh()))));
  store.add(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('extensions.supportAgentsWindow')) slot.refresh();
    }),
  );
  store.add(
    slot.onDidLoad(({ endpoint }) => {
      if (!endpoint) return;
      store.add(endpoint.onDidChange(() => slot.refresh()));
      endpoint.use(endpointPort());
    }),
  );
  store.add(onDidChangeSetting('endpoint.port', () => slot.engine?.endpoint?.use(endpointPort())));
  store.add(
    vscode.commands.registerCommand('mcpToolsets.setUpAgent', () =>
      orShowFailure(async () => (await import('./setUp.js')).setUpAgent(slot, ledger, dirname(globalStorage.fsPath))),
    ),
  );
  store.add(vscode.commands.registerCommand('mcpToolsets.renewToken', () => orShowFailure(() => renew(slot))));
  store.add(
    vscode.commands.registerCommand('mcpToolsets.renewEditorToken', () => orShowFailure(() => renewOfEditor(slot))),
  );
  return store;
}

/** Says which extensions the editor runs in its Agents window; undefined in an editor that has none. */
function agentsWindow(): unknown {
  return vscode.workspace.getConfiguration('extensions').get('supportAgentsWindow');
}

async function renewOfEditor({ engine, state }: EngineSlot): Promise<void> {
  if (!engine) throw new Error(whyNothingRuns(state.phase));
  await engine.editorEndpoint.renew();
  void window.showInformationMessage(
    inert`The editor has a new token for the toolsets of this folder. Agent sessions that have the old one lose their tools: begin them anew.`,
  );
}

/** The endpoint follows the file of the token. */
async function renew({ engine }: EngineSlot): Promise<void> {
  const file = engine?.endpoint?.tokenFile;
  if (file === undefined) return;
  const { renewToken } = await import('../../core/files/tokenFile.js');
  await renewToken(file);
  void window.showInformationMessage(
    inert`Other agents have a new token. Those that show the old one are cut off; restart the agents that took it from a variable.`,
  );
}

/** Returns what the engine needs to know of the window to serve them. */
export function agentsOptions(): AgentsOptions {
  return {
    folder: localFolders()[0]?.uri.fsPath,
    home: homedir(),
    blocked: (file) =>
      vscode.workspace.textDocuments.some(({ uri, isDirty }) => isDirty && samePath(uri.fsPath, file))
        ? 'The config file has unsaved changes in the editor.'
        : undefined,
  };
}

/** Returns the beginning of the first file, where problems that belong to no server stand. */
function placeOf({ sources }: EngineSlot): Place | undefined {
  const first = sources.find(({ text }) => text !== undefined);
  return first && { file: first.file, range: startOfFile };
}
