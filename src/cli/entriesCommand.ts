/** `mcp-toolsets entries`: shows the change of another agent's file that adds entries for the toolsets, and writes it on request. */
import { markedAs, withoutMark } from '../core/base/byteOrderMark.js';
import { homedir } from 'node:os';
import path from 'node:path';
import { realPath } from '../core/base/paths.js';
import { agentKinds, agents, homeLauncher, packageLauncher } from '../core/agents/agents.js';
import { planEntries } from '../core/agents/planEntries.js';
import { builtInToolset, isEnabled } from '../core/config/model.js';
import { writeLauncher } from '../core/files/launcherFile.js';
import { writeInside } from '../core/files/realFiles.js';
import { version } from '../../package.json';
import { readConfig, textIfThere } from './configFile.js';
import { FolderApprovals } from './folderApprovals.js';
import { tokenFileFor } from './gateways.js';
import { lineDifference } from './lineDifference.js';
import type { Options, Words } from './options.js';
import { complain, complainLines, complainOf, misuse, print, reasonOf, toJson } from './output.js';
import { inOrder, isOfFile } from './render.js';
import type { Run } from './withHost.js';

export async function writeEntries(run: Run, [name]: Words, options: Options): Promise<number> {
  const { write } = options;
  const agent = agentKinds.find((kind) => kind === name);
  if (!agent) return misuse(`Unknown agent "${name}". Known agents: ${agentKinds.join(', ')}.`);
  const home = homedir();
  const around = { folder: run.folder, home, configHome: process.env['XDG_CONFIG_HOME'] };
  const place = agents[agent].place(around);
  if (!place) return complain('This agent keeps its servers in a file of the folder, but no folder is given.');
  const { root, file } = place;
  let before: string | undefined;
  try {
    before = textIfThere(file);
  } catch (error) {
    return complain(nothingWritten(error));
  }
  const label = file.startsWith(run.folder + path.sep) ? path.relative(run.folder, file) : file;
  const approvals = await FolderApprovals.open(run.folder);
  const { servers: configured, problems } = readConfig(run.folder);
  const ofFiles = problems.filter(isOfFile);
  if (ofFiles.length > 0) {
    complainOf(inOrder(ofFiles));
    return complain('Nothing was written: the toolsets are not known until you correct the config file.');
  }
  // An invalid id is a problem of the file, and names no toolset.
  const servers = configured.filter((server) => isEnabled(server) && /^[\w-]{1,64}$/.test(server.id));
  const cli = realPath(path.join(path.dirname(run.guardianScript), 'cli.js'));
  const isOfPackage = cli.split(path.sep).slice(-4, -2).join('/') === 'node_modules/mcp-toolsets';
  const plan = planEntries({
    agent,
    text: before && withoutMark(before),
    label,
    toolsets: [...new Set([...servers.map(({ id }) => id), builtInToolset])],
    launcher: isOfPackage ? packageLauncher(version) : homeLauncher,
    folder: realPath(run.folder),
    tokenFile: tokenFileFor(run, options),
  });
  if (plan.kind === 'impossible') return complain(`Nothing was written: ${plan.reason}.`);
  const starts = approvals.waiting(servers);
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
  const { edits, after, entries, report } = plan;
  const isApproved = !write || starts.length === 0 || (await approvals.approve(starts));
  if (run.json) print(toJson({ file, entries, starts, written: write }));
  else {
    if (edits.length > 0) print(lineDifference(before ?? '', after, label));
    complainLines(report.trimEnd());
    const approved = ` The servers above are ${write ? 'approved' : 'approved by that too'}.`;
    const approves = starts.length > 0 && isApproved && approvals.passing(starts) === undefined ? approved : '';
    if (edits.length > 0 || approves !== '') {
      complainLines(`\n${write ? `Wrote ${file}.` : 'Nothing is written yet. Add --write to write it.'}${approves}`);
    }
  }
  approvals.dispose();
  return isApproved ? 0 : 1;
}

function nothingWritten(error: unknown): string {
  return `Nothing was written: ${reasonOf(error)}.`;
}
