/**
 * Registers most commands. The sidebar gives them a row. From the palette, they ask for a server.
 */
import * as vscode from 'vscode';
import { inert } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';
import { choose, commands, orShowFailure, tell, window } from '../views/inertEditor.js';
import type { Host } from '../../core/calling/hostContract.js';
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
type Run = (subject: Subject, selected: unknown) => unknown;

const deeds = {
  start: { doing: 'Starting', needs: 'startable' },
  stop: { doing: 'Stopping', needs: 'stoppable' },
  restart: { doing: 'Restarting', needs: 'restartable' },
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
      const servers = await serversFor(slot, fits, subject, selected);
      await Promise.all(
        servers.map(({ id }) => withHost(shell, `${doing} ${id}`, (host) => host[deed](id), id)),
      );
    };
  }

  function enable(enabled: boolean): Run {
    const fits: Fits = ({ state }) => (state.kind === 'disabled') === enabled;
    return async (subject, selected) => {
      const servers = await chosen(slot, fits, subject, selected);
      const { writeEnabled } = await import('../authoring/fileEdits.js');
      for (const server of servers) await orShowFailure(() => writeEnabled(server, enabled));
    };
  }

  return commands({
    start: act('start', chosen),
    stop: act('stop', chosen),
    restart: act('restart', chosen),
    stopAll: act('stop', all),
    restartAll: act('restart', all),
    enable: enable(true),
    disable: enable(false),
    release: async (subject) => {
      const { server, conversation } = nodeOf(subject) ?? {};
      if (server === undefined || conversation === undefined) return;
      await withHost(
        shell,
        `Releasing ${server}`,
        (host) => host.release(server, conversation),
        server,
      );
    },
    reload: () => withHost(shell, 'Reloading', (host) => host.reload()),
    showServerLog: async (subject) => {
      const server = await chooseServer(slot, subject);
      if (server !== undefined) logs.show(server);
    },
    goToDefinition: async (subject) => {
      const place = slot.serverOf(await chooseServer(slot, subject))?.place;
      if (place) await showPlace(place);
    },
  });
}

function registerForTools({ slot }: Shell): vscode.Disposable {
  function permit(permission: ToolPermission): Run {
    return async (subject, selected) => {
      const { setPermission } = await import('./toolPermission.js');
      await setPermission(nodesOf(subject, selected), permission);
    };
  }

  function tick(ticked: boolean): Run {
    return async (subject, selected) => {
      const rows = nodesOf(subject, selected).filter((row) => row.ticked !== undefined);
      const { writeTicks } = await import('../authoring/fileEdits.js');
      await writeTicks(
        slot,
        rows.map((row) => ({ ...row, ticked })),
      );
    };
  }

  return commands({
    askBeforeCalls: permit('ask'),
    denyTool: permit('deny'),
    allowTool: permit('allow'),
    publishTool: tick(true),
    keepOutTool: tick(false),
    goToPattern: async (subject) => {
      const { server: id, original } = nodeOf(subject) ?? {};
      const server = slot.serverOf(id);
      if (!server || original === undefined) return;
      const { goToPattern } = await import('../authoring/fileEdits.js');
      await goToPattern(server, original);
    },
    copyName: async (subject) => {
      const named = typeof subject === 'string' ? subject : nodeOf(subject)?.name;
      const name = named ?? (await chooseTool(slot));
      if (name !== undefined) await vscode.env.clipboard.writeText(name);
    },
    copyError: (subject, selected) => {
      const problems = nodesOf(subject, selected).filter(({ kind }) => kind === 'problem');
      const errors = problems.flatMap(({ name }) => name ?? []);
      return vscode.env.clipboard.writeText(errors.join('\n'));
    },
  });
}

function registerOthers({ slot, logs, secrets, context }: Shell): vscode.Disposable {
  const execute = vscode.commands.executeCommand;
  return commands({
    createConfig: async () => (await import('./configEdits.js')).createConfig(),
    openConfig: async () => (await import('./configEdits.js')).openConfig(),
    addServer: async () => (await import('./addServer.js')).addServer(secrets),
    import: async (file) => {
      const { importServersInto } = await import('./importing.js');
      await importServersInto(secrets, typeof file === 'string' ? file : undefined);
    },
    // A quick fix names the server.
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
  title: string,
  run: (host: Host) => Promise<unknown>,
  server?: string,
): Promise<void> {
  const host = slot.engine?.host;
  if (!host) return tell(inert`${whyNothingRuns(slot.state.phase)}`);
  try {
    await window.withProgress({ location: { viewId }, title: inert`${title}` }, () => run(host));
  } catch (error) {
    const answer = await window.showErrorMessage(inert`${title}: ${messageOf(error)}`, 'Show Log');
    if (answer !== undefined) logs.show(server);
  }
}

/**
 * Returns the server of a row, the fitting servers of several rows, or the server that the person
 * chooses.
 */
async function chosen(
  slot: EngineSlot,
  fits: Fits,
  subject: Subject,
  selected: unknown,
): Promise<ServerStatus[]> {
  const { servers } = slot.state.snapshot;
  const rows = nodesOf(subject, selected).filter(({ kind }) => kind === 'server');
  if (rows.length > 1)
    return servers.filter((one) => fits(one) && rows.some(({ server }) => server === one.id));
  const id = await chooseServer(slot, subject, fits);
  return servers.filter((one) => one.id === id);
}

function all(slot: EngineSlot, fits: Fits): ServerStatus[] {
  const found = slot.state.snapshot.servers.filter(fits);
  if (found.length === 0) tellNone(slot);
  return found;
}

/** Returns the server of a row, or the one of the fitting servers that the person chooses. */
async function chooseServer(
  slot: EngineSlot,
  subject: Subject,
  fits: Fits = () => true,
): Promise<string | undefined> {
  const named = serverOf(subject);
  if (named !== undefined) return named;
  const servers = slot.state.snapshot.servers.filter(fits);
  return servers.length > 0 ? await pickServer(servers) : tellNone(slot);
}

function tellNone(slot: EngineSlot): undefined {
  return tell(
    inert`${whyNone(slot.state, 'No MCP server is in a state that allows this command.')}`,
  );
}

async function chooseTool({ state }: EngineSlot): Promise<string | undefined> {
  const tools = state.snapshot.servers.flatMap(({ id, tools: own }) =>
    own.map(({ published }) => ({ id, published })),
  );
  const options = { placeHolder: inert`Choose the tool whose name to copy` };
  const chosen = await choose(tools, options, ({ id, published }) => ({
    label: inert`${published}`,
    description: inert`${id}`,
  }));
  return chosen?.published;
}
