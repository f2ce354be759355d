/** Registers most commands. The sidebar gives them a row. From the palette, they ask for a server. */
import * as vscode from 'vscode';
import { inert } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';
import { command, orShowFailure, window } from '../views/inertEditor.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import type { Host } from '../../core/host/hostContract.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { openDocument } from '../views/review/documents.js';
import { toLocation } from '../views/problems/diagnostics.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { EnteredSecrets } from '../engine/enteredSecrets.js';
import type { Manifest } from './copyDiagnostics.js';
import type { Logs } from '../engine/logs.js';
import { whyNone, whyNothingRuns } from '../views/phrases.js';
import { pickServer } from '../views/pickServer.js';
import { actions } from '../views/serverStates.js';
import { nodeOf, nodesOf, serverOf, type Subject } from '../views/rows/subject.js';
import { viewId } from '../views/rows/treeView.js';

/** `package.json` has the same id. */
const walkthrough = 'minds.mcp-toolsets#firstMinute';

type Action = 'start' | 'stop' | 'restart';
type Fits = (server: ServerStatus) => boolean;

const actionNames = { start: 'Starting', stop: 'Stopping', restart: 'Restarting' } as const;
const possible = { start: 'startable', stop: 'stoppable', restart: 'restartable' } as const;

export function registerCommands(
  slot: EngineSlot,
  logs: Logs,
  secrets: EnteredSecrets,
  manifest: Manifest,
): Disposable {
  const store = new DisposableStore('commands');
  const register = (name: string, run: (subject: Subject, selected?: unknown) => PromiseLike<void>): void => {
    store.add(command(name, run));
  };

  async function act(action: Action, servers: (fits: Fits) => Promise<readonly ServerStatus[]>): Promise<void> {
    const chosen = await servers(({ state }) => actions(state).includes(possible[action]));
    await Promise.all(chosen.map(({ id }) => withHost(`${actionNames[action]} ${id}`, (host) => host[action](id), id)));
  }

  /** Returns the server of a row, the fitting servers of several rows, or the server that the person chooses. */
  async function chosen(subject: Subject, selected: unknown, fits: Fits): Promise<ServerStatus[]> {
    const rows = nodesOf(subject, selected).filter(({ kind }) => kind === 'server');
    const id = rows.length > 1 ? undefined : await chooseServer(subject, fits);
    return slot.state.snapshot.servers.filter((one) =>
      rows.length > 1 ? fits(one) && rows.some(({ server }) => server === one.id) : one.id === id,
    );
  }

  function all(fits: Fits): Promise<ServerStatus[]> {
    const found = slot.state.snapshot.servers.filter(fits);
    if (found.length === 0) showNone();
    return Promise.resolve(found);
  }

  function showNone(): void {
    const none = 'No MCP server is in a state that allows this command.';
    void window.showInformationMessage(inert`${whyNone(slot.state, none)}`);
  }

  /** Shows the progress in the sidebar, and a failure as a message. */
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

  async function chooseServer(subject: Subject, fits: Fits = () => true): Promise<string | undefined> {
    const named = serverOf(subject);
    if (named !== undefined) return named;
    const servers = slot.state.snapshot.servers.filter(fits);
    if (servers.length > 0) return await pickServer(servers);
    showNone();
    return undefined;
  }

  async function enable(enabled: boolean, subject: Subject, selected: unknown): Promise<void> {
    const servers = await chosen(subject, selected, ({ state }) => (state.kind === 'disabled') === enabled);
    const { writeEnabled } = await import('../authoring/serverChanges.js');
    for (const server of servers) await orShowFailure(() => writeEnabled(server, enabled));
  }

  for (const action of ['start', 'stop', 'restart'] as const) {
    register(action, (subject, selected) => act(action, (fits) => chosen(subject, selected, fits)));
  }
  register('stopAll', () => act('stop', all));
  register('restartAll', () => act('restart', all));
  register('enable', (subject, selected) => enable(true, subject, selected));
  register('disable', (subject, selected) => enable(false, subject, selected));
  for (const [name, permission] of [
    ['askBeforeCalls', 'ask'],
    ['denyTool', 'deny'],
    ['allowTool', 'allow'],
  ] as const) {
    register(name, async (subject, selected) =>
      (await import('./toolPermission.js')).setPermission(nodesOf(subject, selected), permission),
    );
  }
  for (const ticked of [true, false]) {
    register(ticked ? 'publishTool' : 'keepOutTool', async (subject, selected) => {
      const rows = nodesOf(subject, selected).filter((row) => row.ticked !== undefined);
      const { writeTicks } = await import('../authoring/serverChanges.js');
      await writeTicks(
        slot,
        rows.map((row) => ({ ...row, ticked })),
      );
    });
  }
  register('goToPattern', async (subject) => {
    const { server: id, original } = nodeOf(subject) ?? {};
    const server = slot.state.snapshot.servers.find((one) => one.id === id);
    if (!server || original === undefined) return;
    const { goToPattern } = await import('../authoring/serverChanges.js');
    await goToPattern(server, original);
  });
  register('release', async (subject) => {
    const { server, conversation } = nodeOf(subject) ?? {};
    if (server === undefined || conversation === undefined) return;
    await withHost(`Releasing ${server}`, (host) => host.release(server, conversation), server);
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
    await vscode.window.showTextDocument(await openDocument(uri), { selection: range });
  });
  register('copyName', async (subject) => {
    const name = typeof subject === 'string' ? subject : (nodeOf(subject)?.name ?? (await chooseTool(slot)));
    if (name !== undefined) await vscode.env.clipboard.writeText(name);
  });
  register('copyError', async (subject, selected) => {
    const errors = nodesOf(subject, selected).flatMap(({ kind, name }) => (kind === 'problem' && name ? [name] : []));
    await vscode.env.clipboard.writeText(errors.join('\n'));
  });
  register('copyDiagnostics', async () => (await import('./copyDiagnostics.js')).copyDiagnostics(slot, logs, manifest));
  const execute = vscode.commands.executeCommand;
  register('openWalkthrough', () => execute('workbench.action.openWalkthrough', walkthrough, false));
  register('openSettings', () => execute('workbench.action.openSettings', '@ext:minds.mcp-toolsets'));
  register('createConfig', async () => (await import('./openConfig.js')).createConfig());
  register('openConfig', async () => (await import('./openConfig.js')).openConfig());
  register('addServer', async () => (await import('./addServer.js')).addServer(secrets));
  register('import', async (subject) =>
    (await import('./importing.js')).importServersInto(secrets, typeof subject === 'string' ? subject : undefined),
  );
  // A quick fix names the server.
  register('removeRivals', async (subject) => {
    const server = serverOf(subject);
    if (server !== undefined) await (await import('./importing.js')).removeRivals(server, slot.state.snapshot.problems);
  });
  return store;
}

async function chooseTool(slot: EngineSlot): Promise<string | undefined> {
  const tools = slot.state.snapshot.servers.flatMap(({ id, tools }) =>
    tools.map(({ published }) => ({ label: inert`${published}`, description: inert`${id}`, published })),
  );
  return (await window.showQuickPick(tools, { placeHolder: inert`Choose the tool whose name to copy` }))?.published;
}
