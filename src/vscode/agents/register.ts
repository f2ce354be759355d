/**
 * Serves agents outside the editor (G6). The endpoint follows its setting, and its failures are
 * problems.
 */
import * as vscode from 'vscode';
import { dirname, join } from 'node:path';
import { homedir } from '../../core/base/home.js';
import type { Log } from '../../core/base/log.js';
import { messageOf } from '../../core/base/text.js';
import { startOfFile } from '../../core/config/model.js';
import type { EndpointPort } from '../engine/settingScopes.js';
import { endpointPort, onDidChangeSettings } from '../engine/settings.js';
import type { Shell } from '../engine/shell.js';
import { inert } from '../../core/base/inert.js';
import { commands, tell } from '../views/inertEditor.js';
import { whyNothingRuns } from '../views/phrases.js';
import { setContext } from '../views/trees.js';
import type { ChoosePort } from './setUp.js';
import {
  agentEndpointProblem,
  agentsWindowProblem,
  editorEndpointProblem,
} from './endpointProblems.js';

const chosenPortKey = 'mcpToolsets.endpointPort';

export function serveOtherAgents({ slot, logs, context }: Shell): vscode.Disposable {
  const { workspaceState, globalStorageUri, extensionPath } = context;
  const wanted = (): EndpointPort => endpointPort(workspaceState.get(chosenPortKey));
  const refresh = (): void => slot.refresh();
  const followPort = (): void => {
    slot.engine?.endpoint.use(wanted().port);
    refresh();
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
    setContext('agentSessions', servesAgentHost);
    return [
      agentEndpointProblem(endpoint?.state, wanted().asked),
      editorEndpointProblem(editorEndpoint?.state),
      agentsWindowProblem(
        servesAgentHost,
        vscode.workspace.getConfiguration('extensions').get('supportAgentsWindow'),
      ),
    ].flatMap((problem) =>
      problem ? { ...problem, place: { file: first.file, range: startOfFile } } : [],
    );
  });
  return vscode.Disposable.from(
    onDidChangeSettings(['extensions.supportAgentsWindow'], refresh),
    onDidChangeSettings(['mcpToolsets.endpoint.port'], followPort),
    slot.onDidLoad(({ endpoint, onDidServeAgentHost }) => {
      onDidServeAgentHost(refresh);
      void keepLauncher(extensionPath, logs.host);
      endpoint.onDidChange(refresh);
      endpoint.use(wanted().port);
    }),
    commands({
      setUpAgent: async () => {
        const { setUpAgent } = await import('./setUp.js');
        await setUpAgent(slot, dirname(globalStorageUri.fsPath), wanted().asked, choosePort);
      },
      renewEditorToken: async () => {
        if (!slot.engine) throw new Error(whyNothingRuns(slot.state.phase));
        await slot.engine.renewEditorToken();
        tell(
          inert`The editor has a new token for the toolsets of this folder. Agent sessions with the old token lose their tools, so start new sessions.`,
        );
      },
    }),
  );
}

async function keepLauncher(extensionPath: string, log: Log): Promise<void> {
  try {
    const { writeLauncher } = await import('../../core/files/launcherFile.js');
    await writeLauncher(homedir(), join(extensionPath, 'dist', 'cli.js'));
  } catch (error) {
    log.write('error', `The launcher for other agents could not be written: ${messageOf(error)}`);
  }
}
