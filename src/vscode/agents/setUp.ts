/**
 * *Set Up Another Agent* (G6): asks for the agent, the toolsets and, the first time, a port. Then it shows the change of the
 * agent's file. A person must agree to exactly this change. Loaded on demand.
 */
import * as vscode from 'vscode';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { inert } from '../../core/base/inert.js';
import { window } from '../views/inertEditor.js';
import { nextEvent } from '../../core/base/events.js';
import { agentKinds, agents, fileOf, rootOf, type AgentKind, type AgentFolders } from '../../core/agents/agents.js';
import {
  exportCommand,
  tokenFrom,
  type Launcher,
  type ServedAt,
  type TokenSource,
} from '../../core/agents/entryKeys.js';
import { tokenVariable } from '../../core/base/tokenVariable.js';
import { planEntries, type EntriesPlan } from '../../core/agents/planEntries.js';
import { reviewTexts } from '../../core/approval/approvalTexts.js';
import type { LaunchDescription } from '../../core/approval/fingerprint.js';
import type { ApprovalLedger } from '../../core/approval/ledger.js';
import { textOf, writeEdits } from '../commands/configEdits.js';
import { refuseOutside } from '../../core/files/realFiles.js';
import { localFolders } from '../engine/configFiles.js';
import type { Engine } from '../engine/engine.js';
import { pathLabel } from '../views/fileLabels.js';
import { agreedChange, asAgreed } from '../commands/previews.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { toolCount, whyNothingRuns } from '../views/phrases.js';
import type { AgentEndpoint } from '../engine/agentEndpoint.js';
import { endpointProblems } from './endpointProblems.js';

const title = inert`Set Up Another Agent`;
const usualPort = 7427;

/** Notes the person's port, and then runs `write` for the settings. */
export type ChoosePort = (port: number, write: () => PromiseLike<void>) => Promise<void>;

interface PortConsent {
  /** The port in the settings of the workspace, without the person's consent. */
  readonly asked: number | undefined;
  readonly choosePort: ChoosePort;
}

/** Rejects with what a person can do. @param globalStorage the folder for files of the editor's extensions */
export async function setUpAgent(
  { engine, state }: EngineSlot,
  ledger: ApprovalLedger,
  globalStorage: string,
  consent: PortConsent,
): Promise<void> {
  const endpoint = engine?.endpoint;
  if (!endpoint) throw new Error(whyNothingRuns(state.phase));
  const chosen = await chooseAgent(globalStorage);
  if (!chosen || !(await hasPort(endpoint, consent))) return;
  const toolsets = await chooseToolsets(engine, endpoint);
  if (!toolsets) return;
  const source = { tokenFile: endpoint.tokenFile, home: homedir(), platform: process.platform };
  // `connect` asks nobody, so launches without an approval would wait there.
  const launches = toolsets.flatMap((id) => engine.host.launchOf(id) ?? []);
  const unseen = launches.filter((launch) => ledger.judgeAsking(launch) === 'pending');
  const isAgreed = await writeEntries(chosen, () => toolsets.map((id) => servedAt(endpoint, id)), source, unseen);
  if (isAgreed && unseen.length > 0) await ledger.approve(unseen);
}

/** Resolves to true if the window listens on a port. */
async function hasPort(endpoint: AgentEndpoint, { asked, choosePort }: PortConsent): Promise<boolean> {
  if (endpoint.state.kind === 'off' || asked !== undefined) {
    const port = await window.showInputBox({
      title,
      prompt: inert`Choose a fixed port on which other agents find the toolsets of this window. MCP Toolsets saves it in the settings.`,
      value: String(asked ?? (await freePort())),
      validateInput: (text) => (isPort(text) ? undefined : inert`Enter a number from 1024 to 65535.`),
    });
    if (port === undefined) return false;
    const [folder] = localFolders();
    // The editor follows links when it writes settings.
    if (folder && !vscode.workspace.workspaceFile) {
      refuseOutside(folder.uri.fsPath, join(folder.uri.fsPath, '.vscode', 'settings.json'));
    }
    const target = folder ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
    await choosePort(Number(port), () =>
      vscode.workspace.getConfiguration('mcpToolsets').update('endpoint.port', Number(port), target),
    );
  }
  const isSettled = (): boolean => endpoint.state.kind !== 'off' && endpoint.state.kind !== 'starting';
  if (!isSettled()) await nextEvent(endpoint.onDidChange, isSettled, AbortSignal.timeout(10_000));
  const nowhere = { file: '', range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } } };
  const [problem] = endpointProblems(endpoint.state, nowhere);
  if (problem) throw new Error(`${problem.message} ${problem.fix}`);
  return true;
}

function isPort(text: string): boolean {
  return /^\d{4,5}$/.test(text) && Number(text) >= 1024 && Number(text) < 65_536;
}

async function freePort(): Promise<number> {
  for (let port = usualPort; port < usualPort + 100; port++) {
    const server = createServer();
    const listening = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port, '127.0.0.1');
    const isFree = await listening;
    server.close();
    if (isFree) return port;
  }
  return usualPort;
}

interface Chosen {
  readonly kind: AgentKind;
  readonly file: string;
  /** The folder that nothing written may leave. */
  readonly root: string;
}

async function chooseAgent(globalStorage: string): Promise<Chosen | undefined> {
  const folders: AgentFolders = {
    folder: localFolders()[0]?.uri.fsPath,
    home: homedir(),
    globalStorage,
    configHome: process.env['XDG_CONFIG_HOME'],
  };
  const files = agentKinds.flatMap((kind): Chosen[] => {
    const file = fileOf(kind, folders);
    return file === undefined ? [] : [{ kind, file, root: rootOf(kind, folders) }];
  });
  const outside = { ...folders, globalStorage: undefined };
  const alone = fileOf('cline', outside);
  if (alone !== undefined && existsSync(alone)) {
    files.push({ kind: 'cline', file: alone, root: rootOf('cline', outside) });
  }
  const items = files.map((each) => ({
    label: inert`${agents[each.kind].program}`,
    description: inert`${pathLabel(each.file)}`,
    each,
  }));
  const placeHolder = inert`Choose the agent that will use the toolsets of this window`;
  return (await window.showQuickPick(items, { title, placeHolder }))?.each;
}

async function chooseToolsets({ host }: Engine, endpoint: AgentEndpoint): Promise<string[] | undefined> {
  const items = host.catalogue.toolsets.flatMap(({ id, tools }) =>
    endpoint.urlOf(id) === undefined
      ? []
      : [{ label: inert`${id}`, description: inert`${toolCount(tools.length, tools.length)}`, picked: true, id }],
  );
  const placeHolder = inert`Choose the toolsets for the agent`;
  const chosen = await window.showQuickPick(items, { title, placeHolder, canPickMany: true });
  return chosen && chosen.length > 0 ? chosen.map(({ id }) => id) : undefined;
}

/** The port may have changed since the choice. Throws without a port. */
function servedAt(endpoint: AgentEndpoint, id: string): ServedAt {
  const url = endpoint.urlOf(id);
  if (url === undefined) throw new Error('Nothing was written, because this window no longer serves other agents.');
  return { id, url };
}

/** Resolves to true if the person agreed to the change. */
async function writeEntries(
  { kind, file, root }: Chosen,
  toolsets: () => readonly ServedAt[],
  source: TokenSource,
  unseen: readonly LaunchDescription[],
): Promise<boolean> {
  const label = pathLabel(file);
  const agreed = await agreedChange<Extract<EntriesPlan, { kind: 'planned' }>>({
    scheme: 'mcp-toolsets-agent',
    plan: async () => {
      const made = planEntries({
        agent: kind,
        text: await textOf(file),
        label,
        toolsets: toolsets(),
        source,
        launcher: launcher(),
      });
      if (made.kind === 'impossible') throw new Error(`Nothing was written: ${made.reason}.`);
      return made;
    },
    preview: async ({ edits, report }) =>
      edits.length === 0
        ? undefined
        : {
            name: basename(file),
            before: (await textOf(file)) ?? '',
            title: `${label}: with the toolsets`,
            report: { name: 'Agent.md', text: `# ${agents[kind].program}\n\n${report}${startText(unseen)}` },
          },
    question: ({ entries: { length } }) =>
      inert`Write ${length === 1 ? 'this entry' : `these ${length} entries`} to ${label}?`,
    yes: 'Write',
  });
  if (!agreed) return false;
  if (agreed.edits.length === 0) {
    void tellHow(kind, `${label} already has these entries.`, source);
    return false;
  }
  const { isSaved } = await writeEdits({ file, root, name: label, editsOf: asAgreed(agreed, label) });
  void tellHow(kind, isSaved ? `${label} was written.` : `${label} has other unsaved changes. Save it.`, source);
  return true;
}

/** Returns the launches of the entries. Writing the entries approves them (S1). */
function startText(unseen: readonly LaunchDescription[]): string {
  if (unseen.length === 0) return '';
  const pending = unseen.map((launch) => ({ launch, before: undefined }));
  return `\n## What the agent may start then\n\n${reviewTexts(pending, pathLabel).now}`;
}

async function tellHow(kind: AgentKind, done: string, source: TokenSource): Promise<void> {
  const { program } = agents[kind];
  if (tokenFrom(kind, source) !== 'variable') {
    void window.showInformationMessage(inert`${done} ${program} finds the toolsets when it starts next.`);
    return;
  }
  const copy = 'Copy Command';
  const text = inert`${done} ${program} reads the token from the variable ${tokenVariable}. Copy the command, run it in a shell, and start ${program} there.`;
  if ((await window.showInformationMessage(text, copy)) === copy) {
    await vscode.env.clipboard.writeText(exportCommand(source));
  }
}

/** Returns the command line of this extension. Other programs start agents, so they cannot use the editor's Node. */
function launcher(): Launcher {
  const { extensionPath } = vscode.extensions.getExtension('minds.mcp-toolsets') ?? { extensionPath: '' };
  const folder = localFolders()[0]?.uri.fsPath ?? homedir();
  return { command: 'node', args: [join(extensionPath, 'dist', 'cli.js')], folder };
}
