/**
 * Opens the engine of this window: what it keeps in the storage of the editor, and how it asks the
 * person. The first config file loads it.
 */
import * as vscode from 'vscode';
import { join } from 'node:path';
import { version } from '../../../package.json';
import { OfferLedger } from '../../core/approval/offerLedger.js';
import { offerTextsIn } from '../../core/approval/offerTexts.js';
import { homedir } from '../../core/base/home.js';
import { samePath } from '../../core/base/paths.js';
import { asText, messageOf } from '../../core/base/text.js';
import type { PermissionDeps } from '../../core/calling/permission.js';
import type { Clock } from '../../core/base/clock.js';
import type { SignInStore } from '../../core/connections/http/oauth/contract.js';
import { signInLock } from '../../core/files/signInLock.js';
import { PersonsApprovals } from '../../core/engine/personsApprovals.js';
import { RememberedConversations } from '../../core/remembered/conversations.js';
import { LastClient, usualOfEditor } from '../../core/remembered/lastClient.js';
import type { OfferFiles } from '../../core/remembered/offerFiles.js';
import { childEnvironment } from './childEnvironment.js';
import { folderPaths } from './configFiles.js';
import { isTrial } from './conversationTitles.js';
import type { ShellEngine } from './engine.js';
import {
  artifactsQuota,
  asksForApproval,
  holdsChangedTools,
  hostSettings,
  maxResultBytes,
  toolPermissions,
} from './settings.js';
import type { Shell } from './shell.js';

const editorCapabilities = 'mcpToolsets.editorCapabilities';

export async function openWindowEngine(
  { context, clock, logs, secrets, storage }: Omit<Shell, 'slot'>,
  ask: PermissionDeps['ask'],
): Promise<ShellEngine> {
  const { globalState, workspaceState } = context;
  const log = logs.host;
  const failed = (what: string) => (error: unknown) =>
    log.write('error', `${what}: ${asText(error)}`);
  const home = homedir();
  const offers = new OfferLedger({
    storage: workspaceState,
    texts: storage === undefined ? undefined : offerTextsIn(join(storage, 'approved')),
    holdsBack: holdsChangedTools,
    onStoreFailure: failed('What servers offered could not be stored'),
  });
  const approvals = new PersonsApprovals({
    clock,
    home,
    folders: folderPaths,
    asks: asksForApproval,
    forgetOffers: (server) => offers.forget(server),
  });
  context.subscriptions.push(approvals, offers);
  const editor = new LastClient({
    get: () => globalState.get(editorCapabilities),
    update: (capabilities) => globalState.update(editorCapabilities, capabilities),
    roots: workspaceRoots,
    usual: usualOfEditor,
  });
  const [{ WindowEngine }, kept] = await Promise.all([
    import('./engine.js'),
    storage === undefined
      ? undefined
      : keptOffers(join(storage, 'listed'), failed('What servers listed could not be stored')),
    secrets.load(),
    approvals.ledger.load().catch(failed('Approvals could not be read')),
  ]);
  if (approvals.ledger.problem !== undefined) log.write('error', approvals.ledger.problem);
  const engine = new WindowEngine({
    surroundings: {
      clock,
      log,
      serverLog: (server) => logs.ofServer(server),
      env: childEnvironment(process.env),
      version,
      guardianScript: join(context.extensionPath, 'dist', 'guardian.js'),
    },
    settings: hostSettings,
    consent: {
      approvals: approvals.ledger,
      offerReview: offers,
      toolPermissions: { settings: toolPermissions, ask },
    },
    stores: {
      ...(kept && { kept }),
      conversations: new RememberedConversations({
        stored: workspaceState.get('conversations'),
        store: (losses) => void workspaceState.update('conversations', losses),
        isConversation: (conversation) => !isTrial(conversation),
      }),
      secrets: signInStore(context, clock),
      secret: (name) => secrets.get(name),
    },
    folder: folderPaths()[0],
    home,
    blocked: unsavedIn,
    results: {
      folder: storage,
      quota: artifactsQuota,
      maxResultBytes,
    },
    editor,
    address: {
      workspace: workspaceName(home),
      editor: vscode.env.appName,
      secrets: context.secrets,
    },
    onFailure: {
      config: (error) =>
        log.write(
          'error',
          `The files were not applied: ${asText((error as Error).stack ?? error)}`,
        ),
      record: (error) =>
        engine.log.write('warn', `The record of calls could not be written: ${messageOf(error)}`),
    },
  });
  return Object.assign(engine, { approvals, offers });
}

/** All windows of this editor share the secret storage, and the locks in this folder. */
function signInStore(
  { secrets, globalStorageUri }: vscode.ExtensionContext,
  clock: Clock,
): SignInStore {
  return {
    get: (key) => secrets.get(key),
    store: (key, value) => secrets.store(key, value),
    delete: (key) => secrets.delete(key),
    onDidChange: secrets.onDidChange,
    exclusively: signInLock(join(globalStorageUri.fsPath, 'sign-ins'), clock),
  };
}

/** Loads its module with the engine, and reads the files in the meantime. */
async function keptOffers(folder: string, fail: (error: unknown) => void): Promise<OfferFiles> {
  const { OfferFiles } = await import('../../core/remembered/offerFiles.js');
  return OfferFiles.open(folder, fail);
}

function workspaceRoots() {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri, name }) => ({
    uri: uri.toString(),
    name,
  }));
}

/** Returns a name that only windows of this user with this folder or workspace share (G2c). */
function workspaceName(home: string): string {
  const { workspaceFile, workspaceFolders } = vscode.workspace;
  return `${home}\n${(workspaceFile ?? workspaceFolders?.[0]?.uri)?.toString() ?? ''}`;
}

/** Returns the reason against writing a file that has unsaved changes. */
function unsavedIn(file: string): string | undefined {
  const isUnsaved = vscode.workspace.textDocuments.some(
    ({ uri, isDirty }) => isDirty && samePath(uri.fsPath, file),
  );
  return isUnsaved ? 'The config file has unsaved changes in the editor.' : undefined;
}
