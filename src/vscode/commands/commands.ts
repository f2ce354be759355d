/** Registers the commands `mcpToolsets.*`. The sidebar calls them with a row; from the palette they let the person choose a server. */
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inert } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';
import { window } from '../views/inertEditor.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import type { Host } from '../../core/host/hostContract.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { writeInside } from '../../core/files/realFiles.js';
import { configPath, localFolders } from '../engine/configFiles.js';
import { openDocument } from '../views/documents.js';
import { toLocation } from '../views/diagnostics.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { EnteredSecrets } from '../engine/enteredSecrets.js';
import type { Manifest } from './copyDiagnostics.js';
import { exampleConfig } from './exampleConfig.js';
import type { Logs } from '../engine/logs.js';
import { orShowFailure } from '../views/messages.js';
import { whyNothingRuns } from '../views/phrases.js';
import { pickServer } from '../views/pickServer.js';
import { actions } from '../views/serverActions.js';
import { nodeOf, serverOf, type Subject } from '../views/subject.js';
import { viewId } from '../views/treeView.js';

interface CommandDeps {
  readonly slot: EngineSlot;
  readonly logs: Logs;
  readonly secrets: EnteredSecrets;
  /** The `package.json` of the extension. */
  readonly manifest: Manifest;
}

/** The same id stands in `package.json`. */
const walkthrough = 'minds.mcp-toolsets#firstMinute';

type Action = 'start' | 'stop' | 'restart';

const actionNames = { start: 'Starting', stop: 'Stopping', restart: 'Restarting' } as const;
const possible = { start: 'startable', stop: 'stoppable', restart: 'restartable' } as const;

export function registerCommands({ slot, logs, secrets, manifest }: CommandDeps): Disposable {
  const store = new DisposableStore('commands');
  const register = (name: string, run: (subject: Subject) => Promise<void>): void => {
    store.add(vscode.commands.registerCommand(`mcpToolsets.${name}`, run));
  };

  async function act(action: Action, subject: Subject): Promise<void> {
    const server = await chooseServer(subject, ({ state }) => actions(state).includes(possible[action]));
    if (server === undefined) return;
    await withHost(`${actionNames[action]} ${server}`, (host) => host[action](server), server);
  }

  /** Shows in the view that something runs, and in a message that it failed. */
  async function withHost(title: string, run: (host: Host) => Promise<unknown>, server?: string): Promise<void> {
    const host = slot.engine?.host;
    if (!host) {
      void window.showInformationMessage(inert`${whyNothingRuns(slot.state.phase)}`);
      return;
    }
    try {
      await window.withProgress({ location: { viewId }, title: inert`${title}` }, () => run(host));
    } catch (error) {
      const answer = await window.showErrorMessage(inert`${title}: ${messageOf(error)}`, 'Show Log');
      if (answer !== undefined) logs.show(server);
    }
  }

  async function chooseServer(
    subject: Subject,
    fits: (server: ServerStatus) => boolean = () => true,
  ): Promise<string | undefined> {
    const named = serverOf(subject);
    if (named !== undefined) return named;
    const all = slot.state.snapshot.servers;
    const servers = all.filter(fits);
    if (servers.length > 0) return await pickServer(servers);
    void window.showInformationMessage(
      all.length > 0
        ? inert`No MCP server is in a state that allows this command.`
        : inert`${whyNothingRuns(slot.state.phase, slot.state.snapshot)}`,
    );
    return undefined;
  }

  /** Writes `enabled` into the file that has the server. */
  async function enable(enabled: boolean, subject: Subject): Promise<void> {
    const id = await chooseServer(subject, ({ state }) => (state.kind === 'disabled') === enabled);
    const server = slot.state.snapshot.servers.find((one) => one.id === id);
    if (!server) return;
    const { writeEnabled } = await import('../authoring/enabling.js');
    await orShowFailure(() => writeEnabled(server, enabled));
  }

  register('start', (subject) => act('start', subject));
  register('stop', (subject) => act('stop', subject));
  register('restart', (subject) => act('restart', subject));
  register('enable', (subject) => enable(true, subject));
  register('disable', (subject) => enable(false, subject));
  register('release', async (subject) => {
    const { server, dialog } = nodeOf(subject) ?? {};
    if (server === undefined || dialog === undefined) return;
    await withHost(`Releasing ${server}`, (host) => host.release(server, dialog), server);
  });
  register('reload', () => withHost('Reloading', (host) => host.reload()));
  register('showLog', async () => logs.show());
  register('showServerLog', async (subject) => {
    const server = await chooseServer(subject);
    if (server !== undefined) logs.show(server);
  });
  register('goToDefinition', async (subject) => {
    const server = await chooseServer(subject);
    const place = slot.state.snapshot.servers.find(({ id }) => id === server)?.place;
    if (!place) return;
    const { uri, range } = toLocation(place);
    await orShowFailure(async () => {
      await vscode.window.showTextDocument(await openDocument(uri), { selection: range });
    });
  });
  register('copyName', async (subject) => {
    const name = typeof subject === 'string' ? subject : (nodeOf(subject)?.name ?? (await chooseTool(slot)));
    if (name !== undefined) await vscode.env.clipboard.writeText(name);
  });
  register('copyDiagnostics', async () => {
    const { copyDiagnostics } = await import('./copyDiagnostics.js');
    await copyDiagnostics({ slot, logs }, manifest);
  });
  register('openWalkthrough', async () => {
    await vscode.commands.executeCommand('workbench.action.openWalkthrough', walkthrough, false);
  });
  register('createConfig', () => orShowFailure(createConfig));
  register('addServer', () => orShowFailure(async () => (await import('./addServer.js')).addServer(secrets)));
  register('import', (subject) =>
    orShowFailure(async () =>
      (await import('./importing.js')).importServersInto(secrets, typeof subject === 'string' ? subject : undefined),
    ),
  );
  register('openConfig', () => orShowFailure(openConfig));
  return store;
}

async function chooseTool(slot: EngineSlot): Promise<string | undefined> {
  const tools = slot.state.snapshot.servers.flatMap(({ id, tools }) =>
    tools.map(({ published }) => ({ label: inert`${published}`, description: inert`${id}`, published })),
  );
  return (await window.showQuickPick(tools, { placeHolder: inert`Choose the tool whose name to copy` }))?.published;
}

async function createConfig(): Promise<void> {
  const folder = await chooseFolder();
  if (!folder) return;
  const uri = configUri(folder);
  if (!existsSync(uri.fsPath)) writeInside(folder.uri.fsPath, uri.fsPath, { before: '', after: exampleConfig });
  // The next document that opens would take the place of a preview.
  await vscode.window.showTextDocument(await openDocument(uri), { preview: false });
}

async function openConfig(): Promise<void> {
  const folders = localFolders();
  const withFile = folders.filter((folder) => existsSync(configUri(folder).fsPath));
  const folder = withFile.length > 1 ? await chooseFolder(withFile) : withFile[0];
  if (folder) await vscode.window.showTextDocument(await openDocument(configUri(folder)));
  else if (withFile.length === 0) await createConfig();
}

async function chooseFolder(folders = localFolders()): Promise<vscode.WorkspaceFolder | undefined> {
  if (folders.length === 0) {
    void window.showInformationMessage(inert`${whyNothingRuns('noFolder')}`);
    return undefined;
  }
  if (folders.length === 1) return folders[0];
  const choice = await window.showQuickPick(
    folders.map((folder) => ({ label: inert`${folder.name}`, description: inert`${folder.uri.fsPath}`, folder })),
    { placeHolder: inert`Choose a folder` },
  );
  return choice?.folder;
}

function configUri(folder: vscode.WorkspaceFolder): vscode.Uri {
  return vscode.Uri.file(join(folder.uri.fsPath, configPath));
}
