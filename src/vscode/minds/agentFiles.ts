/**
 * Keeps the custom agents of members up to date with team and toolsets (D2), after a command has
 * written them.
 */
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { inert } from '../../core/base/inert.js';
import { shortList, asText, messageOf } from '../../core/base/text.js';
import { commands, tell, window } from '../views/inertEditor.js';
import { SingleFlight } from '../../core/base/singleFlight.js';
import { grantedOf, teamPath } from '../../core/team/grants.js';
import type { AgentOfMember } from '../../core/team/agentFiles.js';
import type { Member, Team } from '../../core/team/team.js';
import { refuseOutside } from '../../core/files/realFiles.js';
import { readContent, realDisk } from '../../core/files/watchedFile.js';
import { configuredToolsets } from '../../core/host/configuredToolsets.js';
import { openDocument } from '../views/review/documents.js';
import { present, whyNothingRuns } from '../views/phrases.js';
import { makeFolders, type FolderMaker } from './newFolders.js';
import type { TeamFiles } from './teamFiles.js';
import type { Shell } from '../engine/shell.js';

export function registerAgentFiles(
  { slot, clock, logs: { host: log } }: Shell,
  team: TeamFiles,
): vscode.Disposable {
  let wanted = false;
  let written: string[] = [];
  let known = '';
  const following = new SingleFlight(async () => {
    const create = wanted;
    wanted = false;
    for (const one of team.view.teams) await followTeam(one, create);
  });
  const follow = (): void => {
    // While the toolsets are unknown, no grant would count.
    if (slot.engine && slot.state.phase === 'serving') {
      following
        .request()
        .catch((error: unknown) => log.write('error', `Agent files: ${asText(error)}`));
    }
  };
  const folders: FolderMaker = {
    clock,
    exists: existsSync,
    make: async (made) => vscode.workspace.fs.createDirectory(vscode.Uri.file(made)),
    listen: (made, reported) => {
      const pattern = new vscode.RelativePattern(vscode.Uri.file(dirname(made)), basename(made));
      const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, true, true);
      watcher.onDidCreate(reported);
      return watcher;
    },
  };
  return vscode.Disposable.from(
    team.onDidChange(follow),
    slot.onDidChange(({ snapshot }) => {
      const now = JSON.stringify(snapshot.servers.map(({ id }) => id));
      if (now === known) return;
      known = now;
      follow();
    }),
    commands({ writeAgents }),
  );

  async function writeAgents(): Promise<void> {
    const { members, teams } = team.view;
    const [first] = teams;
    if (!slot.engine) return tell(inert`${whyNothingRuns(slot.state.phase)}`);
    if (!first || members.length === 0)
      return tell(inert`The team has no members. List them in ${teamPath}.`);
    wanted = true;
    written = [];
    await following.request();
    const { agentFolder, agentFileName } = await import('../../core/team/agentFiles.js');
    const toolless = members.filter(
      (member) => member.grants.length > 0 && agentOf(member).toolsets.length === 0,
    );
    const ids = toolless.map(({ id }) => `“${id}”`);
    const said = [
      written.length === 0 ? 'All files are up to date' : `Wrote ${shortList(written, 5)}`,
      ids.length > 0 && `No toolset of ${shortList(ids, 5)} is configured`,
    ];
    tell(inert`Custom agents in ${agentFolder}: ${present(said).join('. ')}.`);
    const uri = vscode.Uri.file(
      join(first.file, '../..', agentFolder, agentFileName(first.members[0]?.id ?? '')),
    );
    if ((await readContent(realDisk, uri.fsPath)).kind !== 'text') return;
    await vscode.window.showTextDocument(await openDocument(uri), { preview: true });
  }

  async function followTeam({ file, members }: Team, create: boolean): Promise<void> {
    const agents = await import('../../core/team/agentFiles.js');
    const root = join(file, '../..');
    const folder = join(root, agents.agentFolder);
    /** Returns false for a file that is not ours. */
    const update = async (
      uri: vscode.Uri,
      before: string,
      agent: AgentOfMember,
    ): Promise<boolean> => {
      const after = agents.withGrants(before, agent);
      if (after !== undefined && after !== before) await write(root, uri, after, create);
      return after !== undefined;
    };
    for (const agent of members.map(agentOf)) {
      const uri = vscode.Uri.file(join(folder, agents.agentFileName(agent.id)));
      const before = await readContent(realDisk, uri.fsPath);
      if (before.kind === 'absent') {
        if (create) await write(root, uri, agents.newAgentFile(agent), create);
        continue;
      }
      const isOurs = before.kind === 'text' && (await update(uri, before.text, agent));
      if (isOurs || !create) continue;
      const why =
        before.kind === 'text'
          ? 'was not written by this command'
          : `cannot be read (${before.reason})`;
      const name = vscode.workspace.asRelativePath(uri);
      void window.showWarningMessage(inert`${name} ${why}, so it stays unchanged.`);
    }
    // A member who left the team keeps the file, but loses the grants in it.
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((one) => one.endsWith('.agent.md'))) {
      const uri = vscode.Uri.file(join(folder, name));
      const before = await readContent(realDisk, uri.fsPath);
      const id = before.kind === 'text' ? agents.memberOf(before.text) : undefined;
      if (before.kind !== 'text' || id === undefined || members.some((member) => member.id === id))
        continue;
      await update(uri, before.text, { id, name: id, purpose: undefined, toolsets: [] });
    }
  }

  /**
   * A failure does not affect other files. The editor writes the file, so that its Explorer shows
   * it at once.
   */
  async function write(
    root: string,
    uri: vscode.Uri,
    text: string,
    isAsked: boolean,
  ): Promise<void> {
    try {
      refuseOutside(root, uri.fsPath);
      await makeFolders(dirname(uri.fsPath), folders);
      refuseOutside(root, uri.fsPath);
      await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
      written.push(basename(uri.fsPath));
      log.write('info', `Written: ${uri.fsPath}`);
    } catch (error) {
      log.write('warn', messageOf(error));
      if (isAsked) void window.showWarningMessage(inert`${messageOf(error)}`);
    }
  }

  function agentOf({ id, name, purpose, grants }: Member): AgentOfMember {
    const configured = configuredToolsets(
      slot.engine?.host.snapshot ?? slot.state.snapshot,
      slot.toolsets,
    );
    const { toolsets, deferred } = grantedOf(
      grants.map(({ grant }) => grant),
      configured,
    );
    const has = new Set([...toolsets, ...deferred.map((one) => one.id)]);
    return {
      id,
      name,
      purpose,
      toolsets: configured.map((one) => one.id).filter((one) => has.has(one)),
    };
  }
}
