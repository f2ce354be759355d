/**
 * Builds the shell and wires its parts. `import()` loads the rest, because `activate` must return
 * within 10 ms (P1).
 */
import * as vscode from 'vscode';
import { join } from 'node:path';
import { version } from '../package.json';
import { ApprovalLedger } from './core/approval/ledger.js';
import { OfferLedger } from './core/approval/offerLedger.js';
import { offerTextsIn } from './core/approval/offerTexts.js';
import { inert } from './core/base/inert.js';
import { delay, systemClock } from './core/base/clock.js';
import { callFileOf } from './core/files/callFile.js';
import { asText } from './core/base/text.js';
import { RememberedConversations } from './core/remembered/conversations.js';
import type { OfferFiles } from './core/remembered/offerFiles.js';
import { agentsOptions, serveOtherAgents } from './vscode/agents/register.js';
import { askForApprovals } from './vscode/consent/approvals.js';
import { registerAuthoring } from './vscode/authoring/register.js';
import { showChangedOffers } from './vscode/consent/changedOffers.js';
import { askForCall } from './vscode/consent/callQuestion.js';
import { childEnvironment } from './vscode/engine/childEnvironment.js';
import { registerCommands } from './vscode/commands/commands.js';
import { registerReviewAnswers } from './vscode/views/review/reviewQuestion.js';
import {
  approvalStore,
  isInWorkspace,
  isUsersOwn,
  WindowConfigFiles,
  workspaceName,
} from './vscode/engine/configFiles.js';
import { registerProblemPages, showDiagnostics } from './vscode/views/problems/diagnostics.js';
import { LastClient, usualOfEditor } from './core/remembered/lastClient.js';
import { ConversationTitles, isTrial } from './vscode/engine/conversationTitles.js';
import { EngineSlot } from './vscode/engine/engineSlot.js';
import { EnteredSecrets } from './vscode/engine/enteredSecrets.js';
import { Logs } from './vscode/engine/logs.js';
import { registerMinds } from './vscode/minds/register.js';
import { ToolsetProvider } from './vscode/toolsets/mcpProvider.js';
import {
  artifactsQuota,
  asksForApproval,
  holdsChangedTools,
  hostSettings,
  keepSettings,
  maxResultBytes,
  onDidChangeSettings,
  toolPermissions,
} from './vscode/engine/settings.js';
import type { Shell } from './vscode/engine/shell.js';
import { storageFolder } from './vscode/engine/storageFolder.js';
import { registerSignIn } from './vscode/consent/signIn.js';
import { window } from './vscode/views/inertEditor.js';
import { showStatusBar } from './vscode/views/statusBar.js';
import { showTree } from './vscode/views/rows/treeView.js';
import { CallPages, showCalls } from './vscode/views/calls/callsView.js';
import { registerTryTool } from './vscode/tryTool/register.js';

/** In milliseconds. The editor waits about 5 s for the end of an extension. */
const endLimit = 4000;

let running: EngineSlot | undefined;

const editorCapabilities = 'mcpToolsets.editorCapabilities';

export function activate(context: vscode.ExtensionContext): void {
  context.subscriptions.push(keepSettings());
  const clock = systemClock;
  const logs = new Logs(hostSettings.trace);
  const failed = (what: string) => (error: unknown) =>
    logs.host.write('error', `${what}: ${asText(error)}`);
  const storage = storageFolder(context);
  const offers = new OfferLedger({
    storage: context.workspaceState,
    texts: storage === undefined ? undefined : offerTextsIn(join(storage, 'approved')),
    holdsBack: holdsChangedTools,
    onStoreFailure: failed('What servers offered could not be stored'),
  });
  const approved = approvalStore(clock);
  const ledger = new ApprovalLedger({
    store: approved,
    asks: asksForApproval,
    isUsersOwn,
    isInWorkspace,
    forgetOffers: (server) => offers.forget(server),
  });
  const editor = new LastClient({
    get: () => context.globalState.get(editorCapabilities),
    update: (capabilities) => context.globalState.update(editorCapabilities, capabilities),
    roots: () =>
      (vscode.workspace.workspaceFolders ?? []).map(({ uri, name }) => ({
        uri: uri.toString(),
        name,
      })),
    usual: usualOfEditor,
  });
  const secrets = new EnteredSecrets(
    context.secrets,
    clock,
    failed('The secrets that were entered could not be read'),
  );
  const titles = new ConversationTitles(storage, () => clock.now());
  const slot: EngineSlot = new EngineSlot({
    log: logs.host,
    isTrusted: () => vscode.workspace.isTrusted,
    openConfigFiles: () => new WindowConfigFiles(clock),
    loadEngine: async () => {
      const [{ createEngine }, kept] = await Promise.all([
        import('./vscode/engine/engine.js'),
        storage === undefined
          ? undefined
          : keptOffers(join(storage, 'listed'), failed('What servers listed could not be stored')),
        secrets.load(),
        ledger.load().catch(failed('Approvals could not be read')),
      ]);
      if (ledger.problem !== undefined) logs.host.write('error', ledger.problem);
      return createEngine({
        clock,
        log: logs.host,
        serverLog: (server) => logs.ofServer(server),
        env: childEnvironment(process.env),
        version,
        readSources: () => slot.readFiles(),
        guardianScript: join(context.extensionPath, 'dist', 'guardian.js'),
        results: { folder: storage, quota: artifactsQuota, maxResultBytes },
        editor,
        approvals: ledger,
        offerReview: offers,
        ...(kept && { kept }),
        conversations: new RememberedConversations({
          stored: context.workspaceState.get('conversations'),
          store: (losses) => void context.workspaceState.update('conversations', losses),
          isConversation: (conversation) => !isTrial(conversation),
        }),
        toolPermissions: {
          settings: toolPermissions,
          ask: (call, signal) => askForCall(call, signal, titles),
        },
        secrets: context.secrets,
        secret: (name) => secrets.get(name),
        address: {
          workspace: workspaceName(),
          editor: vscode.env.appName,
          secrets: context.secrets,
        },
        others: agentsOptions(),
        ...hostSettings,
      });
    },
    onFailure: (error) =>
      void window.showErrorMessage(inert`MCP Toolsets could not start: ${asText(error)}`),
  });
  running = slot;
  const shell: Shell = { context, slot, clock, logs, secrets, titles, storage };
  const pages = new CallPages(slot);
  const { folder, home } = agentsOptions();
  const recheck = (): void => slot.engine?.host.permission.recheck();
  const reapply = (): void => void slot.engine?.host.reapply();
  context.subscriptions.push(
    logs,
    ledger,
    approved,
    offers,
    secrets,
    secrets.onDidChange(reapply),
    registerReviewAnswers(),
    askForApprovals(slot, ledger),
    showChangedOffers(slot, offers),
    showTree(shell, async (rows) =>
      (await import('./vscode/authoring/fileEdits.js')).writeTicks(slot, rows),
    ),
    pages,
    showCalls(shell, pages, () => (folder === undefined ? undefined : callFileOf(folder, home))),
    showStatusBar(slot),
    showDiagnostics(slot),
    registerCommands(shell),
    registerTryTool(shell),
    registerSignIn(shell),
    registerProblemPages(context.extensionUri),
    registerAuthoring(shell),
    registerMinds(shell, pages),
    serveOtherAgents(shell, ledger),
    new ToolsetProvider(shell),
    slot.onDidChange(({ snapshot }) => logs.keep(snapshot.servers.map(({ id }) => id))),
    onDidChangeSettings(['mcpToolsets.toolPermissions', 'mcpToolsets.adminTools'], recheck),
    vscode.workspace.onDidChangeWorkspaceFolders(recheck),
    onDidChangeSettings(['mcpToolsets.changedTools'], () => offers.recheck()),
    onDidChangeSettings(
      ['mcpToolsets.start', 'mcpToolsets.problems.filteredTools', 'chat.mcp'],
      reapply,
    ),
    vscode.workspace.onDidGrantWorkspaceTrust(() => slot.start()),
  );
  // Later, because watching files is the most expensive part of the start, and nothing waits for
  // it.
  setImmediate(() => slot.start());
}

async function keptOffers(
  folder: string,
  onFailure: (error: unknown) => void,
): Promise<OfferFiles> {
  const { OfferFiles } = await import('./core/remembered/offerFiles.js');
  return await OfferFiles.open(folder, onFailure);
}

export async function deactivate(): Promise<void> {
  if (running) await Promise.race([running.dispose(), delay(systemClock, endLimit)]);
}
