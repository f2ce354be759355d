/**
 * *Set Up Another Agent* (G6). A person must agree to exactly the shown change. Loaded on demand.
 */
import { english, plural, said, translated } from '../../core/base/language.js';
import { commaList } from '../../core/base/text.js';
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { homedir } from '../../core/base/home.js';
import { inert } from '../../core/base/inert.js';
import { choose, tell, window } from '../views/inertEditor.js';
import { nextEvent } from '../../core/base/events.js';
import {
  agentKinds,
  agents,
  launcherFor,
  type AgentKind,
  type AgentFolders,
} from '../../core/agents/agents.js';
import { planEntries, type EntriesPlan } from '../../core/agents/planEntries.js';
import { reviewTexts } from '../../core/approval/approvalTexts.js';
import type { LaunchDescription } from '../../core/approval/fingerprint.js';
import { agreedChange, textOf, writeEdits } from '../commands/configEdits.js';
import { refuseOutside } from '../../core/files/realFiles.js';
import { folderPaths } from '../engine/configFiles.js';
import type { ShellEngine } from '../engine/engine.js';
import { fileLabel } from '../views/places.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { toolCount, whyNothingRuns } from '../views/phrases.js';
import { agentEndpointProblem } from './endpointProblems.js';

const title = inert`Set Up Another Agent`;

/** Notes the person's port before `write`. */
export type ChoosePort = (port: number, write: () => PromiseLike<void>) => Promise<void>;

/** @param asked the port in the settings of the workspace, without the person's consent */
export async function setUpAgent(
  { engine, state }: EngineSlot,
  globalStorage: string,
  asked: number | undefined,
  choosePort: ChoosePort,
): Promise<void> {
  if (!engine) throw new Error(whyNothingRuns(state.phase));
  const { endpoint, tokenFile, approvals } = engine;
  const chosen = await chooseAgent(globalStorage);
  if (!chosen || !(await confirmsPort(endpoint, asked, choosePort))) return;
  const offered = await chooseToolsets(engine);
  if (!offered) return;
  // `connect` asks nobody, so launches without an approval would wait there.
  const launches = offered.toolsets.flatMap((id) => engine.host.launchOf(id) ?? []);
  const unseen = launches.filter((launch) => approvals.ledger.judgeAsking(launch) === 'pending');
  const isAgreed = await writeEntries(chosen, offered, tokenFile, unseen);
  if (isAgreed && unseen.length > 0) await approvals.ledger.approve(unseen);
}

/** Resolves to false if the person gives up choosing a port (G6a). */
async function confirmsPort(
  endpoint: ShellEngine['endpoint'],
  asked: number | undefined,
  choosePort: ChoosePort,
): Promise<boolean> {
  if (asked === undefined) return true;
  const isPort = (text: string): boolean =>
    /^\d{4,5}$/.test(text) && Number(text) >= 1024 && Number(text) < 65_536;
  const port = await window.showInputBox({
    title,
    prompt: inert`The settings of this workspace ask for a fixed port, for agents that speak HTTP. Choose the port. MCP Toolsets saves it there.`,
    value: String(asked),
    validateInput: (text) => (isPort(text) ? undefined : inert`Enter a number from 1024 to 65535.`),
  });
  if (port === undefined) return false;
  const [folder] = folderPaths();
  // The editor follows links when it writes settings.
  if (folder && !vscode.workspace.workspaceFile)
    refuseOutside(folder, join(folder, '.vscode', 'settings.json'));
  const target = folder ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await choosePort(Number(port), () =>
    vscode.workspace.getConfiguration('mcpToolsets').update('endpoint.port', Number(port), target),
  );
  const isSettled = (): boolean => endpoint.state.kind !== 'starting';
  if (!isSettled()) await nextEvent(endpoint.onDidChange, isSettled, AbortSignal.timeout(10_000));
  const problem = agentEndpointProblem(endpoint.state);
  if (problem) throw new Error(`${translated(problem.message)} ${translated(problem.fix)}`);
  return true;
}

interface Chosen {
  readonly kind: AgentKind;
  readonly file: string;
  readonly root: string;
}

async function chooseAgent(globalStorage: string): Promise<Chosen | undefined> {
  const configHome = process.env['XDG_CONFIG_HOME'];
  const folders: AgentFolders = {
    folder: folderPaths()[0],
    home: homedir(),
    globalStorage,
    configHome,
  };
  const files = agentKinds.flatMap((kind): Chosen[] => {
    const place = agents[kind].place(folders);
    return place ? [{ kind, ...place }] : [];
  });
  const alone = agents.cline.place({ ...folders, globalStorage: undefined });
  if (alone && existsSync(alone.file)) files.push({ kind: 'cline', ...alone });
  const placeHolder = inert`Choose the agent that will use the toolsets of this window`;
  return choose(files, { title, placeHolder }, ({ kind, file }) => ({
    label: inert`${agents[kind].program}`,
    description: inert`${fileLabel(file)}`,
  }));
}

type Offered = Pick<Parameters<typeof planEntries>[0], 'toolsets' | 'isEach'>;

async function chooseToolsets({ host }: ShellEngine): Promise<Offered | undefined> {
  const toolsets = host.catalogue.toolsets.map(({ id }) => id);
  const all = {
    label: inert`All toolsets`,
    description: inert`one entry, also for toolsets that you add later`,
    picked: true,
    ids: toolsets,
  };
  const each = host.catalogue.toolsets.map(({ id, tools }) => ({
    label: inert`${id}`,
    description: inert`an entry with ${toolCount(tools.length)}`,
    picked: false,
    ids: [id],
  }));
  const placeHolder = inert`Choose one entry for all toolsets, or the toolsets with an entry each`;
  const chosen = await window.showQuickPick([all, ...each], {
    title,
    placeHolder,
    canPickMany: true,
  });
  if (!chosen || chosen.length === 0) return undefined;
  if (chosen.includes(all)) return { toolsets, isEach: false };
  return { toolsets: chosen.flatMap(({ ids }) => ids), isEach: true };
}

const quotedServer = ({ server }: { readonly server: string }): string => `“${server}”`;

async function writeEntries(
  { kind, file, root }: Chosen,
  offered: Offered,
  tokenFile: string,
  unseen: readonly LaunchDescription[],
): Promise<boolean> {
  const label = fileLabel(file);
  const agreed = await agreedChange<Extract<EntriesPlan, { kind: 'planned' }>>({
    file,
    name: label,
    scheme: 'mcp-toolsets-agent',
    plan: async () => {
      const made = planEntries({
        agent: kind,
        text: await textOf(file),
        label,
        ...offered,
        launcher: launcherFor(kind, homedir()),
        folder: folderPaths()[0] ?? homedir(),
        tokenFile,
      });
      if (made.kind === 'impossible')
        throw new Error(english`Nothing was written: ${made.reason}.`);
      return made;
    },
    title: (name) => said`${name}: with the toolsets`,
    report: ({ report }) => [
      'Agent.md',
      `# ${agents[kind].program}\n\n${report}${startText(unseen)}`,
    ],
    question: ({ entries: { length } }) => {
      const names = commaList(unseen.map(quotedServer), said);
      const question = plural(
        length,
        'Write this entry to {1}?',
        'Write these {0} entries to {1}?',
        label,
      );
      return names === '' ? inert`${question}` : inert`${question} This approves ${names}.`;
    },
    yes: 'Write',
  });
  if (!agreed) return false;
  if (agreed.advice !== undefined) {
    tell(inert`${label} stays as it is. ${translated(agreed.advice)}`);
    return false;
  }
  const isNew = agreed.edits.length > 0;
  const change = {
    file,
    root,
    name: label,
    editsOf: agreed.editsOf,
  };
  const { isSaved } = isNew ? await writeEdits(change) : { isSaved: true };
  tell(
    inert`${doneText(label, isNew, isSaved)} ${agents[kind].program} finds the toolsets when it starts next.`,
  );
  return isNew;
}

function doneText(label: string, isNew: boolean, isSaved: boolean): string {
  if (!isNew) return said`${label} already has these entries.`;
  return isSaved ? said`${label} was written.` : said`${label} has other unsaved changes. Save it.`;
}

/** Writing the entries approves these launches (S1). */
function startText(unseen: readonly LaunchDescription[]): string {
  if (unseen.length === 0) return '';
  const pending = unseen.map((launch) => ({ launch, before: undefined }));
  return said`\n## What the agent may start then\n\n${reviewTexts(pending, fileLabel).now}`;
}
