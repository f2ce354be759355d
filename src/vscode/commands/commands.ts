/**
 * Registers most commands. The sidebar gives them a row, and *Manage Server…* the id of a server.
 */
import { said, translated } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { inert, type Inert } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';
import { commands, orShowFailure, tell, window } from '../views/inertEditor.js';
import type { Host } from '../../core/calling/hostContract.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { ToolPermission } from '../../core/tools/permissions.js';
import { showPlace } from '../views/review/documents.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { Shell } from '../engine/shell.js';
import { whyNone, whyNothingRuns } from '../views/phrases.js';
import { actions, isForEveryone } from '../views/serverStates.js';
import { nodeOf, nodesOf, serverOf, type Subject } from '../views/rows/subject.js';
import { viewId } from '../views/rows/treeView.js';

/** `package.json` has the same id. */
const walkthrough = 'minds.mcp-toolsets#firstMinute';

type Fits = (server: ServerStatus) => boolean;
type Run = (subject: Subject, selected: unknown) => unknown;

const deeds = {
  start: { doing: (id: string) => inert`Starting ${id}`, needs: 'startable' },
  stop: { doing: (id: string) => inert`Stopping ${id}`, needs: 'stoppable' },
  restart: { doing: (id: string) => inert`Restarting ${id}`, needs: 'restartable' },
} as const;

export function registerCommands(shell: Shell): vscode.Disposable {
  return vscode.Disposable.from(
    registerForServers(shell),
    registerForTools(shell),
    registerOthers(shell),
  );
}

function registerForServers(shell: Shell): vscode.Disposable {
  const { slot, logs } = shell;

  function act(deed: keyof typeof deeds, serversFor: typeof chosen | typeof all): Run {
    const { doing, needs } = deeds[deed];
    return async (subject, selected) => {
      const fits: Fits = ({ state }) => actions(state).includes(needs);
      const servers = serversFor(slot, fits, subject, selected);
      await Promise.all(
        servers.map(({ id }) => withHost(shell, doing(id), (host) => host[deed](id), id)),
      );
    };
  }

  function enable(enabled: boolean, isForMe: boolean): Run {
    const fits: Fits = (server) =>
      (server.state.kind === 'disabled') === enabled && (isForMe || isForEveryone(server));
    return async (subject, selected) => {
      const servers = chosen(slot, fits, subject, selected);
      const { writeEnabled } = await import('../authoring/fileEdits.js');
      for (const server of servers)
        await orShowFailure(() => writeEnabled(server, enabled, isForMe));
    };
  }

  return commands({
    start: act('start', chosen),
    stop: act('stop', chosen),
    restart: act('restart', chosen),
    stopAll: act('stop', all),
    restartAll: act('restart', all),
    enableForMe: enable(true, true),
    disableForMe: enable(false, true),
    enable: enable(true, false),
    disable: enable(false, false),
    release: async (subject) => {
      const { server, conversation } = nodeOf(subject) ?? {};
      if (server === undefined || conversation === undefined) return;
      await withHost(
        shell,
        inert`Releasing ${server}`,
        (host) => host.release(server, conversation),
        server,
      );
    },
    reload: () => withHost(shell, inert`Reloading`, (host) => host.reload()),
    showServerLog: (subject) => {
      const server = serverOf(subject);
      if (server !== undefined) logs.show(server);
    },
    goToDefinition: async (subject) => {
      const place = slot.serverOf(serverOf(subject))?.place;
      if (place) await showPlace(place);
    },
  });
}

function permit(permission: ToolPermission | undefined): Run {
  return async (subject, selected) => {
    const { setPermission } = await import('./toolPermission.js');
    await setPermission(nodesOf(subject, selected), permission);
  };
}

/** @param ticked undefined toggles the boxes */
async function writeBoxes(
  shell: Shell,
  nodes: ReturnType<typeof nodesOf>,
  ticked: boolean | undefined,
): Promise<void> {
  const rows = nodes.flatMap((row) =>
    row.ticked === undefined
      ? []
      : [
          {
            ...row,
            ticked: ticked ?? !row.ticked,
          },
        ],
  );
  // The lists let in a tool that a permission keeps out.
  const [denied = [], listed = []] = [true, false].map((isDenied) =>
    rows.filter((row) => (row.kind === 'excluded' && row.published !== undefined) === isDenied),
  );
  if (listed.length > 0) {
    const { writeTicks } = await import('../authoring/fileEdits.js');
    await writeTicks(shell, listed);
  }
  const lifted = denied.filter((row) => row.ticked);
  if (lifted.length > 0) {
    const { setPermission } = await import('./toolPermission.js');
    await setPermission(lifted, undefined);
  }
}

function registerForTools(shell: Shell): vscode.Disposable {
  const { slot } = shell;
  const tick =
    (ticked?: boolean): Run =>
    (subject, selected) =>
      writeBoxes(shell, nodesOf(subject, selected), ticked);

  return commands({
    editorDecides: permit(undefined),
    editorDecidesNow: permit(undefined),
    askBeforeCalls: permit('ask'),
    askBeforeCallsNow: permit('ask'),
    allowTool: permit('allow'),
    allowToolNow: permit('allow'),
    denyTool: permit('deny'),
    denyToolNow: permit('deny'),
    calledInAllFolders: async (subject, selected) => {
      const { permitInAllFolders } = await import('./toolPermission.js');
      await permitInAllFolders(nodesOf(subject, selected));
    },
    toggleTick: async (subject) => {
      // The key also unfolds rows without a box.
      if (nodeOf(subject)?.ticked !== undefined) await tick()(subject, undefined);
      else await vscode.commands.executeCommand('list.toggleExpand');
    },
    publishTool: tick(true),
    keepOutTool: tick(false),
    goToPattern: async (subject) => {
      const { server: id, original } = nodeOf(subject) ?? {};
      const server = slot.serverOf(id);
      if (!server || original === undefined) return;
      const { goToPattern } = await import('../authoring/fileEdits.js');
      await goToPattern(server, original);
    },
    copyName: copy,
    copyError: copy,
  });
}

function copy(subject: Subject, selected: unknown): Thenable<void> {
  const names = nodesOf(subject, selected).flatMap(({ name }) => name ?? []);
  const text = typeof subject === 'string' ? subject : names.join('\n');
  return vscode.env.clipboard.writeText(text);
}

function registerOthers(shell: Shell): vscode.Disposable {
  const { slot, logs, secrets, context } = shell;
  const execute = vscode.commands.executeCommand;
  return commands({
    manageServer: async (subject) => {
      const { manageServer } = await import('./manageServer.js');
      await manageServer(slot, serverOf(subject));
    },
    createConfig: async () => (await import('./configEdits.js')).createConfig(),
    openConfig: async () => (await import('./configEdits.js')).openConfig(),
    openLocalConfig: async () => (await import('./configEdits.js')).openLocalConfig(),
    addServer: async () => (await import('./addServer.js')).addServer(secrets),
    import: async (file) => {
      const { importServersInto } = await import('./importing.js');
      await importServersInto(secrets, typeof file === 'string' ? file : undefined);
    },
    updateLock: async (subject) => {
      const server = serverOf(subject);
      if (server === undefined) return;
      const { updateLock } = await import('./updateLock.js');
      await updateLock(slot, server);
    },
    // A quick fix names the server.
    keepOutUnused: async (subject) => {
      const { keepOutUnused } = await import('./keepOutUnused.js');
      await keepOutUnused(shell, serverOf(subject));
    },
    removeRivals: async (subject) => {
      const server = serverOf(subject);
      if (server === undefined) return;
      const { removeRivals } = await import('./importing.js');
      await removeRivals(server, slot.state.snapshot.problems);
    },
    showLog: () => logs.show(),
    copyDiagnostics: async () =>
      (await import('./copyDiagnostics.js')).copyDiagnostics(slot, logs, context),
    openWalkthrough: () => execute('workbench.action.openWalkthrough', walkthrough, false),
    openSettings: () => execute('workbench.action.openSettings', '@ext:minds.mcp-toolsets'),
  });
}

/** Runs something with the host, with its title as progress in the sidebar. */
async function withHost(
  { slot, logs }: Shell,
  title: Inert,
  run: (host: Host) => Promise<unknown>,
  server?: string,
): Promise<void> {
  const host = slot.engine?.host;
  if (!host) return tell(inert`${whyNothingRuns(slot.state.phase)}`);
  try {
    await window.withProgress({ location: { viewId }, title }, () => run(host));
  } catch (error) {
    const answer = await window.showErrorMessage(
      inert`${title}: ${translated(messageOf(error))}`,
      'Show Log',
    );
    if (answer !== undefined) logs.show(server);
  }
}

/** Returns the server of a row, or the fitting servers of several rows. */
function chosen(
  slot: EngineSlot,
  fits: Fits,
  subject: Subject,
  selected: unknown,
): readonly ServerStatus[] {
  const { servers } = slot.state.snapshot;
  const rows = nodesOf(subject, selected).filter(({ kind }) => kind === 'server');
  if (rows.length > 1)
    return servers.filter((one) => fits(one) && rows.some(({ server }) => server === one.id));
  return servers.filter(({ id }) => id === serverOf(subject));
}

function all(slot: EngineSlot, fits: Fits): readonly ServerStatus[] {
  const found = slot.state.snapshot.servers.filter(fits);
  if (found.length === 0) {
    const none = said`No MCP server is in a state that allows this command.`;
    tell(inert`${whyNone(slot.state, none)}`);
  }
  return found;
}
