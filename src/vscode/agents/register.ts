/** Serves agents outside the editor (G6). The endpoint follows its setting, and its failures are problems. */
import * as vscode from 'vscode';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ApprovalLedger } from '../../core/approval/ledger.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import type { Log } from '../../core/base/log.js';
import { asText } from '../../core/base/text.js';
import { samePath } from '../../core/base/paths.js';
import { startOfFile } from '../../core/config/model.js';
import { localFolders } from '../engine/configFiles.js';
import type { AgentsOptions } from '../engine/engine.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { EndpointPort } from '../engine/settingScopes.js';
import { endpointPort, onDidChangeSetting } from '../engine/settings.js';
import { inert } from '../../core/base/inert.js';
import { command, window } from '../views/inertEditor.js';
import { whyNothingRuns } from '../views/phrases.js';
import type { ChoosePort } from './setUp.js';
import { agentEndpointProblem, agentsWindowProblem, editorEndpointProblem } from './endpointProblems.js';

const chosenPortKey = 'mcpToolsets.endpointPort';

export function serveOtherAgents(
  slot: EngineSlot,
  ledger: ApprovalLedger,
  { workspaceState, globalStorageUri, extensionPath }: vscode.ExtensionContext,
  log: Log,
): Disposable {
  const store = new DisposableStore('other agents');
  const wanted = (): EndpointPort => endpointPort(workspaceState.get(chosenPortKey));
  const followPort = (): void => {
    slot.engine?.endpoint.use(wanted().port);
    slot.refresh();
  };
  const choosePort: ChoosePort = async (port, write) => {
    await workspaceState.update(chosenPortKey, port);
    await write();
    // The setting may have this port already.
    followPort();
  };
  slot.observe(() => {
    const first = slot.sources.find(({ text }) => text !== undefined);
    if (!first) return [];
    const { endpoint, editorEndpoint, servesAgentHost = false } = slot.engine ?? {};
    return [
      agentEndpointProblem(endpoint?.state ?? { kind: 'off' }, wanted().asked),
      editorEndpointProblem(editorEndpoint?.state),
      agentsWindowProblem(servesAgentHost, vscode.workspace.getConfiguration('extensions').get('supportAgentsWindow')),
    ].flatMap((problem) => (problem ? { ...problem, place: { file: first.file, range: startOfFile } } : []));
  });
  store.add(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('extensions.supportAgentsWindow')) slot.refresh();
    }),
  );
  store.add(
    slot.onDidLoad(({ endpoint, onDidServeAgentHost }) => {
      store.add(onDidServeAgentHost(() => slot.refresh()));
      void keepLauncher(extensionPath, log);
      store.add(endpoint.onDidChange(() => slot.refresh()));
      endpoint.use(wanted().port);
    }),
  );
  store.add(onDidChangeSetting('endpoint.port', followPort));
  store.add(
    command('setUpAgent', async () => {
      const { setUpAgent } = await import('./setUp.js');
      await setUpAgent(slot, ledger, dirname(globalStorageUri.fsPath), { asked: wanted().asked, choosePort });
    }),
  );
  store.add(command('renewEditorToken', () => renewOfEditor(slot)));
  return store;
}

/** Entries of other agents start this file. */
async function keepLauncher(extensionPath: string, log: Log): Promise<void> {
  try {
    const { writeLauncher } = await import('../../core/files/launcherFile.js');
    await writeLauncher(homedir(), join(extensionPath, 'dist', 'cli.js'));
  } catch (error) {
    log.write('error', `The launcher for other agents could not be written: ${asText(error)}`);
  }
}

async function renewOfEditor({ engine, state }: EngineSlot): Promise<void> {
  if (!engine) throw new Error(whyNothingRuns(state.phase));
  await engine.editorEndpoint.renew();
  void window.showInformationMessage(
    inert`The editor has a new token for the toolsets of this folder. Agent sessions with the old token lose their tools, so start new sessions.`,
  );
}

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
