/** `mcp-toolsets entries`: shows the change of another agent's file that adds entries for the toolsets, and writes it on request. */
import { markedAs, withoutMark } from '../core/base/byteOrderMark.js';
import { homedir } from 'node:os';
import path from 'node:path';
import { realPath } from '../core/base/paths.js';
import { agentKinds, agents, homeLauncher, packageLauncher, type AgentKind } from '../core/agents/agents.js';
import { planEntries, type EntriesPlan } from '../core/agents/planEntries.js';
import type { LaunchDescription } from '../core/approval/fingerprint.js';
import type { Problem } from '../core/base/problem.js';
import { wholeUtf8 } from '../core/base/textFile.js';
import { ConfigState } from '../core/config/read/merge.js';
import { builtInToolset, isEnabled, type ConfiguredServer } from '../core/config/model.js';
import { writeLauncher } from '../core/files/launcherFile.js';
import { writeInside } from '../core/files/realFiles.js';
import { tokenFileOf } from '../core/files/tokenFile.js';
import { version } from '../../package.json';
import { readConfigFiles, textIfThere } from './configFile.js';
import { FolderApprovals } from './folderApprovals.js';
import { lineDifference } from './lineDifference.js';
import { complain, complainLines, complainOf, misuse, print, reasonOf, toJson } from './output.js';
import { inOrder, isOfFile } from './render.js';
import { configDeps, type Run } from './withHost.js';

interface EntriesCommand {
  readonly agent: string | undefined;
  /** Relative to the working directory. By default the file of the folder. */
  readonly tokenFile: string | undefined;
  readonly write: boolean;
}

export async function writeEntries(run: Run, request: EntriesCommand): Promise<number> {
  const { agent, tokenFile, write } = request;
  if (agent === undefined) return misuse('The name of an agent is missing.');
  if (!isAgentKind(agent)) return misuse(`Unknown agent "${agent}". Known agents: ${agentKinds.join(', ')}.`);
  const home = homedir();
  const around = { folder: run.folder, home, configHome: process.env['XDG_CONFIG_HOME'] };
  const place = agents[agent].place(around);
  if (!place) return complain('This agent keeps its servers in a file of the folder, but no folder is given.');
  const { root, file } = place;
  let before: string | undefined;
  try {
    before = textIfThere(file, wholeUtf8);
  } catch (error) {
    return complain(nothingWritten(error));
  }
  const label = file.startsWith(run.folder + path.sep) ? path.relative(run.folder, file) : file;
  const approvals = await FolderApprovals.open(run.folder);
  const toolsets = toolsetsOf(run);
  if (toolsets.kind === 'unknown') {
    complainOf(toolsets.why);
    return complain('Nothing was written: the toolsets are not known until you correct the config file.');
  }
  const cli = realPath(path.join(path.dirname(run.guardianScript), 'cli.js'));
  const isOfPackage = cli.split(path.sep).slice(-4, -2).join('/') === 'node_modules/mcp-toolsets';
  const plan = planEntries({
    agent,
    text: before && withoutMark(before),
    label,
    toolsets: toolsets.ids,
    launcher: isOfPackage ? packageLauncher(version) : homeLauncher,
    folder: realPath(run.folder),
    tokenFile: path.resolve(tokenFile ?? tokenFileOf(run.folder, home)),
  });
  if (plan.kind === 'impossible') return complain(`Nothing was written: ${plan.reason}.`);
  const starts = approvals.waiting(toolsets.servers);
  if (starts.length > 0 && !run.json) {
    complainLines(`These entries start what you have not approved.\n\n${approvals.review(starts)}`);
  }
  if (write) {
    try {
      if (plan.edits.length > 0) {
        writeInside(root, file, { before: before ?? '', after: markedAs(before, plan.after) });
      }
      if (!isOfPackage) await writeLauncher(home, cli);
    } catch (error) {
      return complain(nothingWritten(error));
    }
  }
  tell(run, plan, { file, label, before: before ?? '', write, starts });
  const isApproved = !write || starts.length === 0 || (await approvals.approve(starts));
  approvals.dispose();
  return isApproved ? 0 : 1;
}

function nothingWritten(error: unknown): string {
  return `Nothing was written: ${reasonOf(error)}.`;
}

function tell(
  run: Run,
  { edits, after, entries, report }: Extract<EntriesPlan, { kind: 'planned' }>,
  { file, label, before, write, starts }: Told,
): void {
  if (run.json) {
    print(toJson({ file, entries, starts, written: write }));
    return;
  }
  if (edits.length > 0) print(lineDifference(before, after, label));
  complainLines(report.trimEnd());
  const approves = starts.length > 0 ? ` The servers above are ${write ? 'approved' : 'approved by that too'}.` : '';
  if (edits.length > 0 || approves !== '') {
    complainLines(`\n${write ? `Wrote ${file}.` : 'Nothing is written yet. Add --write to write it.'}${approves}`);
  }
}

interface Told {
  readonly file: string;
  readonly label: string;
  readonly before: string;
  readonly write: boolean;
  readonly starts: readonly LaunchDescription[];
}

type Toolsets =
  | { readonly kind: 'known'; readonly ids: readonly string[]; readonly servers: readonly ConfiguredServer[] }
  | { readonly kind: 'unknown'; readonly why: readonly Problem[] };

/** Returns the toolsets of the config files without starting servers. */
function toolsetsOf({ folder }: Run): Toolsets {
  const { sources, problems } = readConfigFiles(folder);
  const { model, problems: found } = new ConfigState().apply(sources, configDeps);
  const ofFiles = [...problems, ...found].filter(isOfFile);
  if (ofFiles.length > 0) return { kind: 'unknown', why: inOrder(ofFiles) };
  const on = model.servers.filter(isEnabled);
  // An invalid id is a problem of the file, and names no toolset.
  const servers = on.filter(({ id }) => /^[\w-]{1,64}$/.test(id));
  return { kind: 'known', ids: [...servers.map(({ id }) => id), builtInToolset], servers };
}

function isAgentKind(word: string): word is AgentKind {
  return (agentKinds as readonly string[]).includes(word);
}
