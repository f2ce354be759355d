/**
 * Keeps the custom agents of members up to date with team and toolsets (D2), after a command has
 * written them. The first team loads this code.
 */
import { said } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { inert } from '../../core/base/inert.js';
import { shortList, asText, messageOf } from '../../core/base/text.js';
import type { Clock } from '../../core/base/clock.js';
import type { FileContent } from '../../core/base/textFile.js';
import { tell, window } from '../views/inertEditor.js';
import { SingleFlight } from '../../core/base/singleFlight.js';
import { grantedOf, teamPath } from '../../core/team/grants.js';
import type { AgentOfMember } from '../../core/team/agentFiles.js';
import type { Member, Team } from '../../core/team/team.js';
import { refuseOutside } from '../../core/files/realFiles.js';
import { readContent, realDisk } from '../../core/files/watchedFile.js';
import { configuredToolsets } from '../../core/catalogue/configuredToolsets.js';
import { openDocument } from '../views/review/documents.js';
import { present, whyNothingRuns } from '../views/phrases.js';
import { makeFolders, type FolderMaker } from './newFolders.js';
import type { TeamFiles } from './teamFiles.js';
import type { Shell } from '../engine/shell.js';

export class AgentFiles {
  /** A person has asked for the files. */
  private isAsked = false;
  /** Now missing files are made and failures are shown. */
  private isCreating = false;
  private written: string[] = [];
  private readonly following = new SingleFlight(async () => {
    this.isCreating = this.isAsked;
    this.isAsked = false;
    for (const team of this.team.view.teams) await this.update(team);
  });

  constructor(
    private readonly shell: Shell,
    private readonly team: TeamFiles,
  ) {}

  follow(): void {
    const log = this.shell.logs.host;
    this.following
      .request()
      .catch((error: unknown) => log.write('error', `Agent files: ${asText(error)}`));
  }

  async writeAll(): Promise<void> {
    const { slot } = this.shell;
    const { members, teams } = this.team.view;
    const [first] = teams;
    if (!slot.engine) return tell(inert`${whyNothingRuns(slot.state.phase)}`);
    if (!first || members.length === 0)
      return tell(inert`The team has no members. List them in ${teamPath}.`);
    this.isAsked = true;
    this.written = [];
    await this.following.request();
    const { agentFolder, agentFileName } = await import('../../core/team/agentFiles.js');
    tell(inert`Custom agents in ${agentFolder}: ${this.report(members)}.`);
    const name = agentFileName(first.members[0]?.id ?? '');
    const file = join(first.file, '../..', agentFolder, name);
    if ((await readContent(realDisk, file)).kind !== 'text') return;
    const document = await openDocument(vscode.Uri.file(file));
    await vscode.window.showTextDocument(document, { preview: true });
  }

  private report(members: readonly Member[]): string {
    const { written } = this;
    const toolless = members.filter(
      (member) => member.grants.length > 0 && this.agentOf(member).toolsets.length === 0,
    );
    const ids = toolless.map(({ id }) => `“${id}”`);
    const facts = [
      written.length === 0
        ? said`All files are up to date`
        : said`Wrote ${shortList(written, 5, said)}`,
      ids.length > 0 && said`No toolset of ${shortList(ids, 5, said)} is configured`,
    ];
    return present(facts).join('. ');
  }

  private async update({ file, members }: Team): Promise<void> {
    const agents = await import('../../core/team/agentFiles.js');
    const root = join(file, '../..');
    const folder = join(root, agents.agentFolder);
    for (const agent of members.map((member) => this.agentOf(member))) {
      const path = join(folder, agents.agentFileName(agent.id));
      const before = await readContent(realDisk, path);
      const isAbsent = before.kind === 'absent';
      if (isAbsent && !this.isCreating) continue;
      const after = isAbsent
        ? agents.newAgentFile(agent)
        : agents.withGrants(textOf(before), agent);
      if (after !== undefined) await this.write(root, path, before, after);
      else if (this.isCreating) showForeign(path, before);
    }
    // A member who left the team keeps the file, but loses the grants in it.
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((one) => one.endsWith('.agent.md'))) {
      const path = join(folder, name);
      const before = await readContent(realDisk, path);
      const id = agents.memberOf(textOf(before));
      if (id === undefined || members.some((member) => member.id === id)) continue;
      const former = {
        id,
        name: id,
        purpose: undefined,
        toolsets: [],
      };
      const after = agents.withGrants(textOf(before), former);
      if (after !== undefined) await this.write(root, path, before, after);
    }
  }

  /**
   * Writes what has changed. A failure does not affect other files. The editor writes the file, so
   * that its Explorer shows it at once.
   */
  private async write(
    root: string,
    path: string,
    before: FileContent,
    after: string,
  ): Promise<void> {
    if (before.kind === 'text' && before.text === after) return;
    const log = this.shell.logs.host;
    try {
      refuseOutside(root, path);
      await makeFolders(dirname(path), folderMaker(this.shell.clock));
      refuseOutside(root, path);
      await vscode.workspace.fs.writeFile(vscode.Uri.file(path), new TextEncoder().encode(after));
      this.written.push(basename(path));
      log.write('info', `Written: ${path}`);
    } catch (error) {
      log.write('warn', messageOf(error));
      if (this.isCreating) void window.showWarningMessage(inert`${messageOf(error)}`);
    }
  }

  private agentOf({ id, name, purpose, grants }: Member): AgentOfMember {
    const { slot } = this.shell;
    const snapshot = slot.engine?.host.snapshot ?? slot.state.snapshot;
    const configured = configuredToolsets(snapshot, slot.toolsets);
    const granted = grantedOf(
      grants.map(({ grant }) => grant),
      configured,
    );
    const has = new Set([...granted.toolsets, ...granted.deferred.map((one) => one.id)]);
    const toolsets = configured.map((one) => one.id).filter((one) => has.has(one));
    return { id, name, purpose, toolsets };
  }
}

/** Returns the text of a file, or an empty text, which no agent file of ours has. */
function textOf(content: FileContent): string {
  return content.kind === 'text' ? content.text : '';
}

function showForeign(path: string, content: FileContent): void {
  const why =
    content.kind === 'unreadable'
      ? said`cannot be read (${content.reason})`
      : said`was not written by this command`;
  const name = vscode.workspace.asRelativePath(path);
  void window.showWarningMessage(inert`${name} ${why}, so it stays unchanged.`);
}

function folderMaker(clock: Clock): FolderMaker {
  return {
    clock,
    exists: existsSync,
    make: async (folder) => vscode.workspace.fs.createDirectory(vscode.Uri.file(folder)),
    listen: (folder, reported) => {
      const above = vscode.Uri.file(dirname(folder));
      const pattern = new vscode.RelativePattern(above, basename(folder));
      const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, true, true);
      watcher.onDidCreate(reported);
      return watcher;
    },
  };
}
