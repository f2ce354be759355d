/**
 * Builds the shell and wires its parts. `import()` loads the rest, because `activate` must return
 * within 10 ms (P1).
 */
import * as vscode from 'vscode';
import { inert } from './core/base/inert.js';
import { delay, systemClock } from './core/base/clock.js';
import { homedir } from './core/base/home.js';
import { asText } from './core/base/text.js';
import { callFileOf } from './core/files/callFile.js';
import { serveOtherAgents } from './vscode/agents/register.js';
import { askForApprovals } from './vscode/consent/approvals.js';
import { registerAuthoring } from './vscode/authoring/register.js';
import { showChangedOffers } from './vscode/consent/changedOffers.js';
import { registerCommands } from './vscode/commands/commands.js';
import { registerReviewAnswers } from './vscode/views/review/reviewQuestion.js';
import { folderPaths, WindowConfigFiles } from './vscode/engine/configFiles.js';
import { registerProblemPages, showDiagnostics } from './vscode/views/problems/diagnostics.js';
import { ConversationTitles } from './vscode/engine/conversationTitles.js';
import { EngineSlot } from './vscode/engine/engineSlot.js';
import { EnteredSecrets } from './vscode/engine/enteredSecrets.js';
import { Logs } from './vscode/engine/logs.js';
import { registerMinds } from './vscode/minds/register.js';
import { ToolsetProvider } from './vscode/toolsets/mcpProvider.js';
import { hostSettings, keepSettings, onDidChangeSettings } from './vscode/engine/settings.js';
import type { Shell } from './vscode/engine/shell.js';
import { storageFolder } from './vscode/engine/storageFolder.js';
import { registerSignIn } from './vscode/consent/signIn.js';
import { speakTheirLanguage, window } from './vscode/views/inertEditor.js';
import { showStatusBar } from './vscode/views/statusBar.js';
import { showTree } from './vscode/views/rows/treeView.js';
import { CallPages, showCalls } from './vscode/views/calls/callsView.js';
import { registerTryTool } from './vscode/tryTool/register.js';

/** In milliseconds. The editor waits about 5 s for the end of an extension. */
const endLimit = 4000;

let running: EngineSlot | undefined;

export function activate(context: vscode.ExtensionContext): void {
  speakTheirLanguage();
  context.subscriptions.push(keepSettings());
  const shell = shellOf(context);
  const { slot, logs, secrets } = shell;
  running = slot;
  const pages = new CallPages(slot);
  const [folder] = folderPaths();
  context.subscriptions.push(
    logs,
    secrets,
    registerReviewAnswers(),
    askForApprovals(slot),
    showChangedOffers(slot),
    showTree(shell),
    pages,
    showCalls(
      shell,
      pages,
      () => (folder === undefined ? undefined : callFileOf(folder, homedir())),
      async (...call) =>
        (await import('./vscode/commands/fixArgument.js')).fixArgument(slot, ...call),
    ),
    showStatusBar(slot, shell.clock),
    showDiagnostics(slot),
    registerCommands(shell),
    registerTryTool(shell),
    registerSignIn(shell),
    registerProblemPages(context.extensionUri),
    registerAuthoring(shell),
    registerMinds(shell, pages),
    serveOtherAgents(shell),
    new ToolsetProvider(shell),
    slot.onDidChange(({ snapshot }) => logs.keep(snapshot.servers.map(({ id }) => id))),
    followInputs(shell),
    vscode.workspace.onDidGrantWorkspaceTrust(() => slot.start()),
  );
  // Later, because watching files is the most expensive part of the start, and nothing waits for
  // it.
  setImmediate(() => slot.start());
}

function shellOf(context: vscode.ExtensionContext): Shell {
  const clock = systemClock;
  const logs = new Logs(hostSettings.trace);
  const storage = storageFolder(context);
  const secrets = new EnteredSecrets(context.secrets, clock, (error) =>
    logs.host.write('error', `The secrets that were entered could not be read: ${asText(error)}`),
  );
  const titles = new ConversationTitles(storage, () => clock.now());
  const parts = {
    context,
    clock,
    logs,
    secrets,
    titles,
    storage,
  };
  const slot = new EngineSlot({
    log: logs.host,
    isTrusted: () => vscode.workspace.isTrusted,
    openConfigFiles: () => new WindowConfigFiles(clock),
    loadEngine: async () => {
      const { openWindowEngine } = await import('./vscode/engine/windowEngine.js');
      return await openWindowEngine(parts, async (call, signal) => {
        const { askForCall } = await import('./vscode/consent/callQuestion.js');
        return await askForCall(call, signal, titles);
      });
    },
    onFailure: (error) =>
      void window.showErrorMessage(inert`MCP Toolsets could not start: ${asText(error)}`),
  });
  return { ...parts, slot };
}

/** Makes changed settings, secrets and folders count at once. */
function followInputs({ slot, secrets }: Shell): vscode.Disposable {
  const recheck = (): void => slot.engine?.host.permission.recheck();
  const reapply = (): void => void slot.engine?.host.reapply();
  const settings = ['mcpToolsets.start', 'mcpToolsets.problems.filteredTools', 'chat.mcp'] as const;
  return vscode.Disposable.from(
    secrets.onDidChange(reapply),
    onDidChangeSettings(['mcpToolsets.toolPermissions', 'mcpToolsets.adminTools'], recheck),
    vscode.workspace.onDidChangeWorkspaceFolders(recheck),
    onDidChangeSettings(['mcpToolsets.changedTools'], () => slot.engine?.offers.recheck()),
    onDidChangeSettings(settings, reapply),
  );
}

export async function deactivate(): Promise<void> {
  if (running) await Promise.race([running.dispose(), delay(systemClock, endLimit)]);
}
