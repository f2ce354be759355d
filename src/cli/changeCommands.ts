/** `mcp-toolsets import` and `entries`: show a change of a file, and write it on request. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  agentKinds,
  agents,
  launcherFor,
  type AgentKind,
  type Launcher,
} from '../core/agents/agents.js';
import { planEntries } from '../core/agents/planEntries.js';
import { homedir } from '../core/base/home.js';
import { markedAs, withoutMark } from '../core/base/byteOrderMark.js';
import { launcherPath, realPath } from '../core/base/paths.js';
import { largestForeignFile, utf8OrUtf16 } from '../core/base/textFile.js';
import { builtInToolset, isEnabled, type ConfiguredServer } from '../core/config/model.js';
import { serverValues } from '../core/config/edit/serverEdits.js';
import { mindsText } from '../core/authoring/mindsText.js';
import { folderOf, mindsPath } from '../core/config/sources.js';
import { isFromRegistry, writeLauncher } from '../core/files/launcherFile.js';
import { keepOutOfGit, localFileOf } from '../core/files/localFile.js';
import { refuseOutside, writeInside } from '../core/files/realFiles.js';
import { importFormats, isOfEditor } from '../core/import/dialects.js';
import { planImport } from '../core/import/plan.js';
import { isInWorkspace, workspaceRoots } from '../core/processes/workspacePrograms.js';
import { version } from '../../package.json';
import { readConfig, readConfigFiles, textIfThere } from './configFile.js';
import { FolderApprovals } from './folderApprovals.js';
import { tokenFileFor } from './gateways.js';
import { Interruption } from './interruption.js';
import { lineDifference } from './lineDifference.js';
import type { Options, Words } from './options.js';
import { complain, complainLines, complainOf, misuse, print, reasonOf, toJson } from './output.js';
import { inOrder, isOfFile } from './render.js';
import { isTerminal } from './terminalQuestion.js';
import type { Run } from './withEngine.js';

type Place = Readonly<Record<'root' | 'file' | 'label', string>>;
type Change = Place & Readonly<Record<'before' | 'after' | 'report', string>>;

export function changeOf(
  place: Place,
  before = '',
  { after, report }: Pick<Change, 'after' | 'report'>,
): Change {
  return {
    ...place,
    before,
    after: markedAs(before, after),
    report,
  };
}

export function writeChange({ root, file, before, after }: Change): void {
  if (after === before) return;
  if (before === '') keepOutOfGit(file);
  writeInside(root, file, { before, after });
}

export function showChange(
  { file, label, before, after, report }: Change,
  isWritten: boolean,
): void {
  if (after !== before) print(lineDifference(before, after, label));
  complainLines(report.trimEnd());
  if (after === before) return;
  complainLines(
    `\n${isWritten ? `Wrote ${file}.` : 'Nothing is written yet. Add --write to write it.'}`,
  );
}

/** Returns the texts of the files below the layer, or of the layer over them. */
function otherTexts(folder: string, isLayer: boolean): string[] {
  return readConfigFiles({ folder })
    .sources.filter(({ origin }) => (origin === 'local') !== isLayer)
    .flatMap(({ file, text }) => (text === undefined ? [] : mindsText(file, text)));
}

export function importFile(
  { folder, json }: Run,
  [label = '']: Words,
  { format: name, write, local }: Options,
): number {
  const format = importFormats.find((known) => known === name);
  if (name !== undefined && !format) {
    return misuse(`Unknown format "${name}". Known formats: ${importFormats.join(', ')}.`);
  }
  const source = path.resolve(label);
  const shared = path.join(folder, mindsPath);
  const file = local ? localFileOf(shared) : shared;
  try {
    const text = textIfThere(source, largestForeignFile, utf8OrUtf16);
    const config = textIfThere(file, largestForeignFile);
    if (text === undefined) return complain(`Nothing was imported: there is no file ${label}.`);
    const others = otherTexts(folder, local);
    const plan = planImport({
      text,
      file: source,
      label,
      format,
      config: config && withoutMark(config),
      below: local ? others : [],
      isOfEditor: isOfEditor(source, [folder]),
      valueOf: (variable, isInput) => (isInput ? process.env[variable] : undefined),
      folders: { folder, home: homedir() },
    });
    if (plan.kind === 'impossible') return complain(`Nothing was imported: ${plan.reason}.`);
    const change = changeOf(
      {
        root: folderOf(file),
        file,
        label: path.relative(folder, file),
      },
      config,
      plan,
    );
    if (write) writeChange(change);
    const overs = local ? [] : others.slice(0, 1);
    for (const { id } of plan.imported.servers)
      if (overs.some((text) => serverValues(text)?.has(id)))
        complain(`Your local file has "${id}" too, so for you it lies over the imported entry.`);
    if (json) print(toJson(plan.imported));
    else showChange(change, write);
    return plan.imported.servers.length > 0 ? 0 : 1;
  } catch (error) {
    return complain(`Nothing was imported: ${reasonOf(error)}.`);
  }
}

/**
 * Returns the command of the entries and the command line that the launcher has to know, or the
 * reason against both (G6e).
 */
function startOf(
  agent: AgentKind,
  { folder, guardianScript }: Run,
  home: string,
): { readonly launcher: Launcher; readonly cli?: string } | string {
  const cli = realPath(path.join(path.dirname(guardianScript), 'cli.js'));
  const launcher = launcherFor(agent, home, isFromRegistry(cli) ? version : undefined);
  if (launcher.command !== 'node') return { launcher };
  // The launcher serves every folder, so it starts nothing that this one can replace.
  const isReplaceable = isInWorkspace(cli, workspaceRoots([{ folder }, { folder: process.cwd() }]));
  if (!isReplaceable) return { launcher, cli };
  if (existsSync(launcherPath(home))) return { launcher };
  return `a repository could replace this command line, ${cli}, because it is in your folder. Use the extension, or install the package with \`npm install --global\``;
}

interface PlannedEntries {
  readonly change: ReturnType<typeof changeOf>;
  readonly entries: object;
  /** The servers that an agent starts by its entries. */
  readonly servers: readonly ConfiguredServer[];
  /** The program that the launcher of the home folder is to run, if it changes. */
  readonly cli: string | undefined;
}

/** Returns the reason, as a phrase, if there is nothing to write. */
function entriesFor(
  agent: AgentKind,
  place: Omit<Place, 'label'>,
  run: Run,
  options: Options,
): PlannedEntries | string {
  const { file } = place;
  const text = textIfThere(file, largestForeignFile);
  const label = file.startsWith(run.folder + path.sep) ? path.relative(run.folder, file) : file;
  // Colleagues read the entries of a repository.
  const from = { folder: run.folder, withoutLocal: true };
  const { servers: configured, problems } = readConfig(from);
  const ofFiles = problems.filter(isOfFile);
  if (ofFiles.length > 0) {
    complainOf(inOrder(ofFiles));
    return 'the toolsets are not known until you correct the config file';
  }
  // An invalid id is a problem of the file, and names no toolset.
  const servers = configured.filter(
    (server) => isEnabled(server) && /^[\w-]{1,64}$/.test(server.id),
  );
  const start = startOf(agent, run, homedir());
  if (typeof start === 'string') return start;
  const plan = planEntries({
    agent,
    text: text && withoutMark(text),
    label,
    toolsets: [...servers.map(({ id }) => id), builtInToolset],
    isEach: options.each,
    launcher: start.launcher,
    folder: realPath(run.folder),
    tokenFile: tokenFileFor(run, options),
  });
  if (plan.kind === 'impossible') return plan.reason;
  const change = changeOf({ ...place, label }, text, plan);
  return {
    change,
    entries: plan.entries,
    // `connect` starts them with the layer.
    servers: readConfig(run).servers.filter(isEnabled),
    cli: start.cli,
  };
}

export async function writeEntries(run: Run, [name]: Words, options: Options): Promise<number> {
  const { write, yes } = options;
  if (yes && !write) return misuse('--yes approves what the entries start, so it needs --write.');
  const agent = agentKinds.find((kind) => kind === name);
  if (!agent) return misuse(`Unknown agent "${name}". Known agents: ${agentKinds.join(', ')}.`);
  const home = homedir();
  const configHome = process.env['XDG_CONFIG_HOME'];
  const place = agents[agent].place({
    folder: run.folder,
    home,
    configHome,
  });
  if (!place)
    return complain(
      'This agent keeps its servers in a file of the folder, but no folder is given.',
    );
  const approvals = await FolderApprovals.open(run);
  const interruption = new Interruption();
  try {
    const planned = entriesFor(agent, place, run, options);
    if (typeof planned === 'string') return complain(`Nothing was written: ${planned}.`);
    const { change, entries, servers, cli } = planned;
    const starts = approvals.waitingOf(servers);
    const isAsked = write && !yes && isTerminal();
    if (starts.length > 0 && !run.json && !isAsked) {
      complainLines(
        `An agent would start what you have not approved.\n\n${approvals.review(starts)}`,
      );
    }
    if (write) refuseOutside(change.root, change.file);
    // The entry starts the launcher.
    if (write && cli !== undefined) await writeLauncher(home, cli);
    if (write) writeChange(change);
    const launches = starts.map(({ launch }) => launch);
    if (run.json) print(toJson({ file: place.file, entries, starts: launches, written: write }));
    else showChange(change, write);
    const asked = isAsked ? await approvals.agreed(starts, interruption.signal) : [];
    const agreed = yes ? starts : asked;
    if (agreed.length > 0 && !approvals.report(await approvals.approve(agreed))) return 1;
    const left = starts.filter((each) => !agreed.includes(each));
    if (left.length > 0) complain(approvals.waitingLine(left));
    return 0;
  } catch (error) {
    return complain(`Nothing was written: ${reasonOf(error)}.`);
  } finally {
    interruption.dispose();
    approvals.dispose();
  }
}
