/**
 * Registers most commands. The sidebar gives them a row. From the palette, they ask for a server.
 */
import * as vscode from 'vscode';
import { inert } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';
import { commands, orShowFailure, tell, window } from '../views/inertEditor.js';
import type { Host } from '../../core/host/hostContract.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { ToolPermission } from '../../core/tools/permissions.js';
import { showPlace } from '../views/review/documents.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { Shell } from '../engine/shell.js';
import { whyNone, whyNothingRuns } from '../views/phrases.js';
import { pickServer } from '../views/pickServer.js';
import { actions } from '../views/serverStates.js';
import { nodeOf, nodesOf, serverOf, type Subject } from '../views/rows/subject.js';
import { viewId } from '../views/rows/treeView.js';

/** `package.json` has the same id. */
const walkthrough = 'minds.mcp-toolsets#firstMinute';

type Fits = (server: ServerStatus) => boolean;

const deeds = {
  start: { doing: 'Starting', needs: 'startable' },
  stop: { doing: 'Stopping', needs: 'stoppable' },
  restart: { doing: 'Restarting', needs: 'restartable' },
} as const;

export function registerCommands({ slot, logs, secrets, context }: Shell): vscode.Disposable {
  async function act(
    deed: keyof typeof deeds,
    servers: (fits: Fits) => Promise<ServerStatus[]>,
  ): Promise<void> {
    const { doing, needs } = deeds[deed];
    const fitting = await servers(({ state }) => actions(state).includes(needs));
    await Promise.all(
      fitting.map(({ id }) => withHost(`${doing} ${id}`, (host) => host[deed](id), id)),
    );
  }

  /**
   * Returns the server of a row, the fitting servers of several rows, or the server that the person
   * chooses.
   */
  async function chosen(subject: Subject, selected: unknown, fits: Fits): Promise<ServerStatus[]> {
    const rows = nodesOf(subject, selected).filter(({ kind }) => kind === 'server');
    const id = rows.length > 1 ? undefined : await chooseServer(subject, fits);
    return slot.state.snapshot.servers.filter((one) =>
      rows.length > 1 ? fits(one) && rows.some(({ server }) => server === one.id) : one.id === id,
    );
  }

  async function all(fits: Fits): Promise<ServerStatus[]> {
    const found = slot.state.snapshot.servers.filter(fits);
    if (found.length === 0) tellNone();
    return found;
  }

  function tellNone(): undefined {
    return tell(
      inert`${whyNone(slot.state, 'No MCP server is in a state that allows this command.')}`,
    );
  }

  async function withHost(
    title: string,
    run: (host: Host) => Promise<unknown>,
    server?: string,
  ): Promise<void> {
    const host = slot.engine?.host;
    if (!host) return tell(inert`${whyNothingRuns(slot.state.phase)}`);
    try {
      await window.withProgress({ location: { viewId }, title: inert`${title}` }, () => run(host));
    } catch (error) {
      const answer = await window.showErrorMessage(
        inert`${title}: ${messageOf(error)}`,
        'Show Log',
      );
      if (answer !== undefined) logs.show(server);
    }
  }

  async function chooseServer(
    subject: Subject,
    fits: Fits = () => true,
  ): Promise<string | undefined> {
    const named = serverOf(subject);
    if (named !== undefined) return named;
    const servers = slot.state.snapshot.servers.filter(fits);
    return servers.length > 0 ? await pickServer(servers) : tellNone();
  }

  async function enable(enabled: boolean, subject: Subject, selected: unknown): Promise<void> {
    const servers = await chosen(
      subject,
      selected,
      ({ state }) => (state.kind === 'disabled') === enabled,
    );
    const { writeEnabled } = await import('../authoring/fileEdits.js');
    for (const server of servers) await orShowFailure(() => writeEnabled(server, enabled));
  }

  async function permit(
    permission: ToolPermission,
    subject: Subject,
    selected: unknown,
  ): Promise<void> {
    await (
      await import('./toolPermission.js')
    ).setPermission(nodesOf(subject, selected), permission);
  }

  async function tick(ticked: boolean, subject: Subject, selected: unknown): Promise<void> {
    const rows = nodesOf(subject, selected).flatMap((row) =>
      row.ticked === undefined ? [] : [{ ...row, ticked }],
    );
    await (await import('../authoring/fileEdits.js')).writeTicks(slot, rows);
  }

  const execute = vscode.commands.executeCommand;
  return commands({
    start: (subject, selected) => act('start', (fits) => chosen(subject, selected, fits)),
    stop: (subject, selected) => act('stop', (fits) => chosen(subject, selected, fits)),
    restart: (subject, selected) => act('restart', (fits) => chosen(subject, selected, fits)),
    stopAll: () => act('stop', all),
    restartAll: () => act('restart', all),
    enable: (subject, selected) => enable(true, subject, selected),
    disable: (subject, selected) => enable(false, subject, selected),
    askBeforeCalls: (subject, selected) => permit('ask', subject, selected),
    denyTool: (subject, selected) => permit('deny', subject, selected),
    allowTool: (subject, selected) => permit('allow', subject, selected),
    publishTool: (subject, selected) => tick(true, subject, selected),
    keepOutTool: (subject, selected) => tick(false, subject, selected),
    goToPattern: async (subject) => {
      const { server: id, original } = nodeOf(subject) ?? {};
      const server = slot.serverOf(id);
      if (!server || original === undefined) return;
      await (await import('../authoring/fileEdits.js')).goToPattern(server, original);
    },
    release: async (subject) => {
      const { server, conversation } = nodeOf(subject) ?? {};
      if (server === undefined || conversation === undefined) return;
      await withHost(`Releasing ${server}`, (host) => host.release(server, conversation), server);
    },
    reload: () => withHost('Reloading', (host) => host.reload()),
    showLog: () => logs.show(),
    showServerLog: async (subject) => {
      const server = await chooseServer(subject);
      if (server !== undefined) logs.show(server);
    },
    goToDefinition: async (subject) => {
      const place = slot.serverOf(await chooseServer(subject))?.place;
      if (place) await showPlace(place);
    },
    copyName: async (subject) => {
      const name =
        typeof subject === 'string' ? subject : (nodeOf(subject)?.name ?? (await chooseTool(slot)));
      if (name !== undefined) await vscode.env.clipboard.writeText(name);
    },
    copyError: (subject, selected) => {
      const errors = nodesOf(subject, selected).flatMap(({ kind, name }) =>
        kind === 'problem' && name ? [name] : [],
      );
      return vscode.env.clipboard.writeText(errors.join('\n'));
    },
    copyDiagnostics: async () =>
      (await import('./copyDiagnostics.js')).copyDiagnostics(slot, logs, context),
    openWalkthrough: () => execute('workbench.action.openWalkthrough', walkthrough, false),
    openSettings: () => execute('workbench.action.openSettings', '@ext:minds.mcp-toolsets'),
    createConfig: async () => (await import('./configEdits.js')).createConfig(),
    openConfig: async () => (await import('./configEdits.js')).openConfig(),
    addServer: async () => (await import('./addServer.js')).addServer(secrets),
    import: async (file) =>
      (await import('./importing.js')).importServersInto(
        secrets,
        typeof file === 'string' ? file : undefined,
      ),
    // A quick fix names the server.
    removeRivals: async (subject) => {
      const server = serverOf(subject);
      if (server === undefined) return;
      await (await import('./importing.js')).removeRivals(server, slot.state.snapshot.problems);
    },
  });
}

async function chooseTool(slot: EngineSlot): Promise<string | undefined> {
  const items = slot.state.snapshot.servers.flatMap(({ id, tools }) =>
    tools.map(({ published }) => ({
      label: inert`${published}`,
      description: inert`${id}`,
      published,
    })),
  );
  return (
    await window.showQuickPick(items, { placeHolder: inert`Choose the tool whose name to copy` })
  )?.published;
}
